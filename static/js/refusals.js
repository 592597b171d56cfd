// Why a move was refused, or that no answer came, stands at the card or button that was pressed until the next press or
// update. It is said once.
import { interrupt } from "./announce.js";
import { onPageShown } from "./page_shown.js";

const GAP = 8; // px
let pressed = []; // {id, value} of the controls, the last one first
const note = () => document.querySelector("#refusal, #trouble:not([hidden])");

// A chooser is gone after a refusal, so the card that opened it comes next. The same card may stand at another place.
function spot() {
  for (const { id, value } of pressed) {
    const same = [...document.querySelectorAll("#play button")].filter((button) => button.value === value);
    const found = same.find((button) => button.id === id) ?? same[0];
    if (found) return found;
  }
  return document.getElementById("move") ?? document.getElementById("headline");
}

function place() {
  const shown = note();
  if (!shown) return;
  shown.classList.add("placed");
  const at = spot().getBoundingClientRect();
  const { width, height } = shown.getBoundingClientRect();
  const above = at.top - GAP - height;
  const fits = (top) => Math.max(GAP, Math.min(top, innerHeight - height - GAP));
  shown.style.top = `${fits(above < GAP ? at.bottom + GAP : above)}px`;
  shown.style.left = `${Math.max(GAP, Math.min(at.left + (at.width - width) / 2, innerWidth - width - GAP))}px`;
}

function clear() {
  const trouble = document.getElementById("trouble");
  if (trouble) trouble.hidden = true;
  document.getElementById("refusal")?.remove();
}

function show(text) {
  interrupt(text);
  place();
}

function trouble(text) {
  const line = document.getElementById("trouble");
  line.textContent = text;
  line.hidden = false;
  show(text);
}

const isPress = (event) => event.detail.requestConfig.verb === "post";
document.body.addEventListener("htmx:beforeRequest", (event) => {
  if (!isPress(event)) return;
  clear();
  const button = event.detail.requestConfig.triggeringEvent?.submitter;
  if (button) pressed = [{ id: button.id, value: button.value }, ...pressed].slice(0, 2);
});
// live.js retries background fetches that fail.
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.body.addEventListener(name, (event) => {
    if (isPress(event)) trouble("The server didn’t answer. Try again: a move never counts twice.");
  });
}
// A refusal comes as a fragment and is swapped in. Of a whole error page, such as "This page is out of date", only the
// reason is shown.
function reason(xhr) {
  const found = new DOMParser().parseFromString(xhr.responseText, "text/html").querySelector("#main .lead");
  return found ? found.textContent : `The server couldn’t do that (error ${xhr.status}). Reload the page.`;
}
document.body.addEventListener("htmx:responseError", (event) => {
  if (isPress(event)) trouble(reason(event.detail.xhr));
});
onPageShown(({ posted }) => {
  document.getElementById("trouble").hidden = true;
  if (posted && note()) show(note().textContent);
});
document.body.addEventListener("htmx:afterSettle", place); // the focus may have scrolled the page
document.addEventListener("pointerdown", ({ target }) => {
  if (!target.closest("#refusal")) clear();
});
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") clear();
});
window.addEventListener("resize", place);
document.addEventListener("scroll", place, { capture: true, passive: true });
