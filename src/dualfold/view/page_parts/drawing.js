// The map itself: traces and layout from the state, and what the mouse says back.

let drawn = []; // for each trace: { map, rows }
let draws = 0;
let drawing = 0; // calls under way

// Rows in a mixed order, so that the last class of the file does not hide the first.
const order = (() => {
  const rows = Int32Array.from({ length: n }, (_, row) => row);
  let seed = (given.seed ^ 0x9e3779b9) >>> 0;
  const random = () => { // mulberry32
    seed = (seed + 0x6d2b79f5) >>> 0;
    let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [rows[i], rows[j]] = [rows[j], rows[i]];
  }
  return rows;
})();

// By eye: 100 points are 9 pixels wide, 100,000 a little over 2, and many let light through.
const pointSize = () => Math.max(2.2, Math.min(10, 9 * (100 / n) ** 0.2)) * (state.beside ? 0.8 : 1);
// A shape must be seen as one: a triangle of two pixels is a dot.
const sizeOf = (shape) => (shape ? Math.max(7, 1.5 * pointSize()) : pointSize());
const pointOpacity = () => Math.max(0.45, Math.min(0.9, 0.9 * (1000 / n) ** 0.12));

// Rows by slot, each slot cut into a few rounds that are drawn in turns: one trace of one
// colour costs a tenth of a trace with a colour for each point.
function layersOf(colors, rows) {
  const rounds = Math.max(1, Math.min(4, Math.floor(24 / colors.list.length)));
  const layers = [];
  const step = Math.ceil(rows.length / rounds) || 1;
  for (let start = 0; start < rows.length; start += step) {
    const bySlot = colors.list.map(() => []);
    for (const row of rows.slice(start, start + step)) bySlot[colors.slots[row]].push(row);
    bySlot.forEach((some, slot) => { if (some.length) layers.push({ slot, rows: some }); });
  }
  return layers;
}

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
