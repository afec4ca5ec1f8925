// Names of groups at three levels of zoom, and the terms of a row: both were computed before, here they are placed.

const ZOOM_STEPS = [1, 1.7, 4]; // magnification from which on the names of each level are seen
const NAME_LOOKS = [LEVELS[1], { ...LEVELS[2], size: 13 }, LEVELS[2]];
const MOST_ZOOM_NAMES = 60;
const FEW_DOTS = 1500; // among so few, names keep off the dots; among more they stand on their groups
const namesOf = (map) => (map.names ? map.names.groups : []);
const hasZoomNames = (map) => map.dimensions === 2 && !map.strip && namesOf(map).length > 0;

// How many times larger than the whole map what is seen is drawn.
function magnification(map, place) {
  const [whole, span] = [squared(place, home(map)), currentSpans()[place]];
  return Math.max((whole.x[1] - whole.x[0]) / (span.x[1] - span.x[0]), (whole.y[1] - whole.y[0]) / (span.y[1] - span.y[0]));
}

// Groups whose names are seen at a level: the finest that it has, and coarser ones until their parts have names.
function namesAt(groups, level) {
  const replaced = new Set();
  const seen = groups.map((group) => {
    if (!group.name) return false;
    let [parent, told] = [group.parent, false];
    for (; parent >= 0; parent = groups[parent].parent) told ||= Boolean(groups[parent].name);
    return group.level <= level + (told ? 0 : 1);
  });
  groups.forEach((group, at) => {
    if (!seen[at] || group.level > level) return;
    for (let { parent } = group; parent >= 0; parent = groups[parent].parent) replaced.add(parent);
  });
  return groups.filter((_, at) => seen[at] && !replaced.has(at)).sort((a, b) => a.level - b.level || b.size - a.size);
}

// The nearest dot of a group whose name lies apart from it; null where the name is beside it.
function dotApart(map, place, code, { x, y, box }) {
  const gap = ([px, py]) => Math.hypot(Math.max(0, Math.abs(px - x) - box[0] / 2), Math.max(0, Math.abs(py - y) - box[1] / 2));
  const pixels = rowsOfName(map, code).map((row) => pixelOf(place, row));
  const nearest = pixels.reduce((best, pixel) => (best && gap(best) <= gap(pixel) ? best : pixel), null);
  return nearest && gap(nearest) > 14 ? nearest : null;
}

function placedZoomNames(map, place) {
  const [left, top, width, height] = boxOf(place);
  const zoom = magnification(map, place);
  const level = ZOOM_STEPS.filter((step) => zoom >= step * 0.999).length;
  const placed = [];
  const keepsOff = n <= FEW_DOTS ? freeOf(map, place, placed) : null;
  const isFree = (cx, cy, w, h) => cx >= w / 2 && cy >= h / 2 && cx <= width - w / 2 && cy <= height - h / 2
    && !placed.some(({ x, y, box }) => Math.abs(cx + left - x) < (w + box[0]) / 2 && Math.abs(cy + top - y) < (h + box[1]) / 2);
  const groups = namesOf(map);
  for (const group of namesAt(groups, Math.max(level, 1))) {
    if (placed.length >= MOST_ZOOM_NAMES) break;
    const pixel = pixelAt(place, group.at);
    const [x, y] = [pixel[0] - left, pixel[1] - top];
    if (!(x > 0 && y > 0 && x < width && y < height)) continue;
    const look = NAME_LOOKS[group.level - 1];
    pen.font = `${look.weight} ${look.size}px ${FONT}`;
    const text = short(group.name, 44) + (group.verdict === "not testable" ? " ?" : "");
    const box = [pen.measureText(text).width + 8, look.size + 6];
    const spot = keepsOff ? freeSpot(x, y, box, keepsOff, 0.5 * Math.max(width, height))
      : [0, 1, -1, 2, -2].map((step) => [Math.max(box[0] / 2, Math.min(width - box[0] / 2, x)), y + step * box[1]]).find((at) => isFree(...at, ...box));
    if (!spot) continue;
    const at = { x: left + spot[0], y: top + spot[1], box };
    placed.push({ ...at, text, level: look, color: null, towards: keepsOff ? dotApart(map, place, groups.indexOf(group), at) : null });
  }
  return placed;
}

// The list beside the map: names with their figures; a click selects the rows.
const zoomRows = new Map();
function rowsOfName(map, code) {
  if (!zoomRows.has(map)) zoomRows.set(map, packed(map.names.finest));
  const groups = namesOf(map);
  const rows = [];
  zoomRows.get(map).forEach((finest, row) => {
    for (let at = finest - 1; at >= 0; at = groups[at].parent) if (at === code) { rows.push(row); break; }
  });
  return rows;
}

function zoomNameLine(map, group, code) {
  return element("li", {}, element("button", { type: "button", class: "class group", title: "Select the rows of this group",
    onclick: () => select(rowsOfName(map, code)) },
  element("span", {}, element("strong", { dir: "auto", text: group.name }),
    element("bdi", { class: "said", text: group.text.slice(group.name.length + 2) })),
  element("span", { class: "count", text: `level ${group.level}` })));
}

function zoomNamesSection(map) {
  const groups = namesOf(map);
  const named = groups.map((group, code) => [group, code]).filter(([group]) => group.name);
  if (!named.length) return [];
  const nameless = groups.length - named.length;
  const untested = named.some(([group]) => group.verdict === "not testable");
  const words = `Names of groups at three levels of zoom (${count(named.length)})`;
  return [element("details", { id: "zoom-names" }, element("summary", { text: words }),
    ...(nameless ? [element("p", { class: "note", text: `${plural(nameless, "group has", "groups have")} no name: not found in the data, or nothing tells them from their surroundings.` })] : []),
    ...(untested ? [element("p", { class: "note", text: "A name with ?: no test could decide whether the data have this group." })] : []),
    element("ul", { class: "classes groups" }, ...named.map(([group, code]) => zoomNameLine(map, group, code))))];
}

// The heaviest terms of a row's text, and how many of its neighbours in the data have each.
const rowTerms = given.row_terms && { ...given.row_terms, codes: packed(given.row_terms.codes), shared: packed(given.row_terms.shared) };
function termsOf(row) {
  if (!rowTerms) return [];
  const { k, words, codes, shared, of } = rowTerms;
  const chips = [];
  for (let at = row * k; at < (row + 1) * k; at++) {
    if (codes[at] === 0) continue;
    const word = words[codes[at] - 1];
    chips.push(element("button", { type: "button", class: "chip", title: `Find ${word}`,
      onclick: () => { by("search").value = word; showFound(); by("search").focus(); } },
    element("bdi", { text: short(word, 30) }), ` ${shared[at]}/${of}`));
  }
  return chips.length ? [element("h3", { text: "Terms" }),
    element("p", { class: "note", text: `how many of its ${of} neighbours in the data have each` }),
    element("div", { class: "chips row-terms" }, ...chips)] : [];
}
