// Groups of the map, at three levels of zoom: their letters and names on it, the list beside it, and the groups of a row.
// Names and verdicts were found before; here they are placed and listed.

const ZOOM_STEPS = [1, 1.7, 4]; // magnification from which on the groups of each level are seen
const NAME_LOOKS = [LEVELS[1], { ...LEVELS[2], size: 13 }, LEVELS[2]];
const MOST_GROUP_NAMES = 60;
const FEW_DOTS = 1500; // among so few, names keep off the dots; among more they stand on their groups
const [NOT_FOUND, CANNOT_TELL] = ["not found", "cannot tell"]; // as `judging/named_groups.py` says it
const groupsOf = (map) => (map.groups ? map.groups.list : []);
const hasGroupNames = (map) => map.dimensions === 2 && !map.strip && groupsOf(map).some(({ level, name }) => level === 1 || name);

const groupTitle = ({ letter, name }) => (name ? `${letter}: ${name}` : letter);
function groupLabel(group) {
  if (group.verdict === NOT_FOUND) return `${group.letter}: ${NOT_FOUND}`;
  return short(groupTitle(group), 44) + (group.verdict === CANNOT_TELL ? " ?" : "");
}

function ancestorsOf(groups, index) {
  const above = [];
  for (let { parent } = groups[index]; parent >= 0; parent = groups[parent].parent) above.push(parent);
  return above;
}

// How many times larger than the whole map what is seen is drawn.
function magnification(map, place) {
  const [whole, span] = [squared(place, home(map)), currentSpans()[place]];
  return Math.max((whole.x[1] - whole.x[0]) / (span.x[1] - span.x[0]), (whole.y[1] - whole.y[0]) / (span.y[1] - span.y[0]));
}

// Groups that are labelled at a level: the finest that it has. Until its parts have names a coarser group keeps its label;
// the parts of one without a name have theirs one level earlier.
function shownAt(groups, level) {
  const [hidden, seen] = [new Set(), new Set()];
  groups.forEach((group, index) => {
    const above = ancestorsOf(groups, index);
    const early = above.some((parent) => groups[parent].name) ? 0 : 1;
    if (group.level > 1 && (!group.name || group.level > level + early)) return;
    seen.add(index);
    for (const parent of above) if (group.level <= level || !groups[parent].name) hidden.add(parent);
  });
  return groups.filter((_, index) => seen.has(index) && !hidden.has(index)).sort((a, b) => a.level - b.level || b.size - a.size);
}

// The nearest dot of a group whose name lies apart from it; null where the name is beside it.
function dotApart(map, place, index, { x, y, box }) {
  const gap = ([px, py]) => Math.hypot(Math.max(0, Math.abs(px - x) - box[0] / 2), Math.max(0, Math.abs(py - y) - box[1] / 2));
  const pixels = rowsInGroup(map, index).map((row) => pixelOf(place, row));
  const nearest = pixels.reduce((best, pixel) => (best && gap(best) <= gap(pixel) ? best : pixel), null);
  return nearest && gap(nearest) > 14 ? nearest : null;
}

function placedGroupNames(map, place) {
  const [left, top, width, height] = boxOf(place);
  const zoom = magnification(map, place);
  const level = ZOOM_STEPS.filter((step) => zoom >= step * 0.999).length;
  const placed = [];
  const keepsOff = n <= FEW_DOTS ? freeOf(map, place, placed) : null;
  const isFree = (cx, cy, w, h) => cx >= w / 2 && cy >= h / 2 && cx <= width - w / 2 && cy <= height - h / 2
    && !placed.some(({ x, y, box }) => Math.abs(cx + left - x) < (w + box[0]) / 2 && Math.abs(cy + top - y) < (h + box[1]) / 2);
  const groups = groupsOf(map);
  for (const group of shownAt(groups, Math.max(level, 1))) {
    if (placed.length >= MOST_GROUP_NAMES) break;
    const pixel = pixelAt(place, group.at);
    const [x, y] = [pixel[0] - left, pixel[1] - top];
    if (!(x > 0 && y > 0 && x < width && y < height)) continue;
    const look = NAME_LOOKS[group.level - 1];
    pen.font = `${look.weight} ${look.size}px ${FONT}`;
    const text = groupLabel(group);
    const box = [pen.measureText(text).width + 8, look.size + 6];
    const spot = keepsOff ? freeSpot(x, y, box, keepsOff, 0.5 * Math.max(width, height))
      : [0, 1, -1, 2, -2].map((step) => [Math.max(box[0] / 2, Math.min(width - box[0] / 2, x)), y + step * box[1]]).find((at) => isFree(...at, ...box));
    if (!spot) continue;
    const at = { x: left + spot[0], y: top + spot[1], box };
    placed.push({ ...at, text, level: look, color: null, towards: keepsOff ? dotApart(map, place, groups.indexOf(group), at) : null });
  }
  return placed;
}

// From the edge of a name that lies apart to the nearest dot of its group.
function drawLeader({ x, y, box, towards }, inside, [left, top]) {
  if (!towards) return;
  const [dx, dy] = [towards[0] - x, towards[1] - y];
  const share = Math.min(box[0] / 2 / Math.abs(dx || 1e-9), box[1] / 2 / Math.abs(dy || 1e-9), 1);
  const end = 1 - 6 / Math.hypot(dx, dy);
  drawnPart("line", { x1: x + dx * share - left, y1: y + dy * share - top, x2: x + dx * end - left, y2: y + dy * end - top,
    stroke: ink("--soft"), "stroke-width": 1, "stroke-opacity": 0.7, class: "leader" }, inside);
}

const finestGroups = new Map(); // map → the finest group of each row, 0 for none
function finestOf(map) {
  if (!finestGroups.has(map)) finestGroups.set(map, packed(map.groups.finest));
  return finestGroups.get(map);
}

function rowsInGroup(map, index) {
  const groups = groupsOf(map);
  const isInside = [false, ...groups.map((_, at) => at === index || ancestorsOf(groups, at).includes(index))];
  const rows = [];
  finestOf(map).forEach((finest, row) => { if (isInside[finest]) rows.push(row); });
  return rows;
}

// The list beside the map: each group with what sets it apart; a click selects its rows.
const FIRST_GROUPS = 6;
function groupLine(map, index) {
  const group = groupsOf(map)[index];
  return element("li", {}, element("button", { type: "button", class: "class group", title: `Select the rows of group ${group.letter}`,
    onclick: () => select(rowsInGroup(map, index)) },
  element("span", {}, element("strong", { dir: "auto", text: groupTitle(group) }), element("bdi", { class: "said", text: group.about })),
  element("span", { class: "count", text: plural(group.size, "row", "rows") })));
}

function groupsSection() {
  const [place, map] = [by("groups"), maps[state.map]];
  const groups = groupsOf(map);
  if (place.dataset.map === String(state.map)) return; // whoever reads down the list keeps the place
  place.dataset.map = String(state.map);
  const those = (test) => groups.map((_, index) => index).filter((index) => test(groups[index]));
  const list = (indices) => element("ul", { class: "classes groups" }, ...indices.map((index) => groupLine(map, index)));
  const folded = (words, indices) => (indices.length ? [element("details", {}, element("summary", { text: words }), list(indices))] : []);
  const seen = those(({ level, verdict: judged }) => level === 1 && judged !== NOT_FOUND);
  const missing = those(({ level, verdict: judged }) => level === 1 && judged === NOT_FOUND);
  const finer = those(({ level, name }) => level > 1 && name);
  const rest = seen.slice(FIRST_GROUPS);
  const shown = [
    ...(seen.length ? [list(seen.slice(0, FIRST_GROUPS))] : []),
    ...folded(plural(rest.length, "smaller group", "smaller groups"), rest),
    ...folded(`${plural(missing.length, "group is", "groups are")} not found in the data`, missing),
    ...folded(`${plural(finer.length, "finer group", "finer groups")}, named when you zoom in`, finer)];
  const isOpen = [...seen, ...finer].some((index) => groups[index].verdict === CANNOT_TELL);
  place.replaceChildren(...(shown.length ? [element("h2", {}, termButton("Groups on the map", "group on the map")), ...shown] : []),
    ...(isOpen ? [element("p", { class: "note", text: "A name with ? on the map: nobody can tell whether the data have this group." })] : []));
}

// Beside a clicked point: the group that it lies in, and those around it.
function groupsOfRow(row) {
  const map = maps[state.map];
  if (!map.groups) return [];
  const finest = finestOf(map)[row] - 1;
  const groups = groupsOf(map);
  const inside = finest < 0 ? [] : [finest, ...ancestorsOf(groups, finest)].filter((index) => groups[index].level === 1 || groups[index].name);
  return inside.map((index) => element("p", { class: "note", dir: "auto",
    text: `Group ${groupTitle(groups[index])} (${groups[index].verdict}${groups[index].verdict === CANNOT_TELL ? "" : " in the data"})` }));
}
