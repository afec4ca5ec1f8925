// Paper: the map as a picture that fits, charts in their printed width, light ground.

const PRINTED_CHART = 310; // pixels: two beside each other on A4 and on Letter
let themeBefore = null;

// The pixels that are on the screen, with what lies over them.
function printedMap() {
  const scale = window.devicePixelRatio || 1;
  const canvas = by("printed");
  [canvas.width, canvas.height] = [frame.clientWidth * scale, frame.clientHeight * scale];
  const context = canvas.getContext("2d");
  for (const layer of plot.querySelectorAll("canvas"))
    if (layer.width) context.drawImage(layer, 0, 0, canvas.width, canvas.height);
  by("overlay").setAttribute("viewBox", `0 0 ${frame.clientWidth} ${frame.clientHeight}`);
}

function beforePrint() {
  if (!webgl) return;
  themeBefore = document.documentElement.dataset.theme || "";
  if (isDark()) { // paper is white
    document.documentElement.dataset.theme = "light";
    refresh();
  }
  printedMap();
  panels(PRINTED_CHART);
}

function afterPrint() {
  if (themeBefore === null) return;
  by("overlay").removeAttribute("viewBox");
  if (themeBefore) document.documentElement.dataset.theme = themeBefore; else delete document.documentElement.dataset.theme;
  themeBefore = null;
  refresh().then(() => panels());
}

window.addEventListener("beforeprint", beforePrint);
window.addEventListener("afterprint", afterPrint);
