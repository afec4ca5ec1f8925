// The map of very many rows, drawn by our own WebGL: one buffer, one call a layer, moved by uniforms.

const STEPS_OF_AXIS = 65535; // places along an axis, as the file has them
const FEW = 150000; // points that are drawn while the map moves; the order is random, so any first part is fair
const STILL_AFTER = 140; // milliseconds without a move until all points and the names are drawn again

const VERTEX = `#version 300 es
layout(location = 0) in vec2 at; layout(location = 1) in uint slot; layout(location = 2) in uint mark;
uniform vec2 scale, offset; uniform uint wanted; uniform float size, big, opacity; uniform sampler2D palette;
flat out vec4 color; flat out float triangle;
void main() {
  if (mark != wanted) { gl_Position = vec4(9.0, 9.0, 9.0, 1.0); gl_PointSize = 0.0; return; }
  vec4 hue = texelFetch(palette, ivec2(int(slot), 0), 0);
  triangle = hue.a < 0.9 ? 1.0 : 0.0;
  color = vec4(hue.rgb, opacity);
  gl_PointSize = triangle > 0.5 ? big : size;
  gl_Position = vec4(at * scale + offset, 0.0, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float; flat in vec4 color; flat in float triangle; uniform float size; out vec4 seen;
void main() {
  vec2 from = 2.0 * gl_PointCoord - 1.0;
  if (triangle > 0.5 ? abs(from.x) > 0.5 * (from.y + 1.0) : size > 2.5 && dot(from, from) > 1.0) discard;
  seen = vec4(color.rgb * color.a, color.a);
}`;

let gl = null;
let canvas = null;
const uniforms = {};
const buffers = new Map(); // map → its places on the graphics card
let slotBuffer = null;
let markBuffer = null;
let palette = null;
const marks = new Uint8Array(n); // in the order of drawing: 0 hidden, 1 faint, 2 clear
let counts = [0, 0, 0];
const timing = { script: 0, frames: 0, calls: 0 }; // for benchmarks: milliseconds of our code in all frames

function shaderOf(kind, source) {
  const made = gl.createShader(kind);
  gl.shaderSource(made, source);
  gl.compileShader(made);
  return made;
}

function prepareCanvas() {
  canvas = element("canvas", { class: "points" });
  plot.append(canvas);
  gl = canvas.getContext("webgl2", { antialias: false, preserveDrawingBuffer: true, premultipliedAlpha: true });
  const program = gl.createProgram();
  gl.attachShader(program, shaderOf(gl.VERTEX_SHADER, VERTEX));
  gl.attachShader(program, shaderOf(gl.FRAGMENT_SHADER, FRAGMENT));
  gl.linkProgram(program);
  gl.useProgram(program);
  for (const name of ["scale", "offset", "wanted", "size", "big", "opacity"]) uniforms[name] = gl.getUniformLocation(program, name);
  [slotBuffer, markBuffer, palette] = [gl.createBuffer(), gl.createBuffer(), gl.createTexture()];
  gl.bindTexture(gl.TEXTURE_2D, palette);
  for (const key of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, key, gl.NEAREST);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.enable(gl.SCISSOR_TEST);
}

function fillBuffer(buffer, values) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
}

function placesOf(map) {
  if (buffers.has(map)) return buffers.get(map);
  const places = new Uint16Array(2 * n);
  const [low, high] = map.box;
  for (let axis = 0; axis < 2; axis++) {
    const [values, share] = [map.axes[axis], STEPS_OF_AXIS / (high[axis] - low[axis])];
    for (let at = 0; at < n; at++) places[2 * at + axis] = Math.round((values[order[at]] - low[axis]) * share);
  }
  const buffer = gl.createBuffer();
  fillBuffer(buffer, places);
  buffers.set(map, buffer);
  return buffer;
}

// Which colour and which layer each point has: asked again after a choice, not after a move.
function paint(map) {
  const colors = coloring(map);
  const slots = new Uint8Array(n);
  const chosen = state.selected && maskOf(state.selected);
  const rest = chosen || state.focus !== null ? 1 : 2;
  counts = [0, 0, 0];
  for (let at = 0; at < n; at++) {
    const row = order[at];
    slots[at] = colors.slots[row];
    marks[at] = !passes(colors, row) ? 0 : chosen && chosen[row] ? 2 : rest;
    counts[marks[at]]++;
  }
  fillBuffer(slotBuffer, slots);
  fillBuffer(markBuffer, marks);
  const hues = new Uint8Array(4 * 256);
  colors.list.forEach(({ color, shape }, slot) => hues.set([1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)).concat(shape ? 128 : 255), 4 * slot));
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, hues);
  return colors;
}

function fitCanvas() {
  const scale = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(frame.clientWidth * scale), Math.round(frame.clientHeight * scale)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  return scale;
}

function attribute(at, buffer, size, kind, whole) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(at);
  if (whole) gl.vertexAttribIPointer(at, size, kind, 0, 0);
  else gl.vertexAttribPointer(at, size, kind, true, 0, 0);
}

// One map into its box of the frame: faint points first, so that chosen ones lie on top.
function drawMap(place, scale, total) {
  const map = maps[shownMaps()[place]];
  const [left, top, width, height] = boxOf(place).map((value) => value * scale);
  const [span, [low, high]] = [currentSpans()[place], map.box];
  const box = [Math.round(left), Math.round(canvas.height - top - height), Math.round(width), Math.round(height)];
  gl.viewport(...box);
  gl.scissor(...box);
  attribute(0, placesOf(map), 2, gl.UNSIGNED_SHORT, false);
  const share = ["x", "y"].map((letter, axis) => [2 * (high[axis] - low[axis]) / (span[letter][1] - span[letter][0]),
    2 * (low[axis] - span[letter][0]) / (span[letter][1] - span[letter][0]) - 1]);
  gl.uniform2f(uniforms.scale, share[0][0], share[1][0]);
  gl.uniform2f(uniforms.offset, share[0][1], share[1][1]);
  gl.uniform1f(uniforms.size, pointSize() * scale);
  gl.uniform1f(uniforms.big, sizeOf(1) * scale);
  for (const layer of [1, 2]) {
    if (!counts[layer]) continue;
    gl.uniform1ui(uniforms.wanted, layer);
    gl.uniform1f(uniforms.opacity, layer === 1 ? 0.14 * Math.min(1, Math.sqrt(50000 / n)) : pointOpacity());
    gl.drawArrays(gl.POINTS, 0, total);
    timing.calls++;
  }
}

function drawPoints(total = n) {
  const begin = performance.now();
  const scale = fitCanvas();
  gl.scissor(0, 0, canvas.width, canvas.height);
  gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT);
  attribute(1, slotBuffer, 1, gl.UNSIGNED_BYTE, true);
  attribute(2, markBuffer, 1, gl.UNSIGNED_BYTE, true);
  shownMaps().forEach((at, place) => {
    if (state.beside && state.color.startsWith("score:")) paint(maps[at]); // scores are of one map each
    drawMap(place, scale, Math.min(n, total));
  });
  timing.script += performance.now() - begin;
  timing.frames++;
}

async function draw() {
  if (!webgl) return;
  if (!gl) prepareCanvas();
  paint(maps[state.map]);
  drawPoints();
  titles(shownMaps());
  overlay();
}

// While the map moves few points are drawn and the marks over it are carried along; then all is drawn anew.
let waiting = null; // the next frame
let later = null; // the timer of the whole drawing
let spanBefore = null; // what the overlay was drawn for

function carryOverlay() {
  const layer = by("overlay");
  if (state.beside) { layer.style.visibility = "hidden"; return; }
  const [now, [left, top, width, height]] = [spans[0], boxOf(0)];
  const grown = ["x", "y"].map((letter) => (spanBefore[letter][1] - spanBefore[letter][0]) / (now[letter][1] - now[letter][0]));
  const across = left + (spanBefore.x[0] - now.x[0]) / (now.x[1] - now.x[0]) * width;
  const down = top + (now.y[1] - spanBefore.y[1]) / (now.y[1] - now.y[0]) * height;
  layer.style.transformOrigin = "0 0";
  layer.style.transform = `translate(${across}px, ${down}px) scale(${grown[0]}, ${grown[1]}) translate(${-left}px, ${-top}px)`;
}

function settle() {
  clearTimeout(later);
  later = null;
  spanBefore = null;
  by("overlay").style.transform = by("overlay").style.visibility = "";
  drawPoints();
  overlay();
}

function moving(wanted) {
  if (!spanBefore) spanBefore = currentSpans()[0];
  spans = wanted.map((span, place) => squared(place, span));
  clearTimeout(later);
  later = setTimeout(settle, STILL_AFTER);
  if (waiting !== null) return;
  waiting = requestAnimationFrame(() => {
    const begin = performance.now();
    waiting = null;
    if (!spanBefore) return; // all of it is drawn already
    carryOverlay();
    tellMove();
    timing.script += performance.now() - begin;
    drawPoints(FEW);
  });
}

function moveTo(wanted) {
  spans = wanted.map((span, place) => squared(place, span));
  if (gl) settle();
  tellMove();
  return Promise.resolve();
}

function resized() {
  if (!gl || themeBefore !== null || frame.clientWidth < 40 || frame.clientHeight < 40) return;
  if (canvas.width === Math.round(frame.clientWidth * devicePixelRatio) && canvas.height === Math.round(frame.clientHeight * devicePixelRatio)) return;
  moveTo(currentSpans());
  titles(shownMaps());
}

const mapImage = () => { drawPoints(); return loaded(canvas.toDataURL()); };
const shownCount = () => (counts[1] + counts[2]) * shownMaps().length;
const shownColors = () => {
  const colors = coloring(maps[state.map]);
  const used = new Set();
  for (let at = 0; at < n; at++) if (marks[at]) used.add(colors.slots[order[at]]);
  return [...new Set([...used].map((slot) => colors.list[slot].color))];
};
