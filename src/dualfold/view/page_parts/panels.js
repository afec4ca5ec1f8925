// The evidence under the map: spectrum, curves, distances, convergence.

const HUES = given.palette;
const hueOf = (at) => onGround(HUES[at % HUES.length]);
const SIZES = [1, 2, 5, 10, 20, 50, 100, 1000, 10000]; // ticks of neighbourhood sizes
const asked = (sampled) => (sampled < n ? `from ${count(sampled)} of ${count(n)} points` : `from all ${count(n)} points`);
const curveKey = (entries) => element("p", { class: "key" }, ...entries.map(([color, text, dashed]) => element("span", {},
  element("i", { class: dashed ? "stroke dashed" : "stroke", style: `--hue:${color}`, "aria-hidden": "true" }),
  element("bdi", { text: short(text, 30) }))));

// Each panel: title, chart (as chart.js draws it), caption, key; or null where the map has nothing for it.
function scree(map) {
  const spectrum = map.spectrum;
  if (!spectrum) return null;
  const { values, next, gap } = spectrum;
  const blue = onGround(PLAIN);
  const last = values.length + (next === null ? 0 : 1);
  const ticks = Array.from({ length: last }, (_, at) => at + 1).filter((at) => (at - 1) % Math.max(1, Math.ceil(last / 10)) === 0);
  const zero = Math.min(0, ...values, next === null ? 0 : next);
  const chart = { x: { label: "eigenvalue number", ticks, from: 0.5, to: last + 0.5 }, y: { label: "eigenvalue", ...(zero < 0 ? {} : { from: 0 }) },
    marks: [{ x: values.map((_, at) => at + 1), y: values, color: blue, lineColor: ink("--line"), width: 1, dots: 8, words: (_, y) => numberWords(y) }] };
  let caption = map.explained ? `the axes explain ${map.explained.map(shareWords).join(", ")} of the ${map.explains}` : `${values.length} kept`;
  if (next !== null) {
    chart.marks.push({ x: [last], y: [next], color: blue, dots: 8, hollow: true, words: (_, y) => `next: ${numberWords(y)}` });
    chart.stripe = [values.at(-1), next];
    caption += `; the yellow band is the eigengap, ${numberWords(gap)}: the step to the first eigenvalue that is not used (hollow circle)`;
  }
  return { title: "Spectrum: the eigenvalues", chart, caption };
}

function kept() {
  const measured = maps.map((map, at) => ({ map, at })).filter(({ map }) => map.quality);
  if (!measured.length) return null;
  const marks = measured.flatMap(({ map, at }) => {
    const { sizes, r, low, high } = map.quality.curve;
    const color = hueOf(at);
    const line = { x: sizes, y: r, color, width: at === state.map ? 2.6 : 1.3, words: (k, y) => `K = ${k}: ${y.toFixed(3)}` };
    return map.quality.sampled === n ? [line] : [{ x: sizes, low, high, color }, line];
  });
  const least = Math.min(0, ...marks.flatMap((mark) => mark.y || []));
  const area = maps[state.map].quality;
  return { title: "Neighbours kept beyond chance (R_NX)",
    chart: { x: { label: "neighbourhood size K", log: true, ticks: SIZES }, y: { label: "R_NX(K)", ...(least < 0 ? {} : { from: 0 }) }, marks },
    key: curveKey(measured.map(({ map, at }) => [hueOf(at), map.name])),
    caption: `0 is chance, 1 perfect; area ${area ? numberWords(area.curve.area) : "–"}, ${asked(measured[0].map.quality.sampled)}` };
}

function trust(map) {
  if (!map.trust) return null;
  const { sizes, trustworthiness, continuity, sampled } = map.trust;
  const [first, second] = [onGround("#0072B2"), onGround("#D55E00")];
  const line = (y, color, dash) => ({ x: sizes, y, color, dash, width: 2, dots: 5, words: (k, share) => `k = ${k}: ${share.toFixed(4)}` });
  return { title: "Trustworthiness and continuity",
    chart: { x: { label: "neighbourhood size k", log: true, ticks: SIZES }, y: { label: "share" },
      marks: [line(trustworthiness, first, false), line(continuity, second, true)] },
    key: curveKey([[first, "trustworthiness"], [second, "continuity", true]]),
    caption: `1 is perfect; ${asked(sampled)}` };
}

function shepardPanel(map) {
  if (!map.quality) return null;
  const { shape, widths, counts, mean, pairs } = map.quality.shepard;
  const flatCounts = floatsOf(counts);
  const most = Math.log10(Math.max(10, endsOf(flatCounts)[1]));
  const ground = ink("--card");
  const centres = mean.map((_, at) => (at + 0.5) * widths[0]);
  const cells = { shape, widths, // empty cells stay empty
    shareOf: (before, after) => { const value = flatCounts[before * shape[1] + after]; return value > 0 ? Math.log10(value) / most : null; },
    color: (share) => mixed(mixed(ground, "#0072B2", 0.12), onGround("#0072B2"), Math.min(1, Math.max(0, share))) };
  return { title: "Distances before and after",
    chart: { x: { label: "distance in the data", from: 0, to: shape[0] * widths[0] }, y: { label: "distance on the map", from: 0, to: shape[1] * widths[1] }, cells,
      marks: [{ x: centres, y: mean, color: onGround("#D55E00"), width: 2, words: (_, y) => `mean ${numberWords(y)}` }] },
    caption: `${count(pairs)} pairs, counted from ${map.quality.sampled < n ? "each drawn end" : "both ends"}, ${asked(map.quality.sampled)}; the line is the mean` };
}

function convergence(map) {
  if (!map.history) return null;
  const { steps, gap, lower, upper } = map.history;
  const both = upper.some((value) => value !== null) && lower.some((value) => value !== null);
  const end = both ? `; value ${numberWords(lower.at(-1))}, bound ${numberWords(upper.at(-1))}` : "";
  return { title: both ? "Duality gap" : "Convergence",
    chart: { x: { label: "iteration" }, y: { label: "relative gap", log: true },
      marks: [{ x: steps, y: gap.map((g) => (g === null ? null : Math.max(g, 1e-16))), color: onGround(PLAIN), width: 2, dots: 4,
        words: (step, y) => `step ${step}: ${y.toExponential(2)}` }] },
    caption: `${plural(steps.length - 1, "step", "steps")}, last gap ${numberWords(gap.at(-1))}${end}` };
}

function panels(width = null) {
  const map = maps[state.map];
  const made = [scree(map), kept(), trust(map), shepardPanel(map), convergence(map)].filter(Boolean);
  const place = by("panels");
  place.replaceChildren(...made.map(({ title, caption, key }) => element("figure", {},
    element("figcaption", {}, element("h2", {}, ...withTerms(title)), ...(key ? [key] : [])),
    element("div", { class: "chart", role: "img", "aria-label": `${title}: ${caption}` }),
    element("p", { class: "note" }, ...withTerms(caption)))));
  place.querySelectorAll(".chart").forEach((chart, at) => {
    drawChart(chart, made[at].chart, width === null ? Math.max(120, chart.clientWidth) : width);
    if (width !== null) chart.style.width = `${width}px`;
  });
  drawnWidth = place.clientWidth;
}

let drawnWidth = 0; // of all charts
new ResizeObserver(() => {
  if (themeBefore !== null || !drawnWidth || by("panels").clientWidth < 40 || by("panels").clientWidth === drawnWidth) return;
  panels();
}).observe(by("panels"));
