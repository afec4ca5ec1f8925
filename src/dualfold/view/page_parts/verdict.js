// The strip on top: first whether it is a good picture, then whether the problem was solved.

// One vocabulary: dualfold/levels.py says what each level means.
const SIGNS = { proved: "✓", within: "✓", "within reach": "✓", measured: "≈", unresolved: "?", failed: "✕" };
const GRADES = { good: ["✓", "good"], fair: ["≈", "fair"], "cannot be judged": ["?", "plain"] };

function card(label, term, value, note, className = "", more = []) {
  return element("div", { class: `figure ${className}` },
    element("span", { class: "label" }, term ? termButton(label, term) : element("span", { text: label })),
    element("span", { class: "value", text: value }),
    ...more,
    element("span", { class: "note", text: note }));
}

function measureCard(map, name, label, note) {
  const measure = map.quality && map.quality.measures[name];
  if (!measure || measure.value === null) return [];
  const bounds = measure.low === null ? note
    : `${measure.low.toFixed(3)} to ${measure.high.toFixed(3)}, ${count(map.quality.sampled)} points asked`;
  return [card(label, name, measure.value.toFixed(3), bounds)];
}

// What a level means, in a few words under it.
function levelNote(level, gap) {
  if (level === "failed" || level === "unresolved") return "see below";
  if (level === "stationary") return "no bound exists";
  if (level === "within") return "of the optimum: proved, and no closer";
  return gap === null ? "" : `the best by this method's rule, to ${numberWords(gap)}`;
}

// What a claim is about, where it is not the whole map ("the 120 landmarks"): the first clause says it.
const claimOf = ({ about }) => (about || "").split(";")[0];
const SHORT_CLAIM = 32; // letters that a card has room for beside the level

function solvedWords(certificate) {
  const { level, gap } = certificate;
  const percent = gap === null ? "" : ` ${Number((100 * gap).toPrecision(2))} %`;
  const claim = claimOf(certificate);
  return `${SIGNS[level] || "·"} ${level === "within" ? `within${percent}` : level}${
    claim && claim.length <= SHORT_CLAIM ? `, about ${claim}` : ""}`;
}

const gradeOf = (map) => (map.quality ? map.quality.picture.grade : null);
// Of the three questions each has its word: green where it is shown, red where not, grey where nothing was tested.
const LOOKS = { good: "good", all: "good", fair: "fair", most: "fair", some: "fair", poor: "bad", "hardly any": "bad", none: "bad" };

function verdictCard({ headline, shows_nothing: nothing, parts }) {
  const chips = parts.map(({ question, grade, short: words }) => element("span", { class: `part ${LOOKS[grade] || "plain"}` },
    element("span", { text: `${question}: ` }), element("b", { text: words })));
  const told = element("details", { class: "told" }, element("summary", { text: "In figures" }),
    ...parts.map(({ question, text }) => element("p", {}, element("strong", { text: `${question}: ` }), ...withTerms(text))));
  return element("div", { class: `figure picture ${nothing ? "bad" : ""}` },
    element("span", { class: "label" }, termButton("What does it show?", "good picture")),
    element("span", { class: "value headline", dir: "auto", text: headline }),
    element("span", { class: "parts" }, ...chips), told);
}

const isPicture = (map) => (map.verdict ? !map.verdict.shows_nothing : !map.quality || ["good", "fair"].includes(gradeOf(map)));

function certificateCard(map) {
  const { certificate } = map;
  if (!certificate) return card("Was the problem solved?", "solved", "not known", "nothing is known about optimality", "solved plain");
  // Green is for maps that are a picture, too.
  const look = isPicture(map) || certificate.level === "failed" ? certificate.level.replace(" ", "-") : "plain";
  const term = termOf.has(certificate.level) ? certificate.level : "solved";
  const claim = claimOf(certificate);
  const note = [levelNote(certificate.level, certificate.gap), claim.length > SHORT_CLAIM ? `about ${claim}` : ""];
  return card("Was the problem solved?", term, solvedWords(certificate), note.filter(Boolean).join("; "), `solved ${look}`);
}

function pictureWords(map) {
  const grade = gradeOf(map);
  const [sign] = GRADES[grade] || ["✕"];
  return `${sign} ${grade}`;
}

// Beside chance, and beside the best of the other maps on the page.
function pictureCard(map) {
  if (!map.quality) return card("Is it a good picture?", "good picture", "not measured", "give the data to measured_map to know", "picture plain");
  const { kept, chance, n_neighbors: k } = map.quality.picture;
  const rivals = maps.filter((other) => other !== map && other.quality).map((other) => [other.quality.picture.kept, other.name]);
  const best = rivals.sort((a, b) => b[0] - a[0])[0];
  const beside = best ? `; ${short(best[1], 20)} ${shareWords(best[0])}` : "";
  const [, look] = GRADES[gradeOf(map)] || ["", "bad"];
  return card("Is it a good picture?", "good picture", pictureWords(map),
    `keeps ${shareWords(kept)} of ${k === 1 ? "all nearest neighbours" : `each point's ${k} nearest neighbours`} (a random map ${shareWords(chance)}${beside})`, `picture ${look}`, [meter(kept, chance)]);
}

// How much is kept on a line from nothing to all, with a tick at what chance keeps.
const meter = (kept, chance) => element("span", { class: "meter", "aria-hidden": "true" },
  element("i", { style: `width:${Math.max(0.5, 100 * Math.min(1, kept))}%` }),
  element("b", { style: `left:${100 * Math.min(1, chance)}%` }));

const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.…!?]$/.test(text) ? "" : ".");

function verdict() {
  const map = maps[state.map];
  const solved = audit && !map.certificate ? [] : [certificateCard(map)]; // of somebody's map nobody asks
  const cards = [
    map.verdict ? verdictCard(map.verdict) : pictureCard(map), ...solved, ...auditCards(),
    ...(map.verdict ? [] : [ // of the three questions the words below have these numbers
      ...measureCard(map, "trustworthiness", "Trustworthiness", "1: neighbours on the map are real"),
      ...measureCard(map, "continuity", "Continuity", "1: real neighbours are on the map")]),
    ...(map.pieces === null ? [] : [card("Pieces", "pieces", count(map.pieces), map.pieces === 1 ? "the graph is connected" : "of the neighbour graph")]),
  ];
  const words = [[map.verdict ? "Neighbours and distances:" : "A good picture?", map.quality && map.quality.verdict], ["Solved?", map.certificate && map.certificate.text],
    ["What do the axes mean?", meaningWords(map)], ["May I believe it?", audit && audit.text]].filter(([, text]) => text);
  closeExplanation();
  by("verdict").replaceChildren(element("div", { class: "figures" }, ...cards));
  by("words").replaceChildren(...words.map(([question, text]) =>
    element("p", {}, element("strong", { text: `${question} ` }), element("bdi", {}, ...withTerms(sentence(short(text, 2000)))))));
  by("summary").textContent = summary(map);
  frame.setAttribute("aria-label", `Map. ${summary(map)}`);
}

// For a screen reader, and for everybody under the title.
function summary(map) {
  const drawnIn = map.strip ? "1 dimension" : `${map.dimensions} dimensions`;
  const points = given.total > n ? `${count(n)} of ${count(given.total)} points, drawn at random,` : plural(n, "point", "points");
  const parts = [`${points} in ${drawnIn} ${audit ? "of the map" : "by"} ${short(map.name, 60)}`];
  if (map.explained) parts.push(`which explain ${shareWords(map.explained.reduce((sum, share) => sum + share, 0))} of the ${map.explains}`);
  if (maps.length > 1) parts.push(`one of ${maps.length} embeddings`);
  const column = chosenColumn(map);
  if (column) parts.push(`coloured by ${scoreWords(column.name)}`);
  return `${parts.join(", ")}.`;
}

// What a map shows in a few words, each with its grade.
const SHORT_QUESTIONS = { "Overall order": "order", "Who is near whom": "neighbours", Groups: "groups" };
function gradeWords(map) {
  if (map.verdict) return map.verdict.parts.filter(({ question }) => question in SHORT_QUESTIONS)
    .map(({ question, grade }) => [`${SHORT_QUESTIONS[question]}: ${grade}`, grade]);
  return map.quality ? [[`${pictureWords(map)}: keeps ${shareWords(map.quality.picture.kept)}`, gradeOf(map)]] : [];
}

// Over each of several maps: its name and both answers.
function titles(shown) {
  by("titles").replaceChildren(...(shown.length < 2 ? [] : places(shown.length)).map(
    ([left, bottom, width, height], place) => {
      const map = maps[shown[place]];
      return element("div", { class: "title", style: `left:${100 * left}%;top:${100 * (1 - bottom - height)}%;width:${100 * width}%` },
        element("span", { class: "map-name", text: short(map.name, 40), dir: "auto" }),
        ...gradeWords(map).map(([words, grade]) => element("b", { class: LOOKS[grade] || "plain", text: words })),
        ...(map.certificate ? [element("em", { text: solvedWords(map.certificate) })] : []));
    }));
}
