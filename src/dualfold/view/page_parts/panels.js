// The evidence under the map: spectrum, curves, distances, convergence.

const HUES = given.palette;
const hueOf = (at) => onGround(HUES[at % HUES.length]);

function panelLayout(x, y, more = {}) {
  const axis = (title, extra = {}) => ({
    title: { text: title, font: { size: 11, color: ink("--soft") }, standoff: 6 }, automargin: true,
    tickfont: { size: 10, color: ink("--soft") }, gridcolor: ink("--line"), linecolor: ink("--line"),
    zeroline: false, nticks: 5, fixedrange: true, ...extra });
  return {
    margin: { l: 44, r: 10, t: 6, b: 36 }, height: 220, paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "closest",
    font: { family: "system-ui, sans-serif", color: ink("--ink"), size: 11 },
    hoverlabel: { font: { size: 11 } },
    xaxis: axis(x, more.x), yaxis: axis(y, more.y) };
}

const SIZES = { type: "log", tickvals: [1, 2, 5, 10, 20, 50, 100, 1000, 10000] };
const asked = (sampled) => (sampled < n ? `from ${count(sampled)} of ${count(n)} points` : `from all ${count(n)} points`);
const curveKey = (entries) => element("p", { class: "key" }, ...entries.map(([color, text, dashed]) => element("span", {},
  element("i", { class: dashed ? "stroke dashed" : "stroke", style: `--hue:${color}`, "aria-hidden": "true" }),
  element("bdi", { text: short(text, 30) }))));

// Each panel: title, traces, layout, caption, key; or null where the map has nothing for it.
function scree(map) {
  const spectrum = map.spectrum;
  if (!spectrum) return null;
  const { values, next, gap } = spectrum;
  const places = values.map((_, at) => at + 1);
  const blue = onGround(PLAIN);
  const traces = [{ type: "scatter", mode: "lines+markers", x: places, y: values, hovertemplate: "%{y:.4g}<extra></extra>",
    line: { color: ink("--line"), width: 1 }, marker: { color: blue, size: 8 } }];
  const layout = panelLayout("eigenvalue number", "eigenvalue", { x: { dtick: Math.max(1, Math.ceil(values.length / 10)) }, y: { rangemode: "tozero" } });
  let caption = map.explained ? `the axes explain ${map.explained.map(shareWords).join(", ")} of the ${map.explains}` : `${values.length} kept`;
  if (next !== null) {
    traces.push({ type: "scatter", mode: "markers", x: [values.length + 1], y: [next], hovertemplate: "next: %{y:.4g}<extra></extra>",
      marker: { color: "rgba(0,0,0,0)", size: 8, line: { color: blue, width: 1.5 } } });
    layout.shapes = [{ type: "rect", xref: "paper", x0: 0, x1: 1, y0: values.at(-1), y1: next, layer: "below",
      fillcolor: "#E69F00", opacity: 0.18, line: { width: 0 } }];
    caption += `; the yellow band is the eigengap, ${numberWords(gap)}: the step to the first eigenvalue that is not used (hollow circle)`;
  }
  layout.xaxis.range = [0.5, values.length + (next === null ? 0.5 : 1.5)];
  return { title: "Spectrum: the eigenvalues", traces, layout, caption };
}

function kept() {
  const known = maps.map((map, at) => ({ map, at })).filter(({ map }) => map.quality);
  if (!known.length) return null;
  const traces = known.flatMap(({ map, at }) => {
    const { sizes, r, low, high } = map.quality.curve;
    const color = hueOf(at);
    const line = { type: "scatter", mode: "lines", x: sizes, y: r, line: { color, width: at === state.map ? 2.6 : 1.3 },
      hovertemplate: "K = %{x}: %{y:.3f}<extra></extra>" };
    if (map.quality.sampled === n) return [line];
    return [{ type: "scatter", mode: "lines", x: [...sizes, ...sizes.slice().reverse()], y: [...high, ...low.slice().reverse()],
      fill: "toself", fillcolor: color, opacity: 0.18, line: { width: 0 }, hoverinfo: "skip" }, line];
  });
  const layout = panelLayout("neighbourhood size K", "R_NX(K)".replace("_NX", "<sub>NX</sub>"),
    { x: SIZES, y: { rangemode: "tozero" } });
  const area = maps[state.map].quality;
  return { title: "Neighbours kept beyond chance (R_NX)", traces, layout,
    key: curveKey(known.map(({ map, at }) => [hueOf(at), map.name])),
    caption: `0 is chance, 1 perfect; area ${area ? numberWords(area.curve.area) : "–"}, ${asked(known[0].map.quality.sampled)}` };
}

function trust(map) {
  if (!map.trust) return null;
  const { sizes, trustworthiness, continuity, sampled } = map.trust;
  const [first, second] = [onGround("#0072B2"), onGround("#D55E00")];
  const line = (y, color, dash) => ({ type: "scatter", mode: "lines+markers", x: sizes, y, line: { color, width: 2, dash },
    marker: { size: 5, color }, hovertemplate: "k = %{x}: %{y:.4f}<extra></extra>" });
  const layout = panelLayout("neighbourhood size k", "share", { x: SIZES });
  return { title: "Trustworthiness and continuity", layout,
    traces: [line(trustworthiness, first, "solid"), line(continuity, second, "dash")],
    key: curveKey([[first, "trustworthiness"], [second, "continuity", true]]),
    caption: `1 is perfect; ${asked(sampled)}` };
}

function shepardPanel(map) {
  if (!map.quality) return null;
  const { shape, widths, counts, mean, pairs } = map.quality.shepard;
  const flatCounts = floatsOf(counts);
  // Rows of a heat map are distances after; empty cells stay empty.
  const z = Array.from({ length: shape[1] }, (_, after) => Array.from({ length: shape[0] }, (_, before) => {
    const value = flatCounts[before * shape[1] + after];
    return value > 0 ? Math.log10(value) : null;
  }));
  const centres = (total, width) => Array.from({ length: total }, (_, at) => (at + 0.5) * width);
  const ground = ink("--card");
  const traces = [
    { type: "heatmap", x: centres(shape[0], widths[0]), y: centres(shape[1], widths[1]), z, showscale: false, hoverinfo: "skip",
      colorscale: [[0, mixed(ground, "#0072B2", 0.12)], [1, onGround("#0072B2")]] },
    { type: "scatter", mode: "lines", x: centres(mean.length, widths[0]), y: mean, hovertemplate: "mean %{y:.3g}<extra></extra>",
      line: { color: onGround("#D55E00"), width: 2 } }];
  const layout = panelLayout("distance in the data", "distance on the map", { x: { rangemode: "tozero" }, y: { rangemode: "tozero" } });
  layout.xaxis.showgrid = layout.yaxis.showgrid = false;
  return { title: "Distances before and after", traces, layout,
    caption: `${count(pairs)} pairs, counted from ${map.quality.sampled < n ? "each drawn end" : "both ends"}, ${asked(map.quality.sampled)}; the line is the mean` };
}

function convergence(map) {
  if (!map.history) return null;
  const { steps, gap, lower, upper } = map.history;
  const traces = [{ type: "scatter", mode: "lines+markers", x: steps, y: gap.map((g) => (g === null ? null : Math.max(g, 1e-16))),
    line: { color: onGround(PLAIN), width: 2 }, marker: { size: 4 }, hovertemplate: "step %{x}: %{y:.2e}<extra></extra>" }];
  const layout = panelLayout("iteration", "relative gap", { y: { type: "log", exponentformat: "power", nticks: 5 } });
  const both = upper.some((value) => value !== null) && lower.some((value) => value !== null);
  const end = both ? `; value ${numberWords(lower.at(-1))}, bound ${numberWords(upper.at(-1))}` : "";
  return { title: both ? "Duality gap" : "Convergence", traces, layout,
    caption: `${plural(steps.length - 1, "step", "steps")}, last gap ${numberWords(gap.at(-1))}${end}` };
}

function panels(width = null) {
  const map = maps[state.map];
  const made = [scree(map), kept(), trust(map), shepardPanel(map), convergence(map)].filter(Boolean);
  const place = by("panels");
  for (const old of place.querySelectorAll(".chart")) Plotly.purge(old);
  place.replaceChildren(...made.map(({ title, caption, key }) => element("figure", {},
    element("figcaption", {}, element("h2", {}, ...withTerms(title)), ...(key ? [key] : [])),
    element("div", { class: "chart", role: "img", "aria-label": `${title}: ${caption}` }),
    element("p", { class: "note" }, ...withTerms(caption)))));
  place.querySelectorAll(".chart").forEach((chart, at) =>
    Plotly.newPlot(chart, made[at].traces, width === null ? made[at].layout : { ...made[at].layout, width },
      { displayModeBar: false, responsive: width === null, plotlyServerURL: "" }));
}
