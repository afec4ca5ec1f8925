// Names of groups on the map: coarse ones large, finer ones inside them, none over another. A name stands
// only where its group is at home: where groups lie mixed it would say what is not so.

const MOST_NAMED = 60; // groups of a column that can get a name
const LEVELS = [ // of nested columns, the coarsest first
  { size: 20, weight: 700, spacing: "0.06em", opacity: 0.7 },
  { size: 15, weight: 700, spacing: "0", opacity: 1 },
  { size: 11.5, weight: 600, spacing: "0", opacity: 0.95 },
];
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const pen = document.createElement("canvas").getContext("2d");

// Whether (nearly) every group of `fine` lies inside one group of `coarse`.
function nests(fine, coarse) {
  if (fine.labels.length <= coarse.labels.length || fine.labels.length > 400) return false;
  const counts = new Map();
  for (let row = 0; row < n; row++) {
    const key = fine.codes[row] * coarse.labels.length + coarse.codes[row];
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  const most = new Float64Array(fine.labels.length);
  for (const [key, total] of counts) {
    const group = Math.floor(key / coarse.labels.length);
    most[group] = Math.max(most[group], total);
  }
  return most.reduce((sum, total) => sum + total, 0) >= 0.95 * n;
}

const nestedOf = new Map(); // column → the columns to name groups by, the coarsest first
function nestedColumns(column) {
  // Judgements are no names: the map has those of the groups that are judged.
  if (audit && column.name === audit.colored)
    return columns.filter((other) => other.name === audit.column && audit.groups.length).map((named) => ({ column: named, level: LEVELS[1] }));
  if (!nestedOf.has(column)) {
    const groups = columns.filter((other) => other.kind === "class" && other !== column && other.labels.length > 1
      && !isText(other) && other.group !== "score" && !(audit && other.name === audit.colored));
    const byGroups = (a, b) => a.labels.length - b.labels.length;
    const above = groups.filter((other) => nests(column, other)).sort(byGroups).at(-1);
    const below = groups.filter((other) => nests(other, column)).sort(byGroups)[0];
    nestedOf.set(column, [above, column, below].map((named, at) => named && { column: named, level: LEVELS[at] }).filter(Boolean));
  }
  return nestedOf.get(column);
}

const anchorsOf = new Map(); // map → column → where its groups are
function anchors(map, column) {
  if (!anchorsOf.has(map)) anchorsOf.set(map, new Map());
  const known = anchorsOf.get(map);
  if (known.has(column)) return known.get(column);
  const sizes = new Float64Array(column.labels.length);
  for (let row = 0; row < n; row++) sizes[column.codes[row]]++;
  const named = Array.from(sizes.keys()).filter((code) => column.labels[code] !== "" && sizes[code] >= Math.max(3, 0.002 * n))
    .sort((a, b) => sizes[b] - sizes[a]).slice(0, MOST_NAMED);
  const place = new Int32Array(sizes.length).fill(-1);
  named.forEach((code, at) => { place[code] = at; });
  const counts = named.map(() => new Float64Array(CELLS * CELLS));
  const all = new Float64Array(CELLS * CELLS);
  const where = cells(map);
  for (let row = 0; row < n; row++) {
    const at = place[column.codes[row]];
    if (at >= 0) counts[at][where[row]]++;
    all[where[row]]++;
  }
  // Groups that were found on the map itself are at home wherever they lie.
  const crowd = audit && column.name === audit.column ? null : smoothed(all, MIXED);
  const found = named.flatMap((code, at) => islands(counts[at], sizes[code], crowd).map(({ mass, top }) => ({
    code, mass, text: short(column.labels[code], 26), slot: column.slots[code],
    at: unitsOf(map, top % CELLS, Math.floor(top / CELLS)) })));
  found.sort((a, b) => b.mass - a.mass);
  known.set(column, found);
  return found;
}

// Where dots are, in cells of a few pixels, as sums from the upper left: a box is free or not at once.
const DOT_CELL = 5;
const MOST_ASKED = 150000; // rows, of which a random part says where dots are
let lastDots = ["", null]; // of which view, and its answer: a click or a selection changes no place
function dotsOn(map, place) {
  const { x, y } = currentSpans()[place] || { x: [], y: Object.values(cameraOf(map)) };
  const view = [maps.indexOf(map), ...boxOf(place), ...x, ...y, state.color, ...state.hidden, "", state.range].join();
  if (lastDots[0] !== view) lastDots = [view, countDots(map, place)];
  return lastDots[1];
}

function countDots(map, place) {
  const [left, top, width, height] = boxOf(place);
  const [across, down] = [Math.ceil(width / DOT_CELL) + 1, Math.ceil(height / DOT_CELL) + 1];
  const counts = new Int32Array((across + 1) * (down + 1));
  const colors = coloring(map);
  const reach = pointSize() / 2 + 1;
  const cell = (pixel, most) => Math.max(0, Math.min(most, Math.floor(pixel / DOT_CELL)));
  // One matrix for all rows: a question to the page for each of a million would take seconds.
  const [[x0, y0], [x1, y1], [xs, ys]] = [pixelAt(place, [0, 0, 0]), pixelAt(place, [1, 1, 1]), map.axes];
  const seen = isSpace(map) ? projection(map, place) : null;
  for (let at = 0; at < Math.min(n, MOST_ASKED); at++) {
    const row = order[at];
    if (!passes(colors, row)) continue;
    const [x, y] = seen ? seen(xs[row], ys[row], map.axes[2][row]) : [x0 + (x1 - x0) * xs[row], y0 + (y1 - y0) * ys[row]];
    if (x < left - reach || y < top - reach || x > left + width + reach || y > top + height + reach) continue;
    const [right, bottom] = [cell(x - left + reach, across - 1), cell(y - top + reach, down - 1)];
    for (let j = cell(y - top - reach, down - 1); j <= bottom; j++)
      for (let i = cell(x - left - reach, across - 1); i <= right; i++) counts[(j + 1) * (across + 1) + i + 1] = 1;
  }
  for (let j = 1; j <= down; j++)
    for (let i = 1; i <= across; i++)
      counts[j * (across + 1) + i] += counts[(j - 1) * (across + 1) + i] + counts[j * (across + 1) + i - 1] - counts[(j - 1) * (across + 1) + i - 1];
  // Cells with dots in a box around a place, in pixels of the map.
  return (cx, cy, w, h) => {
    const clamp = (value, most) => Math.max(0, Math.min(most, value));
    const [i0, i1] = [clamp(Math.floor((cx - w / 2) / DOT_CELL), across), clamp(Math.ceil((cx + w / 2) / DOT_CELL), across)];
    const [j0, j1] = [clamp(Math.floor((cy - h / 2) / DOT_CELL), down), clamp(Math.ceil((cy + h / 2) / DOT_CELL), down)];
    const at = (i, j) => counts[j * (across + 1) + i];
    return at(i1, j1) - at(i0, j1) - at(i1, j0) + at(i0, j0);
  };
}

// The place nearest to (x, y) where a name of w × h pixels covers neither dots nor names; null without one.
const TURNS = 24; // directions that are tried, from the top on
function freeSpot(x, y, [w, h], isFree, farthest) {
  if (isFree(x, y, w, h)) return [x, y];
  for (let r = 4; r <= farthest; r += 6)
    for (let turn = 0; turn < TURNS; turn++) {
      const angle = 2 * Math.PI * turn / TURNS - Math.PI / 2;
      const spot = [x + Math.cos(angle) * (r + w / 2), y + Math.sin(angle) * (r + h / 2)];
      if (isFree(...spot, w, h)) return spot;
    }
  return null;
}

// Whether a box lies inside the map, on no dot and on no other name.
function freeOf(map, place, placed) {
  const [left, top, width, height] = boxOf(place);
  const dots = dotsOn(map, place);
  return (cx, cy, w, h) => cx >= w / 2 && cy >= h / 2 && cx <= width - w / 2 && cy <= height - h / 2 && !dots(cx, cy, w, h)
    && !placed.some(({ x, y, box }) => Math.abs(cx + left - x) < (w + box[0]) / 2 && Math.abs(cy + top - y) < (h + box[1]) / 2);
}

// Names with their pixels: each where its group is densest, or beside it where no dots are; left out without room.
function placedNames(map, place) {
  const colors = coloring(map);
  if (state.names && hasColumns(map)) return placedPointNames(map, place);
  if (state.names && hasGroupNames(map)) return placedGroupNames(map, place);
  if (isSpace(map) || !state.names || !colors.column || colors.column.kind !== "class" || isText(colors.column)) return [];
  const [left, top, width, height] = boxOf(place);
  const span = currentSpans()[place];
  const placed = [];
  const isFree = freeOf(map, place, placed);
  for (const { column, level } of nestedColumns(colors.column)) {
    pen.font = `${level.weight} ${level.size}px ${FONT}`;
    for (const name of anchors(map, column)) {
      const own = column === colors.column;
      if (own && state.hidden.has(name.slot)) continue;
      const x = (name.at[0] - span.x[0]) / (span.x[1] - span.x[0]) * width;
      const y = (span.y[1] - name.at[1]) / (span.y[1] - span.y[0]) * height;
      if (x < 0 || y < 0 || x > width || y > height) continue;
      const box = [pen.measureText(name.text).width + 8, level.size + 5];
      const free = freeSpot(x, y, box, isFree, NEAR_NAME);
      if (free) placed.push({ ...name, level, x: left + free[0], y: top + free[1], box, color: own ? colors.list[name.slot].color : null });
    }
  }
  return placed;
}
const NEAR_NAME = 150; // pixels: farther from its group a name would seem to be another's
