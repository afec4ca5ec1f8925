// What is shown of a row: under the pointer, and beside the map once it is clicked.

const TOLD = 6; // columns under the pointer; all of them beside the map

// What points are coloured by, then labels, then (where no picture says more) the table.
function toldColumns() {
  const first = chosenColumn(maps[state.map]);
  const others = [...labelColumns, ...(images ? [] : columns.filter((column) => column.group === "feature"))];
  return [...new Set([...(first ? [first] : []), ...others])].slice(0, TOLD);
}

function pictureOf(row, className) {
  const canvas = element("canvas", { class: className, width: images.w, height: images.h, role: "img",
    "aria-label": `picture of ${short(nameOf(row))}` });
  const context = canvas.getContext("2d");
  const picture = context.createImageData(images.w, images.h);
  const start = row * images.w * images.h;
  for (let at = 0; at < images.w * images.h; at++) {
    picture.data.fill(255 - images.pixels[start + at], 4 * at, 4 * at + 3);
    picture.data[4 * at + 3] = 255;
  }
  context.putImageData(picture, 0, 0);
  return canvas;
}

function facts(row, told, letters) {
  const list = element("dl");
  for (const column of told) {
    const word = wordOf(column, row);
    list.append(element("dt", { text: short(column.name, 40), dir: "auto" }),
      element("dd", { text: word === "" ? `–${filledWords(column, row)}` : `${column.rounded ? "≈ " : ""}${short(word, letters)}`, dir: "auto" }));
  }
  return list;
}

function showTip(row, event) {
  const tip = by("tip");
  tip.replaceChildren(...(images ? [pictureOf(row, "thumbnail")] : []),
    element("div", {}, element("strong", { text: short(nameOf(row)), dir: "auto" }), facts(row, toldColumns(), 80)));
  placeTip(event);
  markHovered(row);
}

function placeTip({ clientX, clientY }) {
  const tip = by("tip");
  tip.hidden = false;
  const left = clientX + 16 + tip.offsetWidth > innerWidth ? clientX - 16 - tip.offsetWidth : clientX + 16;
  const top = Math.min(clientY + 12, innerHeight - tip.offsetHeight - 8);
  tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}
const hideTip = () => { by("tip").hidden = true; markHovered(null); };

const MEANING = {
  kept: "neighbours in the data and on the map",
  false: "near on the map, not in the data",
  missing: "near in the data, not on the map",
};

function pointSection() {
  const place = by("point");
  if (state.focus === null) {
    replaced(place, element("h2", { text: "Point" }), element("p", { class: "note",
      text: "Click a point, or find a row, to see which of its neighbours the map keeps." }));
    return;
  }
  const row = state.focus;
  const found = neighborsOf(maps[state.map], row);
  replaced(place,
    element("h2", { dir: "auto", text: short(nameOf(row), 60) }),
    ...(given.names ? [element("p", { class: "note", text: `row ${count(rowNumber(row))}` })] : []),
    element("div", { class: "card" }, ...(images ? [pictureOf(row, "portrait")] : []), facts(row, columns.filter(isText), 10000)),
    ...groupsOfRow(row),
    ...termsOf(row),
    scoresOf(row),
    ...relationLists(found),
    ...pointTable(row, found),
    element("div", { class: "links" },
      element("button", { type: "button", class: "link", text: "Zoom to them", hidden: !webgl || maps[state.map].dimensions === 3,
        onclick: () => zoomTo([row, ...found.kept, ...found.false, ...found.missing]) }),
      element("button", { type: "button", class: "link", text: "Select them",
        onclick: () => select([row, ...found.kept, ...found.false, ...found.missing]) }),
      element("button", { type: "button", class: "link", text: "Clear", onclick: () => focusOn(null) })));
}

function scoresOf(row) {
  const scores = maps[state.map].scores;
  const list = element("dl", { class: "scores" });
  for (const name of ["trustworthiness", "continuity"]) {
    const value = scores[name] ? scores[name].values[row] : NaN;
    if (Number.isFinite(value))
      list.append(element("dt", {}, termButton(name)), element("dd", { text: value.toFixed(3) }));
  }
  return list;
}

function relationLists(found) {
  const kinds = found.known ? ["kept", "false", "missing"] : ["false"];
  return kinds.map((relation) => element("div", { class: `relation ${relation}` },
    element("h3", {},
      element("span", { class: `mark ${relation}`, style: `--hue:${RELATION[relation]}`, "aria-hidden": "true" }),
      found.known ? element("span", {}, `${found[relation].length} `, termButton(relation))
        : element("span", { text: `${found.false.length} nearest on the map` })),
    element("p", { class: "note", text: found.known
      ? MEANING[relation] : "The neighbours in the data were not given with this map." }),
    element("div", { class: "chips" }, ...found[relation].map((other) => element("button", {
      type: "button", class: "chip", title: short(nameOf(other), 60), onclick: () => focusOn(other) },
    ...(images ? [pictureOf(other, "chip-picture")] : [element("bdi", { text: short(nameOf(other), 18) })]))))));
}

function focusOn(row) {
  state.focus = row;
  state.column = null;
  hideTip();
  const drawing = refresh();
  if (row === null) return drawing;
  const found = neighborsOf(maps[state.map], row);
  say(found.known
    ? `${short(nameOf(row))}: ${found.kept.length} neighbours kept, ${found.false.length} false, ${found.missing.length} missing`
    : `${short(nameOf(row))}`);
  return drawing;
}

function maskOf(rows) {
  const mask = new Uint8Array(n);
  for (let at = 0; at < rows.length; at++) mask[rows[at]] = 1;
  return mask;
}

// Each row once, ascending, without sorting a million of them.
function inOrder(rows) {
  const [mask, found] = [maskOf(rows), new Int32Array(n)];
  let total = 0;
  for (let row = 0; row < n; row++) if (mask[row]) found[total++] = row;
  return found.slice(0, total);
}

function select(rows) {
  state.selected = rows && rows.length ? inOrder(rows) : null;
  const drawing = refresh();
  say(state.selected ? `${plural(state.selected.length, "row", "rows")} selected` : "Nothing selected");
  return drawing;
}

function selectionSection() {
  const place = by("selection");
  by("csv").disabled = !state.selected;
  if (!state.selected) {
    replaced(place);
    return;
  }
  const total = state.selected.length;
  replaced(place,
    element("h2", { text: `${plural(total, "row", "rows")} selected` }),
    ...makeUp(),
    element("div", { id: "contrast" }),
    element("button", { type: "button", class: "link", text: "Clear selection", onclick: () => select(null) }));
  // A wide table of many rows is summed up after the map has been drawn.
  const rows = state.selected;
  const fill = () => { if (state.selected === rows) by("contrast").replaceChildren(...selectionTable(rows)); };
  if (n * columns.length < 2e6) fill(); else setTimeout(fill, 30);
}

// Of which classes the selection is.
function makeUp() {
  const colors = coloring(maps[state.map]);
  if (!colors.column || colors.column.kind !== "class") return [];
  const counts = colors.list.map(() => 0);
  for (let at = 0; at < state.selected.length; at++) counts[colors.slots[state.selected[at]]]++;
  const most = Math.max(...counts);
  const bars = colors.list
    .map((entry, slot) => ({ ...entry, count: counts[slot] }))
    .filter((entry) => entry.count)
    .sort((a, b) => b.count - a.count).slice(0, 8)
    .map((entry) => element("li", {},
      element("bdi", { text: short(entry.label, 24) }),
      element("span", { class: "share" }, element("i", { style: `--hue:${entry.color};width:${100 * entry.count / most}%` })),
      element("span", { class: "count", text: count(entry.count) })));
  return [element("ul", { class: "make-up" }, ...bars)];
}
