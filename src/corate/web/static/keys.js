// Keys, clicks, drags and dropped files.

import { byId, say } from "./dom.js";

export function listen(page) {
  document.addEventListener("keydown", (event) => pressed(page, event));
  byId("model").addEventListener("change", (event) => page.choose(event.target.value));
  for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => page.view(button.dataset.view));
  byId("help").addEventListener("click", () => byId("keys").showModal());
  byId("theme").addEventListener("click", () => theme(true));
  byId("save").addEventListener("click", () => page.save());
  byId("undo").addEventListener("click", () => page.undo());
  byId("queue").addEventListener("change", () => page.sort());
  byId("paste").addEventListener("submit", (event) => {
    event.preventDefault();
    byId("source").textContent = "";
    page.read(byId("input").value);
  });
  byId("input").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("paste").requestSubmit();
  });
  byId("file").addEventListener("change", (event) => openFile(page, event.target.files[0]));
  drop(page);
  drag(page);
  theme(false);
}

function pressed(page, event) {
  const typing = event.target.closest?.("input, textarea, select, dialog");
  if (event.key === "Escape" && typing && !event.target.closest("dialog")) return page.go(page.place.row, page.place.word, page.place.end);
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const { row, word, end } = page.place;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const there = page.current && !byId("look").hidden;
  if (event.key === "?") byId("keys").showModal();
  else if (!there || event.target.closest?.(".wide")) return undefined;
  else if (step && event.shiftKey) page.go(row, word, end + step);
  else if (step) page.go(row, end + step);
  else if (event.key === "ArrowDown") page.go(row + 1, 0);
  else if (event.key === "ArrowUp") page.go(row - 1, 0);
  else if (event.key === "Enter" && event.target.closest(".word")) byId("panel").focus();
  else if (/^[1-9]$/.test(event.key) && page.panel.keyed?.[event.key - 1]) page.give(page.panel.keyed[event.key - 1]);
  else if (event.key === "0" && page.scheme) page.give("O");
  else if (event.key === "l") byId("label")?.focus();
  else if (event.key === "s" && page.model.learns) page.save();
  else if (event.key === "u" && page.model.learns) page.undo();
  else if (event.key === "q") byId("queue").click();
  else if (event.key === "Escape") page.go(row, word, end);
  else return undefined;
  event.preventDefault();
  return undefined;
}

// A click chooses a word; a drag over words chooses them all.
function drag(page) {
  const text = byId("text");
  const at = (event) => {
    const word = document.elementFromPoint(event.clientX, event.clientY)?.closest(".word");
    const row = word?.closest(".sentence");
    return row ? { row: Number(row.dataset.row), word: Number(word.dataset.word) } : null;
  };
  let from = null;
  text.addEventListener("pointerdown", (event) => {
    from = event.button === 0 ? at(event) : null;
    if (from && event.shiftKey && from.row === page.place.row) page.go(from.row, page.place.word, from.word);
    else if (from) page.go(from.row, from.word);
    if (from) event.preventDefault();
  });
  text.addEventListener("pointermove", (event) => {
    const to = from && event.buttons ? at(event) : null;
    if (to && to.row === from.row && to.word !== page.place.end) page.go(from.row, from.word, to.word, true, false);
  });
  text.addEventListener("pointerup", () => {
    from = null;
  });
  text.addEventListener("click", (event) => {
    const word = event.detail === 0 && event.target.closest(".word"); // from the keyboard or a screen reader
    if (word) page.go(Number(word.closest(".sentence").dataset.row), Number(word.dataset.word));
  });
}

function drop(page) {
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) openFile(page, event.dataTransfer.files[0]);
    else if (event.dataTransfer.getData("text")) page.read(event.dataTransfer.getData("text"));
  });
}

async function openFile(page, file) {
  if (!file) return;
  byId("source").textContent = file.name;
  page.view("look");
  try {
    await page.read(await file.text(), file.name);
  } catch (error) {
    say(error.message, "error");
  }
}

// As the system has it, unless somebody has chosen.
function theme(change) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  let chosen = localStorage.getItem("theme");
  if (change) {
    chosen = (chosen ?? (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
    localStorage.setItem("theme", chosen);
  }
  if (chosen) document.documentElement.dataset.theme = chosen;
}
