// The page starts here.
//
// window.dualfold lets scripts and tests read and drive it:
//   state()            what is shown, selected and clicked, as plain values (clear: rows on each map that are not faint)
//   select(rows)       select rows (null: none)     focus(row)   as if clicked (null: none)
//   colorBy(key)       "column:NAME", "score:NAME" or ""
//   show(map)          change to a map by its number; resolves when the change has been seen
//   besides(on)        all maps side by side, or one
//   pixelOf(row, place)  where a row is drawn in the window (place: number of the map shown)
//   csv(rows)          the table that the download holds; picture() the PNG, as a Blob
//   spans()            which part of each shown map is seen: { x, y } in its units, null in 3-D
//   pixelAt([x, y], place)  from units of a shown map to pixels of the frame; unitsAt(pixel, place) back
//   "viewchange"       event of #frame after each move, zoom and resize: ask pixelAt again
//   names(place)       names of groups on a map, with their places in pixels
//   contrasts(rows)    these rows against the others, column by column
//   ready              resolves once the first map is drawn

async function refresh() {
  legend();
  verdict();
  auditSection();
  groupsSection();
  pointSection();
  selectionSection();
  controls();
  await draw();
}

function controls() {
  document.querySelectorAll("#tabs [role=tab]").forEach((tab, at) => {
    const on = at === state.map && !state.beside;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = at === state.map ? 0 : -1;
  });
  document.querySelectorAll("#static figure").forEach((figure, at) => { figure.hidden = !state.beside && at !== state.map; });
  document.querySelectorAll("#tools button").forEach((button) =>
    button.setAttribute("aria-pressed", String(button.dataset.tool === state.tool)));
  by("beside").setAttribute("aria-pressed", String(state.beside));
  toggles();
  by("color").value = state.color;
}

async function show(at) {
  const score = state.color.startsWith("score:");
  if (score && !maps[at].scores[state.color.slice(6)]) state.color = "";
  if (score) state.range = null; // the other map has scores of its own
  await changeTo(at);
  colorChoices();
  panels();
}

async function besides(on) {
  state.beside = on;
  await refresh();
}

async function colorBy(key) {
  state.color = key;
  state.hidden.clear();
  state.range = null;
  await refresh();
}

// Labels, and the table that the maps were made from; grouped where there are both.
function columnChoices() {
  const option = (column) => element("option", { value: `column:${column.name}`, text: short(column.name, 40) });
  const groups = byGroup(columns, (column) => (column.group === "feature" ? "Columns of the table" : "Labels"));
  if (groups.size < 2) return columns.map(option);
  return Array.from(groups, ([label, some]) => element("optgroup", { label }, ...some.map(option)));
}

function colorChoices() {
  const choice = by("color");
  const scores = Object.keys(maps[state.map].scores);
  choice.replaceChildren(element("option", { value: "", text: "nothing" }),
    ...columnChoices(),
    ...(scores.length ? [element("optgroup", { label: "Quality of each point" },
      ...scores.map((name) => element("option", { value: `score:${name}`, text: name.replaceAll("_", " ") })))] : []));
  choice.value = state.color;
}

function tabs() {
  if (maps.length < 2) { by("tabs").hidden = true; return; }
  by("beside").hidden = false;
  by("tabs").append(...maps.map((map, at) => element("button", {
    type: "button", role: "tab", text: short(map.name, 32), dir: "auto", onclick: () => show(at),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (at + step + maps.length) % maps.length;
      by("tabs").children[next].focus();
      show(next);
    } })));
}

function wire() {
  by("color").addEventListener("change", (event) => colorBy(event.target.value));
  by("beside").addEventListener("click", () => besides(!state.beside));
  by("reset").addEventListener("click", wholeMap);
  by("csv").addEventListener("click", () => save(new Blob([csv(state.selected)], { type: "text/csv" }), fileName("csv")));
  by("png").addEventListener("click", async () => save(await picture(), fileName("png")));
  document.querySelectorAll("#tools button").forEach((button) => button.addEventListener("click", () => useTool(button.dataset.tool)));
  by("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    refresh().then(() => panels());
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => refresh().then(() => panels()));
}

// What was decided about the columns; of one that may be the target it is said at once.
function notes() {
  const sentences = given.notes.map((note) => `${note}.`);
  const doubt = sentences.find((note) => note.includes("may be the target"));
  by("doubt").hidden = !doubt;
  by("doubt").replaceChildren(...withOptions(doubt || ""));
  const others = sentences.filter((note) => note !== doubt);
  by("notes").hidden = others.length === 0;
  by("notes").querySelector("ul").append(...others.map((text) => element("li", { dir: "auto" }, ...withOptions(text))));
}

// Options of the command line as one word each, whatever the width.
const withOptions = (text) => text.split(/(--[\w-]+)/).map((part, place) => (place % 2 ? element("code", { text: part }) : part));

async function start() {
  tabs();
  colorChoices();
  wire();
  by("made").textContent = `Made by dualfold ${given.version}. Everything on this page is in this file.`;
  notes();
  by("left-out").textContent = given.notices.map((notice) => `${notice}.`).join(" ");
  document.documentElement.classList.add(webgl ? "webgl" : "no-webgl");
  if (maps.every(isSpace)) { // arrows and drags turn it
    by("keys").textContent = by("keys").textContent.replace("arrows move", "arrows turn");
    document.querySelector("[data-tool=pan]").textContent = "Turn";
  }
  if (!webgl) by("keys").textContent = "This browser has no WebGL, so the map is a still picture; the evidence below is complete.";
  await refresh();
  if (webgl) listen();
  window.dualfold.drawnAfter = performance.now();
  setTimeout(() => panels()); // the map first
}

window.dualfold = {
  state: () => ({
    rows: n, maps: maps.map((map) => map.name), map: state.map, beside: state.beside, color: state.color,
    selected: state.selected ? [...state.selected] : [], focus: state.focus, change: state.change, webgl,
    hidden: [...state.hidden],
    shown: shownCount(),
    clear: clearCounts(),
    neighbors: state.focus === null ? null : neighborsOf(maps[state.map], state.focus),
    arrows: state.arrows,
    column: state.column,
    colors: shownColors(),
  }),
  select, colorBy, show, besides, csv, picture,
  spans: () => currentSpans().map((span) => span && { x: [...span.x], y: [...span.y] }),
  names: (place = 0) => placedNames(maps[shownMaps()[place]], place).map(({ text, x, y, box }) => ({ text, x, y, box })),
  contrasts: (rows) => contrasts(rows).map(({ column, detail, values, difference }) => ({ column: column.name, detail, values, difference })),
  focus: focusOn,
  pixelAt: (units, place = 0) => pixelAt(place, units),
  unitsAt: (pixel, place = 0) => unitsAt(place, pixel),
  pixelOf: (row, place = 0) => {
    const box = plot.getBoundingClientRect();
    const [x, y] = pixelOf(place, row);
    return [box.left + x, box.top + y];
  },
  timing: typeof timing === "undefined" ? null : timing, // of frames, on large pages
  drawnAfter: null, // milliseconds since the page was opened
};
window.dualfold.ready = start();
