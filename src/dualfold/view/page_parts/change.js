// From one map to another: points walk there, or, of very many, one picture fades into the other.

const MOST_WALKERS = 20000;
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const ease = (t) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);

function blank() {
  const canvas = by("change");
  const scale = window.devicePixelRatio || 1;
  canvas.width = frame.clientWidth * scale;
  canvas.height = frame.clientHeight * scale;
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return { canvas, context };
}

const positions = () => {
  const at = new Float64Array(2 * n);
  for (let row = 0; row < n; row++) at.set(pixelOf(0, row), 2 * row);
  return at;
};

const flat = () => !state.beside && maps[state.map].dimensions === 2;

async function changeTo(target) {
  if (target === state.map && !state.beside) return;
  const kind = still() || !webgl ? "none" : flat() && n <= MOST_WALKERS ? "walk" : "fade";
  const before = kind === "walk" ? positions() : null;
  const canvas = kind === "fade" ? snapshot() : null;
  state.map = target;
  state.beside = false;
  await refresh();
  const walks = kind === "walk" && flat();
  state.change = kind === "none" ? "none" : walks ? "animated" : "cross-fade";
  if (walks) await walk(before, positions());
  else if (canvas) await fade(canvas);
}

function snapshot() {
  const { canvas, context } = blank();
  for (const layer of plot.querySelectorAll("canvas"))
    if (layer.width) context.drawImage(layer, 0, 0, frame.clientWidth, frame.clientHeight);
  canvas.style.opacity = 1;
  return canvas;
}

const frames = (milliseconds, each) => new Promise((done) => {
  const begin = performance.now();
  const step = () => {
    const share = Math.min(1, (performance.now() - begin) / milliseconds);
    each(share);
    if (share < 1) requestAnimationFrame(step); else done();
  };
  requestAnimationFrame(step);
});

async function fade(canvas) {
  await frames(500, (share) => {
    canvas.style.opacity = 1 - share;
    plot.style.opacity = share;
  });
  plot.style.opacity = "";
  blank();
}

async function walk(from, to) {
  const { canvas, context } = blank();
  const colors = coloring(maps[state.map]);
  const layers = layersOf(colors, Array.from(order).filter((row) => passes(colors, row)));
    canvas.style.opacity = 1;
  plot.style.opacity = 0;
  by("overlay").style.opacity = 0;
  await frames(750, (share) => {
    const t = ease(share);
    context.clearRect(0, 0, frame.clientWidth, frame.clientHeight);
    context.globalAlpha = pointOpacity();
    for (const { slot, rows } of layers) {
      const size = sizeOf(colors.list[slot].shape);
      context.fillStyle = colors.list[slot].color;
      context.beginPath();
      for (const row of rows) {
        const x = from[2 * row] * (1 - t) + to[2 * row] * t;
        const y = from[2 * row + 1] * (1 - t) + to[2 * row + 1] * t;
        context.moveTo(x, y);
        context.arc(x, y, size / 2, 0, 6.2832);
      }
      context.fill();
    }
  });
  plot.style.opacity = "";
  by("overlay").style.opacity = "";
  blank();
}
