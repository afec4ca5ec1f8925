// What lies over the map and moves with it: contours, names of groups, the clicked point and its neighbours.
// Every part carries its own colours, so that the same drawing goes into exported pictures.

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = { // a shape each, for those who see the colours alike
  kept: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z",
  false: "M-4 -4L4 4M4 -4L-4 4",
  missing: "M0 -5.5L5.5 0L0 5.5L-5.5 0Z",
};

function drawnPart(tag, attributes, parent) {
  const part = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
  parent.append(part);
  return part;
}

function overlay() {
  const layer = by("overlay");
  layer.replaceChildren();
  if (!webgl) return;
  const shown = shownMaps();
  dividers(layer, shown.length);
  shown.forEach((at, place) => {
    const map = maps[at];
    const [left, top, width, height] = boxOf(place);
    // An inner svg cuts off what lies outside its map.
    const inside = drawnPart("svg", { x: left, y: top, width, height, class: "over" }, layer);
    drawAxisWords(map, place, layer);
    if (state.contours && !map.strip && !isSpace(map)) drawContours(map, place, inside);
    if (map.density) drawStripDensity(map, place, inside);
    const quiet = state.focus === null ? 1 : 0.45;
    for (const name of placedNames(map, place)) {
      drawLeader(name, inside, [left, top]);
      drawName(name, inside, [left, top], quiet);
    }
    drawArrows(map, place, inside);
    if (state.focus !== null) drawNeighbors(map, place, inside, [left, top]);
    drawColumnMark(map, place, inside, [left, top]);
  });
  drawnPart("g", { id: "hovered" }, layer);
}

function dividers(layer, total) {
  if (total < 2) return;
  const [width, height] = [frame.clientWidth, frame.clientHeight];
  for (const [left, bottom, across, down] of places(total)) {
    const line = (x1, y1, x2, y2) => drawnPart("line", { x1, y1, x2, y2, stroke: ink("--divider"), "stroke-width": 1, class: "divider" }, layer);
    if (left > 0.001) line(left * width, (1 - bottom - down) * height, left * width, (1 - bottom) * height);
    if (bottom > 0.001) line(left * width, (1 - bottom) * height, (left + across) * width, (1 - bottom) * height);
  }
}

// How dense the points of one coordinate are: a curve above the strip, which is from -1 to 1 high.
function drawStripDensity(map, place, inside) {
  const [, , width, height] = boxOf(place);
  const { x, y } = currentSpans()[place];
  const [foot, most] = [1.3, 2];
  const across = (value) => ((value - x[0]) / (x[1] - x[0]) * width).toFixed(1);
  const down = (value) => ((y[1] - value) / (y[1] - y[0]) * height).toFixed(1);
  const [places, heights] = map.density;
  const curve = places.map((value, at) => `${across(value)} ${down(foot + most * heights[at])}`).join("L");
  const ends = [places[places.length - 1], places[0]].map((value) => `${across(value)} ${down(foot)}`).join("L");
  drawnPart("path", { d: `M${curve}L${ends}Z`, fill: ink("--divider"), "fill-opacity": 0.45, stroke: "none", class: "density" }, inside);
  drawnPart("path", { d: `M${curve}`, fill: "none", stroke: ink("--soft"), "stroke-width": 1.2 }, inside);
}

// Paths are in cells of the grid; one matrix takes them to pixels.
function drawContours(map, place, inside) {
  const [, , width, height] = boxOf(place);
  const span = currentSpans()[place];
  const [low, high] = [unitsOf(map, 0, 0), unitsOf(map, 1, 1)];
  const sx = (high[0] - low[0]) / (span.x[1] - span.x[0]) * width;
  const sy = (high[1] - low[1]) / (span.y[1] - span.y[0]) * height;
  const dx = (low[0] - span.x[0]) / (span.x[1] - span.x[0]) * width;
  const dy = (span.y[1] - low[1]) / (span.y[1] - span.y[0]) * height;
  contours(map).forEach((d, at) => drawnPart("path", { d, fill: "none", stroke: ink("--ink"), class: "contour",
    "stroke-width": 1, "stroke-opacity": 0.62 - 0.12 * at, "vector-effect": "non-scaling-stroke",
    transform: `matrix(${sx} 0 0 ${-sy} ${dx} ${dy})` }, inside));
}

function drawName(name, inside, [left, top], opacity) {
  const { level } = name;
  const fill = name.color ? mixed(name.color, isDark() ? "#ffffff" : "#101418", 0.55) : ink("--ink");
  const text = drawnPart("text", { x: name.x - left, y: name.y - top, "text-anchor": "middle", "dominant-baseline": "central",
    "font-family": FONT, "font-size": level.size, "font-weight": level.weight, "letter-spacing": level.spacing,
    fill, opacity: level.opacity * opacity, stroke: ink("--card"), "stroke-width": 0.3 * level.size, "stroke-linejoin": "round",
    "paint-order": "stroke", class: "name" }, inside);
  text.textContent = name.text;
}

function drawNeighbors(map, place, inside, [left, top]) {
  const at = (row) => { const [x, y] = pixelOf(place, row); return [x - left, y - top]; };
  const centre = at(state.focus);
  const found = neighborsOf(map, state.focus);
  for (const relation of ["missing", "false", "kept"])
    for (const other of found[relation]) link(inside, centre, at(other), relation);
  ring(inside, centre, 7, "centre");
}

// Dark inside light: it is seen on any ground and over any point.
function ring(parent, [cx, cy], r, name) {
  drawnPart("circle", { cx, cy, r, fill: "none", stroke: ink("--card"), "stroke-width": 5 }, parent);
  drawnPart("circle", { cx, cy, r, fill: "none", stroke: ink("--ink"), "stroke-width": 2.2, class: name }, parent);
}

function link(inside, from, to, relation) {
  const color = RELATION[relation];
  drawnPart("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: color,
    "stroke-width": 1.4, "stroke-opacity": 0.75,
    "stroke-dasharray": relation === "missing" ? "4 4" : "none" }, inside);
  drawnPart("path", { d: SHAPES[relation], transform: `translate(${to[0]} ${to[1]})`, class: "mark",
    stroke: color, "stroke-width": 2, fill: relation === "kept" ? color : "none" }, inside);
}

// The point under the pointer, on all maps that are shown.
function markHovered(row) {
  const group = by("hovered");
  if (!group) return;
  group.replaceChildren();
  if (row === null || !state.beside) return;
  shownMaps().forEach((_, place) => {
    const pixel = pixelOf(place, row);
    const [left, top, width, height] = boxOf(place);
    if (!pixel || pixel[0] < left || pixel[1] < top || pixel[0] > left + width || pixel[1] > top + height) return;
    ring(group, pixel, 6, "same");
  });
}
