// What dragging does, and what is drawn over the map.

function toggles() {
  const column = chosenColumn(maps[state.map]);
  const shown = shownMaps().map((at) => maps[at]);
  by("names").hidden = !shown.some((map) => hasGroupNames(map) || hasColumns(map)) && (!column || column.kind !== "class" || isText(column));
  by("arrows").hidden = !shown.some(hasArrows);
  by("contours").hidden = n <= 5000;
  by("names").setAttribute("aria-pressed", String(state.names));
  by("contours").setAttribute("aria-pressed", String(state.contours));
  by("arrows").setAttribute("aria-pressed", String(state.arrows));
}

for (const name of ["names", "contours", "arrows"]) by(name).addEventListener("click", async () => {
  state[name] = !state[name];
  toggles();
  if (name === "arrows" && state.arrows && webgl) await roomForArrows();
  overlay();
});
