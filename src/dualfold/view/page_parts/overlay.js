// The clicked point and its neighbours, drawn over the map and moving with it.

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
  if (state.focus === null) return;
  shownMaps().forEach((at, place) => {
    const map = maps[at];
    if (map.dimensions === 3) return;
    const full = plot._fullLayout;
    const [x, y] = [full[axisName("xaxis", place)], full[axisName("yaxis", place)]];
    const box = [x._offset, y._offset, x._length, y._length];
    // An inner svg cuts off what lies outside its map.
    const inside = drawnPart("svg", { x: box[0], y: box[1], width: box[2], height: box[3] }, layer);
    const at_ = (row) => pixelOf(place, row).map((value, axis) => value - box[axis]);
    const centre = at_(state.focus);
    const found = neighborsOf(map, state.focus);
    for (const relation of ["missing", "false", "kept"])
      for (const other of found[relation]) link(inside, centre, at_(other), relation);
    drawnPart("circle", { cx: centre[0], cy: centre[1], r: 7, class: "centre" }, inside);
  });
}

function link(inside, from, to, relation) {
  const color = RELATION[relation];
  drawnPart("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: color,
    "stroke-width": 1.4, "stroke-opacity": 0.75,
    "stroke-dasharray": relation === "missing" ? "4 4" : "none" }, inside);
  drawnPart("path", { d: SHAPES[relation], transform: `translate(${to[0]} ${to[1]})`, class: "mark",
    stroke: color, fill: relation === "kept" ? color : "none" }, inside);
}
