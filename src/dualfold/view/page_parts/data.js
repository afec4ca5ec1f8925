// The data as Python left it: arrays out of base64, labels as plain strings.

const given = JSON.parse(document.getElementById("data").textContent);
const n = given.n;

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text); // ten times as fast; browsers of 2025 and later
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}
const floatsOf = (text) => new Float64Array(bytesOf(text).buffer);
const TYPES = { u1: Uint8Array, i2: Int16Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
const packed = ({ type, values }) => new TYPES[type](bytesOf(values).buffer);

// A column is unpacked when it is first looked at: a table may have hundreds.
function columnOf(content) {
  const column = { ...content, key: null };
  delete column.values;
  const whose = content.kind === "class" ? "codes" : "values";
  Object.defineProperty(column, whose, { configurable: true, get() {
    const values = packed(content);
    Object.defineProperty(column, whose, { value: values });
    return values;
  } });
  return column;
}
const columns = given.columns.map(columnOf);
const labelColumns = columns.filter((column) => column.group !== "feature");
// Text that names or describes rows one by one; its values are no groups.
const isText = (column) => column.kind === "class" && 2 * column.labels.length > n;

// Row → rows that are as near in the data as the last of its neighbours.
function tiedOf(pairs) {
  const found = new Map();
  const rows = pairs ? packed(pairs.rows) : [];
  const others = pairs ? packed(pairs.others) : [];
  rows.forEach((row, place) => {
    if (!found.has(row)) found.set(row, new Set());
    found.get(row).add(others[place]);
  });
  return found;
}

// Coordinates of a large page are 65,535 steps between the ends of each axis.
function axesOf(map, steps) {
  const [flat, d] = [steps || floatsOf(map.points), map.dimensions];
  return Array.from({ length: d }, (_, axis) => {
    const values = new Float64Array(n);
    const [low, step] = steps ? [map.box[0][axis], (map.box[1][axis] - map.box[0][axis]) / 65535] : [0, 1];
    if (steps) for (let row = 0; row < n; row++) values[row] = low + flat[row * d + axis] * step;
    else for (let row = 0; row < n; row++) values[row] = flat[row * d + axis];
    return values;
  });
}

const maps = given.maps.map((map) => {
  const steps = map.box ? new Uint16Array(bytesOf(map.points).buffer) : null;
  const axes = axesOf(map, steps);
  const scores = Object.fromEntries(map.scores.map((score) => [score.name, columnOf(score)]));
  const rows = map.neighbors && "k" in map.neighbors ? packed(map.neighbors) : null;
  return { ...map, axes, steps, scores, neighbors: rows ? { k: map.neighbors.k, rows } : map.neighbors, tied: tiedOf(map.tied) };
});
for (const map of maps) // most maps of a page share their rows and so their neighbours
  if (map.neighbors && "same" in map.neighbors) map.neighbors = maps[map.neighbors.same].neighbors;

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
  column: null, // the column whose place is marked
  change: "none", // how the last change of maps was shown
  names: true, // of groups, on the map
  contours: n > 5000,
  arrows: false, // of columns, on demand
};

// Rows are counted from 1, without the header, as in the files and notes of the command line.
const rowNumbers = given.rows ? packed(given.rows) : null;
const rowNumber = (row) => (rowNumbers ? rowNumbers[row] : row + 1);
const nameOf = (row) => (given.names ? given.names[row] : `row ${rowNumber(row)}`);

// A value as its table has it; "" where there is none.
function wordOf(column, row) {
  if (column.kind === "class") return column.labels[column.codes[row]];
  const value = column.values[row];
  if (!Number.isFinite(value)) return "";
  if (column.kind === "date") return dateWords(value);
  return column.single ? singleWords(value) : String(value);
}

// The same where there is little room: of a long fraction the first digits, never rounded.
const MOST_DIGITS = 7;
function briefWordOf(column, row) {
  const word = wordOf(column, row);
  if (word === "") return `–${filledWords(column, row)}`;
  if (column.kind !== "number") return short(word, 26);
  const [, before, digits] = /^(-?(?:0\.0*|\d+\.))(\d+)$/.exec(word) || [null, word, ""];
  const room = Math.max(2, MOST_DIGITS - (/^-?0/.test(before) ? 0 : before.length - 1));
  const cut = digits.length > room + 1 ? `${before}${digits.slice(0, room)}…` : word;
  return column.rounded ? `≈ ${cut}` : cut;
}

// What was filled in for the map where the table has no value.
const fillings = new Map(); // column → row → value
function filledWords(column, row) {
  if (!column.filled) return "";
  if (!fillings.has(column)) {
    const [values, found] = [packed(column.filled), new Map()];
    column.values.forEach((value, at) => { if (!Number.isFinite(value)) found.set(at, values[found.size]); });
    fillings.set(column, found);
  }
  return ` (filled in: ${scaleWords(column, fillings.get(column).get(row))})`;
}

// A day, and its hour where there is one.
const dateWords = (value) => new Date(value).toISOString().replace("T", " ").replace(/( 00:00:00\.000|:00\.000|\.000)?Z$/, "");

// A number that no row need have (a mean, the end of a scale), to a thousandth of the column's range.
const HOURS = 3.6e6; // milliseconds
function scaleWords(column, value) {
  if (value === null || !Number.isFinite(value)) return "–";
  const range = Math.abs(column.high - column.low);
  if (column.kind === "date") return dateWords(value).slice(0, range < 72 * HOURS ? 16 : 10);
  const decimals = Math.max(0, Math.ceil(3 - Math.log10(range)));
  if (!(range > 0)) return String(value);
  if (Math.abs(value) >= 1e15 || decimals > 8) return String(Number(value.toPrecision(4)));
  return String(Number(value.toFixed(decimals)));
}

// The shortest number that is this one in single precision.
function singleWords(value) {
  for (let digits = 6; digits < 9; digits++)
    if (Math.fround(Number(value.toPrecision(digits))) === value) return String(Number(value.toPrecision(digits)));
  return String(Number(value.toPrecision(9)));
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
// A section is made anew; whoever stood on one of its buttons stays there, or at its beginning.
function replaced(place, ...children) {
  const had = place.contains(document.activeElement) ? document.activeElement : null;
  const words = had && had.textContent;
  place.replaceChildren(...children);
  if (!had) return;
  const again = Array.from(place.querySelectorAll("button")).find((button) => !button.hidden && button.textContent === words);
  const first = again || place.querySelector("h2") || place;
  if (!again) first.tabIndex = -1;
  first.focus({ preventScroll: true });
}
const byGroup = (values, keyOf) => {
  const groups = new Map();
  for (const value of values) {
    const key = keyOf(value);
    if (groups.has(key)) groups.get(key).push(value); else groups.set(key, [value]);
  }
  return groups;
};
