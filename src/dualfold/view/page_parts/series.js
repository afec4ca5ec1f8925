// The page of a series. All texts of the data go through textContent: none is read as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = name => document.getElementById(name);
const canvas = byId("map"), frame = byId("frame"), slider = byId("time");
const LAST = data.names.length - 1, WALK_MS = 1100, REST_MS = 500, NEAR_PIXELS = 14;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const make = (kind, text, className = "") => {
  const one = document.createElement(kind);
  one.textContent = text;
  if (className) one.className = className;
  return one;
};

// where[t][i]: place of id i in slice t, or -1.
const where = data.slices.map(slice => {
  const places = new Int32Array(data.ids.length).fill(-1);
  slice.rows.forEach((id, place) => { places[id] = place; });
  return places;
});
const idPlace = new Map(data.ids.map((id, i) => [id, i]));
let time = 0, tool = "pan", color = data.color, playing = false, moving = 0, selected = new Set(), lasso = null;
let view = null;  // scale and shift from coordinates to pixels

// ---- Places ----
function box() {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const slice of data.slices) for (let k = 0; k < slice.x.length; k++) {
    left = Math.min(left, slice.x[k]); right = Math.max(right, slice.x[k]);
    low = Math.min(low, slice.y[k]); high = Math.max(high, slice.y[k]);
  }
  return [left, right, low, high];
}
function fitView() {
  const [left, right, low, high] = box(), w = frame.clientWidth, h = frame.clientHeight, edge = 26;
  const scale = Math.min((w - 2 * edge) / (right - left || 1), (h - 2 * edge) / (high - low || 1));
  view = { scale, x: w / 2 - scale * (left + right) / 2, y: h / 2 + scale * (low + high) / 2 };
}
const pixel = (x, y) => [view.x + view.scale * x, view.y - view.scale * y];
const pointIn = (t, i) => {
  const place = where[t][i];
  return place < 0 ? null : [data.slices[t].x[place], data.slices[t].y[place]];
};
// Place and strength of an id now; null where it is in neither slice.
function placeNow(i) {
  const t = Math.min(Math.floor(time), LAST), f = time - t;
  const from = pointIn(t, i), to = f > 0 ? pointIn(t + 1, i) : null;
  if (from && to) return [from[0] + f * (to[0] - from[0]), from[1] + f * (to[1] - from[1]), 1];
  if (from) return [...from, f > 0 ? 1 - f : 1];
  return to ? [...to, f] : null;
}
function colorNow(i) {
  if (color < 0) return "#0072B2";
  const near = Math.round(time), t = where[near][i] >= 0 ? near : near > time ? Math.floor(time) : Math.ceil(time);
  const place = where[t][i], column = data.columns[color];
  return place < 0 ? "#888888" : column.palette[column.codes[t][place]];
}

// ---- Drawing ----
function draw() {
  const ratio = window.devicePixelRatio || 1, w = frame.clientWidth, h = frame.clientHeight;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
  }
  if (!view) fitView();
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim();
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, w, h);
  const radius = data.ids.length > 3000 ? 2 : data.ids.length > 600 ? 3 : 4.2, pale = selected.size ? 0.25 : 0.85;
  for (let i = 0; i < data.ids.length; i++) if (!selected.has(i)) drawPoint(pen, i, radius, pale);
  for (const i of selected) drawTrail(pen, i, ink);
  for (const i of selected) drawPoint(pen, i, radius + 1.5, 1, ink);
  pen.globalAlpha = 1;
  if (lasso) {
    pen.strokeStyle = ink; pen.lineWidth = 1; pen.beginPath();
    lasso.forEach(([x, y]) => pen.lineTo(x, y)); pen.closePath(); pen.stroke();
  }
}
function drawPoint(pen, i, radius, strength, edge = null) {
  const now = placeNow(i);
  if (!now) return;
  const [x, y] = pixel(now[0], now[1]);
  pen.globalAlpha = strength * now[2];
  pen.fillStyle = colorNow(i);
  pen.beginPath(); pen.arc(x, y, radius, 0, 2 * Math.PI); pen.fill();
  if (edge) {
    pen.strokeStyle = edge; pen.lineWidth = 1.2; pen.stroke();
    if (selected.size <= 12) {
      pen.fillStyle = edge; pen.font = "12px system-ui, sans-serif";
      pen.fillText(data.ids[i].slice(0, 40), x + radius + 4, y + 4);
    }
  }
}
function drawTrail(pen, i, ink) {
  for (let t = 0; t < LAST; t++) {
    const from = pointIn(t, i), to = pointIn(t + 1, i);
    if (!from || !to) continue;
    const f = Math.max(0, Math.min(1, time - t)), [a, b] = pixel(...from), [c, d] = pixel(...to);
    pen.strokeStyle = ink;
    pen.globalAlpha = 0.3; pen.lineWidth = 1; pen.setLineDash([3, 4]);
    pen.beginPath(); pen.moveTo(a, b); pen.lineTo(c, d); pen.stroke();
    pen.setLineDash([]);
    if (f > 0) {
      pen.globalAlpha = 0.85; pen.lineWidth = 2;
      pen.beginPath(); pen.moveTo(a, b); pen.lineTo(a + f * (c - a), b + f * (d - b)); pen.stroke();
    }
    pen.globalAlpha = 0.6; pen.fillStyle = ink;
    pen.beginPath(); pen.arc(a, b, 2.2, 0, 2 * Math.PI); pen.fill();
  }
}

// ---- Time ----
function setTime(value) {
  time = Math.max(0, Math.min(LAST, value));
  slider.value = time;
  const near = Math.round(time), whole = Math.abs(time - near) < 1e-9;
  const t = Math.floor(time);
  const words = whole ? data.names[near] : `${data.names[t]} → ${data.names[t + 1]}`;
  byId("now").textContent = words;
  slider.setAttribute("aria-valuetext", words);
  if (whole) showExchange(near);
  draw();
}
// Points walk to a slice; where motion is not wanted they are there at once.
function walkTo(goal, after = null) {
  cancelAnimationFrame(moving);
  goal = Math.max(0, Math.min(LAST, goal));
  const from = time, begin = performance.now(), length = WALK_MS * Math.abs(goal - from);
  if (calm.matches || !length) { setTime(goal); if (after) after(); return; }
  const step = now => {
    const share = Math.max(0, Math.min(1, (now - begin) / length)), eased = share * share * (3 - 2 * share);
    setTime(share < 1 ? from + (goal - from) * eased : goal);
    if (share < 1) moving = requestAnimationFrame(step); else if (after) after();
  };
  moving = requestAnimationFrame(step);
}
let resting = 0;
function play(on) {
  playing = on;
  clearTimeout(resting);
  byId("play").textContent = on ? "❚❚ Pause" : "▶ Play";
  byId("play").setAttribute("aria-pressed", String(on));
  if (!on) { cancelAnimationFrame(moving); return; }
  const next = () => {
    if (!playing) return;
    if (time >= LAST - 1e-9) { play(false); return; }
    walkTo(Math.floor(time + 1e-9) + 1, () => { resting = setTimeout(next, calm.matches ? 1500 : REST_MS); });
  };
  if (time >= LAST - 1e-9) setTime(0);
  resting = setTimeout(next, 150);
}
const step = by => { play(false); walkTo(by > 0 ? Math.floor(time + 1e-9) + 1 : Math.ceil(time - 1e-9) - 1); };

// ---- Side ----
function showLegend() {
  const place = byId("legend"); place.replaceChildren();
  if (color < 0) return;
  const column = data.columns[color];
  const head = make("h2", column.name); head.dir = "auto"; place.append(head);
  if (column.classes) {
    const list = make("ul", "");
    for (const [label, hue] of column.classes) {
      const item = make("li", ""), mark = make("span", "", "swatch");
      mark.style.setProperty("--hue", hue);
      item.append(mark, make("bdi", label)); list.append(item);
    }
    place.append(list);
  } else {
    const ramp = make("div", "", "ramp"), ends = make("div", "", "ends");
    const stops = column.palette.slice(0, column.levels).filter((_, k) => k % 8 === 0);
    ramp.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
    ends.append(make("span", column.ends[0]), make("span", column.ends[1]));
    place.append(ramp, ends);
  }
}
function idButton(id) {
  const button = make("button", id, "link");
  button.type = "button"; button.dir = "auto";
  button.addEventListener("click", () => { if (idPlace.has(id)) select([idPlace.get(id)]); });
  return button;
}
function showExchange(t) {
  const place = byId("exchange"); place.replaceChildren(make("h2", "Rows that come and go"));
  place.append(make("p", `${data.slices[t].rows.length.toLocaleString("en")} rows in ${data.names[t]}`, "note"));
  for (const [change, key, word] of [[data.exchanges[t - 1], "came", "came"], [data.exchanges[t], "went", "go after it"]]) {
    if (!change || !change[key].length) continue;
    const details = make("details", ""), list = make("ul", "");
    details.append(make("summary", `${change[key].length.toLocaleString("en")} ${word}`));
    for (const id of change[key].slice(0, 200)) { const item = make("li", ""); item.append(idButton(id)); list.append(item); }
    if (change[key].length > 200) list.append(make("li", `and ${change[key].length - 200} more`));
    details.append(list); place.append(details);
  }
}
function select(rows) {
  selected = new Set(rows);
  byId("clear").disabled = !selected.size;
  const place = byId("selection"); place.replaceChildren();
  if (selected.size) {
    place.append(make("h2", selected.size === 1 ? "1 row selected" : `${selected.size.toLocaleString("en")} rows selected`));
    const list = make("ul", "");
    for (const i of [...selected].slice(0, 50)) {
      const there = data.names.filter((_, t) => where[t][i] >= 0), item = make("li", "");
      item.append(make("bdi", data.ids[i]), make("span", ` in ${there.join(", ")}`, "note")); list.append(item);
    }
    if (selected.size > 50) list.append(make("li", `and ${selected.size - 50} more`));
    place.append(list);
    byId("said").textContent = place.firstChild.textContent;
  }
  draw();
}
function showMoves() {
  const body = document.querySelector("#moved tbody");
  for (const [id, from, to, length, beyond, reasons] of data.moves) {
    const line = make("tr", ""), first = make("td", "");
    first.append(idButton(id));
    const why = reasons.length ? reasons.join(", ") : "its own columns hardly changed";
    line.append(first, ...[`${from} → ${to}`, why, length, beyond ? "yes" : "no"].map(text => {
      const cell = make("td", text); cell.dir = "auto"; return cell;
    }));
    body.append(line);
  }
  byId("moved").hidden = !data.moves.length;
}

// ---- Mouse, touch, keys ----
const spot = event => { const r = canvas.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
function nearest([x, y]) {
  let best = -1, least = NEAR_PIXELS ** 2;
  for (let i = 0; i < data.ids.length; i++) {
    const now = placeNow(i);
    if (!now || now[2] < 0.1) continue;
    const [a, b] = pixel(now[0], now[1]), far = (a - x) ** 2 + (b - y) ** 2;
    if (far < least) { least = far; best = i; }
  }
  return best;
}
function inside([x, y], corners) {
  let odd = false;
  for (let k = 0, last = corners.length - 1; k < corners.length; last = k++) {
    const [a, b] = corners[k], [c, d] = corners[last];
    if ((b > y) !== (d > y) && x < (c - a) * (y - b) / (d - b) + a) odd = !odd;
  }
  return odd;
}
function zoom(factor, [x, y]) {
  view = { scale: view.scale * factor, x: x + factor * (view.x - x), y: y + factor * (view.y - y) };
  draw();
}
let held = null;
canvas.addEventListener("pointerdown", event => {
  canvas.setPointerCapture(event.pointerId);
  held = { at: spot(event), view: { ...view }, moved: false };
  if (tool === "lasso") lasso = [held.at];
});
canvas.addEventListener("pointermove", event => {
  if (!held) return;
  const [x, y] = spot(event), [a, b] = held.at;
  held.moved ||= Math.hypot(x - a, y - b) > 4;
  if (tool === "lasso") lasso.push([x, y]);
  else if (held.moved) view = { scale: view.scale, x: held.view.x + x - a, y: held.view.y + y - b };
  draw();
});
canvas.addEventListener("pointercancel", () => { held = lasso = null; draw(); });
canvas.addEventListener("pointerup", event => {
  if (!held) return;
  const corners = lasso, moved = held.moved;
  held = lasso = null;
  if (!moved) {
    const i = nearest(spot(event));
    const next = event.shiftKey ? new Set(selected) : new Set();
    if (i >= 0) { if (next.has(i)) next.delete(i); else next.add(i); }
    select(next);
  } else if (corners) {
    select(data.ids.map((_, i) => i).filter(i => { const now = placeNow(i); return now && inside(pixel(now[0], now[1]), corners); }));
  }
});
canvas.addEventListener("wheel", event => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 500), spot(event)); }, { passive: false });
frame.addEventListener("keydown", event => {
  const middle = [frame.clientWidth / 2, frame.clientHeight / 2];
  const does = {
    ArrowRight: () => step(1), ArrowLeft: () => step(-1), " ": () => play(!playing), "+": () => zoom(1.25, middle),
    "-": () => zoom(0.8, middle), "0": () => { fitView(); draw(); }, Escape: () => select([]),
  }[event.key];
  if (does) { event.preventDefault(); does(); }
});
slider.addEventListener("keydown", event => {
  const by = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1 }[event.key];
  if (by) { event.preventDefault(); step(by); }
});
slider.addEventListener("input", () => {
  play(false); cancelAnimationFrame(moving);
  setTime(calm.matches ? Math.round(slider.value) : Number(slider.value));
});
slider.addEventListener("change", () => walkTo(Math.round(time)));
byId("play").addEventListener("click", () => play(!playing));
byId("reset").addEventListener("click", () => { fitView(); draw(); });
byId("clear").addEventListener("click", () => select([]));
for (const button of document.querySelectorAll("[data-tool]")) button.addEventListener("click", () => {
  tool = button.dataset.tool;
  frame.classList.toggle("lasso", tool === "lasso");
  for (const one of document.querySelectorAll("[data-tool]")) one.setAttribute("aria-pressed", String(one === button));
});
byId("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  draw();
});
byId("search").addEventListener("input", () => {
  const wanted = byId("search").value.trim().toLowerCase(), list = byId("found");
  list.replaceChildren();
  list.hidden = !wanted;
  if (!wanted) return;
  const hits = data.ids.filter(id => id.toLowerCase().includes(wanted)).slice(0, 8);
  for (const id of hits) {
    const item = make("li", ""), button = idButton(id);
    button.className = "";
    button.addEventListener("click", () => { list.hidden = true; byId("search").value = ""; });
    item.append(button); list.append(item);
  }
  if (!hits.length) list.append(make("li", "No such id", "note"));
});
byId("search").addEventListener("keydown", event => {
  if (event.key === "Escape") { byId("search").value = ""; byId("found").hidden = true; }
  if (event.key === "Enter") document.querySelector("#found button")?.click();
});

// ---- Begin ----
slider.max = LAST;
data.names.forEach((name, t) => { const one = make("option", ""); one.value = t; one.label = name; byId("times").append(one); });
byId("color").append(new Option("one colour", -1), ...data.columns.map((column, k) => new Option(column.name, k)));
byId("color").value = color;
byId("color").addEventListener("change", () => { color = Number(byId("color").value); showLegend(); draw(); });
byId("summary").textContent = `${data.ids.length.toLocaleString("en")} ids in ${data.names.length} tables, by ${data.method}: ${data.names.join(", ")}`;
byId("certificate").append(make("strong", "Certificate: "), data.verdict);
byId("weight").append(make("strong", "Weight of the links: "), data.weight);
byId("notes").hidden = !data.notes.length;
for (const note of data.notes) { const item = make("li", note); item.dir = "auto"; document.querySelector("#notes ul").append(item); }
byId("made").textContent = "Made by dualfold; this file needs no network.";
showLegend(); showMoves(); setTime(0);
new ResizeObserver(() => { fitView(); draw(); }).observe(frame);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
window.dualfold = Object.freeze({
  ready: Promise.resolve(true),
  state: () => ({ time, playing, selected: [...selected].map(i => data.ids[i]), color, rows: data.ids.length }),
  goTo: value => { cancelAnimationFrame(moving); setTime(value); },
  pixelOf: id => { const now = placeNow(idPlace.get(id)), r = canvas.getBoundingClientRect();
    if (!now) return null;
    const [x, y] = pixel(now[0], now[1]); return [x + r.left, y + r.top, now[2]]; },
});
