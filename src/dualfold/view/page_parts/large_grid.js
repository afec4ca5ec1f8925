// A grid over each map: which point is under the pointer, which points lie in an outline.

const GRID = 256; // cells a side
const grids = new Map(); // map → { starts, rows }: rows of cell c are rows[starts[c]] … rows[starts[c + 1] - 1]

function gridOf(map) {
  if (grids.has(map)) return grids.get(map);
  const cell = new Uint16Array(n);
  const starts = new Int32Array(GRID * GRID + 1);
  for (let row = 0; row < n; row++) {
    const [across, up] = [gridLine(map, 0, map.axes[0][row]), gridLine(map, 1, map.axes[1][row])];
    cell[row] = up * GRID + across;
    starts[cell[row] + 1]++;
  }
  for (let at = 0; at < GRID * GRID; at++) starts[at + 1] += starts[at];
  const [rows, next] = [new Int32Array(n), starts.slice()];
  for (let row = 0; row < n; row++) rows[next[cell[row]]++] = row;
  grids.set(map, { starts, rows });
  return grids.get(map);
}

function gridLine(map, axis, value) {
  const [low, high] = [map.box[0][axis], map.box[1][axis]];
  return Math.max(0, Math.min(GRID - 1, Math.floor((value - low) / (high - low) * GRID)));
}

// Runs through the rows of the cells that meet a box [[x, X], [y, Y]] in units of the map.
function inBox(map, [[left, right], [bottom, top]], visit) {
  const { starts, rows } = gridOf(map);
  const [first, last] = [gridLine(map, 0, left), gridLine(map, 0, right)];
  for (let up = gridLine(map, 1, bottom); up <= gridLine(map, 1, top); up++)
    for (let at = starts[up * GRID + first]; at < starts[up * GRID + last + 1]; at++) visit(rows[at]);
}

const REACH = 14; // pixels around the pointer in which a point is found

// The nearest shown row to a pixel of the frame, or null.
function rowAt(place, [x, y]) {
  const map = maps[shownMaps()[place]];
  const colors = coloring(map);
  const [from, to] = [unitsAt(place, [x - REACH, y + REACH]), unitsAt(place, [x + REACH, y - REACH])];
  let [best, nearest] = [null, REACH * REACH];
  const [width, height] = boxOf(place).slice(2);
  const span = currentSpans()[place];
  const [sx, sy] = [width / (span.x[1] - span.x[0]), height / (span.y[1] - span.y[0])];
  const [cx, cy] = unitsAt(place, [x, y]);
  inBox(map, [[from[0], to[0]], [from[1], to[1]]], (row) => {
    const far = ((map.axes[0][row] - cx) * sx) ** 2 + ((map.axes[1][row] - cy) * sy) ** 2;
    if (far < nearest && passes(colors, row)) [best, nearest] = [row, far];
  });
  return best;
}

const isInside = (corners, x, y) => {
  let inside = false;
  for (let at = 0, before = corners.length - 1; at < corners.length; before = at++) {
    const [[x1, y1], [x2, y2]] = [corners[at], corners[before]];
    if ((y1 > y) !== (y2 > y) && x < (x2 - x1) * (y - y1) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
};

// Shown rows inside an outline in units of a map.
function rowsInside(map, corners) {
  const colors = coloring(map);
  const box = [0, 1].map((axis) => corners.reduce(([low, high], corner) =>
    [Math.min(low, corner[axis]), Math.max(high, corner[axis])], [Infinity, -Infinity]));
  const found = [];
  inBox(map, box, (row) => {
    if (passes(colors, row) && isInside(corners, map.axes[0][row], map.axes[1][row])) found.push(row);
  });
  return found;
}

// The mouse and the finger: a drag moves, or draws an outline; a click asks about a point.

function placeAt([x, y]) {
  return shownMaps().findIndex((_, place) => {
    const [left, top, width, height] = boxOf(place);
    return x >= left && x <= left + width && y >= top && y <= top + height;
  });
}

const frameAt = (event) => {
  const box = plot.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

let drag = null; // { place, from, trail, spans }

function outline() {
  const layer = by("outline") || drawnPart("svg", { id: "outline", style: "position:absolute;inset:0;width:100%;height:100%;pointer-events:none" }, plot);
  layer.replaceChildren();
  if (!drag || state.tool === "pan") return;
  drawnPart("path", { d: `M${drag.trail.map((at) => at.join(" ")).join("L")}Z`, fill: ink("--ink"), "fill-opacity": 0.06,
    stroke: ink("--ink"), "stroke-dasharray": "3 3" }, layer);
}

function dragged(at) {
  if (state.tool === "select") drag.trail = [drag.from, [at[0], drag.from[1]], at, [drag.from[0], at[1]]];
  else drag.trail.push(at);
  if (state.tool !== "pan") { outline(); return; }
  const [[x0, y0], [x1, y1]] = [unitsIn(drag.span, drag.place, drag.from), unitsIn(drag.span, drag.place, at)];
  moving(currentSpans().map((span, place) => (place !== drag.place ? span
    : { x: drag.span.x.map((end) => end + x0 - x1), y: drag.span.y.map((end) => end + y0 - y1) })));
}

function unitsIn(span, place, [x, y]) {
  const [left, top, width, height] = boxOf(place);
  return [span.x[0] + (x - left) / width * (span.x[1] - span.x[0]), span.y[1] - (y - top) / height * (span.y[1] - span.y[0])];
}

function released(at) {
  const { place, from, trail } = drag;
  const moved = trail.some(([x, y]) => Math.hypot(x - from[0], y - from[1]) > 4);
  const map = maps[shownMaps()[place]];
  const corners = trail.map((corner) => unitsAt(place, corner));
  drag = null;
  outline();
  if (moved && state.tool !== "pan") select(rowsInside(map, corners));
  if (moved) return;
  const row = rowAt(place, at);
  if (row !== null) focusOn(row);
}

function zoomAt(event) {
  const at = frameAt(event);
  const here = placeAt(at);
  if (here < 0) return;
  event.preventDefault();
  const [factor, [x, y]] = [Math.exp(Math.max(-50, Math.min(50, event.deltaY)) * 0.004), unitsAt(here, at)];
  hideTip();
  moving(currentSpans().map((span, place) => (place !== here ? span : {
    x: span.x.map((end) => x + (end - x) * factor), y: span.y.map((end) => y + (end - y) * factor) })));
}

function listen() {
  plot.style.touchAction = "none";
  plot.addEventListener("pointerdown", (event) => {
    const at = frameAt(event);
    const place = placeAt(at);
    if (place < 0 || event.button !== 0) return;
    plot.setPointerCapture(event.pointerId);
    drag = { place, from: at, trail: [at], span: currentSpans()[place] };
  });
  plot.addEventListener("pointermove", (event) => {
    const at = frameAt(event);
    if (drag) { hideTip(); dragged(at); return; }
    const place = placeAt(at);
    const row = place < 0 ? null : rowAt(place, at);
    if (row === null) hideTip(); else showTip(row, event);
  });
  plot.addEventListener("pointerup", (event) => { if (drag) released(frameAt(event)); });
  plot.addEventListener("pointercancel", () => { drag = null; outline(); });
  plot.addEventListener("wheel", zoomAt, { passive: false });
  plot.addEventListener("dblclick", () => { if (state.tool === "pan") wholeMap(); });
  frame.addEventListener("mouseleave", hideTip);
  new ResizeObserver(() => resized()).observe(frame);
}

function useTool(tool) {
  state.tool = tool;
  controls();
  return Promise.resolve();
}

// The charts below the map are plotly's; a large page has their words (docs/page.md).
const panels = () => {};
