// Why a word has its label: the counts behind it against the next best label, the n best sequences, the trellis,
// and "what if": other words, or labels that are forced.

import { post } from "./api.js";
import { byId, el, percent, say } from "./dom.js";
import { kindOf } from "./labels.js";
import { labelsOf, wordOf } from "./sentence.js";
import { renderTrellis } from "./trellis.js";

const N_REASONS = 8;

export class Panel {
  constructor(page) {
    this.page = page;
    this.place = byId("panel");
    this.asked = 0;
    this.empty();
  }

  empty() {
    this.forced = {};
    this.place.replaceChildren(
      el("p", { class: "quiet" }, "Choose a word to see why it has its label: the counts that spoke for it, and for the next best one."),
    );
  }

  // Explains a word of a sentence; `keep`: with the labels that were forced before.
  async show(sentence, position, keep = false) {
    if (!keep) this.forced = {};
    const mine = ++this.asked;
    const tokens = sentence.whatIf ?? sentence.tokens;
    const at = Math.min(position, tokens.length - 1);
    try {
      const found = await post("/api/explain", { model: this.page.model.name, tokens, position: at, forced: this.forced });
      if (mine === this.asked) this.fill(sentence, at, found);
    } catch (error) {
      if (mine === this.asked) say(error.message, "error");
    }
  }

  fill(sentence, position, found) {
    const { scheme, palette, model } = this.page;
    const word = wordOf(found.tokens[position]);
    const heading = el("h2", {}, el("span", { class: "form" }, word), " ", chip(found.predicted[position], scheme, palette), " ", el("span", { class: "quiet" }, percent(found.probabilities[position])));
    const parts = [heading];
    if (model.learns && !sentence.whatIf) parts.push(this.choices(sentence, position, found));
    parts.push(el("h3", {}, "Why"), this.chart(found));
    parts.push(details("Other ways to label the sentence", false, this.nbest(found)));
    const force = (i, label) => {
      if (this.forced[i] === label) delete this.forced[i];
      else this.forced[i] = label;
      this.show(sentence, i, true);
    };
    parts.push(details("Trellis", true, renderTrellis(found.trellis, scheme, palette, position, force)));
    parts.push(this.whatIf(sentence, position, found));
    const open = new Map([...this.place.querySelectorAll("details")].map((each) => [each.firstChild.textContent, each.open]));
    this.place.replaceChildren(...parts);
    for (const each of this.place.querySelectorAll("details")) each.open = open.get(each.firstChild.textContent) ?? each.open;
    const wide = this.place.querySelector(".wide");
    if (wide) wide.scrollLeft = Math.max(0, position * 118 - wide.clientWidth / 2 + 59);
  }

  // The labels to choose from, with their keys: those that are likely here, or all kinds of spans.
  choices(sentence, position, found) {
    const { scheme, palette, model } = this.page;
    const likely = found.trellis[position].candidates.map((candidate) => candidate.label);
    const all = [...new Set(model.labels.map((label) => kindOf(label, scheme)))].filter((kind) => kind !== "O");
    const first = scheme ? all : [...new Set([...likely, ...all])];
    this.keyed = first.slice(0, 9);
    const buttons = this.keyed.map((kind, k) =>
      el("button", { type: "button", class: `choice ${palette.has(kind) ? `c${palette.get(kind)}` : ""}`, onclick: () => this.page.give(kind) }, el("kbd", {}, String(k + 1)), kind),
    );
    if (scheme) buttons.push(el("button", { type: "button", class: "choice", onclick: () => this.page.give("O") }, el("kbd", {}, "0"), "no span"));
    const options = el("datalist", { id: "labels" }, ...first.map((kind) => el("option", { value: kind })));
    const input = el("input", { id: "label", list: "labels", size: 12, autocomplete: "off", placeholder: "other", "aria-label": "Another label" });
    const form = el("form", { class: "other", onsubmit: (event) => { event.preventDefault(); if (input.value.trim()) this.page.give(input.value.trim()); } }, input, options);
    return el("div", { class: "choices", role: "group", "aria-label": "Give it a label" }, ...buttons, form);
  }

  chart(found) {
    const { why } = found;
    if (!why.reasons.length) return el("p", { class: "quiet" }, "No count speaks for or against it: the label is given.");
    const { scheme, palette } = this.page;
    const most = Math.max(...why.reasons.flatMap((reason) => [Math.abs(reason.score ?? 0), Math.abs(reason.rival_score ?? 0)]), 0.01);
    const legend = el("p", { class: "legend" }, chip(why.label, scheme, palette), why.rival ? ` against ${""}` : "", why.rival ? chip(why.rival.label, scheme, palette, "rival") : "", why.rival ? el("span", { class: "quiet" }, ` ${percent(why.rival.probability)}`) : "");
    const rows = why.reasons.map((reason) => this.reason(reason, most, why));
    const list = el("ol", { class: "reasons" }, ...rows.slice(0, N_REASONS));
    const made = el("div", {}, legend, list);
    if (rows.length > N_REASONS)
      made.append(el("button", { type: "button", class: "link", onclick: (event) => { list.append(...rows.slice(N_REASONS)); event.target.remove(); } }, `… ${rows.length - N_REASONS} more`));
    return made;
  }

  reason(reason, most, why) {
    const { scheme, palette } = this.page;
    const row = el("li", {}, el("span", { class: "what" }, reason.what));
    row.append(bar(reason.score, reason.text, most, colourOf(why.label, scheme, palette), "mine"));
    if (why.compared) row.append(bar(reason.rival_score, reason.rival_text, most, colourOf(why.rival.label, scheme, palette), "rival"));
    return row;
  }

  nbest(found) {
    const { scheme, palette } = this.page;
    const best = found.nbest[0].predicted;
    const rows = found.nbest.map(({ predicted, probability }, k) => {
      const others = predicted.flatMap((label, i) => (label !== best[i] ? [el("span", { class: "other-label" }, wordOf(found.tokens[i]), " ", chip(label, scheme, palette))] : []));
      return el("li", {}, el("b", {}, percent(probability)), " ", ...(k ? others : ["as shown"]));
    });
    return el("ol", { class: "nbest" }, ...rows);
  }

  whatIf(sentence, position, found) {
    const text = found.tokens.map(wordOf).join(" ");
    const input = el("input", { id: "what-if", value: text, size: Math.min(60, text.length + 2), autocomplete: "off", spellcheck: "false" });
    const change = (event) => {
      event.preventDefault();
      const words = input.value.split(/\s+/).filter(Boolean);
      const same = words.length === sentence.tokens.length && words.every((word, i) => word === wordOf(sentence.tokens[i]));
      if (!words.length) return;
      this.forced = {};
      const asked = { ...sentence, whatIf: same ? null : words.map((word, i) => (typeof sentence.tokens[i] === "object" ? [word, ...sentence.tokens[i].slice(1)] : word)) };
      this.show(same ? sentence : asked, Math.min(position, words.length - 1), true);
    };
    const given = Object.entries(this.forced);
    const told = given.length
      ? el("p", { class: "quiet" }, `Forced: ${given.map(([i, label]) => `${wordOf(found.tokens[i])} = ${label}`).join(", ")}; all others follow. `, el("button", { type: "button", class: "link", onclick: () => { this.forced = {}; this.show(sentence, position, true); } }, "let go"))
      : el("p", { class: "quiet" }, "Change a word, or click a label of the trellis to force it, and see all others follow.");
    const labels = labelsOf(sentence);
    const differs = found.predicted.flatMap((label, i) => (labels[i] !== undefined && label !== labels[i] ? [`${wordOf(found.tokens[i])}: ${label}`] : []));
    const follow = (sentence.whatIf || given.length) && el("p", { id: "follows" }, differs.length ? `Now different: ${differs.join(", ")}.` : "No other label changes.");
    return details("What if …", Boolean(given.length || sentence.whatIf), el("form", { onsubmit: change }, el("label", { for: "what-if" }, "the sentence were"), input, el("button", {}, "Look")), told, follow || null);
  }
}

const colourOf = (label, scheme, palette) => (palette.has(kindOf(label, scheme)) ? `c${palette.get(kindOf(label, scheme))}` : "");

function chip(label, scheme, palette, more = "") {
  return el("span", { class: `chip ${colourOf(label, scheme, palette)} ${more}` }, label);
}

function bar(score, text, most, colour, whose) {
  const width = score === null || score === undefined ? 0 : Math.abs(score) / most;
  const shown = score === null || score === undefined ? "" : (score >= 0 ? "+" : "−") + Math.abs(score).toFixed(2);
  return el(
    "span",
    { class: `bars ${whose}` },
    el("span", { class: "track" }, el("span", { class: `fill ${colour} ${score < 0 ? "against" : "for"}`, "--w": width.toFixed(3) })),
    el("span", { class: "value" }, shown),
    el("span", { class: "told" }, text ?? "not seen"),
  );
}

function details(title, open, ...children) {
  return el("details", { open }, el("summary", {}, title), ...children);
}
