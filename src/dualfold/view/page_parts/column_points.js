// Columns that have a place on the map beside the rows, as in correspondence analysis: diamonds with their names.

const MOST_POINT_NAMES = 60; // of columns and rows together; more would cover one another
const hasColumns = (map) => map.columns.length > 0;
const columnColor = () => (isDark() ? "#f08a72" : "#b5402b");

function showColumnTip({ name }, event) {
  by("tip").replaceChildren(element("div", {}, element("strong", { text: short(name), dir: "auto" }), element("p", { class: "note", text: "a column of the table" })));
  placeTip(event);
}

// Names of the columns, and of the rows where they are few: each beside its point, on no other; left out without room.
function placedPointNames(map, place) {
  const [left, top, width, height] = boxOf(place);
  const level = LEVELS[2];
  pen.font = `${level.weight} ${level.size}px ${FONT}`;
  const points = map.columns.map(({ name, at }) => ({ text: short(name, 26), pixel: pixelAt(place, at), color: columnColor() }));
  const placed = points.map(({ pixel }) => ({ x: pixel[0], y: pixel[1], box: [11, 11] })); // the diamonds
  if (given.names && !map.strip && n + points.length <= MOST_POINT_NAMES)
    for (let row = 0; row < n; row++) points.push({ text: short(nameOf(row), 26), pixel: pixelOf(place, row), color: null });
  const isFree = freeOf(map, place, placed);
  const named = [];
  for (const { text, pixel, color } of points.slice(0, MOST_POINT_NAMES)) {
    const [x, y] = [pixel[0] - left, pixel[1] - top];
    if (x < 0 || y < 0 || x > width || y > height) continue;
    const box = [pen.measureText(text).width + 6, level.size + 4];
    const free = freeSpot(x, y, box, isFree, 70);
    if (!free) continue;
    const gap = Math.hypot(Math.max(0, Math.abs(x - free[0]) - box[0] / 2), Math.max(0, Math.abs(y - free[1]) - box[1] / 2));
    const name = { text, level, x: left + free[0], y: top + free[1], box, color, towards: gap > 14 ? pixel : null };
    placed.push(name);
    named.push(name);
  }
  return named;
}

// The column that was looked for or clicked.
function drawColumnMark(map, place, inside, [left, top]) {
  const found = map.columns.find(({ name }) => name === state.column);
  if (!found) return;
  const [x, y] = pixelAt(place, found.at);
  ring(inside, [x - left, y - top], 10, "column");
}

function markColumn(name) {
  state.column = name;
  hideTip();
  overlay();
  say(`Column ${short(name, 60)} is marked on the map`);
}

// The key of both kinds of points.
function kindsKey(map) {
  const line = (shape, hue, words, total) => element("li", {},
    element("span", { class: `swatch ${shape}`, style: `--hue:${hue}`, "aria-hidden": "true" }),
    element("span", { text: words }), element("span", { class: "count", text: count(total) }));
  return element("ul", { class: "classes kinds" }, line("", ink("--soft"), "rows", n), line("diamond", columnColor(), "columns", map.columns.length));
}

// Columns whose names hold what was looked for, as lines of the list of what was found.
function columnsFound(query) {
  const wanted = query.trim().toLowerCase();
  return wanted ? maps[state.map].columns.filter(({ name }) => name.toLowerCase().includes(wanted)).map(({ name }) => name) : [];
}

const columnItem = (name) => element("li", {}, element("button", { type: "button", "data-column": name,
  onclick: () => { by("found").hidden = true; markColumn(name); } },
element("bdi", { text: short(name, 60) }), element("span", { class: "note", text: "column" })));
