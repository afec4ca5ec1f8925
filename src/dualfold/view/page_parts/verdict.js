// The strip on top: whether to believe the map that is shown.

// One vocabulary: dualfold/levels.py says what each level means.
const SIGNS = { proved: "✓", within: "✓", "within reach": "✓", measured: "≈", unresolved: "?", failed: "✕" };

function card(label, value, note, className = "") {
  return element("div", { class: `figure ${className}` },
    element("span", { class: "label", text: label }),
    element("span", { class: "value", text: value }),
    element("span", { class: "note", text: note }));
}

function measureCard(map, name, label, note) {
  const measure = map.quality && map.quality.measures[name];
  if (!measure || measure.value === null) return [];
  const bounds = measure.low === null ? note
    : `${measure.low.toFixed(3)} to ${measure.high.toFixed(3)}, ${count(map.quality.sampled)} points asked`;
  return [card(label, measure.value.toFixed(3), bounds)];
}

// What a level means, in a few words under it.
function levelNote(level, gap) {
  if (level === "failed" || level === "unresolved") return "see below";
  if (level === "stationary") return "no bound exists";
  if (level === "within") return "of the optimum: proved, and no closer";
  return gap === null ? "" : `optimal to ${numberWords(gap)}`;
}

function certificateCard(certificate) {
  if (!certificate) return card("Solved?", "not known", "nothing is known about optimality", "plain");
  const { level, gap } = certificate;
  const percent = gap === null ? "" : ` ${Number((100 * gap).toPrecision(2))} %`;
  const words = level === "within" ? `within${percent}` : level;
  return card("Solved?", `${SIGNS[level] || "·"} ${words}`, levelNote(level, gap), level.replace(" ", "-"));
}

// Beside chance, and beside the best of the other maps on the page.
function pictureCard(map) {
  if (!map.quality) return [];
  const { grade, kept, chance, n_neighbors: k } = map.quality.picture;
  const rivals = maps.filter((other) => other !== map && other.quality).map((other) => [other.quality.picture.kept, other.name]);
  const best = rivals.sort((a, b) => b[0] - a[0])[0];
  const beside = best ? `, ${short(best[1], 20)} ${shareWords(best[0])}` : "";
  const [sign, look] = { good: ["✓", "proved"], fair: ["≈", "within"] }[grade] || ["✕", "failed"];
  return [card("A good picture?", `${sign} ${grade.startsWith("no ") ? "no picture" : grade}`,
    `keeps ${shareWords(kept)} of the ${k} nearest; chance ${shareWords(chance)}${beside}`, look)];
}

function verdict() {
  const map = maps[state.map];
  // A map that is no picture of its data says so before it says that it is optimal.
  const badFirst = map.quality && !["good", "fair"].includes(map.quality.picture.grade);
  const answers = [certificateCard(map.certificate), ...pictureCard(map)];
  if (badFirst) answers.reverse();
  const cards = [
    card("Points", count(n), map.strip ? "in 1 dimension" : `in ${map.dimensions} dimensions`),
    ...(map.pieces === null ? [] : [card("Pieces", count(map.pieces), map.pieces === 1 ? "the graph is connected" : "of the neighbour graph")]),
    ...answers,
    ...measureCard(map, "trustworthiness", "Trustworthiness", "neighbours on the map are real"),
    ...measureCard(map, "continuity", "Continuity", "real neighbours are on the map"),
  ];
  const words = [["Solved?", map.certificate && map.certificate.text], ["A good picture?", map.quality && map.quality.verdict]]
    .filter(([, text]) => text);
  if (badFirst) words.reverse();
  by("verdict").replaceChildren(
    element("div", { class: "figures" }, ...cards),
    element("div", { class: "words" }, ...words.map(([question, text]) =>
      element("p", {}, element("strong", { text: `${question} ` }), element("bdi", { text: short(text, 1200) })))));
  by("summary").textContent = summary(map);
  frame.setAttribute("aria-label", `Map. ${summary(map)}`);
}

// For a screen reader, and for everybody under the title.
function summary(map) {
  const drawnIn = map.strip ? "1 dimension" : `${map.dimensions} dimensions`;
  const parts = [`${plural(n, "point", "points")} in ${drawnIn} by ${short(map.name, 60)}`];
  if (map.explained) parts.push(`which explain ${shareWords(map.explained.reduce((sum, share) => sum + share, 0))} of the variance`);
  if (maps.length > 1) parts.push(`one of ${maps.length} embeddings`);
  const column = chosenColumn(map);
  if (column) parts.push(`coloured by ${scoreWords(column.name)}`);
  return `${parts.join(", ")}.`;
}
