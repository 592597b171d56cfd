// The end of a round lies over the next round for 10 s, until the reader continues, or not at all. The game goes on below,
// and the button says if it is the reader's turn. events.js loads this module when the first round ends.
import { dismiss } from "./banners.js";
import { still } from "./motion.js";
import { onPageShown } from "./page_shown.js";
import { markAllNew } from "./presses.js";
import { recall } from "./store.js";

const STAY = 10; // s
const COUNT = 900; // ms in which the points move to the scores
const TOO_SOON = 500; // ms in which a key that was meant for the table closes nothing

const section = () => document.getElementById("ended");
const roundShown = () => Number(section()?.dataset.round ?? 0);
let open = 0; // the round whose end lies over the table, or 0
let openedAt = 0;
let left = 0; // s until it closes, 0 if it stays
setInterval(tick, 1000);

// What the layer covers. The header stays in sight, and the live regions stay heard.
function covered() {
  const news = section()?.parentElement;
  return [...document.querySelectorAll(".board > *, .news > *, #options, .foot, .skips")].filter((part) => part !== news && part !== section());
}

function apply() {
  section().classList.toggle("layer", Boolean(open));
  section().querySelector(".go").hidden = !open;
  section().querySelector("details").open = Boolean(open);
  for (const part of covered()) part.inert = Boolean(open);
  document.getElementById("closes").textContent = left ? `Closes in ${left} s` : "";
}

function move() {
  const start = performance.now();
  const totals = [...section().querySelectorAll(".points b")];
  for (const bar of section().querySelectorAll("rect")) {
    const { from, to } = bar.dataset;
    if (Number(to)) bar.animate({ transform: [`scaleX(${from / to})`, "none"] }, { duration: COUNT, easing: "ease-out" });
  }
  function step() {
    const part = open && !document.hidden ? Math.min(1, (performance.now() - start) / COUNT) : 1;
    for (const total of totals) {
      const [from, to] = [Number(total.dataset.from), Number(total.dataset.to)];
      total.textContent = Math.round(from + (to - from) * part).toLocaleString("en");
    }
    if (part < 1) requestAnimationFrame(step);
  }
  step();
}

export function show() {
  const stays = recall("round-end", "brief");
  if (stays === "off") return;
  open = roundShown();
  openedAt = performance.now();
  markAllNew();
  left = stays === "brief" ? STAY : 0;
  apply();
  dismiss();
  document.getElementById("ended-heading").focus({ preventScroll: true });
  if (!still()) move();
}

function close() {
  open = left = 0;
  markAllNew();
  const inside = section()?.contains(document.activeElement) || document.activeElement === document.body;
  if (section()) apply();
  else for (const part of covered()) part.inert = false;
  if (inside) document.getElementById("headline").focus();
}

// A hidden page does not count, because nobody has seen it.
function tick() {
  if (!left || document.hidden) return;
  left -= 1;
  if (left) document.getElementById("closes").textContent = `Closes in ${left} s`;
  else close();
}

// A reader who does something there has as long as they want.
function wait() {
  left = 0;
  document.getElementById("closes").textContent = "";
}

document.addEventListener("click", (event) => {
  if (event.target.closest("#continue")) close();
  else if (open && section().contains(event.target)) wait();
});
document.addEventListener(
  "keydown",
  (event) => {
    if (!open || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape" || (event.key === "Enter" && !event.target.closest("a, button"))) {
      event.preventDefault();
      event.stopPropagation();
      if (performance.now() - openedAt > TOO_SOON && !event.repeat) close();
    } else if (section().contains(event.target) && event.key !== "Shift") {
      wait();
    }
  },
  { capture: true },
);

onPageShown(() => {
  if (!open) return;
  if (section() && "stays" in section().dataset && roundShown() === open) apply();
  else close();
});
