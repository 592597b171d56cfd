// <button data-copy="id-of-a-field" hidden> copies the field's text. It stays hidden if the browser cannot copy.
import { say } from "./announce.js";

const copied = new Set(); // ids of buttons that say "Copied", also after an update of the page

function show() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = !navigator.clipboard;
    if (copied.has(button.id)) button.textContent = "Copied";
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  await navigator.clipboard.writeText(field.value ?? field.textContent);
  copied.add(button.id);
  show();
  say("Copied.");
});
document.body.addEventListener("htmx:afterSwap", show);
show();
