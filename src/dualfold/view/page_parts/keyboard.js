// Moving without a mouse, and Escape wherever the focus is.

function eachSpan(change, camera) {
  for (const map of shownSpaces()) turnBy(map, camera);
  return moveTo(currentSpans().map((span) => span && { x: change(span.x, "x"), y: change(span.y, "y") }));
}

function moveBy(right, up) {
  return eachSpan(([low, high], letter) => {
    const step = (letter === "x" ? right : up) * 0.1 * (high - low);
    return [low + step, high + step];
  }, { turn: 0.2 * right, tilt: 0.2 * up });
}

function zoomBy(factor) {
  return eachSpan(([low, high]) => {
    const [middle, half] = [(low + high) / 2, (high - low) / 2 * factor];
    return [middle - half, middle + half];
  }, { zoom: 1 / factor });
}

function wholeMap() {
  cameras.clear();
  return moveTo(wholeSpans());
}

// A little more than these rows take up, on every map that is shown.
function zoomTo(rows) {
  return moveTo(shownMaps().map((at) => (maps[at].dimensions === 3 ? null : Object.fromEntries(["x", "y"].map((letter, axis) => {
    const [low, high] = rangeOf(rows.map((row) => maps[at].axes[axis][row]));
    const room = 0.2 * (high - low);
    return [letter, [low - room, high + room]];
  })))));
}

const KEYS = {
  ArrowLeft: () => moveBy(-1, 0), ArrowRight: () => moveBy(1, 0),
  ArrowUp: () => moveBy(0, 1), ArrowDown: () => moveBy(0, -1),
  "+": () => zoomBy(0.8), "=": () => zoomBy(0.8), "-": () => zoomBy(1.25), 0: wholeMap,
};

frame.addEventListener("keydown", (event) => {
  if (!webgl || event.target !== frame || event.ctrlKey || event.metaKey || event.altKey) return;
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

// One thing at a time, the topmost first; before anything else hears of the key.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  hideTip();
  if (!by("explanation").hidden) { closeExplanation(true); return; }
  if (!by("found").hidden) { by("found").hidden = true; by("search").focus(); return; }
  if (state.focus === null && !state.selected && state.tool === "pan") return;
  if (state.focus === null && !state.selected) { useTool("pan"); return; }
  state.focus = null;
  select(null);
}, true);
