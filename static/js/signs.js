// Tells live.js when a person last gave a sign. The page scrolls, focuses and moves what is under a resting pointer by
// itself too, which is no sign. Screen readers may give no others than scrolls and focus.

const SIGNS = ["pointerdown", "pointermove", "wheel", "keydown", "input", "click", "scroll", "focus", "visibilitychange"];
const OURS = 1000; // ms in which a change of the page can scroll it or move the focus
let changedAt = 0; // loading the page is such a change
let pointer = "";
let lastSign = -Infinity;

export const idleSeconds = () => Math.floor((performance.now() - lastSign) / 1000);

function isSign({ type, target, isTrusted, screenX, screenY }) {
  if (!isTrusted || document.hidden) return false;
  if (type === "focus" && target.matches?.("main, h1, h2")) changedAt = performance.now(); // by a script, and may scroll
  if (type === "scroll" || type === "focus") return performance.now() - changedAt > OURS;
  if (type !== "pointermove") return true;
  const before = pointer;
  pointer = `${screenX} ${screenY}`;
  return Boolean(before) && before !== pointer;
}

// Calls `then` after each sign.
export function onSign(then) {
  function handle(event) {
    if (!isSign(event)) return;
    lastSign = performance.now();
    then();
  }
  for (const type of SIGNS) window.addEventListener(type, handle, { capture: true, passive: true });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) handle(event); // by Back or Forward, without a request
  });
  new ResizeObserver(() => { changedAt = performance.now(); }).observe(document.body);
  // In some browsers this clock stands still while the computer sleeps.
  document.addEventListener("woke-up", () => { lastSign = -Infinity; });
  document.body.addEventListener("htmx:beforeSwap", () => { changedAt = performance.now(); });
}
