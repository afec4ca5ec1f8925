// The data as Python left it: arrays out of base64, labels as plain strings.

const given = JSON.parse(document.getElementById("data").textContent);
const n = given.n;

function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}
const floatsOf = (text) => new Float64Array(bytesOf(text).buffer);
const integersOf = (text) => new Int32Array(bytesOf(text).buffer);

const columns = given.columns.map((column) =>
  column.kind === "class"
    ? { ...column, codes: integersOf(column.codes) }
    : { ...column, values: floatsOf(column.values) });

const maps = given.maps.map((map) => {
  const flat = floatsOf(map.points);
  const d = map.dimensions;
  const axes = Array.from({ length: d }, (_, axis) => {
    const values = new Float64Array(n);
    for (let row = 0; row < n; row++) values[row] = flat[row * d + axis];
    return values;
  });
  const scores = {};
  for (const [name, score] of Object.entries(map.quality ? map.quality.scores : {}))
    scores[name] = { name, kind: "number", ...score, values: floatsOf(score.values) };
  const neighbors = map.neighbors && { k: map.neighbors.k, rows: integersOf(map.neighbors.rows) };
  return { ...map, axes, scores, neighbors };
});

const images = given.images && { ...given.images, pixels: bytesOf(given.images.pixels) };

// What the reader has chosen. Everything on the page is drawn from this and the data.
const state = {
  map: 0,
  beside: false, // all maps side by side
  color: given.color === null ? "" : `column:${given.color}`,
  tool: "pan",
  hidden: new Set(), // slots of the legend
  range: null, // [low, high] of the numbers that are shown
  selected: null, // rows, ascending; null: no selection
  focus: null, // the row whose neighbours are shown
  change: "none", // how the last change of maps was shown
};

const nameOf = (row) => (given.names ? given.names[row] : `row ${row}`);

function wordOf(column, row) {
  if (column.kind === "class") return column.labels[column.codes[row]];
  const value = column.values[row];
  if (!Number.isFinite(value)) return "";
  if (column.kind === "date") return new Date(value).toISOString().replace(/T00:00:00.000Z$/, "");
  return String(value);
}

const short = (text, most = 80) => {
  const letters = Array.from(text.slice(0, 2 * most + 2)); // whole characters, emoji included
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text;
};

// Two digits, as 4.2 % or 45 %.
const shareWords = (share) => `${Number((100 * share).toPrecision(2))} %`;

function numberWords(value) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}
const count = (value) => value.toLocaleString("en-US");
const plural = (value, one, many) => `${count(value)} ${value === 1 ? one : many}`;

// The only way anything is put on the page: text is text, never markup.
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "text") made.textContent = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
const by = (id) => document.getElementById(id);
const say = (text) => { by("said").textContent = text; };
