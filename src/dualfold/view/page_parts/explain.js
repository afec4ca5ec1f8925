// Terms of the field, explained where they stand: in plain words, with the formula behind them.

const termOf = new Map();
for (const term of given.terms)
  for (const name of [term.name, ...term.also]) termOf.set(name.toLowerCase(), term);
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const anyTerm = new RegExp(`(?<![\\w-])(${Array.from(termOf.keys()).sort((a, b) => b.length - a.length).map(escaped).join("|")})(?![\\w-])`, "gi");
// Words that mean something else in a sentence than on a card.
const IN_SENTENCES = new Set(["t-similarity", "trustworthiness", "continuity", "R_NX", "eigengap", "eigenvalue",
  "dual matrix", "duality gap", "correlation", "stress", "stationary", "dubious", "intrinsic dimension", "group in the data",
  "torn off", "undecided"]);

// A word that opens its explanation.
function termButton(text, name = text) {
  const term = termOf.get(name.toLowerCase());
  if (!term) return element("span", { text });
  return element("button", { type: "button", class: "term", text, "aria-expanded": "false", "aria-haspopup": "dialog",
    onclick: (event) => explain(term, event.currentTarget) });
}

// A sentence in which the first use of each term can be asked about.
function withTerms(text) {
  const parts = [];
  const told = new Set();
  let from = 0;
  for (const found of text.matchAll(anyTerm)) {
    const term = termOf.get(found[0].toLowerCase());
    if (!IN_SENTENCES.has(term.name) || told.has(term)) continue;
    told.add(term);
    // Brackets and commas stay on the line of their word.
    const before = text.slice(from, found.index);
    const own = /\S*$/.exec(before)[0];
    const after = /^[^\w\s]*/.exec(text.slice(found.index + found[0].length))[0];
    parts.push(element("span", { text: before.slice(0, before.length - own.length) }),
      element("span", { class: "whole" }, own, termButton(found[0]), after));
    from = found.index + found[0].length + after.length;
  }
  return [...parts, element("span", { text: text.slice(from) })];
}

let asker = null; // the button whose explanation is open
function explain(term, button) {
  const again = asker === button;
  closeExplanation();
  if (again) return;
  asker = button;
  button.setAttribute("aria-expanded", "true");
  const box = by("explanation");
  box.replaceChildren(
    element("h2", { text: term.name, id: "explained" }),
    element("p", { text: term.plain }),
    ...(term.formula ? [element("p", { class: "formula", text: term.formula })] : []),
    element("button", { type: "button", class: "link", text: "Close", onclick: () => closeExplanation(true) }));
  box.hidden = false;
  const at = button.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, innerWidth - box.offsetWidth - 8));
  const below = at.bottom + 6 + box.offsetHeight < innerHeight;
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${(below ? at.bottom + 6 : Math.max(8, at.top - box.offsetHeight - 6)) + scrollY}px`;
  box.focus({ preventScroll: true });
}

function closeExplanation(back = false) {
  by("explanation").hidden = true;
  if (asker) asker.setAttribute("aria-expanded", "false");
  if (back && asker && asker.isConnected) asker.focus();
  asker = null;
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("#explanation") && !event.target.closest(".term")) closeExplanation();
});
