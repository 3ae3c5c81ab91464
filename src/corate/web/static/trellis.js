// The trellis of a sentence: a column for each word, a node for each candidate, lines for the steps between them;
// the best path is strong. A node that is clicked is forced: "what if it were this?"

import { el, percent, svg } from "./dom.js";
import { kindOf } from "./labels.js";

const WIDTH = 118;
const HEIGHT = 44;
const TOP = 34;
const HALF = 40;

export function renderTrellis(columns, scheme, palette, position, force) {
  const most = Math.max(...columns.map((column) => column.candidates.length));
  const x = (i) => i * WIDTH + WIDTH / 2;
  const y = (k) => TOP + k * HEIGHT + HEIGHT / 2;
  const drawing = svg("svg", {
    width: columns.length * WIDTH,
    height: TOP + most * HEIGHT + 8,
    class: "trellis",
    role: "group",
    "aria-label": "Trellis: candidates of each word and the steps between them",
  });
  columns.forEach((column, i) => {
    if (!i) return;
    const before = columns[i - 1].candidates;
    column.rates.forEach((rates, a) =>
      rates.forEach((rate, b) => {
        const best = before[a].best && column.candidates[b].best;
        const weight = before[a].probability * column.candidates[b].probability;
        if (!best && weight < 0.0005) return;
        const line = svg("line", { x1: x(i - 1) + HALF, y1: y(a), x2: x(i) - HALF, y2: y(b), class: best ? "best" : "" });
        line.style.setProperty("--w", Math.max(0.15, Math.sqrt(weight)).toFixed(2));
        line.append(svg("title", {}, `${column.candidates[b].label} after ${before[a].label}: ×${rate.toPrecision(2)}`));
        drawing.append(line);
        if (best)
          drawing.append(svg("text", { x: (x(i - 1) + x(i)) / 2, y: (y(a) + y(b)) / 2 - 5, class: "rate" }, `×${rate.toPrecision(2)}`));
      }),
    );
  });
  columns.forEach((column, i) => {
    drawing.append(svg("text", { x: x(i), y: 20, class: i === position ? "head here" : "head" }, short(column.word, 14)));
    column.candidates.forEach((candidate, k) => drawing.append(node(candidate, x(i), y(k), i, scheme, palette, force)));
  });
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Trellis" }, drawing);
}

function node(candidate, x, y, i, scheme, palette, force) {
  const kind = kindOf(candidate.label, scheme);
  const colour = palette.has(kind) ? `c${palette.get(kind)}` : "";
  const made = svg(
    "g",
    { class: `node ${colour} ${candidate.best ? "best" : ""}`, "--p": candidate.probability.toFixed(3), role: "button", tabindex: -1, "aria-label": `${candidate.label}, ${percent(candidate.probability)}: force it` },
    svg("rect", { x: x - HALF, y: y - 16, width: 2 * HALF, height: 32, rx: 7 }),
    svg("text", { x, y: y - 1 }, short(candidate.label, 10)),
    svg("text", { x, y: y + 11, class: "small" }, percent(candidate.probability)),
    svg("title", {}, `${candidate.label}: ${percent(candidate.probability)}`),
  );
  made.addEventListener("click", () => force(i, candidate.label));
  return made;
}

const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
