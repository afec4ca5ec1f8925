// Moving without a mouse, and finding rows.

function rangesOfShown() {
  return shownMaps().flatMap((at, place) => (maps[at].dimensions === 3 ? [] : [
    [axisName("xaxis", place), plot._fullLayout[axisName("xaxis", place)].range],
    [axisName("yaxis", place), plot._fullLayout[axisName("yaxis", place)].range]]));
}

function moveBy(right, up) {
  const update = {};
  for (const [axis, [low, high]] of rangesOfShown()) {
    const step = (axis[0] === "x" ? right : up) * 0.1 * (high - low);
    update[`${axis}.range`] = [low + step, high + step];
  }
  return Plotly.relayout(plot, update);
}

function zoomBy(factor) {
  const update = {};
  for (const [axis, [low, high]] of rangesOfShown()) {
    const [middle, half] = [(low + high) / 2, (high - low) / 2 * factor];
    update[`${axis}.range`] = [middle - half, middle + half];
  }
  return Plotly.relayout(plot, update);
}

function wholeMap() {
  const layout = layoutOf(shownMaps());
  const update = {};
  for (const [axis] of rangesOfShown()) update[`${axis}.range`] = layout[axis].range;
  return Plotly.relayout(plot, update);
}

// A little more than these rows take up, on every map that is shown.
function zoomTo(rows) {
  const update = {};
  shownMaps().forEach((at, place) => {
    if (maps[at].dimensions === 3) return;
    ["xaxis", "yaxis"].forEach((letter, axis) => {
      const [low, high] = rangeOf(rows.map((row) => maps[at].axes[axis][row]));
      const room = 0.2 * (high - low);
      update[`${axisName(letter, place)}.range`] = [low - room, high + room];
    });
  });
  return Plotly.relayout(plot, update);
}

const KEYS = {
  ArrowLeft: () => moveBy(-1, 0), ArrowRight: () => moveBy(1, 0),
  ArrowUp: () => moveBy(0, 1), ArrowDown: () => moveBy(0, -1),
  "+": () => zoomBy(0.8), "=": () => zoomBy(0.8), "-": () => zoomBy(1.25), 0: wholeMap,
  Escape: () => { state.focus = null; select(null); },
};

frame.addEventListener("keydown", (event) => {
  if (!webgl || event.target !== frame || event.ctrlKey || event.metaKey || event.altKey) return;
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

const MOST_FOUND = 8;

// Names that are the query, then that begin with it, then rows that hold it anywhere.
function search(query) {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return [];
  const found = [[], [], []];
  const holding = columns.filter((column) => column.kind === "class")
    .map((column) => ({ codes: column.codes, has: column.labels.map((label) => label.toLowerCase().includes(wanted)) }));
  for (let row = 0; row < n; row++) {
    const name = nameOf(row).toLowerCase();
    const number = given.names ? "" : String(row);
    if (name === wanted || number === wanted) found[0].push(row);
    else if (name.startsWith(wanted) || (number && number.startsWith(wanted))) {
      if (found[1].length < MOST_FOUND) found[1].push(row);
    } else if (found[2].length < MOST_FOUND
      && (name.includes(wanted) || holding.some(({ codes, has }) => has[codes[row]]))) found[2].push(row);
  }
  return found.flat().slice(0, MOST_FOUND);
}

function showFound() {
  const list = by("found");
  const rows = search(by("search").value);
  list.hidden = by("search").value.trim() === "";
  list.replaceChildren(...(rows.length ? rows.map((row) => element("li", {}, element("button", {
    type: "button", onclick: () => { list.hidden = true; focusOn(row); } },
  element("bdi", { text: short(nameOf(row), 60) }),
  element("span", { class: "note", dir: "auto", text: columns.slice(0, 2).map((column) => short(wordOf(column, row), 24)).join(" · ") }))))
    : [element("li", { class: "note", text: "No such row" })]));
}

by("search").addEventListener("input", showFound);
by("search").addEventListener("keydown", (event) => {
  if (event.key === "Escape") by("found").hidden = true;
  if (event.key !== "Enter") return;
  const [first] = search(event.target.value);
  by("found").hidden = true;
  if (first === undefined) say("No such row"); else focusOn(first);
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) by("found").hidden = true;
});
