// What the map means in the words of its table: columns at the axes, arrows on demand.

const AXIS_FONT = { size: 11.5, weight: 500 };
const meaningOf = (map) => map.meaning || { axes: [], arrows: [] };

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

// The same in words under the map, for readers who do not see it.
function meaningWords(map) {
  if (!meaningOf(map).axes.length) return "";
  const axes = Array.from({ length: map.strip ? 1 : map.dimensions }, (_, axis) => axisWords(map, axis).replaceAll("→", "↑").replaceAll("←", "↓"));
  return `${axes.map((words) => sentence(words)).join(" ")} ↑ rises along the axis, ↓ falls`;
}
