// <select data-setting="motion"> is a preference of this browser, stored under that name.
import { onPageShown } from "./page_shown.js";
import { recall, remember } from "./store.js";

const AUDIBLE = ["sounds", "volume"]; // a change of one plays a sound

function show() {
  for (const field of document.querySelectorAll("[data-setting]")) {
    field.closest("[hidden]")?.removeAttribute("hidden");
    const usual = field.options ? (field.querySelector("[selected]") ?? field.options[0]).value : field.defaultValue;
    if (field === document.activeElement) continue; // the reader is changing it
    field.value = recall(field.dataset.setting, usual);
  }
}
document.addEventListener("change", async ({ target }) => {
  if (!target.matches("[data-setting]")) return;
  remember(target.dataset.setting, target.value);
  if (AUDIBLE.includes(target.dataset.setting)) (await import("./sounds.js")).play([{ name: "turn", times: [0] }]);
});
onPageShown(show);
