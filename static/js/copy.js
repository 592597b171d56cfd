// <button data-copy="id-of-a-field" hidden> copies the field's text, and <button data-share="id-of-a-link" hidden> opens
// the device's own way to share the link. A button stays hidden if the browser cannot do it.
import { say } from "./announce.js";
import { onPageShown } from "./page_shown.js";

const copied = new Set(); // ids of buttons that say "Copied", also after an update of the page

function show() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = !navigator.clipboard;
    if (copied.has(button.id)) button.textContent = "Copied";
  }
  for (const button of document.querySelectorAll("[data-share]")) button.hidden = !navigator.share;
}

async function copy(button) {
  const field = document.getElementById(button.dataset.copy);
  await navigator.clipboard.writeText(field.value ?? field.textContent);
  copied.add(button.id);
  show();
  say("Copied.");
}

async function share(button) {
  const { href: url } = document.getElementById(button.dataset.share);
  try {
    await navigator.share({ title: document.title, text: button.dataset.text, url });
  } catch (error) {
    if (error.name !== "AbortError") throw error; // the reader has closed it without sharing
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-share]");
  if (button) await ("copy" in button.dataset ? copy : share)(button);
});
onPageShown(show);
