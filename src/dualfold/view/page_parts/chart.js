// Small charts of the evidence as SVG: axes, lines, dots, bands and cells, with the value under the pointer.
//
// A chart is { x, y, marks, stripe, cells }. x and y: { label, log, ticks, from, to }, all but the label on demand. marks: lines and dots
// { x, y, color, width, dash, dots, hollow, words } or bands { x, low, high, color }. stripe: [low, high] of y. cells: { shape, widths, shareOf, color }.

const CHART_HEIGHT = 220;
const CHART_FONT = { "font-family": FONT, "font-size": 10 };
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const powerWords = (power) => `10${power < 0 ? "⁻" : ""}${Array.from(String(Math.abs(power)), (digit) => SUPERSCRIPTS[digit]).join("")}`;
const tickWords = (value) => (value !== 0 && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4)
  ? value.toExponential().replace("e+", "e") : String(value));

// Round numbers between two ends, about `wanted` of them.
function roundTicks(low, high, wanted = 5) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough * 0.999);
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

function powerTicks(low, high, wanted = 5) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const step = Math.max(1, Math.ceil((last - first) / wanted));
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, at) => 10 ** (last - at * step));
}

// An axis that holds all values: its ends, its ticks, and the share of its length at which a value stands.
function scaleOf(axis, values) {
  let [low, high] = endsOf(values.filter((value) => Number.isFinite(value)));
  if (axis.from !== undefined) low = axis.from;
  if (axis.to !== undefined) high = axis.to;
  if (axis.log) {
    if (!(low > 0)) [low, high] = [1e-16, 1]; // nothing is known
    const room = (high / low) ** 0.04;
    [low, high] = high > low ? [low / room, high * room] : [low / 2, high * 2];
    const ticks = (axis.ticks || powerTicks(low, high)).filter((tick) => tick >= low && tick <= high);
    return { ticks, words: axis.ticks ? tickWords : (tick) => powerWords(Math.round(Math.log10(tick))),
      share: (value) => Math.log(value / low) / Math.log(high / low) };
  }
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  if (axis.from === undefined) low -= room;
  if (axis.to === undefined) high += room;
  const ticks = axis.ticks || roundTicks(low, high);
  return { ticks, words: tickWords, share: (value) => (value - low) / (high - low) };
}

// "_NX" is written as an index.
function writeLabel(text, attributes, parent) {
  const label = drawnPart("text", { ...CHART_FONT, "font-size": 11, fill: ink("--soft"), "text-anchor": "middle", ...attributes }, parent);
  text.split(/_([A-Z]+)/).forEach((part, at) => {
    drawnPart("tspan", at % 2 ? { dy: 3, "font-size": 8 } : at ? { dy: -3 } : {}, label).textContent = part;
  });
}

function drawAxes(chart, { x, y, box: [left, top, width, height] }, parent) {
  const line = (x1, y1, x2, y2) => drawnPart("line", { x1, y1, x2, y2, stroke: ink("--line"), "stroke-width": 1 }, parent);
  const write = (text, at) => { drawnPart("text", { ...CHART_FONT, fill: ink("--soft"), ...at }, parent).textContent = text; };
  let right = -Infinity; // of the last word under the chart: words never touch
  for (const tick of x.ticks) {
    const at = left + x.share(tick) * width;
    if (!chart.cells) line(at, top, at, top + height);
    pen.font = `10px ${FONT}`;
    const half = pen.measureText(x.words(tick)).width / 2;
    if (at - half < right + 5) continue;
    right = at + half;
    write(x.words(tick), { x: at, y: top + height + 14, "text-anchor": "middle" });
  }
  for (const tick of y.ticks) {
    const at = top + (1 - y.share(tick)) * height;
    if (!chart.cells) line(left, at, left + width, at);
    write(y.words(tick), { x: left - 6, y: at + 3.5, "text-anchor": "end" });
  }
  writeLabel(chart.x.label, { x: left + width / 2, y: top + height + 31 }, parent);
  writeLabel(chart.y.label, { transform: `translate(11 ${top + height / 2}) rotate(-90)` }, parent);
}

// Counts as a picture of one pixel a cell.
function drawCells({ shape: [across, up], widths, shareOf, color }, at, parent) {
  const picture = element("canvas", { width: across, height: up });
  const context = picture.getContext("2d");
  for (let i = 0; i < across; i++)
    for (let j = 0; j < up; j++) {
      const share = shareOf(i, j);
      if (share === null) continue;
      context.fillStyle = color(share);
      context.fillRect(i, up - 1 - j, 1, 1);
    }
  const [[x0, y0], [x1, y1]] = [at(0, 0), at(across * widths[0], up * widths[1])];
  drawnPart("image", { x: x0, y: y1, width: x1 - x0, height: y0 - y1, preserveAspectRatio: "none", href: picture.toDataURL(),
    style: "image-rendering:pixelated" }, parent);
}

function drawMark(mark, at, parent) {
  const path = (xs, ys) => Array.from(xs, (value, place) => (ys[place] === null ? null : at(value, ys[place])))
    .reduce((text, spot) => (spot ? `${text}${text === "" || text.endsWith(" ") ? "M" : "L"}${spot.map((v) => v.toFixed(2)).join(",")}` : `${text} `), "");
  if (mark.low) {
    const back = path([...mark.x].reverse(), [...mark.low].reverse()).replace("M", "L");
    drawnPart("path", { d: `${path(mark.x, mark.high)}${back}Z`, fill: mark.color, "fill-opacity": 0.18 }, parent);
    return;
  }
  if (mark.width) drawnPart("path", { d: path(mark.x, mark.y), fill: "none", stroke: mark.lineColor || mark.color, "stroke-width": mark.width,
    "stroke-linejoin": "round", "stroke-dasharray": mark.dash ? "7 4" : "none" }, parent);
  if (mark.dots) mark.x.forEach((value, place) => {
    if (mark.y[place] === null) return;
    const [cx, cy] = at(value, mark.y[place]);
    drawnPart("circle", { cx, cy, r: mark.dots / 2, fill: mark.hollow ? "none" : mark.color, stroke: mark.hollow ? mark.color : "none", "stroke-width": 1.5 }, parent);
  });
}

// The value nearest to the pointer, beside its dot.
function tellValues(chart, at, svg, width) {
  const spots = chart.marks.flatMap((mark) => (mark.words ? Array.from(mark.x, (x, place) => mark.y[place] !== null
    && { spot: at(x, mark.y[place]), words: mark.words(x, mark.y[place]), color: mark.color }).filter(Boolean) : []));
  const told = drawnPart("g", { "aria-hidden": "true", "pointer-events": "none" }, svg);
  svg.addEventListener("pointerleave", () => told.replaceChildren());
  svg.addEventListener("pointermove", (event) => {
    told.replaceChildren();
    const box = svg.getBoundingClientRect();
    const far = ({ spot }) => Math.hypot(spot[0] - event.clientX + box.left, spot[1] - event.clientY + box.top);
    const near = spots.reduce((best, one) => (best && far(best) <= far(one) ? best : one), null);
    if (!near || far(near) > 40) return;
    const [cx, cy] = near.spot;
    drawnPart("circle", { cx, cy, r: 4, fill: near.color, stroke: ink("--card"), "stroke-width": 1.5 }, told);
    const wide = near.words.length * 6;
    drawnPart("text", { ...CHART_FONT, "font-size": 11, x: Math.max(wide / 2, Math.min(width - wide / 2, cx)), y: cy > 24 ? cy - 10 : cy + 18, "text-anchor": "middle",
      fill: ink("--ink"), stroke: ink("--card"), "stroke-width": 4, "paint-order": "stroke", "font-weight": 600 }, told).textContent = near.words;
  });
}

function drawChart(place, chart, width) {
  const all = (letter) => chart.marks.flatMap((mark) => (letter === "x" ? [...mark.x] : mark.low ? [...mark.low, ...mark.high] : [...mark.y]))
    .concat(letter === "y" && chart.stripe ? chart.stripe : []);
  const [x, y] = [scaleOf(chart.x, all("x")), scaleOf(chart.y, all("y"))];
  pen.font = `10px ${FONT}`;
  const left = 30 + Math.max(...y.ticks.map((tick) => pen.measureText(y.words(tick)).width), 6);
  const box = [left, 8, width - left - 10, CHART_HEIGHT - 8 - 38];
  const at = (across, up) => [box[0] + x.share(across) * box[2], box[1] + (1 - y.share(up)) * box[3]];
  const svg = drawnPart("svg", { width, height: CHART_HEIGHT, "aria-hidden": "true" }, place);
  drawAxes(chart, { x, y, box }, svg);
  if (chart.stripe) {
    const [from, to] = chart.stripe.map((value) => at(0, value)[1]);
    drawnPart("rect", { x: box[0], y: Math.min(from, to), width: box[2], height: Math.abs(to - from), fill: "#E69F00", "fill-opacity": 0.18 }, svg);
  }
  if (chart.cells) drawCells(chart.cells, at, svg);
  for (const mark of chart.marks) drawMark(mark, at, svg);
  tellValues(chart, at, svg, width);
}
