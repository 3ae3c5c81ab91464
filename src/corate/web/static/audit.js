// Audit: training sentences whose labels the model, without them, finds wrong. Keep them, or take the model's.

import { post } from "./api.js";
import { byId, el, say } from "./dom.js";
import { kindOf } from "./labels.js";
import { wordOf } from "./sentence.js";

const SUSPICIOUS = 0.7; // log 2: the model finds another label twice as likely

export function showAudit(page) {
  const file = el("input", { type: "file", id: "audit-file" });
  const list = el("ol", { class: "suspects" });
  const intro = el("p", { class: "quiet" }, "Open the file that the model was trained on. Each sentence is labelled by the model as it would be without it; those whose labels it finds least likely come first.");
  file.addEventListener("change", async () => {
    const [given] = file.files;
    if (!given) return;
    say("Looking …");
    try {
      const found = await post("/api/audit", { model: page.model.name, text: await given.text(), name: given.name });
      list.replaceChildren(...found.suspects.map((suspect) => row(suspect, page)));
      say(`${found.suspects.length} sentences have labels that the model would change.`);
    } catch (error) {
      say(error.message, "error");
    }
  });
  byId("audit").replaceChildren(el("h2", {}, "Audit"), intro, el("label", { class: "file" }, "Training file ", file), list);
}

function row(suspect, page) {
  const { scheme, palette, model } = page;
  const line = el("p", { class: "line tags" });
  suspect.tokens.forEach((token, i) => {
    const doubtful = suspect.by_token[i] > SUSPICIOUS && suspect.labels[i] !== suspect.predicted[i];
    const kind = kindOf(suspect.labels[i], scheme);
    const label = doubtful ? [el("s", {}, suspect.labels[i]), " ", el("b", {}, suspect.predicted[i])] : [suspect.labels[i] === "O" ? "" : suspect.labels[i]];
    line.append(el("span", { class: `word ${palette.has(kind) ? `c${palette.get(kind)}` : ""} ${doubtful ? "doubtful" : ""}` }, el("span", { class: "form" }, wordOf(token)), el("span", { class: "tag" }, ...label)));
  });
  const item = el("li", {}, el("span", { class: "badge", title: "suspicion" }, suspect.suspicion.toFixed(1)), line);
  const keep = el("button", { type: "button", onclick: () => item.remove() }, "Keep");
  const take = async () => {
    try {
      await post("/api/learn", { model: model.name, tokens: suspect.tokens, labels: suspect.predicted, instead: suspect.labels, source: "audit" });
      item.classList.add("learned");
      item.querySelector(".row").remove();
      await page.changed("The model has forgotten the old labels and learned the new ones. The training file is yours to change.");
    } catch (error) {
      say(error.message, "error");
    }
  };
  const edit = () => page.open([{ tokens: suspect.tokens, predicted: suspect.predicted, edited: [...suspect.predicted], instead: suspect.labels, source: "audit" }]);
  const buttons = [keep];
  if (model.learns) buttons.push(el("button", { type: "button", onclick: take }, "Take the model's"), el("button", { type: "button", onclick: edit }, "Correct …"));
  item.append(el("div", { class: "row" }, ...buttons));
  return item;
}
