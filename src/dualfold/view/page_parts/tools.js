// What dragging does, and what is drawn over the map.

function useTool(tool) {
  state.tool = tool;
  controls();
  if (!webgl) return Promise.resolve();
  return quietly(() => Plotly.relayout(plot, { dragmode: tool, selections: [] })); // a lasso's outline goes with it
}

function toggles() {
  const column = chosenColumn(maps[state.map]);
  by("names").hidden = !column || column.kind !== "class" || isText(column);
  by("contours").hidden = n <= 5000;
  by("names").setAttribute("aria-pressed", String(state.names));
  by("contours").setAttribute("aria-pressed", String(state.contours));
}

for (const name of ["names", "contours"]) by(name).addEventListener("click", () => {
  state[name] = !state[name];
  toggles();
  overlay();
});
