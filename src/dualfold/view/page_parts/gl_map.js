// Maps, drawn by our own WebGL (version 1): one buffer a map, one call a layer, moved by used.uniforms.

const STEPS_OF_AXIS = 65535; // places along an axis of a large page, as the file has them
const MOST_MOVING = 150000; // points drawn while the map moves; the order is random, so any first part is fair
const LEAST_MOVING = 20000; // of them on a slow machine
const MOST_SOFT = 20000; // rows whose dots have smooth edges even where they are tiny
const STILL_AFTER = 140; // milliseconds without a move until all points and the names are drawn again
const COLUMN_SLOT = 255; // of the palette: points of columns
const EDGE_SLOT = 254; // edges of the box of a space

// A place is the sum of two numbers of single precision: a map stays sharp where it is magnified a million times.
// Layers fainter than 0.05 would lose their hue: a pixel has 256 steps of each colour.
const vertexOf = ({ inputs, place }) => `${inputs}
attribute float slot, mark, crowd; uniform vec2 scale; uniform float wanted, size, big, opacity, thin; uniform mediump float soft;
uniform sampler2D palette;
varying vec4 color; varying float shape, radius;
void main() {
  if (mark != wanted) { gl_Position = vec4(9.0, 9.0, 9.0, 1.0); gl_PointSize = 0.0; return; }
  vec4 hue = texture2D(palette, vec2((slot + 0.5) / 256.0, 0.5));
  shape = hue.a > 0.9 ? 0.0 : hue.a > 0.4 ? 1.0 : 2.0;
  color = vec4(hue.rgb, min(opacity, max(thin * exp2(-crowd / 16.0), 0.05)));
  radius = 0.5 * (shape > 0.5 ? big : size);
  ${place}
  gl_PointSize = 2.0 * radius + soft;
}`;
const PLANE = {
  inputs: "attribute vec2 at, rest; uniform vec2 centre, centreRest;",
  place: "gl_Position = vec4(((at - centre) + (rest - centreRest)) * scale, 0.0, 1.0);" };
const SPACE = {
  inputs: "attribute vec3 at; uniform mat3 turn;",
  place: `vec3 seen = turn * at; float near = ${EYE}.0 / (${EYE}.0 - seen.z); radius *= near;
  gl_Position = vec4(seen.xy * near * scale, -0.4 * seen.z, 1.0);` };
// Discs, triangles and diamonds with smooth edges; tiny dots of a large map are squares, which cost the least.
const FRAGMENT = `
precision mediump float; varying vec4 color; varying float shape, radius; uniform float soft, rim, cut; uniform vec3 ground;
void main() {
  vec2 from = (2.0 * gl_PointCoord - 1.0) * (radius + 0.5 * soft);
  float inside = shape < 0.5 ? (soft > 0.0 ? radius - length(from) : 1.0)
    : shape < 1.5 ? min(0.5 * radius - from.y, 0.5 * radius - 0.866 * abs(from.x) + 0.5 * from.y)
    : 0.7071 * (radius - abs(from.x) - abs(from.y));
  float part = clamp(inside + 0.5, 0.0, 1.0);
  if (part <= cut) discard;
  float cover = part * color.a;
  vec3 hue = shape > 0.5 && rim > 0.0 ? mix(ground, color.rgb, clamp(inside - rim + 0.5, 0.0, 1.0)) : color.rgb;
  gl_FragColor = vec4(hue * cover, cover);
}`;

let gl = null;
let canvas = null;
let palette = null;
let programs = {}; // of planes and of spaces, each { program, uniforms, attributes }
let used = null; // the one at work
let placeBuffers = new Map(); // map → { at, rest, columns, crowds, key } on the graphics card
let paintings = new Map(); // map, or null for all maps → { slots, marks, counts, hues }
const timing = { script: 0, frames: 0, calls: 0 }; // for benchmarks: milliseconds of our code in all frames

function shaderOf(kind, source) {
  const made = gl.createShader(kind);
  gl.shaderSource(made, source);
  gl.compileShader(made);
  return made;
}

function programOf(kind) {
  const program = gl.createProgram();
  gl.attachShader(program, shaderOf(gl.VERTEX_SHADER, vertexOf(kind)));
  gl.attachShader(program, shaderOf(gl.FRAGMENT_SHADER, FRAGMENT));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error(gl.getProgramInfoLog(program));
  const located = (names, find) => Object.fromEntries(names.map((name) => [name, find(name)]));
  return { program,
    uniforms: located(["scale", "centre", "centreRest", "turn", "wanted", "size", "big", "opacity", "thin", "soft", "rim", "cut", "ground"],
      (name) => gl.getUniformLocation(program, name)),
    attributes: located(["at", "rest", "slot", "mark", "crowd"], (name) => gl.getAttribLocation(program, name)) };
}

function use(program) {
  if (used) for (const at of Object.values(used.attributes)) if (at >= 0) gl.disableVertexAttribArray(at);
  used = program;
  gl.useProgram(program.program);
}

function prepareCanvas() {
  if (!canvas) {
    canvas = element("canvas", { class: "points" });
    plot.append(canvas);
    // A notebook of many pages takes contexts away; they come back when the reader does.
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => { gl = null; draw(); });
  }
  gl = canvas.getContext("webgl", { antialias: false, preserveDrawingBuffer: true, premultipliedAlpha: true });
  [placeBuffers, paintings] = [new Map(), new Map()];
  programs = { plane: programOf(PLANE), space: maps.some(isSpace) ? programOf(SPACE) : null };
  palette = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, palette);
  for (const key of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, key, gl.NEAREST);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.enable(gl.SCISSOR_TEST);
}

function bufferOf(values, had = null) {
  const buffer = had || gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
  return buffer;
}

// Coordinates as shares of the map's box, in two parts; from [x, y] of each of `total` points.
function sharesOf(map, total, valueOf) {
  const [low, high] = mapBox(map);
  const [at, rest] = [new Float32Array(2 * total), new Float32Array(2 * total)];
  for (let axis = 0; axis < 2; axis++)
    for (let point = 0; point < total; point++) {
      const share = (valueOf(point, axis) - low[axis]) / (high[axis] - low[axis]);
      at[2 * point + axis] = share;
      rest[2 * point + axis] = share - at[2 * point + axis];
    }
  return { at: bufferOf(at), rest: bufferOf(rest) };
}

function placesOf(map) {
  if (placeBuffers.has(map)) return placeBuffers.get(map);
  let places;
  const shares = isSpace(map) ? spaceShares : sharesOf;
  if (map.steps && !isSpace(map)) { // both steps of a point as one number of 32 bits
    const [from, to] = [new Uint32Array(map.steps.buffer), new Uint32Array(n)];
    for (let at = 0; at < n; at++) to[at] = from[order[at]];
    places = { at: bufferOf(to), rest: null };
  } else places = shares(map, n, (point, axis) => map.axes[axis][order[point]]);
  if (isSpace(map)) places.edges = boxEdges(map);
  if (hasColumns(map)) {
    const total = map.columns.length;
    places.columns = { ...shares(map, total, (point, axis) => map.columns[point].at[axis]),
      slots: bufferOf(new Uint8Array(total).fill(COLUMN_SLOT)), marks: bufferOf(new Uint8Array(total).fill(2)) };
  }
  placeBuffers.set(map, places);
  return places;
}

// How crowded the place of each point is, of the rows that are shown.
function crowdBuffer(map, places) {
  const { key } = shownDensity(map);
  if (places.key !== key) [places.key, places.crowds] = [key, bufferOf(crowdsOf(map), places.crowds)];
  return places.crowds;
}

const parsed = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));

// Which colour and which layer each point has: asked again after a choice, not after a move.
function paint(map, had) {
  const colors = coloring(map);
  const [slots, marks] = [new Uint8Array(n), new Uint8Array(n)]; // in the order of drawing; marks: 0 hidden, 1 faint, 2 clear
  const chosen = state.selected && maskOf(state.selected);
  const rest = chosen || state.focus !== null ? 1 : 2;
  const counts = [0, 0, 0];
  const all = !state.hidden.size && !state.range;
  for (let at = 0; at < n; at++) {
    const row = order[at];
    slots[at] = colors.slots[row];
    marks[at] = !all && !passes(colors, row) ? 0 : chosen && chosen[row] ? 2 : rest;
    counts[marks[at]]++;
  }
  const hues = new Uint8Array(4 * 256);
  colors.list.forEach(({ color, shape }, slot) => hues.set([...parsed(color), shape ? 128 : 255], 4 * slot));
  hues.set([...parsed(columnColor()), 64], 4 * COLUMN_SLOT);
  hues.set([...parsed(ink("--divider")), 255], 4 * EDGE_SLOT);
  return { slots: bufferOf(slots, had && had.slots), marks: bufferOf(marks, had && had.marks), counts, hues };
}

// Scores are of one map each; all else looks the same on all maps.
const paintedBy = (map) => (state.beside && state.color.startsWith("score:") ? map : null);
function paintAll() {
  for (const at of shownMaps()) {
    const key = paintedBy(maps[at]);
    if (key === null && at !== shownMaps()[0]) break;
    paintings.set(key, paint(key || maps[state.map], paintings.get(key)));
  }
}
const paintingOf = (map) => paintings.get(paintedBy(map));

function fitCanvas(scale) {
  const [width, height] = [Math.round(frame.clientWidth * scale), Math.round(frame.clientHeight * scale)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
}

function attribute(name, buffer, size, kind, normal) {
  const at = used.attributes[name];
  if (at < 0) return; // this program has none
  if (!buffer) { gl.disableVertexAttribArray(at); gl.vertexAttrib2f(at, 0, 0); return; }
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(at);
  gl.vertexAttribPointer(at, size, kind, normal, 0, 0);
}

function drawLayer({ at, rest, crowds }, { slots, marks }, layer, total) {
  const space = used === programs.space;
  attribute("at", at, space ? 3 : 2, space || rest ? gl.FLOAT : gl.UNSIGNED_SHORT, !space);
  attribute("rest", rest, 2, gl.FLOAT, false);
  attribute("slot", slots, 1, gl.UNSIGNED_BYTE, false);
  attribute("mark", marks, 1, gl.UNSIGNED_BYTE, false);
  gl.uniform1f(used.uniforms.wanted, layer);
  attribute("crowd", crowds || null, 1, gl.UNSIGNED_BYTE, false);
  gl.drawArrays(gl.POINTS, 0, total);
  timing.calls++;
}

// Where the box of the frame is and what of the map it shows.
function aim(map, place, scale) {
  use(isSpace(map) ? programs.space : programs.plane);
  const [left, top, width, height] = boxOf(place).map((value) => value * scale);
  const box = [Math.round(left), Math.round(canvas.height - top - height), Math.round(width), Math.round(height)];
  gl.viewport(...box);
  gl.scissor(...box);
  if (isSpace(map)) { aimSpace(map, place); return; }
  const [span, [low, high]] = [currentSpans()[place], mapBox(map)];
  const middles = ["x", "y"].map((letter, axis) => ((span[letter][0] + span[letter][1]) / 2 - low[axis]) / (high[axis] - low[axis]));
  const near = middles.map(Math.fround);
  gl.uniform2f(used.uniforms.centre, near[0], near[1]);
  gl.uniform2f(used.uniforms.centreRest, middles[0] - near[0], middles[1] - near[1]);
  gl.uniform2f(used.uniforms.scale, ...["x", "y"].map((letter, axis) => 2 * (high[axis] - low[axis]) / (span[letter][1] - span[letter][0])));
}

// One map into its box of the frame: faint points first, so that chosen ones lie on top.
function drawMap(place, scale, total) {
  const map = maps[shownMaps()[place]];
  const [places, painting] = [placesOf(map), paintingOf(map)];
  const { size, opacity, thin } = lookOf(map, place, total);
  if (n > MOST_PLAIN && !isSpace(map)) crowdBuffer(map, places);
  const soft = n <= MOST_SOFT || size * scale > 2.5 ? 1 : 0;
  aim(map, place, scale);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, painting.hues);
  gl.uniform3f(used.uniforms.ground, ...parsed(ink("--card")).map((part) => part / 255));
  gl.uniform1f(used.uniforms.big, 1.2 * shapeSize(size) * scale); // a triangle fills less of its circle than of its box
  if (isSpace(map)) startSpace(places.edges, scale);
  gl.uniform1f(used.uniforms.soft, soft);
  gl.uniform1f(used.uniforms.size, size * scale);
  for (const layer of [1, 2]) {
    gl.depthMask(layer === 2); // faint points hide none
    if (!painting.counts[layer]) continue;
    const some = layer === 1 ? Math.min(total, MOST_MOVING) : total; // what is not chosen is a ground for the rest
    gl.uniform1f(used.uniforms.opacity, layer === 1 ? 0.14 : opacity);
    gl.uniform1f(used.uniforms.thin, layer === 1 ? 0.15 * thin * total / some : state.selected ? 4 * thin : thin);
    gl.uniform1f(used.uniforms.rim, layer === 2 && n <= MOST_PLAIN ? 0.8 * scale : 0);
    drawLayer(places, painting, layer, some);
  }
  drawColumns(map, places, scale);
  gl.disable(gl.DEPTH_TEST);
}

// In a space near points hide those behind them; the edges of its box come first.
function startSpace(edges, scale) {
  gl.depthMask(true);
  gl.clear(gl.DEPTH_BUFFER_BIT);
  gl.enable(gl.DEPTH_TEST);
  gl.uniform1f(used.uniforms.cut, 0.4);
  for (const [name, value] of [["size", 1.4 * scale], ["soft", 1], ["opacity", 0.8], ["thin", 1e9], ["rim", 0]]) gl.uniform1f(used.uniforms[name], value);
  drawLayer(edges, edges, 2, edges.total);
}

function drawColumns(map, places, scale) {
  if (!places.columns) return;
  gl.uniform1f(used.uniforms.soft, 1);
  gl.uniform1f(used.uniforms.big, (map.columns.length > MOST_POINT_NAMES ? 8 : 13) * scale);
  gl.uniform1f(used.uniforms.opacity, state.focus === null ? 1 : 0.45);
  gl.uniform1f(used.uniforms.thin, 1e9);
  gl.uniform1f(used.uniforms.rim, 0.8 * scale);
  drawLayer(places.columns, places.columns, 2, map.columns.length);
}

function drawPoints(total = n, scale = window.devicePixelRatio || 1) {
  const begin = performance.now();
  fitCanvas(scale);
  gl.scissor(0, 0, canvas.width, canvas.height);
  gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT);
  shownMaps().forEach((_, place) => drawMap(place, scale, Math.min(n, total)));
  timing.script += performance.now() - begin;
  timing.frames++;
}

async function draw() {
  if (!webgl) return;
  if (!gl) prepareCanvas();
  paintAll();
  drawPoints();
  titles(shownMaps());
  overlay();
}

// The map alone, as sharp as the picture that it goes into.
function mapImage(width, height, scale) {
  drawPoints(n, scale);
  const copy = element("canvas", { width: canvas.width, height: canvas.height });
  copy.getContext("2d").drawImage(canvas, 0, 0);
  drawPoints();
  return copy;
}

const shownCount = () => (webgl ? shownMaps().reduce((sum, at) => sum + paintingOf(maps[at]).counts[1] + paintingOf(maps[at]).counts[2], 0) : 0);
const clearCounts = () => (webgl ? shownMaps().map((at) => paintingOf(maps[at]).counts[2]) : []);
const shownColors = () => {
  const colors = coloring(maps[state.map]);
  const used = new Set();
  for (let row = 0; row < n; row++) if (passes(colors, row)) used.add(colors.slots[row]);
  return [...new Set([...used].map((slot) => colors.list[slot].color))];
};
