// What can be taken away: the selection as a table, the map as a picture with all that is marked on it.

// Headings that are there already get a number: "row", "row 2".
function distinct(headings) {
  const taken = new Set();
  return headings.map((heading) => {
    let [name, turn] = [heading, 1];
    while (taken.has(name)) name = `${heading} ${++turn}`;
    taken.add(name);
    return name;
  });
}

// Names of rows that are a column, too, are in the table once.
const namesApart = () => given.names && !columns.some((column) => column.kind === "class"
  && given.names.every((name, row) => name === wordOf(column, row)));

function csv(rows) {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const axes = maps.flatMap((map) =>
    (map.strip ? map.axes.slice(0, 1) : map.axes).map((values, axis) => ({ name: `${map.name} ${axis + 1}`, values })));
  const parts = [
    { name: "row", word: (row) => String(rowNumber(row)) },
    ...(namesApart() ? [{ name: "name", word: (row) => given.names[row] }] : []),
    ...columns.map((column) => ({ name: column.name, word: (row) => wordOf(column, row) })),
    ...axes.map(({ name, values }) => ({ name, word: (row) => String(values[row]) }))];
  const lines = [distinct(parts.map(({ name }) => name)), ...Array.from(rows, (row) => parts.map(({ word }) => word(row)))];
  return lines.map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
}

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const fileName = (ending) => `${given.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "dualfold"}.${ending}`;

function loaded(address) {
  return new Promise((done, fail) => {
    const picture = new Image();
    picture.onload = () => done(picture);
    picture.onerror = fail;
    picture.src = address;
  });
}

// What lies over the map, as a picture of its own.
function overlayPicture(width, height) {
  const copy = by("overlay").cloneNode(true);
  for (const [key, value] of Object.entries({ xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` })) copy.setAttribute(key, value);
  return loaded(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`);
}

// Entries of the key: colour, shape, words.
function keyEntries(colors) {
  if (!colors.column) return [];
  if (colors.column.kind === "class")
    return colors.list.filter((_, slot) => !state.hidden.has(slot)).map(({ label, color, shape }) => [color, shape, short(label === "" ? "(empty)" : label, 24)]);
  const { low, high } = colors.column;
  return [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const value = low + share * (high - low);
    return [viridis(share), 0, scaleWords(colors.column, value)];
  });
}

// The key in lines that are no wider than the picture: [colour, shape, words, x, line].
function keyLines(context, entries, width) {
  let [x, line] = [16, 0];
  const placed = entries.map(([color, shape, text]) => {
    const wide = 13 + context.measureText(text).width + 16;
    if (x > 16 && x + wide > width) [x, line] = [16, line + 1];
    const at = [color, shape, text, x, line];
    x += wide;
    return at;
  });
  return { placed, lines: entries.length ? line + 1 : 0 };
}

function swatch(context, color, shape, x, y) {
  context.fillStyle = color;
  context.beginPath();
  if (shape) { context.moveTo(x, y - 5); context.lineTo(x + 5.5, y + 4.5); context.lineTo(x - 5.5, y + 4.5); }
  else context.arc(x, y, 4.5, 0, 7);
  context.fill();
}

function mapTitles(context, width, top) {
  const height = frame.clientHeight;
  if (!state.beside) return;
  places(maps.length).forEach(([left, bottom, , down], place) => {
    const map = maps[shownMaps()[place]];
    context.font = "600 13px system-ui, sans-serif";
    const judged = gradeWords(map).map(([words]) => ` · ${words}`).join("");
    context.fillText(short(map.name, 40) + judged, left * width + 12, top + (1 - bottom - down) * height + 20);
  });
}

// The map with its title, its key and its marks: a picture that can stand alone.
async function picture() {
  const [width, height, scale] = [frame.clientWidth, frame.clientHeight, 2];
  const map = await mapImage(width, height, scale);
  const marks = await overlayPicture(width, height);
  const canvas = element("canvas");
  const context = canvas.getContext("2d");
  context.font = "12px system-ui, sans-serif";
  const colors = coloring(maps[state.map]);
  const { placed, lines } = keyLines(context, keyEntries(colors), width - 16);
  const whole = 40 + height + (lines ? 12 + 20 * lines : 0);
  [canvas.width, canvas.height] = [width * scale, whole * scale];
  context.scale(scale, scale);
  context.fillStyle = ink("--card");
  context.fillRect(0, 0, width, whole);
  context.fillStyle = ink("--ink");
  context.font = "600 16px system-ui, sans-serif";
  const named = state.beside ? `${maps.length} maps` : maps[state.map].name;
  const told = colors.column ? ` · ${scoreWords(colors.column.name)}` : "";
  context.fillText(short(`${given.title} · ${named}${told}`, 90), 16, 28, width - 32);
  context.drawImage(map, 0, 40, width, height);
  context.drawImage(marks, 0, 40, width, height);
  context.fillStyle = ink("--ink");
  mapTitles(context, width, 40);
  context.font = "12px system-ui, sans-serif";
  for (const [color, shape, text, x, line] of placed) {
    const y = 40 + height + 14 + 20 * line;
    swatch(context, color, shape, x + 4, y);
    context.fillStyle = ink("--ink");
    context.fillText(text, x + 13, y + 4);
  }
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
