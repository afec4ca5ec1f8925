// Counts on a grid: where the names of groups go, and lines around where most points are.

const CELLS = 96; // a side of the grid: finer than a name is wide, coarse enough to be smooth
const MIXED = 4; // cells around a name in which its group must be the most: about as far as the name reaches
const ENCLOSED = [0.25, 0.5, 0.75, 0.9]; // shares of the points inside the contours

// Three passes of a running mean are a Gaussian, to the eye.
function smoothed(counts, radius) {
  let [from, to] = [Float64Array.from(counts), new Float64Array(counts.length)];
  for (let pass = 0; pass < 6; pass++) {
    const [step, stride] = pass % 2 ? [CELLS, 1] : [1, CELLS];
    for (let line = 0; line < CELLS; line++) {
      let sum = 0;
      for (let at = 0; at < radius; at++) sum += from[line * stride + at * step];
      for (let at = 0; at < CELLS; at++) {
        if (at + radius < CELLS) sum += from[line * stride + (at + radius) * step];
        if (at - radius - 1 >= 0) sum -= from[line * stride + (at - radius - 1) * step];
        to[line * stride + at * step] = sum / (2 * radius + 1);
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

const cellsOfMap = new Map(); // map → the cell of each row
function cells(map) {
  if (cellsOfMap.has(map)) return cellsOfMap.get(map);
  const found = new Int32Array(n);
  const { x, y } = home(map);
  const [[across, up], [wide, high]] = [map.axes, [CELLS / (x[1] - x[0]), CELLS / (y[1] - y[0])]];
  const line = (value) => Math.max(0, Math.min(CELLS - 1, Math.floor(value)));
  for (let row = 0; row < n; row++) found[row] = line((up[row] - y[0]) * high) * CELLS + line((across[row] - x[0]) * wide);
  cellsOfMap.set(map, found);
  return found;
}

// The middle of a cell in units of the map; whole numbers are middles.
function unitsOf(map, across, up) {
  const { x, y } = home(map);
  return [x[0] + (across + 0.5) / CELLS * (x[1] - x[0]), y[0] + (up + 0.5) / CELLS * (y[1] - y[0])];
}

// Islands of a group: cells that hang together and are dense for it; the largest first. Only those around
// whose top the group's share of the points, `crowd`, is nearer to all than to what it has anywhere (null: all of them).
function islands(counts, total, crowd) {
  const dense = smoothed(counts, 2);
  const own = smoothed(counts, MIXED);
  const least = 0.5 + 0.5 * total / n - 1e-9;
  const peak = dense.reduce((most, value) => Math.max(most, value), 0);
  const seen = new Uint8Array(dense.length);
  const found = [];
  for (let start = 0; start < dense.length; start++) {
    if (seen[start] || dense[start] < 0.15 * peak) continue;
    const island = { mass: 0, top: start };
    const stack = [start];
    seen[start] = 1;
    while (stack.length) {
      const cell = stack.pop();
      island.mass += counts[cell];
      if (dense[cell] > dense[island.top]) island.top = cell;
      const across = cell % CELLS;
      for (const next of [across ? cell - 1 : -1, across < CELLS - 1 ? cell + 1 : -1, cell - CELLS, cell + CELLS])
        if (next >= 0 && next < dense.length && !seen[next] && dense[next] >= 0.15 * peak) { seen[next] = 1; stack.push(next); }
    }
    if (island.mass >= 0.25 * total && (!crowd || own[island.top] >= least * crowd[island.top])) found.push(island);
  }
  return found.sort((a, b) => b.mass - a.mass).slice(0, 3);
}

// Heights that enclose the wanted shares of the points.
function heightsOf(dense) {
  const sorted = Float64Array.from(dense).sort().reverse();
  const total = sorted.reduce((sum, value) => sum + value, 0);
  const heights = [];
  let sum = 0;
  for (const value of sorted) {
    sum += value;
    while (heights.length < ENCLOSED.length && sum >= ENCLOSED[heights.length] * total) heights.push(value);
  }
  return heights;
}

// Marching squares: the pieces of one contour, as [x1, y1, x2, y2] in cells.
function contour(dense, height) {
  const pieces = [];
  const cross = (a, b) => (height - a) / (b - a);
  for (let up = 0; up < CELLS - 1; up++)
    for (let across = 0; across < CELLS - 1; across++) {
      const at = up * CELLS + across;
      const corner = [dense[at], dense[at + 1], dense[at + CELLS + 1], dense[at + CELLS]];
      const sides = [];
      if ((corner[0] < height) !== (corner[1] < height)) sides.push([across + cross(corner[0], corner[1]), up]);
      if ((corner[1] < height) !== (corner[2] < height)) sides.push([across + 1, up + cross(corner[1], corner[2])]);
      if ((corner[3] < height) !== (corner[2] < height)) sides.push([across + cross(corner[3], corner[2]), up + 1]);
      if ((corner[0] < height) !== (corner[3] < height)) sides.push([across, up + cross(corner[0], corner[3])]);
      for (let side = 0; side + 1 < sides.length; side += 2) pieces.push([...sides[side], ...sides[side + 1]]);
    }
  return pieces;
}

// Shown rows in each cell, smoothed: { key, dense, typical }, as long as the same rows are shown.
const densities = new Map();
const isFiltered = () => state.hidden.size > 0 || state.range !== null;
function shownDensity(map) {
  const key = isFiltered() ? `${state.color}|${[...state.hidden].sort()}|${state.range}` : "";
  const had = densities.get(map);
  if (had && had.key === key) return had;
  const [counts, where, colors, all] = [new Float64Array(CELLS * CELLS), cells(map), coloring(map), !isFiltered()];
  for (let row = 0; row < n; row++) if (all || passes(colors, row)) counts[where[row]]++;
  const dense = smoothed(counts, 2);
  const [sum, squares] = dense.reduce(([first, second], value) => [first + value, second + value * value], [0, 0]);
  densities.set(map, { key, dense, typical: Math.max(1, squares / (sum || 1)) }); // typical: around a row, on average
  return densities.get(map);
}

const contoursOf = new Map(); // map → { key, paths }
function contours(map) {
  const { key, dense } = shownDensity(map);
  const had = contoursOf.get(map);
  if (had && had.key === key) return had.paths;
  const paths = heightsOf(dense).map((height) => contour(dense, height).map(([x1, y1, x2, y2]) =>
    `M${x1.toFixed(2)} ${y1.toFixed(2)}L${x2.toFixed(2)} ${y2.toFixed(2)}`).join(""));
  contoursOf.set(map, { key, paths });
  return paths;
}
