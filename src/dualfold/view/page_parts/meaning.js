// What the map means in the words of its table: columns at the axes, arrows on demand, groups with what differs in them.

const AXIS_FONT = { size: 11.5, weight: 500 };
const meaningOf = (map) => map.meaning || { axes: [], arrows: [], groups: [], codes: null };

// The words of an axis: which columns it follows, and what share of the variance it explains.
function axisWords(map, axis) {
  const { axes } = meaningOf(map);
  const columnsOfAxis = axes.length ? axes[axis] || "no column rises or falls along it beyond chance" : "";
  const share = map.explained ? `${shareWords(map.explained[axis])} of the ${map.explains}` : "";
  const words = columnsOfAxis && share ? `${columnsOfAxis} (${share})` : columnsOfAxis || share;
  return words ? `axis ${axis + 1}: ${words}` : "";
}

// As much as there is room for, in pixels.
function within(text, room, { size, weight }) {
  pen.font = `${weight} ${size}px ${FONT}`;
  if (pen.measureText(text).width <= room) return text;
  let letters = Array.from(text);
  while (letters.length > 1 && pen.measureText(`${letters.join("")}…`).width > room) letters = letters.slice(0, -1);
  return `${letters.join("").replace(/[\s,;:(]+$/, "")}…`;
}

// Beside the map, in the gutter that view.js leaves for them.
function drawAxisWords(map, place, layer) {
  if (!hasAxisWords(map)) return;
  const [left, top, width, height] = boxOf(place);
  const look = { "font-family": FONT, "font-size": AXIS_FONT.size, "font-weight": AXIS_FONT.weight, fill: ink("--soft"), class: "axis", "text-anchor": "end" };
  const write = (axis, room, at) => { drawnPart("text", { ...look, ...at }, layer).textContent = within(axisWords(map, axis), room, AXIS_FONT); };
  write(0, width - 6, { x: left + width - 2, y: top + height + 13 });
  if (!map.strip) write(1, height - 6, { transform: `translate(${left - 7} ${top + 2}) rotate(-90)` });
}

const groupRows = new Map(); // map → rows of each group
function rowsOfGroups(map) {
  if (!groupRows.has(map)) {
    const { groups, codes } = meaningOf(map);
    const found = groups.map(() => []);
    if (codes) packed(codes).forEach((code, row) => { if (code > 0) found[code - 1].push(row); });
    groupRows.set(map, found);
  }
  return groupRows.get(map);
}

const MOST_GROUP_NAMES = 14;
const hasGroupNames = (map) => map.dimensions === 2 && !map.strip && meaningOf(map).groups.some(({ name }) => name);

// Names of the groups with their pixels: beside the dots, on none of them, none on another; left out without room.
function placedGroupNames(map, place) {
  const [left, top, width, height] = boxOf(place);
  const level = LEVELS[2];
  pen.font = `${level.weight} ${level.size}px ${FONT}`;
  const placed = [];
  const isFree = freeOf(map, place, placed);
  meaningOf(map).groups.slice(0, MOST_GROUP_NAMES).forEach((group, code) => {
    if (!group.name) return;
    const pixels = rowsOfGroups(map)[code].map((row) => pixelOf(place, row));
    const [x, y] = [left, top].map((edge, axis) => pixels.map((pixel) => pixel[axis]).sort((a, b) => a - b)[Math.floor(pixels.length / 2)] - edge);
    if (!(x > 0 && y > 0 && x < width && y < height)) return;
    const text = short(group.name, 30);
    const box = [pen.measureText(text).width + 8, level.size + 6];
    const free = freeSpot(x, y, box, isFree, 0.5 * Math.max(width, height));
    if (!free) return;
    const gap = ([px, py]) => Math.hypot(Math.max(0, Math.abs(px - left - free[0]) - box[0] / 2), Math.max(0, Math.abs(py - top - free[1]) - box[1] / 2));
    const nearest = pixels.reduce((best, pixel) => (gap(pixel) < gap(best) ? pixel : best));
    placed.push({ text, level, x: left + free[0], y: top + free[1], box, color: null, code, towards: gap(nearest) > 14 ? nearest : null });
  });
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

// Arrows of the columns: a star in the corner that holds the fewest dots.
const STAR = 78; // pixels from its middle to the end of a correlation of 1
const ROOM = { w: 2 * STAR + 132, h: 2 * STAR + 40 };
const hasArrows = (map) => map.dimensions === 2 && !map.strip && meaningOf(map).arrows.length > 0;

function starPlace(map, place) {
  const [, , width, height] = boxOf(place);
  const [w, h] = [Math.min(ROOM.w, width), Math.min(ROOM.h, height)];
  const dots = dotsOn(map, place);
  const corners = [[width - w / 2, h / 2], [w / 2, h / 2], [width - w / 2, height - h / 2], [w / 2, height - h / 2]]
    .map(([x, y]) => ({ x, y, dots: dots(x, y, w, h) }));
  return corners.reduce((best, corner) => (corner.dots < best.dots ? corner : best));
}

// Where all corners hold dots the map makes room: its points move to the left.
function roomForArrows() {
  const wanted = currentSpans().map((span, place) => {
    const map = maps[shownMaps()[place]];
    if (!span || !hasArrows(map) || !starPlace(map, place).dots) return span;
    const share = Math.min(0.6, ROOM.w / boxOf(place)[2]);
    const wide = (span.x[1] - span.x[0]) / (1 - share);
    return { x: [span.x[0], span.x[0] + wide], y: span.y };
  });
  return moveTo(wanted);
}

function drawArrows(map, place, inside) {
  if (!state.arrows || !hasArrows(map)) return;
  const { x: cx, y: cy } = starPlace(map, place);
  const group = drawnPart("g", { class: "arrows" }, inside);
  const [color, taken] = [ink("--accent"), []];
  for (const [title, dx, dy, ...more] of meaningOf(map).arrows) {
    const correlation = more.at(-1);
    const length = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [dx / length, -dy / length];
    const [x, y] = [cx + ux * STAR * correlation, cy + uy * STAR * correlation];
    const text = short(title, 16);
    pen.font = `${LEVELS[2].weight} 11px ${FONT}`;
    const [w, h] = [pen.measureText(text).width, 12];
    const spot = [9, 20, 31, 42].map((step) => [x + ux * (step + (w / 2 - 4) * Math.abs(ux)), y + uy * step])
      .find(([tx, ty]) => !taken.some(([ox, oy, ow]) => Math.abs(tx - ox) < (w + ow) / 2 + 2 && Math.abs(ty - oy) < h));
    if (!spot) continue;
    taken.push([...spot, w]);
    drawnPart("line", { x1: cx, y1: cy, x2: x, y2: y, stroke: color, "stroke-width": 1.6, class: "arrow" }, group);
    const head = (turn) => `${x - 7 * (ux * Math.cos(turn) - uy * Math.sin(turn))} ${y - 7 * (ux * Math.sin(turn) + uy * Math.cos(turn))}`;
    drawnPart("path", { d: `M${x} ${y}L${head(0.42)}L${head(-0.42)}Z`, fill: color }, group);
    drawnPart("text", { x: spot[0], y: spot[1], "text-anchor": "middle", "dominant-baseline": "central", "font-family": FONT, "font-size": 11,
      "font-weight": LEVELS[2].weight, fill: ink("--ink"), stroke: ink("--card"), "stroke-width": 3, "paint-order": "stroke", class: "arrow-name" }, group).textContent = text;
  }
}

// The list beside the map: each group with what differs in it; a click selects its rows.
const FIRST_GROUPS = 6;
const NOT_FOUND = "not found in the data"; // as `judging/group_names.py` says it
function groupLine(map, { letter, name, size, verdict: judged, differences }, code) {
  const found = judged !== NOT_FOUND;
  const told = found ? differences.map(({ column, where, inside, outside, is_category: level }) => (level
    ? `${column} = ${where} ${inside} (${outside} elsewhere)` : `${column} ${where} (${inside} against ${outside})`)) : [];
  const said = [...(told.length || !found ? told : ["no column sets it apart"]), ...(judged ? [judged] : [])].join("; ");
  return element("li", {}, element("button", { type: "button", class: "class group", title: `Select the rows of group ${letter}`,
    onclick: () => select(rowsOfGroups(map)[code]) },
  element("span", {}, element("strong", { dir: "auto", text: name ? `${letter}: ${name}` : letter }), element("bdi", { class: "said", text: said })),
  element("span", { class: "count", text: plural(size, "row", "rows") })));
}

function groupsSection() {
  const [place, map] = [by("groups"), maps[state.map]];
  const { groups } = meaningOf(map);
  if (place.dataset.map === String(state.map)) return; // whoever reads down the list keeps the place
  place.dataset.map = String(state.map);
  if (!groups.length) { place.replaceChildren(...zoomNamesSection(map)); return; }
  const lines = groups.map((group, code) => ({ line: groupLine(map, group, code), found: group.verdict !== NOT_FOUND }));
  const list = (some) => element("ul", { class: "classes groups" }, ...some.map(({ line }) => line));
  const folded = (words, some) => (some.length ? [element("details", {}, element("summary", { text: words }), list(some))] : []);
  const [told, missing] = [lines.filter(({ found }) => found), lines.filter(({ found }) => !found)];
  const rest = told.slice(FIRST_GROUPS);
  place.replaceChildren(element("h2", {}, termButton("Groups on the map", "group on the map")),
    ...(told.length ? [list(told.slice(0, FIRST_GROUPS))] : []),
    ...folded(plural(rest.length, "smaller group", "smaller groups"), rest),
    ...folded(`${plural(missing.length, "group is", "groups are")} ${NOT_FOUND}`, missing),
    ...zoomNamesSection(map));
}

// The same in words under the map, for readers who do not see it.
function meaningWords(map) {
  if (!meaningOf(map).axes.length) return "";
  const axes = Array.from({ length: map.strip ? 1 : map.dimensions }, (_, axis) => axisWords(map, axis).replaceAll("→", "↑").replaceAll("←", "↓"));
  return `${axes.map((words) => sentence(words)).join(" ")} ↑ rises along the axis, ↓ falls`;
}
