// A grid over each map: which point is under the pointer, which points lie in an outline.

const GRID = 256; // cells a side
const grids = new Map(); // map → { starts, rows }: rows of cell c are rows[starts[c]] … rows[starts[c + 1] - 1]

function gridOf(map) {
  if (grids.has(map)) return grids.get(map);
  const cell = new Uint16Array(n);
  const starts = new Int32Array(GRID * GRID + 1);
  for (let row = 0; row < n; row++) {
    cell[row] = gridLine(map, 1, map.axes[1][row]) * GRID + gridLine(map, 0, map.axes[0][row]);
    starts[cell[row] + 1]++;
  }
  for (let at = 0; at < GRID * GRID; at++) starts[at + 1] += starts[at];
  const [rows, next] = [new Int32Array(n), starts.slice()];
  for (let row = 0; row < n; row++) rows[next[cell[row]]++] = row;
  grids.set(map, { starts, rows });
  return grids.get(map);
}

function gridLine(map, axis, value) {
  const box = mapBox(map);
  const line = Math.floor((value - box[0][axis]) / (box[1][axis] - box[0][axis]) * GRID);
  return line < 0 ? 0 : line > GRID - 1 ? GRID - 1 : line;
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
  if (isSpace(map)) return rowInSpace(map, place, [x, y]);
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

// The column whose diamond is under a pixel, or null.
function columnAt(place, [x, y]) {
  const found = maps[shownMaps()[place]].columns.map((column) => {
    const at = pixelAt(place, column.at);
    return { column, far: Math.hypot(at[0] - x, at[1] - y) };
  }).filter(({ far }) => far < 9);
  return found.length ? found.reduce((best, one) => (one.far < best.far ? one : best)).column : null;
}

// Whether a point lies inside an outline, whose corners are two arrays.
const isInside = (xs, ys, x, y) => {
  let inside = false;
  for (let at = 0, before = xs.length - 1; at < xs.length; before = at++)
    if ((ys[at] > y) !== (ys[before] > y) && x < (xs[before] - xs[at]) * (y - ys[at]) / (ys[before] - ys[at]) + xs[at]) inside = !inside;
  return inside;
};

// Cells that an outline may run through, as a mask: only their rows are asked one by one.
function crossedCells(map, corners) {
  const crossed = new Uint8Array(GRID * GRID);
  const cellsOf = ([x, y]) => [x, y].map((value, axis) => (value - mapBox(map)[0][axis]) / (mapBox(map)[1][axis] - mapBox(map)[0][axis]) * GRID);
  const line = (value) => Math.max(0, Math.min(GRID - 1, Math.floor(value)));
  corners.forEach((corner, at) => {
    const [[x0, y0], [x1, y1]] = [cellsOf(corner), cellsOf(corners[(at + 1) % corners.length])];
    const steps = Math.ceil(2 * Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0))) + 1;
    if (steps > 8 * GRID) { crossed.fill(1); return; } // it reaches far beyond the map
    for (let step = 0; step <= steps; step++) { // half a cell each, and the cells around
      const [x, y] = [x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps];
      for (let up = line(y - 1); up <= line(y + 1); up++)
        for (let across = line(x - 1); across <= line(x + 1); across++) crossed[up * GRID + across] = 1;
    }
  });
  return crossed;
}

// Shown rows inside an outline in units of a map, as an array that ends with the last one.
function rowsInside(map, corners) {
  const [colors, all, { starts, rows }] = [coloring(map), !isFiltered(), gridOf(map)];
  const [crossed, [xs, ys]] = [crossedCells(map, corners), [0, 1].map((axis) => Float64Array.from(corners, (corner) => corner[axis]))];
  const [[low, high], [first, second]] = [mapBox(map), map.axes];
  const middle = (axis, line) => low[axis] + (line + 0.5) / GRID * (high[axis] - low[axis]);
  const [found, [wide, tall]] = [new Int32Array(n), [0, 1].map((axis) => {
    const [from, to] = endsOf(corners.map((corner) => corner[axis]));
    return [gridLine(map, axis, from), gridLine(map, axis, to)];
  })];
  let total = 0;
  for (let up = tall[0]; up <= tall[1]; up++)
    for (let across = wide[0]; across <= wide[1]; across++) {
      const cell = up * GRID + across;
      if (starts[cell] === starts[cell + 1]) continue;
      const inside = crossed[cell] ? null : isInside(xs, ys, middle(0, across), middle(1, up));
      if (inside === false) continue;
      for (let at = starts[cell]; at < starts[cell + 1]; at++) {
        const row = rows[at];
        if ((all || passes(colors, row)) && (inside || isInside(xs, ys, first[row], second[row]))) found[total++] = row;
      }
    }
  return found.subarray(0, total);
}
