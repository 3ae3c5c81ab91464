// What was learned: how good the labels were before each sentence was learned, as a curve, and who changed what.

import { get, post } from "./api.js";
import { byId, el, percent, say, svg } from "./dom.js";

export async function showLearned(page) {
  const found = await get(`/api/corrections?model=${encodeURIComponent(page.model.name)}`);
  const rows = found.records.map((record) => row(record, page));
  byId("history").replaceChildren(
    el("h2", {}, "Learned"),
    el("p", { class: "quiet" }, "Every sentence was labelled before it was learned. That is how good the model would have been on them; those drawn at random tell how good it is on any text."),
    found.curve.length ? curve(found.curve) : el("p", {}, "Nothing has been learned here yet: correct a sentence and save it."),
    rows.length ? el("table", {}, el("caption", {}, `${found.total} changes, newest first`), el("thead", {}, el("tr", {}, ...["", "when", "who", "sentence", "right before", ""].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, ...rows)) : "",
  );
}

function row(record, page) {
  const what = record.op === "forget" ? (record.of ? `took ${record.of} back` : "forgot") : record.undone ? "learned, taken back" : record.instead ? "replaced" : "learned";
  const words = record.text.split(" ");
  const sentence = el("td", { class: "said" }, ...words.flatMap((word, i) => [word, el("sub", {}, record.labels[i] === "O" ? "" : record.labels[i]), " "]));
  const standing = record.op === "learn" && !record.undone && page.model.learns;
  const undo = async () => {
    try {
      await post("/api/forget", { model: page.model.name, id: record.id });
      await page.changed(`Sentence ${record.id} was taken back: the model is as if it had never seen it.`);
      await showLearned(page);
    } catch (error) {
      say(error.message, "error");
    }
  };
  return el(
    "tr",
    { class: record.undone ? "undone" : "" },
    el("td", {}, String(record.id)),
    el("td", {}, (record.time ?? "").replace("T", " ").replace("Z", "")),
    el("td", {}, [record.by, record.source].filter(Boolean).join(", ")),
    sentence,
    el("td", {}, record.right === null ? what : `${record.right} of ${record.tokens}`),
    el("td", {}, standing ? el("button", { type: "button", onclick: undo, "aria-label": `Take sentence ${record.id} back` }, "Undo") : what),
  );
}

function curve(points) {
  const [width, height, left, bottom] = [640, 200, 44, 26];
  const values = points.flatMap((point) => [point.accuracy, point.random ?? point.accuracy]);
  const low = Math.max(0, Math.floor(10 * Math.min(...values) - 0.5) / 10);
  const last = points[points.length - 1];
  const x = (n) => left + ((width - left - 8) * (n - 1)) / Math.max(1, last.sentences - 1);
  const y = (value) => 8 + (height - bottom - 8) * (1 - (value - low) / (1 - low || 1));
  const path = (name) => points.filter((p) => p[name] !== null).map((p, k) => `${k ? "L" : "M"}${x(p.sentences).toFixed(1)},${y(p[name]).toFixed(1)}`).join("");
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", role: "img", "aria-label": `Accuracy so far ${percent(last.accuracy)} after ${last.sentences} sentences` });
  for (const value of [low, (1 + low) / 2, 1]) {
    drawing.append(svg("line", { x1: left, x2: width - 8, y1: y(value), y2: y(value), class: "grid" }));
    drawing.append(svg("text", { x: left - 6, y: y(value) + 4, class: "end" }, percent(value)));
  }
  drawing.append(svg("path", { d: path("random"), class: "drawn" }), svg("path", { d: path("accuracy"), class: "all" }));
  drawing.append(svg("circle", { cx: x(last.sentences), cy: y(last.accuracy), r: 4, class: "all" }));
  drawing.append(svg("text", { x: width - 8, y: height - 6, class: "end" }, `${last.sentences} sentences`));
  const legend = el("figcaption", {}, el("b", {}, percent(last.accuracy)), " of all words were right before they were learned", last.random === null ? "." : el("span", {}, "; of the sentences drawn at random (dashed) ", el("b", {}, percent(last.random)), "."));
  return el("figure", {}, drawing, legend);
}
