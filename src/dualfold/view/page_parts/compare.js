// Which columns tell rows apart: a selection from the rest, a point from its neighbours.

const MOST_COMPARED = 8; // rows of a table before "all columns"

// Sums of a column over rows, about its first value so that large offsets do not cancel.
function sums(column, rows) {
  const { values } = column;
  const shift = offsetOf(column);
  let [total, first, second] = [0, 0, 0];
  const add = (row) => {
    const value = values[row] - shift;
    if (value - value === 0) { total++; first += value; second += value * value; }
  };
  if (rows) for (let at = 0; at < rows.length; at++) add(rows[at]); else for (let row = 0; row < n; row++) add(row);
  return { total, first, second };
}
const offsets = new Map();
function offsetOf(column) {
  if (!offsets.has(column)) offsets.set(column, column.values.find(Number.isFinite) || 0);
  return offsets.get(column);
}

const wholes = new Map(); // column → its sums, or counts of its labels, over all rows
function whole(column) {
  if (!wholes.has(column)) wholes.set(column, column.kind === "class" ? tally(column, null) : sums(column, null));
  return wholes.get(column);
}

function tally(column, rows) {
  const counts = new Float64Array(column.labels.length);
  if (rows) for (let at = 0; at < rows.length; at++) counts[column.codes[rows[at]]]++;
  else for (let row = 0; row < n; row++) counts[column.codes[row]]++;
  return counts;
}

const variance = ({ total, first, second }) => Math.max(0, second / total - (first / total) ** 2);
const standardised = (step, s1, s2) => (step === 0 ? 0 : step / Math.sqrt((s1 + s2) / 2));

// A column of the selection against the rest: words for both, and the standardised difference.
function contrast(column, rows) {
  if (column.kind !== "class") {
    const [inside, all] = [sums(column, rows), whole(column)];
    const rest = { total: all.total - inside.total, first: all.first - inside.first, second: all.second - inside.second };
    if (!inside.total || !rest.total) return null;
    const means = [inside, rest].map(({ total, first }) => first / total);
    const difference = standardised(means[0] - means[1], variance(inside), variance(rest));
    const words = means.map((mean) => scaleWords(column, mean + offsetOf(column)));
    return { column, detail: "mean", words, difference, values: means.map((mean) => mean + offsetOf(column)) };
  }
  if (isText(column)) return null;
  const [inside, all] = [tally(column, rows), whole(column)];
  const [total, others] = [rows.length, n - rows.length];
  if (!others) return null;
  let best = null;
  for (let code = 0; code < all.length; code++) {
    const [p, q] = [inside[code] / total, (all[code] - inside[code]) / others];
    const difference = standardised(p - q, p * (1 - p), q * (1 - q));
    if (!best || Math.abs(difference) > Math.abs(best.difference))
      best = { column, detail: column.labels[code] === "" ? "missing" : column.labels[code], words: [shareWords(p), shareWords(q)], difference, values: [p, q] };
  }
  return best;
}

function contrasts(rows) {
  // That a group of the map is that group says nothing about it.
  const told = columns.filter(({ name }) => !audit || (name !== audit.colored && name !== audit.column));
  return told.map((column) => contrast(column, rows)).filter(Boolean)
    .sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference));
}

const differenceWords = (value) => (Math.abs(value) > 10 ? `${value < 0 ? "< −" : "> "}10`
  : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(Math.abs(value) < 1 ? 2 : 1)}`);

// A table whose first lines are seen and the others on request.
function longTable(name, headings, lines) {
  const row = (cells) => element("tr", {}, ...cells);
  const head = element("thead", {}, row(headings.map((heading) => element("th", { scope: "col" }, heading))));
  const table = element("table", { class: "compared", "aria-label": name }, head,
    element("tbody", {}, ...lines.slice(0, MOST_COMPARED).map(row)));
  if (lines.length <= MOST_COMPARED) return [table];
  const more = element("tbody", { hidden: true }, ...lines.slice(MOST_COMPARED).map(row));
  table.append(more);
  const button = element("button", { type: "button", class: "link", text: `All ${count(lines.length)} columns`, "aria-expanded": "false",
    onclick: () => {
      more.hidden = !more.hidden;
      button.setAttribute("aria-expanded", String(!more.hidden));
      button.textContent = more.hidden ? `All ${count(lines.length)} columns` : "Fewer columns";
    } });
  return [element("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": name }, table), button];
}

// The heading of a line; a click colours the map by the column.
const columnHead = (column, detail) => element("th", { scope: "row" },
  element("button", { type: "button", class: "link", dir: "auto", text: short(column.name, 34), title: `Colour by ${short(column.name, 60)}`,
    onclick: () => colorBy(`column:${column.name}`) }),
  ...(detail ? [element("span", { class: "detail", dir: "auto", text: short(detail, 35) })] : []));

function selectionTable(rows) {
  const found = contrasts(rows);
  if (!found.length) return [];
  const widest = Math.min(3, Math.max(...found.map(({ difference }) => Math.abs(difference)))) || 1;
  const lines = found.map(({ column, detail, words, difference }) => [
    columnHead(column, column.kind === "class" ? `share of ${detail}` : null),
    element("td", { text: words[0] }), element("td", { text: words[1] }),
    element("td", { class: "difference" }, element("span", { text: differenceWords(difference) }),
      element("i", { class: difference < 0 ? "less" : "more", style: `width:${Math.min(100, 100 * Math.abs(difference) / widest)}%` }))]);
  return [
    element("p", { class: "note" }, element("span", { text: "Means and shares of the selection and of all other rows, by " }),
      termButton("standardised difference"), element("span", { text: "." })),
    ...longTable("Selection against the rest",
      [element("span", { text: "column" }), element("span", { text: "selected" }), element("span", { text: "rest" }), element("span", { text: "difference" })], lines)];
}

// A point's values beside the mean of its neighbours (or their most frequent word).
function besideNeighbors(row, others) {
  return columns.filter((column) => !isText(column)).map((column) => {
    if (column.kind === "class") {
      const own = column.codes[row];
      const words = others.map((rows) => {
        if (!rows.length) return "–";
        const counts = tally(column, rows);
        const code = counts.indexOf(Math.max(...counts));
        return `${counts[code]} of ${rows.length} ${short(column.labels[code] || "–", 18)}`;
      });
      const unlike = others[0].length ? others[0].filter((other) => column.codes[other] !== own).length / others[0].length : 0;
      return { column, words, unlike: 2 * unlike };
    }
    const means = others.map((rows) => { const { total, first } = sums(column, rows); return total ? first / total + offsetOf(column) : NaN; });
    const spread = Math.sqrt(variance(whole(column))) || 1;
    const unlike = Math.abs(column.values[row] - means[0]) / spread;
    return { column, words: means.map((mean) => scaleWords(column, mean)), unlike: Number.isFinite(unlike) ? unlike : 0 };
  }).sort((a, b) => (a.column.group === "feature") - (b.column.group === "feature") || b.unlike - a.unlike);
}

function pointTable(row, found) {
  const inData = [...found.kept, ...found.missing];
  const onMap = [...found.kept, ...found.false];
  const others = found.known ? [inData, onMap] : [onMap];
  const lines = besideNeighbors(row, others).map(({ column, words, unlike }) => [
    columnHead(column, null),
    element("td", { class: unlike > 1 ? "unlike" : null, text: briefWordOf(column, row), title: wordOf(column, row) || "missing" }), ...words.map((word) => element("td", { text: word }))]);
  if (!lines.length) return [];
  const headings = ["column", "this point", ...(found.known ? ["neighbours in the data", "on the map"] : ["nearest on the map"])];
  return [
    element("p", { class: "note", text: "Its values beside the means of its neighbours; most unlike first." }),
    ...longTable("The point beside its neighbours", headings.map((text) => element("span", { text })), lines)];
}
