// <select data-setting="motion"> is a preference of this browser, stored under that name.
import { recall, remember } from "./store.js";

function show() {
  for (const choice of document.querySelectorAll("[data-setting]")) {
    choice.closest("[hidden]")?.removeAttribute("hidden");
    choice.value = recall(choice.dataset.setting, (choice.querySelector("[selected]") ?? choice.options[0]).value);
  }
}
document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-setting]")) remember(target.dataset.setting, target.value);
});
document.body.addEventListener("htmx:afterSettle", show);
show();
