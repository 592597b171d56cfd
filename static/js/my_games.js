// Keeps the list of games up to date: fetches it every 20 s while somebody sees it, and when they return to the tab. The
// server answers 304 if nothing has changed. The list is morphed, so that the focus, a selection and the scroll stay.
import { onPageShown } from "./page_shown.js";
import "./reload.js";

const EVERY = 20000;
const main = () => document.getElementById("main");
let shown = ""; // the ETag of the list
let focused = null; // before a swap

function refetch() {
  if (!document.hidden) htmx.trigger(main(), "refetch");
}

document.body.addEventListener("htmx:configRequest", ({ detail }) => {
  // The pages of a person are stored in no cache, so the browser does not send it by itself.
  if (shown) detail.headers["If-None-Match"] = shown;
});
document.body.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status !== 200) detail.shouldSwap = false; // after an error the list stays, and the next fetch retries
  else shown = detail.xhr.getResponseHeader("ETag");
  focused = document.activeElement;
});
onPageShown(({ first }) => {
  if (first || document.activeElement !== document.body || focused === document.body) return;
  // Some browsers take the focus from what is moved.
  (focused.isConnected ? focused : main()).focus({ preventScroll: true });
});

setInterval(refetch, EVERY);
document.addEventListener("visibilitychange", refetch);
document.addEventListener("woke-up", refetch);
window.addEventListener("online", refetch);

// A form keeps its token, so that a second press while the list changes does nothing again.
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) => !(name === "value" && node.name === "form");
