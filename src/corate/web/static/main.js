// The page: one text, one place in it, and what happens when keys are pressed.

import { get, post, stream } from "./api.js";
import { showAudit } from "./audit.js";
import { byId, el, say } from "./dom.js";
import { colours, withSpan } from "./labels.js";
import { showLearned } from "./learned.js";
import { List } from "./list.js";
import { Panel } from "./panel.js";
import { labelsOf, renderSentence, wordOf } from "./sentence.js";
import { listen } from "./keys.js";

const VIEWS = ["look", "history", "audit"];

class Page {
  async start() {
    this.models = (await get("/api/models")).models;
    byId("model").replaceChildren(...this.models.map((model) => el("option", { value: model.name }, model.name)));
    this.sentences = [];
    this.order = []; // row → sentence
    this.place = { row: -1, word: 0, end: 0 };
    this.done = []; // numbers of what was learned here
    this.panel = new Panel(this);
    this.list = new List(byId("text"), (row) => this.render(row));
    this.choose(this.models[0].name);
    listen(this);
  }

  choose(name) {
    this.model = this.models.find((model) => model.name === name);
    this.scheme = this.model.scheme;
    this.palette = colours(this.model.labels, this.scheme);
    this.tellFacts();
    if (this.sentences.length) this.label();
    if (!byId("audit").hidden) this.view("audit");
    if (!byId("history").hidden) this.view("history");
  }

  tellFacts() {
    const { kind, labels, sentences, learns } = this.model;
    const size = sentences === null ? "" : ` · ${sentences.toLocaleString("en")} sentences`;
    byId("facts").textContent = `${kind}, ${labels.length} labels${size}${learns ? " · learns" : ""}`;
  }

  view(name) {
    for (const each of VIEWS) byId(each).hidden = each !== name;
    for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === name));
    if (name === "history") showLearned(this).catch((error) => say(error.message, "error"));
    if (name === "audit") showAudit(this);
    if (name === "look") this.list.refresh();
  }

  // Text → sentences ------------------------------------------------------------------------------

  async read(text, name = "") {
    this.input = { text, name };
    await this.label();
  }

  async label() {
    if (!this.input?.text.trim()) return say("Paste some text first, or open a file.");
    this.sentences = [];
    this.order = [];
    this.list.show(0);
    this.panel.empty();
    say("Labelling …");
    try {
      await stream("/api/tag", { model: this.model.name, text: this.input.text, name: this.input.name }, (records) => {
        for (const record of records) {
          this.order.push(this.sentences.length);
          this.sentences.push({ ...record, gold: record.labels });
        }
        this.list.grow(this.order.length);
      });
    } catch (error) {
      return say(error.message, "error");
    }
    const n = this.sentences.reduce((sum, sentence) => sum + sentence.tokens.length, 0);
    say(`${this.sentences.length.toLocaleString("en")} sentences, ${n.toLocaleString("en")} words.`);
    byId("bar").hidden = !this.model.learns;
    if (byId("queue").checked) await this.sort();
    else if (this.order.length) this.go(0, 0, 0, false);
  }

  open(sentences) {
    this.input = { text: sentences.map((sentence) => sentence.tokens.map(wordOf).join(" ")).join("\n"), name: "text.txt" };
    this.sentences = sentences;
    this.order = sentences.map((_, i) => i);
    byId("bar").hidden = !this.model.learns;
    this.view("look");
    this.list.show(sentences.length);
    this.go(0, 0, 0);
  }

  // In the order of the text, or least certain first with some drawn at random.
  async sort() {
    if (!this.sentences.length) return;
    this.order = this.sentences.map((_, i) => i);
    for (const sentence of this.sentences) delete sentence.margin, delete sentence.random;
    if (byId("queue").checked) {
      const tokens = this.sentences.map((sentence) => ({ tokens: sentence.tokens }));
      try {
        const found = await post("/api/suggest", { model: this.model.name, sentences: tokens });
        for (const { sentence, margin, random } of found.order) Object.assign(this.sentences[sentence], { margin, random });
        this.order = found.order.map(({ sentence }) => sentence).sort((a, b) => Boolean(this.sentences[a].learned) - Boolean(this.sentences[b].learned));
      } catch (error) {
        return say(error.message, "error");
      }
    }
    this.list.show(this.order.length);
    this.go(0, 0, 0, false);
  }

  // Where one is ----------------------------------------------------------------------------------

  get current() {
    return this.sentences[this.order[this.place.row]];
  }

  render(row) {
    const place = { ...this.place, selected: row === this.place.row };
    const made = renderSentence(this.sentences[this.order[row]], place, this.scheme, this.palette, this.order[row] + 1);
    made.dataset.row = row;
    return made;
  }

  go(row, word, end = word, focus = true, explain = true) {
    if (row < 0 || row >= this.order.length) return;
    const before = this.place.row;
    const length = this.sentences[this.order[row]].tokens.length;
    const inside = (i) => Math.max(0, Math.min(length - 1, i));
    this.place = { row, word: inside(word), end: inside(end) };
    if (before !== row) this.list.refresh(before);
    this.list.refresh(row);
    const element = this.list.reach(row);
    if (focus) element?.querySelector(`[data-word="${this.place.end}"]`)?.focus({ preventScroll: true });
    if (explain && length) this.panel.show(this.current, this.place.end);
    this.tellEdits();
  }

  tellEdits() {
    const { current } = this;
    const n = current?.edited ? current.edited.filter((label, i) => label !== current.predicted[i]).length : 0;
    byId("edits").textContent = n ? `${n} of ${current.tokens.length} labels corrected` : "no label corrected: saving says that all are right";
  }

  // Correcting ------------------------------------------------------------------------------------

  give(label) {
    const { current, place } = this;
    if (!current || !this.model.learns) return;
    const [first, last] = [Math.min(place.word, place.end), Math.max(place.word, place.end)];
    const labels = [...labelsOf(current)];
    if (this.scheme) current.edited = withSpan(labels, this.scheme, first, last + 1, label.replace(/^[BIESLU]-/, ""));
    else {
      for (let i = first; i <= last; i++) labels[i] = label;
      current.edited = labels;
    }
    this.go(place.row, place.word, place.end, true, false);
  }

  async save() {
    const { current } = this;
    if (!current || this.saving) return;
    this.saving = true;
    const labels = labelsOf(current);
    const asked = { model: this.model.name, tokens: current.tokens, labels, source: current.source ?? (byId("queue").checked ? (current.random ? "random" : "queue") : "page") };
    if (current.instead) asked.instead = current.instead;
    if (labels.some((label) => !this.model.labels.includes(label) && label !== "_")) {
      if (!confirm("The model does not have one of these labels yet. Teach a new one?")) return void (this.saving = false);
      asked.new_labels = true;
    }
    try {
      const found = await post("/api/learn", asked);
      this.done.push({ id: found.done[0].id, sentence: current, edited: current.edited });
      Object.assign(current, { learned: true, predicted: labels, probabilities: null, edited: null, instead: undefined });
      const n = await this.again(current);
      await this.changed(`Learned. ${n === 1 ? "1 other word" : `${n} other words`} of this text changed their label.`, false);
      if (this.place.row + 1 < this.order.length) this.go(this.place.row + 1, 0);
      else this.go(this.place.row, this.place.word);
    } catch (error) {
      say(error.message, "error");
    }
    this.saving = false;
  }

  async undo() {
    const { current } = this;
    if (current?.edited) {
      current.edited = null;
      return this.go(this.place.row, this.place.word);
    }
    const last = this.done.at(-1);
    if (!last) return say("There is nothing to undo.");
    try {
      await post("/api/forget", { model: this.model.name, id: last.id });
      this.done.pop();
      Object.assign(last.sentence, { learned: false, edited: last.edited });
      const n = await this.again(null);
      await this.changed(`Taken back: the model is as if it had never seen the sentence. ${n} words changed their label.`, false);
      const row = this.order.indexOf(this.sentences.indexOf(last.sentence));
      if (row >= 0) this.go(row, 0);
    } catch (error) {
      say(error.message, "error");
    }
  }

  // Labels the text again; how many labels of other sentences have changed.
  async again(except) {
    let at = 0;
    let n = 0;
    const tokens = this.sentences.map((sentence) => ({ tokens: sentence.tokens }));
    await stream("/api/tag", { model: this.model.name, sentences: tokens }, (records) => {
      for (const record of records) {
        const sentence = this.sentences[at++];
        const changed = new Map();
        record.predicted.forEach((label, i) => label !== sentence.predicted[i] && changed.set(i, sentence.predicted[i]));
        if (sentence !== except) n += changed.size;
        Object.assign(sentence, { changed: sentence === except ? null : changed, predicted: record.predicted, probabilities: record.probabilities });
      }
    });
    this.list.refresh();
    return n;
  }

  // After the model has changed: what is known of it is asked for again.
  async changed(sentence, again = true) {
    this.models = (await get("/api/models")).models;
    this.model = this.models.find((model) => model.name === this.model.name);
    for (const [kind, colour] of colours(this.model.labels, this.scheme)) if (!this.palette.has(kind)) this.palette.set(kind, colour);
    this.tellFacts();
    if (again && this.sentences.length) await this.again(null);
    say(sentence, "good");
  }
}

const page = new Page();
page.start().catch((error) => say(error.message, "error"));
