// The key of the colours, which also filters.

function legend() {
  colorKey();
  if (hasColumns(maps[state.map])) by("legend").append(kindsKey(maps[state.map]));
}

function colorKey() {
  const colors = coloring(maps[state.map]);
  const place = by("legend");
  if (!colors.column) {
    place.replaceChildren(element("h2", { text: "Legend" }), element("p", { class: "note", text: "All points in one colour." }));
    return;
  }
  const score = state.color.startsWith("score:");
  const heading = element("h2", { dir: "auto" }, score ? termButton(scoreWords(colors.column.name), colors.column.name) : element("span", { text: scoreWords(colors.column.name) }));
  const first = given.color_reason && state.color === `column:${given.color}`;
  place.replaceChildren(heading, ...(first ? [element("p", { class: "note", text: `${sentence(given.color_reason)} Change it under Colour.` })] : []),
    ...(colors.column.kind === "class" ? classKey(colors) : scaleKey(colors)));
}

const scoreWords = (name) => short(state.color.startsWith("score:") ? name.replaceAll("_", " ") : name, 60);

function classKey(colors) {
  const counts = colors.list.map(() => 0);
  for (let row = 0; row < n; row++) counts[colors.slots[row]]++;
  const items = colors.list.map(({ label, color, shape }, slot) => element("li", {},
    element("button", {
      type: "button", class: "class", "aria-pressed": String(!state.hidden.has(slot)), "data-slot": slot,
      title: "Click hides or shows it, double click shows it alone",
      onclick: () => hide(slot), ondblclick: () => alone(slot, colors.list.length),
    },
    element("span", { class: shape ? "swatch triangle" : "swatch", style: `--hue:${color}`, "aria-hidden": "true" }),
    element("bdi", { text: short(label === "" ? "(empty)" : label, 48) }),
    element("span", { class: "count", text: count(counts[slot]) }))));
  const all = element("button", { type: "button", class: "link", text: "Show all", hidden: state.hidden.size === 0,
    onclick: () => { state.hidden.clear(); refresh(); } });
  return [element("ul", { class: "classes" }, ...items), all];
}

function hide(slot) {
  if (state.hidden.has(slot)) state.hidden.delete(slot); else state.hidden.add(slot);
  refresh();
  const again = document.querySelector(`[data-slot="${slot}"]`);
  if (again) again.focus(); // the list was made anew under the reader's finger
}

function alone(slot, total) {
  state.hidden = new Set(Array.from({ length: total }, (_, at) => at).filter((at) => at !== slot));
  refresh();
}

const knownValues = new Map(); // column → { ends, total } of its finite values
function knownOf(column) {
  if (!knownValues.has(column)) {
    let total = 0;
    for (let row = 0; row < n; row++) if (Number.isFinite(column.values[row])) total++;
    knownValues.set(column, { ends: endsOf(column.values), total });
  }
  return knownValues.get(column);
}

function scaleKey(colors) {
  const column = colors.column;
  const { ends, total } = knownOf(column);
  const words = (value) => scaleWords(column, value);
  const hues = Array.from({ length: 12 }, (_, at) => viridis(at / 11)).join(",");
  const slider = (at, name) => element("input", {
    type: "range", min: 0, max: 1000, "aria-label": name,
    value: String(state.range ? Math.round((state.range[at] - ends[0]) / (ends[1] - ends[0] || 1) * 1000) : 1000 * at),
    onchange: (event) => cut(ends, at, event.target.value / 1000) });
  return [
    element("div", { class: "scale", style: `background:linear-gradient(90deg,${hues})` }),
    element("div", { class: "ends" },
      element("span", { text: (column.cut ? "≤ " : "") + words(column.low) }),
      element("span", { text: (column.cut ? "≥ " : "") + words(column.high) })),
    element("div", { class: "sliders" }, slider(0, "Show from"), slider(1, "Show up to")),
    element("p", { class: "note", text: state.range
      ? `Shown: ${words(state.range[0])} to ${words(state.range[1])}`
      : total < n ? `Known for ${count(total)} of ${count(n)} points; the others are grey.` : "Move the sliders to show a part of the points." }),
    element("button", { type: "button", class: "link", text: "Show all", hidden: !state.range,
      onclick: () => { state.range = null; refresh(); } }),
  ];
}

function cut(ends, at, share) {
  const range = state.range ? [...state.range] : [...ends];
  range[at] = ends[0] + share * (ends[1] - ends[0]);
  state.range = range[0] <= range[1] ? range : [range[1], range[0]];
  refresh();
}
