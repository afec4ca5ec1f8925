// Maps in three dimensions: a camera for each, places in pixels, and what a drag does.

const EYE = 4; // halves of the box from its middle to the eye
const FIRST_CAMERA = { turn: 0.8, tilt: 0.42, zoom: 1 }; // radians
const cameras = new Map(); // map → how it is seen
const isSpace = (map) => map.dimensions === 3;
const cameraOf = (map) => cameras.get(map) || FIRST_CAMERA;

// Rows of the matrix that takes the box to the screen: right, up, towards the eye.
function turnOf(map) {
  const { turn, tilt } = cameraOf(map);
  const [s, c, t, u] = [Math.sin(turn), Math.cos(turn), Math.sin(tilt), Math.cos(tilt)];
  return [[-s, c, 0], [-t * c, -t * s, u], [u * c, u * s, t]];
}

// Middle and half width of the box, along each axis; one half for all where lengths mean something.
const spaceBoxes = new Map();
function spaceBox(map) {
  if (!spaceBoxes.has(map)) {
    const ends = [0, 1, 2].map((axis) => endsOf(along(map, axis)));
    const halves = ends.map(([low, high]) => (high - low) / 2 || 1);
    spaceBoxes.set(map, { middles: ends.map(([low, high]) => (low + high) / 2), halves: map.equal ? halves.map(() => Math.max(...halves)) : halves,
      reach: map.equal ? halves.map((half) => half / Math.max(...halves)) : [1, 1, 1] });
  }
  return spaceBoxes.get(map);
}

// Pixels that half of the box takes in the middle of its place.
function spaceUnit(map, place) {
  const [, , width, height] = boxOf(place);
  const size = Math.hypot(...spaceBox(map).reach) / 1.73;
  return 0.26 / size * Math.min(width, height) * cameraOf(map).zoom;
}

// Places in pixels of the frame, as a function of coordinates that adds how near the eye they are.
function projection(map, place) {
  const [{ middles, halves }, rows, unit, [left, top, width, height]] = [spaceBox(map), turnOf(map), spaceUnit(map, place), boxOf(place)];
  return (x, y, z) => {
    const [a, b, c] = [(x - middles[0]) / halves[0], (y - middles[1]) / halves[1], (z - middles[2]) / halves[2]];
    const depth = rows[2][0] * a + rows[2][1] * b + rows[2][2] * c;
    const near = EYE / (EYE - depth) * unit;
    return [left + width / 2 + near * (rows[0][0] * a + rows[0][1] * b), top + height / 2 - near * (rows[1][0] * a + rows[1][1] * b + rows[1][2] * c), depth];
  };
}

// Runs through the shown rows of a space with their pixels.
function eachInSpace(map, place, visit) {
  const [colors, seen, [x, y, z]] = [coloring(map), projection(map, place), map.axes];
  for (let row = 0; row < n; row++) {
    if (!passes(colors, row)) continue;
    const at = seen(x[row], y[row], z[row]);
    visit(row, at[0], at[1], at[2]);
  }
}

// The row under a pixel: of those within two pixels of the nearest, the one before the others.
function rowInSpace(map, place, [px, py]) {
  const close = [];
  eachInSpace(map, place, (row, x, y, depth) => {
    const far = Math.hypot(x - px, y - py);
    if (far < REACH) close.push({ row, far, depth });
  });
  const nearest = Math.min(...close.map(({ far }) => far));
  const found = close.filter(({ far }) => far <= nearest + 2);
  return found.length ? found.reduce((best, one) => (one.depth > best.depth ? one : best)).row : null;
}

function rowsInSpace(map, place, corners) {
  const [xs, ys] = [0, 1].map((axis) => Float64Array.from(corners, (corner) => corner[axis]));
  const found = [];
  eachInSpace(map, place, (row, x, y) => { if (isInside(xs, ys, x, y)) found.push(row); });
  return found;
}

function turnBy(map, { turn = 0, tilt = 0, zoom = 1 }, from = cameraOf(map)) {
  cameras.set(map, { turn: from.turn + turn, tilt: Math.max(-1.57, Math.min(1.57, from.tilt + tilt)),
    zoom: Math.max(0.2, Math.min(200, from.zoom * zoom)) });
}

const shownSpaces = () => shownMaps().map((at) => maps[at]).filter(isSpace);

// For the graphics card: places in halves of the box, in the order of drawing.
function spaceShares(map, total, valueOf) {
  const { middles, halves } = spaceBox(map);
  const at = new Float32Array(3 * total);
  for (let axis = 0; axis < 3; axis++)
    for (let point = 0; point < total; point++) at[3 * point + axis] = (valueOf(point, axis) - middles[axis]) / halves[axis];
  return { at: bufferOf(at), rest: null };
}

// The edges of the box as dots, so that they are drawn as all else is.
const EDGE_DOTS = 80;
function boxEdges(map) {
  const [{ reach }, signs, at] = [spaceBox(map), [-1, 1], []];
  for (let axis = 0; axis < 3; axis++)
    for (const one of signs)
      for (const other of signs)
        for (let dot = 0; dot < EDGE_DOTS; dot++) {
          const place = [one, other];
          place.splice(axis, 0, 2 * dot / (EDGE_DOTS - 1) - 1);
          at.push(...place.map((value, k) => value * reach[k]));
        }
  const total = at.length / 3;
  return { at: bufferOf(Float32Array.from(at)), rest: null, total,
    slots: bufferOf(new Uint8Array(total).fill(EDGE_SLOT)), marks: bufferOf(new Uint8Array(total).fill(2)) };
}

function aimSpace(map, place) {
  const [[, , width, height], unit] = [boxOf(place), spaceUnit(map, place)];
  const [right, up, near] = turnOf(map);
  gl.uniformMatrix3fv(used.uniforms.turn, false, [0, 1, 2].flatMap((axis) => [right[axis], up[axis], near[axis]]));
  gl.uniform2f(used.uniforms.scale, 2 * unit / width, 2 * unit / height);
}
