// In which order, how large and how clear points are drawn.

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
const pointSize = () => Math.max(1.4, Math.min(10, 9 * (100 / n) ** 0.2)) * (state.beside ? 0.8 : 1);
// A shape must be seen as one, a triangle of two pixels is a dot; but among very many points it would hide the others.
const MANY_DOTS = 50000;
const shapeSize = (size) => (n > MANY_DOTS ? 1.6 * size : Math.max(7, 1.5 * size));
const sizeOf = (shape) => (shape ? shapeSize(pointSize()) : pointSize());
const pointOpacity = (seen = n) => Math.max(0.45, Math.min(0.9, 0.9 * (1000 / seen) ** 0.12));

// Of many points those in view become larger and clearer as the map is magnified. Where they lie in layers each is
// fainter, by the root of how many there are: four times as many are twice as dark, and a point alone is seen.
const DARKNESS = 1.6; // where a typical point lies: 1 - exp(-1.6), four fifths of the ground are covered
function lookOf(map, place, total) {
  if (n <= MOST_PLAIN || isSpace(map)) return { size: pointSize(), opacity: pointOpacity(), thin: 1e9 };
  const zoom = magnification(map, place);
  const size = pointSize() * Math.min(2.5, Math.max(1, zoom ** 0.35));
  const [[, , width, height], span, { x, y }] = [boxOf(place), currentSpans()[place], home(map)];
  const cell = (x[1] - x[0]) / (span.x[1] - span.x[0]) * width * (y[1] - y[0]) / (span.y[1] - span.y[0]) * height / CELLS ** 2; // pixels
  const thin = DARKNESS * cell / (0.785 * size ** 2 * Math.sqrt(shownDensity(map).typical)) * n / total;
  return { size, opacity: pointOpacity(n / zoom ** 2), thin };
}
const MOST_PLAIN = 5000; // rows that are all drawn alike

// How many shown rows lie around each point, as 8 times the logarithm to base 2, in the order of drawing.
function crowdsOf(map) {
  const { dense } = shownDensity(map);
  const logs = Float32Array.from(dense, (count) => 8 * Math.log2(Math.max(1, count)));
  const { x: [left, right], y: [bottom, top] } = home(map);
  const [[across, up], wide, high] = [map.axes, CELLS / (right - left), CELLS / (top - bottom)];
  const inner = (value) => (value < 0 ? 0 : value > CELLS - 1.001 ? CELLS - 1.001 : value);
  const crowds = new Uint8Array(n);
  for (let at = 0; at < n; at++) { // between the middles of four cells
    const row = order[at];
    const i = inner((across[row] - left) * wide - 0.5);
    const j = inner((up[row] - bottom) * high - 0.5);
    const c = Math.floor(j) * CELLS + Math.floor(i);
    const s = i - Math.floor(i);
    const t = j - Math.floor(j);
    crowds[at] = (logs[c] * (1 - s) + logs[c + 1] * s) * (1 - t) + (logs[c + CELLS] * (1 - s) + logs[c + CELLS + 1] * s) * t;
  }
  return crowds;
}

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
