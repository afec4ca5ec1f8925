// The map as plotly draws it: traces and layout from the state, and what the mouse says back.

let drawn = []; // for each trace: { map, rows }
let draws = 0;
let drawing = 0; // calls under way

function traceOf(map, place, colors, layer, faint) {
  const space = map.dimensions === 3;
  const { color, shape } = colors.list[layer.slot];
  const trace = {
    type: space ? "scatter3d" : "scattergl",
    mode: "markers",
    hoverinfo: "none",
    marker: {
      color,
      size: sizeOf(shape) * (space ? 0.7 : 1),
      opacity: faint ? 0.14 : pointOpacity(),
      symbol: shape ? (space ? "diamond" : "triangle-up") : "circle",
      line: { width: shape && !faint ? 0.8 : 0, color: ink("--card") },
    },
  };
  ["x", "y", "z"].slice(0, map.dimensions).forEach((letter, axis) => {
    trace[letter] = Float64Array.from(layer.rows, (row) => map.axes[axis][row]);
  });
  if (space) trace.scene = axisName("scene", place);
  else [trace.xaxis, trace.yaxis] = [axisName("x", place), axisName("y", place)];
  return trace;
}

function tracesOf(map, place) {
  const colors = coloring(map);
  const rows = Array.from(order).filter((row) => passes(colors, row));
  const chosen = state.selected && new Set(state.selected);
  const groups = chosen
    ? [[rows.filter((row) => !chosen.has(row)), true], [rows.filter((row) => chosen.has(row)), false]]
    : [[rows, state.focus !== null]];
  const traces = [];
  for (const [some, faint] of groups)
    for (const layer of layersOf(colors, some)) {
      traces.push(traceOf(map, place, colors, layer, faint));
      drawn.push({ map, rows: layer.rows });
    }
  if (hasColumns(map)) traces.push(columnTrace(map, place));
  if (map.dimensions === 3 && state.focus !== null) traces.push(...linksInSpace(map, place));
  return traces;
}

// A scene has no pixels to draw over, so the links of the clicked point are part of it.
function linksInSpace(map, place) {
  const found = neighborsOf(map, state.focus);
  drawn.push({ map, rows: null });
  const centre = { type: "scatter3d", mode: "markers", hoverinfo: "skip", scene: axisName("scene", place),
    ...Object.fromEntries(["x", "y", "z"].map((letter, at) => [letter, [map.axes[at][state.focus]]])),
    marker: { symbol: "circle-open", size: 12, color: ink("--ink"), line: { color: ink("--ink"), width: 3 } } };
  const links = ["missing", "false", "kept"].map((relation) => {
    const line = [[], [], []];
    for (const other of found[relation])
      map.axes.forEach((axis, at) => line[at].push(axis[state.focus], axis[other], null));
    drawn.push({ map, rows: null });
    return {
      type: "scatter3d", mode: "lines+markers", hoverinfo: "skip", scene: axisName("scene", place),
      x: line[0], y: line[1], z: line[2],
      line: { color: RELATION[relation], width: 3 }, marker: { color: RELATION[relation], size: 4 },
    };
  });
  return [centre, ...links];
}

function layoutOf(shown) {
  const layout = {
    width: frame.clientWidth, height: frame.clientHeight,
    margin: { l: MARGIN, r: MARGIN, t: MARGIN, b: MARGIN }, showlegend: false, hovermode: "closest", hoverdistance: 14,
    dragmode: state.tool, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    selections: [], selectionrevision: ++draws, // selections are ours: plotly must forget its own
    newselection: { line: { color: ink("--ink"), width: 1, dash: "dot" } },
  };
  const seen = currentSpans();
  shown.forEach((at, place) => {
    const map = maps[at];
    const domain = domainOf(place, shown.length);
    if (map.dimensions === 3) {
      layout[axisName("scene", place)] = sceneOf(map, domain);
      return;
    }
    const quiet = { visible: false, zeroline: false, showgrid: false, autorange: false };
    layout[axisName("xaxis", place)] = { ...quiet, domain: domain[0], range: [...seen[place].x], anchor: axisName("y", place) };
    layout[axisName("yaxis", place)] = { ...quiet, domain: domain[1], range: [...seen[place].y], anchor: axisName("x", place) };
  });
  return layout;
}

function sceneOf(map, domain) {
  const axis = (values) => ({
    title: { text: "" }, showticklabels: false, zeroline: false, showspikes: false, range: rangeOf(values),
    gridcolor: ink("--line"), backgroundcolor: "rgba(0,0,0,0)" });
  return {
    domain: { x: domain[0], y: domain[1] }, aspectmode: map.equal ? "data" : "cube",
    dragmode: "orbit", camera: { eye: { x: 1.05, y: 1.05, z: 0.75 } }, // nearer: the box fills the frame
    xaxis: axis(along(map, 0)), yaxis: axis(along(map, 1)), zaxis: axis(along(map, 2)),
    uirevision: map.name };
}

const settings = { displayModeBar: false, scrollZoom: true, doubleClick: false,
  displaylogo: false, showTips: false, plotlyServerURL: "" };

// What plotly says of selections meanwhile is an echo of ours.
async function quietly(act) {
  drawing++;
  try {
    await act();
  } finally {
    drawing--;
  }
}

async function draw() {
  if (!webgl) return;
  const shown = shownMaps();
  drawn = [];
  const traces = shown.flatMap((at, place) => tracesOf(maps[at], place));
  await quietly(() => Plotly.react(plot, traces, layoutOf(shown), settings));
  titles(shown);
  overlay();
}

const rowOf = (point) => {
  const trace = drawn[point.curveNumber];
  return trace && trace.rows ? trace.rows[point.pointNumber] : null;
};

// What plotly says about a move ("xaxis2.range[0]", or "xaxis.range") goes into the spans.
function heardMove(event) {
  for (const [key, value] of Object.entries(event || {})) {
    const found = /^([xy])axis(\d*)\.range(?:\[([01])\])?$/.exec(key);
    if (!found) continue;
    const span = spans[found[2] ? Number(found[2]) - 1 : 0];
    if (!span) continue;
    if (found[3] === undefined) span[found[1]] = Array.from(value, Number);
    else span[found[1]][Number(found[3])] = Number(value);
  }
}

function moveTo(wanted) {
  spans = wanted.map((span, place) => span && squared(place, span));
  const update = {};
  spans.forEach((span, place) => {
    if (!span) return;
    update[`${axisName("xaxis", place)}.range`] = [...span.x];
    update[`${axisName("yaxis", place)}.range`] = [...span.y];
  });
  return Object.keys(update).length ? Plotly.relayout(plot, update) : Promise.resolve();
}

function resized() {
  if (!webgl || !plot.data || themeBefore !== null) return; // paper gets a picture of the map
  if (frame.clientWidth < 40 || frame.clientHeight < 40) return; // hidden: the next size counts
  const layout = { width: frame.clientWidth, height: frame.clientHeight };
  shownMaps().forEach((at, place) => {
    const [x, y] = domainOf(place, shownMaps().length);
    if (maps[at].dimensions === 3) {
      layout[`${axisName("scene", place)}.domain.x`] = x;
      layout[`${axisName("scene", place)}.domain.y`] = y;
      return;
    }
    const span = spans[place] = squared(place, spans[place]);
    layout[`${axisName("xaxis", place)}.domain`] = x;
    layout[`${axisName("yaxis", place)}.domain`] = y;
    layout[`${axisName("xaxis", place)}.range`] = [...span.x];
    layout[`${axisName("yaxis", place)}.range`] = [...span.y];
  });
  Plotly.relayout(plot, layout).then(() => { titles(shownMaps()); overlay(); });
}

function useTool(tool) {
  state.tool = tool;
  controls();
  if (!webgl) return Promise.resolve();
  return quietly(() => Plotly.relayout(plot, { dragmode: tool, selections: [] })); // a lasso's outline goes with it
}

function listen() {
  plot.on("plotly_hover", (event) => {
    const [row, column] = [rowOf(event.points[0]), columnUnder(event.points[0])];
    if (row !== null) showTip(row, event.event);
    if (column) showColumnTip(column, event.event);
  });
  plot.on("plotly_unhover", hideTip);
  plot.on("plotly_click", (event) => {
    const [row, column] = [rowOf(event.points[0]), columnUnder(event.points[0])];
    if (row !== null) focusOn(row);
    if (column) markColumn(column.name);
  });
  plot.on("plotly_selected", (event) => {
    if (!event || !event.points || drawing) return; // plotly tells of selections that we take away, too
    select(event.points.map(rowOf).filter((row) => row !== null));
  });
  plot.on("plotly_deselect", () => { if (!drawing) select(null); });
  plot.on("plotly_doubleclick", () => { if (state.tool === "pan") wholeMap(); });
  for (const name of ["plotly_relayouting", "plotly_relayout"])
    plot.on(name, (event) => { heardMove(event); hideTip(); overlay(); tellMove(); });
  frame.addEventListener("mouseleave", hideTip);
  new ResizeObserver(() => resized()).observe(frame);
}

// The map alone, as an image.
const mapImage = async (width, height, scale) => loaded(await Plotly.toImage(plot, { format: "png", width, height, scale }));

const shownCount = () => drawn.reduce((sum, trace) => sum + (trace.rows ? trace.rows.length : 0), 0);
const clearCounts = () => shownMaps().map((at) => drawn.reduce((sum, trace, place) =>
  sum + (trace.rows && trace.map === maps[at] && plot.data[place].marker.opacity > 0.2 ? trace.rows.length : 0), 0));
const shownColors = () => [...new Set((plot.data || []).map((trace) => trace.marker.color))];
