// The terms of a row, which were counted before.

// The heaviest terms of a row's text, and how many of its neighbours in the data have each.
const rowTerms = given.row_terms && { ...given.row_terms, codes: packed(given.row_terms.codes), shared: packed(given.row_terms.shared) };
function termsOf(row) {
  if (!rowTerms) return [];
  const { k, words, codes, shared, of } = rowTerms;
  const chips = [];
  for (let at = row * k; at < (row + 1) * k; at++) {
    if (codes[at] === 0) continue;
    const word = words[codes[at] - 1];
    chips.push(element("button", { type: "button", class: "chip", title: `Find ${word}`,
      onclick: () => { by("search").value = word; showFound(); by("search").focus(); } },
    element("bdi", { text: short(word, 30) }), ` ${shared[at]}/${of}`));
  }
  return chips.length ? [element("h3", { text: "Terms" }),
    element("p", { class: "note", text: `how many of its ${of} neighbours in the data have each` }),
    element("div", { class: "chips row-terms" }, ...chips)] : [];
}
