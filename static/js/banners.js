// Banners in a strip of their own for what concerns the reader. They go after 2.5 s, or stay until they are closed.
import { onPageShown } from "./page_shown.js";
import { markNew } from "./presses.js";
import { recall } from "./store.js";

const STAY = 2500; // ms
const LONGEST = 60; // s that a banner about a missing UNO call stays. The button below stays until its end
const MOST = 3; // banners that wait. Older ones are dropped, because the log has them
const CATCH = '#uno-call, [id^="catch-"]'; // what a banner about a missing UNO call presses

const waiting = [];
let shown = null;
let timer = 0;
const stays = () => recall("banners", "brief") === "stay";

function close() {
  clearTimeout(timer);
  shown?.remove();
  shown = null;
  next();
}

function button(className, label, press) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = className;
  made.textContent = label;
  made.addEventListener("click", press);
  return made;
}

// In the strip, or in sight if the page is scrolled
function place() {
  if (!shown) return;
  const { left, top, width, height } = document.getElementById("strip").getBoundingClientRect();
  shown.style.top = `${Math.max(top + height / 2, 40)}px`;
  shown.style.left = `${left + width / 2}px`;
  shown.style.maxWidth = `${width}px`;
}

function next() {
  if (shown || !waiting.length) return;
  const { text, seconds, kept, hands, sound } = waiting.shift();
  shown = document.createElement("div");
  shown.className = `banner ${sound}`;
  shown.toggleAttribute("data-routine", !kept);
  shown.toggleAttribute("data-hands", hands);
  place();
  if (seconds && document.querySelector(CATCH)) {
    const bar = document.createElement("i");
    shown.append(button("say-it", text, () => document.querySelector(CATCH)?.click()), bar);
    shown.dataset.catch = "";
    bar.animate({ transform: ["none", "scaleX(0)"] }, { duration: seconds * 1000, fill: "forwards" });
  } else {
    const line = document.createElement("p");
    line.textContent = text;
    shown.append(line);
  }
  if (stays()) {
    const cross = button("close", "×", close);
    cross.ariaLabel = "Close";
    shown.append(cross);
  } else {
    timer = setTimeout(close, Math.max(STAY, Math.min(seconds, LONGEST) * 1000));
  }
  document.body.append(shown);
  shown.querySelectorAll(".say-it").forEach((made) => markNew(made));
}

// `kept`: nobody may miss it, so it does not wait for routine news, which may no longer be true when it is shown.
// `hands`: it says that hands changed owners, so what older banners say of that is no longer true.
export function show(text, { seconds = 0, kept = false, hands = false, sound = "" } = {}) {
  const isOld = (banner) => (kept && !banner.kept) || (hands && banner.hands);
  if (!stays()) waiting.splice(0, waiting.length, ...waiting.filter((banner) => !isOld(banner)));
  waiting.push({ text, seconds, kept, hands, sound });
  waiting.splice(0, waiting.length - MOST);
  const marks = shown?.dataset ?? {};
  const old = shown && !stays() && isOld({ kept: !("routine" in marks), hands: "hands" in marks });
  // A banner about a missing UNO call closes one that is about something else.
  if (old || (seconds && shown && !("catch" in marks))) close();
  next();
}

// Drops what the end of a round says too. A missing UNO call stays.
export function dismiss() {
  waiting.splice(0, waiting.length, ...waiting.filter(({ seconds }) => seconds));
  if (shown && !("catch" in shown.dataset)) close();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && shown) close();
});
// A player who makes a move has read the banners before it.
document.body.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.requestConfig.verb !== "post" || stays()) return;
  waiting.length = 0;
  close();
});
// The banner about a missing UNO call goes when nobody can be caught any more.
onPageShown(() => {
  place();
  if (shown && "catch" in shown.dataset && !document.querySelector(CATCH)) close();
});
addEventListener("scroll", place, { passive: true });
addEventListener("resize", place);
