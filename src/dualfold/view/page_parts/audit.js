// What an audit of the map says: cards, the list of groups with a verdict each, a paragraph to quote.

const { audit } = given;

const auditCards = () => (audit ? audit.cards.map(({ label, term, value, note, look }) => card(label, term, value, note, look)) : []);

function rowsOfGroup(name) {
  const column = columns.find((other) => other.name === audit.column);
  const code = column.labels.indexOf(name);
  return Array.from(column.codes.keys()).filter((row) => column.codes[row] === code);
}

// A click on a group selects its points; the table of the selection then says what sets it apart.
function groupItem({ name, size, judged, label, said }, hues) {
  return element("li", {}, element("button", {
    type: "button", class: "class group", title: `Select the points of ${name}`, onclick: () => select(rowsOfGroup(name)) },
  element("span", { class: "swatch", style: `--hue:${hues.get(judged)}`, "aria-hidden": "true" }),
  element("span", {},
    element("strong", { text: name }),
    ...(label ? [element("bdi", { class: "mostly", text: `mostly ${short(label[0], 30)}, ${shareWords(label[1])}` })] : []),
    element("span", { class: "said", text: said })),
  element("span", { class: "count", text: count(size) })));
}

// Made once for each ground: whoever reads down the list keeps the place while the map changes.
function auditSection() {
  const [place, ground] = [by("audit"), String(isDark())];
  if (!audit || place.dataset.ground === ground) return;
  place.dataset.ground = ground;
  by("quote").replaceChildren(element("h2", { text: "For a methods section" }), element("p", { text: audit.paragraph }));
  if (!audit.groups.length) return;
  const judged = columns.find((column) => column.name === audit.colored);
  const hues = new Map(judged.legend.map(([label, color]) => [label, onGround(color)]));
  place.replaceChildren(
    element("h2", {}, termButton("Groups on the map", "group on the map")),
    element("ul", { class: "classes groups" }, ...audit.groups.map((group) => groupItem(group, hues))),
    ...audit.statements.map((text) => element("p", { class: "note", text: sentence(text.trim()) })));
}
