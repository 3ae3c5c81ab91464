// A sentence: words with their labels under them, or spans with their kind, as displaCy and brat show them. A
// label that the model is not sure of is faint and has a dotted line.

import { el, percent } from "./dom.js";
import { kindOf, spansOf } from "./labels.js";

const UNSURE = 0.8;

export const labelsOf = (sentence) => sentence.edited ?? sentence.predicted;
export const wordOf = (token) => (typeof token === "string" ? token : token[0]);

export function renderSentence(sentence, place, scheme, palette, number) {
  const row = el("div", { role: "group", "aria-label": `Sentence ${number}` }, el("span", { class: "number" }, String(number)));
  if (sentence.learned) row.classList.add("learned");
  if (place.selected) row.classList.add("current");
  const line = el("div", { class: scheme ? "line spans" : "line tags" });
  const words = sentence.tokens.map((_, i) => renderWord(sentence, i, place, scheme, palette));
  if (scheme) line.append(...wrapped(words, labelsOf(sentence), palette));
  else line.append(...words);
  row.append(line);
  if (sentence.random) row.append(el("span", { class: "badge", title: "drawn at random, to stay honest" }, "random"));
  if (sentence.margin !== undefined)
    row.append(el("span", { class: "badge", title: "margin between the best and the second best labels" }, sentence.margin.toFixed(2)));
  return row;
}

function renderWord(sentence, i, place, scheme, palette) {
  const label = labelsOf(sentence)[i];
  const isEdited = sentence.edited && sentence.edited[i] !== sentence.predicted[i];
  const p = isEdited || sentence.edited ? 1 : (sentence.probabilities?.[i] ?? 1);
  const chosen = place.selected && i >= Math.min(place.word, place.end) && i <= Math.max(place.word, place.end);
  const kind = kindOf(label, scheme);
  const classes = ["word", palette.has(kind) ? `c${palette.get(kind)}` : "", p < UNSURE ? "unsure" : ""];
  if (isEdited) classes.push("edited");
  if (sentence.changed?.has(i)) classes.push("changed");
  if (sentence.gold && sentence.gold[i] !== label) classes.push("wrong");
  if (chosen) classes.push("chosen");
  const was = sentence.changed?.get(i);
  const told = [label, isEdited ? "corrected" : percent(p), was ? `was ${was}` : null, sentence.gold && sentence.gold[i] !== label ? `given ${sentence.gold[i]}` : null];
  return el(
    "button",
    {
      type: "button",
      class: classes.filter(Boolean).join(" "),
      "data-word": i,
      tabindex: place.selected && i === place.end ? 0 : -1,
      title: told.filter(Boolean).join(", "),
      "aria-label": `${wordOf(sentence.tokens[i])}: ${told.filter(Boolean).join(", ")}`,
      "aria-pressed": chosen ? "true" : "false",
      "--p": p.toFixed(2),
    },
    el("span", { class: "form" }, wordOf(sentence.tokens[i])),
    scheme ? null : el("span", { class: "tag" }, label),
  );
}

function wrapped(words, labels, palette) {
  const made = [];
  let i = 0;
  for (const span of spansOf(labels)) {
    made.push(...words.slice(i, span.start));
    const colour = palette.has(span.kind) ? `c${palette.get(span.kind)}` : "";
    const inside = words.slice(span.start, span.end);
    const least = Math.min(...inside.map((word) => Number(word.style.getPropertyValue("--p"))));
    const classes = `span ${colour} ${least < UNSURE ? "unsure" : ""}`;
    made.push(el("span", { class: classes, "--p": least.toFixed(2) }, ...inside, el("span", { class: "kind" }, span.kind)));
    i = span.end;
  }
  made.push(...words.slice(i));
  return made;
}
