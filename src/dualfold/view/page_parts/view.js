// Which part of each map is seen, and where that is on the screen.

const plot = by("plot");
const frame = by("frame");
const webgl = (() => {
  try {
    const card = document.createElement("canvas").getContext("webgl");
    return Boolean(card) && card.getParameter(card.MAX_VERTEX_TEXTURE_IMAGE_UNITS) > 0; // colours come from a texture
  } catch {
    return false;
  }
})();

const MARGIN = 4; // pixels around the maps
let spans = []; // for each place: { x: [low, high], y: [low, high] } in units of its map; null in 3-D
let spansOf = ""; // what they belong to

const shownMaps = () => (state.beside ? maps.map((_, at) => at) : [state.map]);
const axisName = (letter, place) => letter + (place ? place + 1 : "");

// The least and the largest of finite numbers.
function endsOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (value < low && value > -Infinity) low = value;
    if (value > high && value < Infinity) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

function rangeOf(values) {
  const [low, high] = endsOf(values);
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return [low - room, high + room];
}

// The parts of the frame that the maps take, as shares: [left, bottom, width, height].
function places(total) {
  const wide = frame.clientWidth > 620;
  const across = total === 1 || !wide ? 1 : Math.ceil(Math.sqrt(total));
  const down = Math.ceil(total / across);
  return Array.from({ length: total }, (_, at) => {
    const [column, line] = [at % across, Math.floor(at / across)];
    return [column / across, 1 - (line + 1) / down, 1 / across, 1 / down];
  });
}

// Words at the axes stand beside the map: they cover no dots.
const GUTTER = 20; // pixels
const hasAxisWords = (map) => map.dimensions === 2 && Boolean(map.explained || (map.meaning && map.meaning.axes.length));

function domainOf(place, total) {
  const [left, bottom, width, height] = places(total)[place];
  const map = maps[shownMaps()[place]];
  const gap = total > 1 ? 0.008 : 0;
  const above = total > 1 ? 26 / frame.clientHeight : 0; // for the title
  const below = hasAxisWords(map) ? GUTTER / frame.clientHeight : 0;
  const beside = hasAxisWords(map) && !map.strip ? GUTTER / frame.clientWidth : 0;
  return [[left + gap + beside, left + width - gap], [bottom + gap + below, bottom + height - gap - above]];
}

// [left, top, width, height] of a map in pixels of the frame.
function boxOf(place) {
  const [x, y] = domainOf(place, shownMaps().length);
  const [width, height] = [frame.clientWidth - 2 * MARGIN, frame.clientHeight - 2 * MARGIN];
  return [MARGIN + x[0] * width, MARGIN + (1 - y[1]) * height, (x[1] - x[0]) * width, (y[1] - y[0]) * height];
}

// Where lengths mean something one unit is as long on both axes: the shorter side shows more.
function squared(place, span) {
  const map = maps[shownMaps()[place]];
  if (!map.equal) return { x: [...span.x], y: [...span.y] }; // a move changes it, never the whole extent
  const [, , width, height] = boxOf(place);
  if (!(width > 1 && height > 1)) return { x: [...span.x], y: [...span.y] }; // hidden, as in a folded cell of a notebook: nothing to fit
  const unit = Math.max((span.x[1] - span.x[0]) / width, (span.y[1] - span.y[0]) / height);
  const around = ([low, high], pixels) => [(low + high - unit * pixels) / 2, (low + high + unit * pixels) / 2];
  return { x: around(span.x, width), y: around(span.y, height) };
}

// [low, high] of both axes over the rows: places are drawn as shares of this box.
const boxes = new Map();
function mapBox(map) {
  if (map.box) return map.box;
  if (!boxes.has(map)) {
    const ends = [0, 1].map((axis) => endsOf(map.axes[axis]));
    boxes.set(map, [ends.map(([low]) => low), ends.map(([low, high]) => (high > low ? high : low + Math.max(Math.abs(low), 1)))]);
  }
  return boxes.get(map);
}

// Coordinates of all points along an axis, those of columns too.
const along = (map, axis) => (map.columns.length ? [...map.axes[axis], ...map.columns.map(({ at }) => at[axis])] : map.axes[axis]);
const homes = new Map(); // map → its whole extent
function home(map) {
  if (!homes.has(map)) homes.set(map, { x: rangeOf(along(map, 0)), y: map.strip ? [-4, 4] : rangeOf(along(map, 1)) });
  return homes.get(map);
}
const wholeSpans = () => shownMaps().map((at, place) =>
  (maps[at].dimensions === 3 ? null : squared(place, home(maps[at]))));

// Spans of what is shown now: the reader's own, or the whole map where it has just appeared.
function currentSpans() {
  const now = `${state.beside}-${state.beside ? "" : state.map}`;
  if (now !== spansOf) [spans, spansOf] = [wholeSpans(), now];
  return spans;
}

// Where a row is drawn, in pixels of the frame.
function pixelOf(place, row) {
  const map = maps[shownMaps()[place]];
  return pixelAt(place, [map.axes[0][row], map.axes[1][row], map.axes[2] && map.axes[2][row]]);
}

function pixelAt(place, [x, y, z]) {
  const [span, map] = [currentSpans()[place], maps[shownMaps()[place]]];
  if (isSpace(map)) return projection(map, place)(x, y, z).slice(0, 2);
  const [left, top, width, height] = boxOf(place);
  return [left + (x - span.x[0]) / (span.x[1] - span.x[0]) * width,
    top + (span.y[1] - y) / (span.y[1] - span.y[0]) * height];
}

// The other way: which place of the map lies at a pixel of the frame.
function unitsAt(place, [x, y]) {
  const span = currentSpans()[place];
  if (!span) return null;
  const [left, top, width, height] = boxOf(place);
  return [span.x[0] + (x - left) / width * (span.x[1] - span.x[0]),
    span.y[1] - (y - top) / height * (span.y[1] - span.y[0])];
}

// Layers over the map hear of every move.
const tellMove = () => frame.dispatchEvent(new CustomEvent("viewchange"));
