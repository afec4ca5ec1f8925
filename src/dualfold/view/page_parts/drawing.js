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
const pointSize = () => Math.max(2.2, Math.min(10, 9 * (100 / n) ** 0.2)) * (state.beside ? 0.8 : 1);
// A shape must be seen as one: a triangle of two pixels is a dot.
const sizeOf = (shape) => (shape ? Math.max(7, 1.5 * pointSize()) : pointSize());
const pointOpacity = () => Math.max(0.45, Math.min(0.9, 0.9 * (1000 / n) ** 0.12));

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
