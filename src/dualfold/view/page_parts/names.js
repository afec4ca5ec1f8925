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

// Names with their pixels: each where its group is densest, or close by; left out if there is no room.
function placedNames(map, place) {
  const colors = coloring(map);
  if (!state.names || !colors.column || colors.column.kind !== "class" || isText(colors.column)) return [];
  const [left, top, width, height] = boxOf(place);
  const span = currentSpans()[place];
  const taken = [];
  const placed = [];
  for (const { column, level } of nestedColumns(colors.column)) {
    pen.font = `${level.weight} ${level.size}px ${FONT}`;
    for (const name of anchors(map, column)) {
      const own = column === colors.column;
      if (own && state.hidden.has(name.slot)) continue;
      const x = (name.at[0] - span.x[0]) / (span.x[1] - span.x[0]) * width;
      const y = (span.y[1] - name.at[1]) / (span.y[1] - span.y[0]) * height;
      if (x < 0 || y < 0 || x > width || y > height) continue;
      const [w, h] = [pen.measureText(name.text).width + 8, level.size + 5];
      const free = [[0, 0], [0, -1.1], [0, 1.1], [0, -2.2], [0, 2.2], [0.6, -1.1], [-0.6, -1.1], [0.6, 1.1], [-0.6, 1.1]]
        .map(([right, down]) => [Math.max(w / 2, Math.min(width - w / 2, x + right * w)), Math.max(h / 2, Math.min(height - h / 2, y + down * h))])
        .find(([cx, cy]) => !taken.some(([tx, ty, tw, th]) => Math.abs(cx - tx) < (w + tw) / 2 && Math.abs(cy - ty) < (h + th) / 2));
      if (!free) continue;
      taken.push([...free, w, h]);
      placed.push({ ...name, level, x: left + free[0], y: top + free[1], box: [w, h],
        color: own ? colors.list[name.slot].color : null });
    }
  }
  return placed;
}
