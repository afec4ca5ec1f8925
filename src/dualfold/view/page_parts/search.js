// Finding rows by their names, labels and text.

const MOST_FOUND = 8;

const MANY_NUMBERS = 100000; // rows without names from which words are not made for each

function searchEach(wanted, holding, found) {
  for (let row = 0; row < n; row++) {
    const name = nameOf(row).toLowerCase();
    const number = given.names ? "" : String(rowNumber(row));
    if (name === wanted || number === wanted) found[0].push(row);
    else if (name.startsWith(wanted) || (number && number.startsWith(wanted))) found[1].push(row);
    else if (name.includes(wanted) || holding.some(({ column, has }) => has[column.codes[row]])) found[2].push(row);
  }
}

// The same for rows that have numbers alone: "row 12" and 12, or labels; no word is made for any row.
function searchNumbers(wanted, holding, found) {
  const digits = /^(?:row )?(\d+)$/.exec(wanted);
  const asked = digits ? Number(digits[1]) : Infinity;
  const every = "row ".startsWith(wanted);
  for (let row = 0; row < n; row++) {
    const number = rowNumber(row);
    let head = number; // its first digits, as many as were asked for
    while (head > asked) head = Math.floor(head / 10);
    if (number === asked) found[0].push(row);
    else if (every || head === asked) found[1].push(row);
    else if (holding.some(({ column, has }) => has[column.codes[row]])) found[2].push(row);
  }
}

// Names that are the query, then that begin with it, then rows that hold it anywhere.
function search(query) {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return { rows: [], first: [] };
  const found = [[], [], []];
  const holding = columns.filter((column) => column.kind === "class")
    .map((column) => ({ column, has: column.labels.map((label) => label.toLowerCase().includes(wanted)) }))
    .filter(({ has }) => has.includes(true));
  if (given.names || n <= MANY_NUMBERS) searchEach(wanted, holding, found);
  else searchNumbers(wanted, holding, found);
  const rows = found.flat();
  const whereOf = (row) => (holding.find(({ column, has }) => has[column.codes[row]]) || {}).column;
  return { rows, first: rows.slice(0, MOST_FOUND).map((row) => ({ row, column: whereOf(row) })) };
}

// The part of a long text around what was looked for.
function around(text, wanted) {
  const at = text.toLowerCase().indexOf(wanted.trim().toLowerCase());
  return at > 20 ? `…${short(text.slice(at - 12), 40)}` : short(text, 40);
}

function showFound() {
  const query = by("search").value;
  const list = by("found");
  const { rows, first } = search(query);
  list.hidden = query.trim() === "";
  const item = ({ row, column }) => element("li", {}, element("button", { type: "button", "data-row": row,
    onclick: () => { list.hidden = true; focusOn(row); } },
  element("bdi", { text: short(nameOf(row), 60) }),
  element("span", { class: "note", dir: "auto", text: (column ? [column] : labelColumns.slice(0, 2))
    .map((told) => around(wordOf(told, row), query)).join(" · ") })));
  const all = element("li", {}, element("button", { type: "button", class: "every",
    text: `Select all ${count(rows.length)} rows found`, onclick: () => { list.hidden = true; select(rows); } }));
  const named = columnsFound(query);
  list.replaceChildren(...named.slice(0, MOST_FOUND).map(columnItem), ...(rows.length ? [...first.map(item), ...(rows.length > 1 ? [all] : [])]
    : named.length ? [] : [element("li", { class: "note", text: "No such row" })]));
  return rows;
}

by("search").addEventListener("input", () => { showFound(); });
by("search").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const [first] = showFound();
  const [column] = first === undefined ? columnsFound(event.target.value) : [];
  if (column !== undefined) { by("found").hidden = true; markColumn(column); return; }
  if (first === undefined) { if (event.target.value.trim()) say("No such row"); return; }
  by("found").hidden = true;
  focusOn(first);
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) by("found").hidden = true;
});
