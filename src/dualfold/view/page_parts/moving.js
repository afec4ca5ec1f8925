// Moves of the map: while it moves, marks over it are carried along; then all is drawn anew.

const MOST_REDRAWN = 3000; // rows whose names and contours are placed anew in every frame
let waiting = null; // the next frame
let later = null; // the timer of the whole drawing
let spansBefore = null; // what the overlay was drawn for
let lastMove = 0;
let lastFrame = 0;
let movingTotal = MOST_MOVING; // fewer on a machine that draws few pictures a second

// As many points as the machine draws in time: about 20 pictures a second or more.
function adaptTotal(gap) {
  if (gap > 50 && gap < 500) movingTotal = Math.max(LEAST_MOVING, 0.7 * movingTotal);
  if (gap < 25) movingTotal = Math.min(MOST_MOVING, 1.2 * movingTotal);
}

// What lies over a map is an inner svg that shows a part of what was drawn: where that part is now.
function carryOverlay() {
  by("overlay").querySelectorAll("svg.over").forEach((inside, place) => {
    const [now, before, [, , width, height]] = [spans[place], spansBefore[place], boxOf(place)];
    const [wide, high] = [before.x[1] - before.x[0], before.y[1] - before.y[0]];
    const box = [(now.x[0] - before.x[0]) / wide * width, (before.y[1] - now.y[1]) / high * height,
      (now.x[1] - now.x[0]) / wide * width, (now.y[1] - now.y[0]) / high * height];
    inside.setAttribute("viewBox", box.join(" "));
    inside.setAttribute("preserveAspectRatio", "none");
  });
}

function settle() {
  clearTimeout(later);
  later = spansBefore = null;
  drawPoints();
  overlay();
}

function moving(wanted) {
  if (!spansBefore) spansBefore = currentSpans().map((span) => span && { x: [...span.x], y: [...span.y] });
  spans = wanted.map((span, place) => span && squared(place, span));
  drawSoon();
}

function drawSoon() {
  // A slow machine sends moves in larger steps: it is still when none comes for three of them.
  const [now, step] = [performance.now(), performance.now() - lastMove];
  lastMove = now;
  clearTimeout(later);
  later = setTimeout(settle, Math.max(STILL_AFTER, step < 1000 ? 3 * step : 0));
  if (waiting !== null) return;
  waiting = requestAnimationFrame(() => {
    const begin = performance.now();
    waiting = null;
    if (!spansBefore) return; // all of it is drawn already
    adaptTotal(begin - lastFrame);
    lastFrame = begin;
    if (n <= MOST_REDRAWN || shownSpaces().length) overlay(); else carryOverlay();
    tellMove();
    timing.script += performance.now() - begin;
    drawPoints(Math.round(movingTotal));
  });
}

function moveTo(wanted) {
  spans = wanted.map((span, place) => span && squared(place, span));
  if (gl) settle();
  tellMove();
  return Promise.resolve();
}

function resized() {
  if (!gl || themeBefore !== null || frame.clientWidth < 40 || frame.clientHeight < 40) return; // paper has a picture; hidden: the next size counts
  const scale = window.devicePixelRatio || 1;
  if (canvas.width === Math.round(frame.clientWidth * scale) && canvas.height === Math.round(frame.clientHeight * scale)) return;
  moveTo(currentSpans());
  titles(shownMaps());
}

// The mouse and the fingers: a drag moves, or draws an outline; two fingers zoom; a click asks about a point.

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

let drag = null; // { place, from, trail, span, camera }
const fingers = new Map(); // pointer → where it is
let pinch = null; // { place, apart, middle, span, camera }

function outline() {
  const layer = by("outline") || drawnPart("svg", { id: "outline" }, plot);
  layer.replaceChildren();
  if (!drag || state.tool === "pan") return;
  drawnPart("path", { d: `M${drag.trail.map((at) => at.join(" ")).join("L")}Z`, fill: ink("--ink"), "fill-opacity": 0.06,
    stroke: ink("--ink"), "stroke-dasharray": "3 3" }, layer);
}

const mapAt = (place) => maps[shownMaps()[place]];
function turnPlace(place, change, from) {
  if (!spansBefore) spansBefore = currentSpans();
  turnBy(mapAt(place), change, from);
  drawSoon();
}
const movePlace = (moved, span) => moving(currentSpans().map((had, place) => (place === moved ? span : had)));

function dragged(at) {
  if (state.tool === "select") drag.trail = [drag.from, [at[0], drag.from[1]], at, [drag.from[0], at[1]]];
  else drag.trail.push(at);
  if (state.tool !== "pan") { outline(); return; }
  if (isSpace(mapAt(drag.place))) {
    turnPlace(drag.place, { turn: (drag.from[0] - at[0]) / 160, tilt: (at[1] - drag.from[1]) / 160 }, drag.camera);
    return;
  }
  const [[x0, y0], [x1, y1]] = [drag.from, at].map((pixel) => unitsIn(drag.span, drag.place, pixel));
  movePlace(drag.place, { x: drag.span.x.map((end) => end + x0 - x1), y: drag.span.y.map((end) => end + y0 - y1) });
}

function unitsIn(span, place, [x, y]) {
  const [left, top, width, height] = boxOf(place);
  return [span.x[0] + (x - left) / width * (span.x[1] - span.x[0]), span.y[1] - (y - top) / height * (span.y[1] - span.y[0])];
}

const movedFar = ({ from, trail }) => trail.some(([x, y]) => Math.hypot(x - from[0], y - from[1]) > 4);

function released(at) {
  const done = drag;
  const map = mapAt(done.place);
  drag = null;
  outline();
  if (movedFar(done)) {
    if (state.tool !== "pan") select(isSpace(map) ? rowsInSpace(map, done.place, done.trail)
      : rowsInside(map, done.trail.map((corner) => unitsAt(done.place, corner))));
    return;
  }
  const [row, column] = [rowAt(done.place, at), columnAt(done.place, at)];
  if (column) markColumn(column.name);
  else if (row !== null) focusOn(row);
}

// The span in which what was under `from` lies under `to`, `factor` times as wide.
function spanAround(span, place, factor, from, to) {
  const [[x, y], [left, top, width, height]] = [unitsIn(span, place, from), boxOf(place)];
  const [wide, high] = [(span.x[1] - span.x[0]) * factor, (span.y[1] - span.y[0]) * factor];
  const [x0, y1] = [x - (to[0] - left) / width * wide, y + (to[1] - top) / height * high];
  return { x: [x0, x0 + wide], y: [y1 - high, y1] };
}

function wheeled(event) {
  const at = frameAt(event);
  const here = placeAt(at);
  if (here < 0) return;
  event.preventDefault();
  hideTip();
  const lines = event.deltaMode === 1 ? 16 : 1; // Firefox counts lines
  const factor = Math.exp(Math.max(-50, Math.min(50, event.deltaY * lines)) * 0.004);
  if (isSpace(mapAt(here))) turnPlace(here, { zoom: 1 / factor });
  else movePlace(here, spanAround(currentSpans()[here], here, factor, at, at));
}

function pinched() {
  const [[x0, y0], [x1, y1]] = [...fingers.values()];
  const now = { apart: Math.max(20, Math.hypot(x1 - x0, y1 - y0)), middle: [(x0 + x1) / 2, (y0 + y1) / 2] };
  if (!pinch) {
    const place = placeAt(now.middle);
    if (place >= 0) pinch = { ...now, place, span: currentSpans()[place], camera: cameraOf(mapAt(place)) };
    return;
  }
  if (isSpace(mapAt(pinch.place))) turnPlace(pinch.place, { zoom: now.apart / pinch.apart }, pinch.camera);
  else movePlace(pinch.place, spanAround(pinch.span, pinch.place, pinch.apart / now.apart, pinch.middle, now.middle));
}

function pressed(event) {
  const at = frameAt(event);
  const place = placeAt(at);
  if (place < 0 || event.button !== 0) return;
  plot.setPointerCapture(event.pointerId);
  fingers.set(event.pointerId, at);
  drag = fingers.size > 1 ? null : { place, from: at, trail: [at], span: currentSpans()[place], camera: cameraOf(mapAt(place)) };
  pinch = null;
  outline();
}

function pointed(event) {
  const at = frameAt(event);
  if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
  if (fingers.size === 2) { hideTip(); pinched(); return; }
  if (drag) {
    if (state.tool === "pan" && !movedFar(drag) && Math.hypot(at[0] - drag.from[0], at[1] - drag.from[1]) <= 4) return; // a click that trembles
    hideTip();
    dragged(at);
    return;
  }
  const place = placeAt(at);
  const [row, column] = place < 0 ? [null, null] : [rowAt(place, at), columnAt(place, at)];
  if (column) showColumnTip(column, event);
  else if (row === null) hideTip();
  else showTip(row, event);
}

function lifted(event, taken) {
  fingers.delete(event.pointerId);
  if (pinch && fingers.size < 2) pinch = null;
  if (!drag) return;
  if (taken) released(frameAt(event)); else { drag = null; outline(); }
}

function listen() {
  plot.addEventListener("pointerdown", pressed);
  plot.addEventListener("pointermove", pointed);
  plot.addEventListener("pointerup", (event) => lifted(event, true));
  plot.addEventListener("pointercancel", (event) => lifted(event, false));
  plot.addEventListener("wheel", wheeled, { passive: false });
  plot.addEventListener("dblclick", () => { if (state.tool === "pan") wholeMap(); else select(null); });
  frame.addEventListener("mouseleave", hideTip);
  new ResizeObserver(() => resized()).observe(frame);
}

// An outline that is begun goes with its tool.
function useTool(tool) {
  state.tool = tool;
  plot.dataset.drags = tool;
  drag = null;
  if (webgl) outline();
  controls();
  return Promise.resolve();
}
