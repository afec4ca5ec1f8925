// What can be taken away: the selection as a table, the map as a picture.

function csv(rows) {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const axes = maps.flatMap((map) =>
    (map.strip ? map.axes.slice(0, 1) : map.axes).map((values, axis) => ({ name: `${map.name} ${axis + 1}`, values })));
  const lines = [["row", "name", ...columns.map((column) => column.name), ...axes.map((axis) => axis.name)]];
  for (const row of rows)
    lines.push([String(row), given.names ? given.names[row] : "", ...columns.map((column) => wordOf(column, row)),
      ...axes.map((axis) => String(axis.values[row]))]);
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

// The map with its title and key: a picture that can stand alone.
async function picture() {
  const [width, height, scale] = [frame.clientWidth, frame.clientHeight, 2];
  const map = await loaded(await Plotly.toImage(plot, { format: "png", width, height, scale }));
  const colors = coloring(maps[state.map]);
  const key = colors.column && colors.column.kind === "class"
    ? colors.list.filter((_, slot) => !state.hidden.has(slot)).map(({ label, color }) => [color, short(label, 24)])
    : colors.column ? [0, 0.5, 1].map((share) => [viridis(share), numberWords(colors.column.low + share * (colors.column.high - colors.column.low))]) : [];
  const canvas = element("canvas", { width: width * scale, height: (height + 72) * scale });
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = ink("--card");
  context.fillRect(0, 0, width, height + 72);
  context.fillStyle = ink("--ink");
  context.font = "600 16px system-ui, sans-serif";
  context.fillText(short(`${given.title} · ${maps[state.map].name}`, 90), 16, 28, width - 32);
  context.drawImage(map, 0, 40, width, height);
  context.font = "12px system-ui, sans-serif";
  let x = 16;
  for (const [color, text] of key) {
    context.fillStyle = color;
    context.beginPath();
    context.arc(x + 4, height + 54, 4, 0, 7);
    context.fill();
    context.fillStyle = ink("--ink");
    context.fillText(text, x + 13, height + 58);
    x += 13 + context.measureText(text).width + 16;
  }
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
