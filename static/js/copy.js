// <button data-copy="id-of-a-field" hidden> copies the field's text, and <button data-share="id-of-a-link" hidden> opens
// the device's own way to share the link and the button's `data-text`. With `data-or-copy` it copies both where there is no
// such way. A button stays hidden if the browser cannot do it.
import { say } from "./announce.js";
import { onPageShown } from "./page_shown.js";

const copied = new Set(); // ids of buttons that say "Copied", also after an update of the page

function show() {
  for (const button of document.querySelectorAll("[data-copy], [data-or-copy]")) {
    button.hidden = !navigator.clipboard;
    if (copied.has(button.id)) button.textContent = "Copied";
  }
  if (navigator.share) for (const button of document.querySelectorAll("[data-share]")) button.hidden = false;
}

async function copy(button, text) {
  await navigator.clipboard.writeText(text);
  copied.add(button.id);
  show();
  say("Copied.");
}

async function share(button) {
  const { href: url } = document.getElementById(button.dataset.share);
  const { text } = button.dataset;
  if (!navigator.share) {
    await copy(button, `${text} ${url}`);
    return;
  }
  try {
    await navigator.share({ title: document.title, text, url });
  } catch (error) {
    if (error.name !== "AbortError") throw error; // the reader has closed it without sharing
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-share]");
  if (!button) return;
  if ("share" in button.dataset) {
    await share(button);
    return;
  }
  const field = document.getElementById(button.dataset.copy);
  await copy(button, field.value ?? field.textContent);
});
onPageShown(show);
