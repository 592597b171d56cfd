// <select data-setting="motion"> is a preference of this browser, stored under that name. A button in the header turns
// sounds on and off, and is offered once, at the first stack that the reader sees.
import { onPageShown } from "./page_shown.js";
import { recall, remember } from "./store.js";

const button = document.getElementById("sound");
const question = () => document.getElementById("ask-sound");
const sounds = () => recall("sounds", "");

function show() {
  for (const field of document.querySelectorAll("[data-setting]")) {
    field.closest("[hidden]")?.removeAttribute("hidden");
    const usual = field.options ? (field.querySelector("[selected]") ?? field.options[0]).value : field.defaultValue;
    if (field === document.activeElement) continue; // the reader is changing it
    field.value = recall(field.dataset.setting, usual);
  }
  button?.setAttribute("aria-pressed", String(sounds() === "on"));
}

async function hear() {
  (await import("./sounds.js")).play([{ name: "turn", times: [0] }]);
}

function stopAsking() {
  if (question()) question().hidden = true;
}

function setSounds(value) {
  remember("sounds", value);
  stopAsking();
  show();
  if (value === "on") hear();
}

document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-setting]")) return;
  remember(target.dataset.setting, target.value);
  if (target.dataset.setting === "volume") hear();
});
button?.addEventListener("click", () => setSounds(sounds() === "on" ? "off" : "on"));
document.addEventListener("click", ({ target }) => {
  const answer = target.closest("#ask-sound button");
  if (answer) setSounds(answer.value);
});
// Nobody who goes on playing has to answer.
document.body.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.requestConfig.verb === "post") stopAsking();
});
onPageShown(() => {
  show();
  if (document.getElementById("tip")) stopAsking(); // one thing after the other, at the same place
  else if (question() && !sounds()) {
    question().hidden = false;
    remember("sounds", "off");
  }
});
