// From the chosen column to slots: one for each row, each with a colour and a shape.

const VIRIDIS = ["#440154", "#482878", "#3e4a89", "#31688e", "#26828e",
  "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const STEPS = 24; // colours of a scale; each is one call to the graphics card
const PLAIN = "#0072B2";
const UNKNOWN = "#9aa0a6";
const RELATION = { kept: "#009E73", false: "#E69F00", missing: "#CC79A7" };

const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function mixed(first, second, share) {
  const part = (text, at) => parseInt(text.slice(at, at + 2), 16);
  const channel = (at) =>
    Math.round(part(first, at) * (1 - share) + part(second, at) * share).toString(16).padStart(2, "0");
  return `#${channel(1)}${channel(3)}${channel(5)}`;
}

// On dark ground dark hues need light, and the other way round the end of viridis needs ink.
const onGround = (color) => (isDark() ? mixed(color, "#ffffff", 0.16) : color);
function viridis(share) {
  const [low, high] = isDark() ? [0.16, 1] : [0, 0.92];
  const place = (low + (high - low) * share) * (VIRIDIS.length - 1);
  const at = Math.min(VIRIDIS.length - 2, Math.floor(place));
  return mixed(VIRIDIS[at], VIRIDIS[at + 1], place - at);
}

function chosenColumn(map) {
  const [kind, ...rest] = state.color.split(":");
  const name = rest.join(":");
  if (kind === "column") return columns.find((column) => column.name === name) || null;
  return kind === "score" ? map.scores[name] || null : null;
}

const onlySlot = new Uint8Array(n);
const painted = new Map(); // column → its slots, so that a click does not count 100,000 rows again

function coloring(map) {
  const column = chosenColumn(map);
  if (!column) return { column, slots: onlySlot, list: [{ label: "all", color: onGround(PLAIN), shape: 0 }] };
  if (!painted.has(column))
    painted.set(column, column.kind === "class" ? slotsOfClasses(column) : slotsOfNumbers(column));
  const slots = painted.get(column);
  const list = column.kind === "class"
    ? column.legend.map(([label, color, shape]) => ({ label, color: onGround(color), shape }))
    : Array.from({ length: STEPS + 1 }, (_, step) => ({
        label: "", color: step < STEPS ? viridis(step / (STEPS - 1)) : UNKNOWN, shape: 0 }));
  return { column, slots, list };
}

function slotsOfClasses(column) {
  const [slots, { codes }, slotOf] = [new Uint8Array(n), column, Uint8Array.from(column.slots)];
  for (let row = 0; row < n; row++) slots[row] = slotOf[codes[row]];
  return slots;
}

function slotsOfNumbers(column) {
  const width = column.high - column.low || 1;
  const [slots, { values, low }] = [new Uint8Array(n), column];
  for (let row = 0; row < n; row++) {
    const value = values[row];
    slots[row] = Number.isFinite(value) ? Math.max(0, Math.min(STEPS - 1, Math.floor((value - low) / width * STEPS))) : STEPS;
  }
  return slots;
}

// Whether the legend lets a row through.
function passes(colors, row) {
  if (colors.column && colors.column.kind === "class") return !state.hidden.has(colors.slots[row]);
  if (!colors.column || !state.range) return true;
  const value = colors.column.values[row];
  return value >= state.range[0] && value <= state.range[1];
}
