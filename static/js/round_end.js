// The end of a round lies over the next round for 10 s, until the reader continues, or not at all. The game goes on below,
// and the button says if it is the reader's turn. The end of a game lies over its page until the reader closes it.
// events.js loads this module when the first round ends.
import { dismiss } from "./banners.js";
import { still } from "./motion.js";
import { onPageShown } from "./page_shown.js";
import { markAllNew } from "./presses.js";
import { recall } from "./store.js";

const STAY = 10; // s
const COUNT = 900; // ms in which the points move to the scores
const FALL = 1200; // ms in which the shapes fall
const SHAPES = 28;
const PATIENCE = 1000; // ms in which the style sheet should have come
const TOO_SOON = 500; // ms in which a key that was meant for the table closes nothing

const section = () => document.getElementById("ended");
const shown = () => section()?.dataset.of ?? "";
const isOfGame = () => shown() === "game";
let open = ""; // whose end lies over the table: "game", "round 2", or of nothing
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
  const fold = section().querySelector("details");
  if (fold) fold.open = Boolean(open);
  section().querySelector(".go").hidden = !open && !isOfGame();
  document.getElementById("continue").hidden = !open;
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

// The winner sees the four shapes fall.
function fall() {
  const box = document.getElementById("falling");
  const four = [...box.children];
  for (let n = 0; n < SHAPES; n += 1) {
    const copy = n < four.length ? four[n] : four[n % four.length].cloneNode(true);
    copy.style.left = `${(n * 61) % 100}%`; // spread without an order that one sees
    box.append(copy);
    const turn = `rotate(${n % 2 ? -270 : 270}deg)`;
    const delay = (n * 37) % 300;
    copy.animate({ transform: ["translateY(-10vh)", `translateY(110vh) ${turn}`] }, { duration: FALL - delay, delay, fill: "backwards", easing: "ease-in" });
  }
  box.hidden = false;
  setTimeout(() => (box.hidden = true), FALL);
}

// The style sheet comes with the section. Without it nothing would cover the table.
async function sheetIsLoaded() {
  const link = document.querySelector(".news > link");
  if (link.sheet) return;
  await new Promise((done) => {
    ["load", "error"].forEach((type) => link.addEventListener(type, done, { once: true }));
    setTimeout(done, PATIENCE);
  });
}

export async function show() {
  const stays = recall("round-end", "brief");
  if (!section() || (stays === "off" && !isOfGame())) return;
  await sheetIsLoaded();
  if (!section() || shown() === open) return; // the page has moved on, or it is shown already
  open = shown();
  openedAt = performance.now();
  markAllNew();
  left = stays === "brief" && !isOfGame() ? STAY : 0;
  apply();
  dismiss();
  document.getElementById("ended-heading").focus({ preventScroll: true });
  if (still()) return;
  move();
  if (document.getElementById("falling")) fall();
}

function close() {
  open = "";
  left = 0;
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
  if (shown() === open) apply();
  else close();
});
