// Tells the server when a person last gave a sign, because it mails those who do not look (games/presence.py). The page
// scrolls, focuses and moves what is under a resting pointer by itself too, which is no sign. Screen readers may give no
// others than scrolls and focus.

const SIGNS = ["pointerdown", "pointermove", "wheel", "keydown", "input", "click", "scroll", "focus", "visibilitychange"];
const OURS = 1000; // ms in which a change of the page can scroll it or move the focus
const SILENCE = 90000; // ms after which the next sign is told at once. The server counts a sign for twice as long.
const BACK = 1000; // ms in which what the person does may send a request anyway
let changedAt = 0; // loading the page is such a change
let pointer = "";
let lastSign = -Infinity;
let lastTold = 0; // the last sign that the server knows of. Loading the page is one.
let tellTimer = 0;

function isSign({ type, target, isTrusted, screenX, screenY }) {
  if (!isTrusted || document.hidden) return false;
  if (type === "focus" && target.matches?.("main, h1, h2")) changedAt = performance.now(); // by a script, and may scroll
  if (type === "scroll" || type === "focus") return performance.now() - changedAt > OURS;
  if (type !== "pointermove") return true;
  const before = pointer;
  pointer = `${screenX} ${screenY}`;
  return Boolean(before) && before !== pointer;
}

const isForgotten = () => performance.now() - lastTold > SILENCE;

// Each request of a visible page tells of the last sign. `fetch` sends one soon after a sign that ends a silence.
export function tellSigns(fetch) {
  function handle(event) {
    if (!isSign(event)) return;
    lastSign = performance.now();
    if (tellTimer || !isForgotten()) return;
    tellTimer = setTimeout(() => {
      tellTimer = 0;
      if (isForgotten()) fetch();
    }, BACK);
  }
  for (const type of SIGNS) window.addEventListener(type, handle, { capture: true, passive: true });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) handle(event); // by Back or Forward, without a request
  });
  document.body.addEventListener("htmx:configRequest", ({ detail }) => {
    if (document.hidden || lastSign === -Infinity) return;
    detail.headers["X-Idle-Seconds"] = Math.floor((performance.now() - lastSign) / 1000);
    lastTold = lastSign;
  });
  new ResizeObserver(() => { changedAt = performance.now(); }).observe(document.body);
  // In some browsers this clock stands still while the computer sleeps.
  document.addEventListener("woke-up", () => { lastSign = -Infinity; });
  document.body.addEventListener("htmx:beforeSwap", () => { changedAt = performance.now(); });
}
