// What a card does: in a dialog, and in a line at a card that a tap has lifted. Presses that could be mistakes play nothing.
import { say } from "./announce.js";
import { show } from "./banners.js";
import { onPageShown } from "./page_shown.js";
import { nameOf } from "./pressed.js";
import { markNew } from "./presses.js";
import { recall } from "./store.js";

const LONG = 500; // ms of a long press
const FLICK = 40; // px upwards
const QUICK = 250; // ms of a flick
const GAP = 8; // px

const hand = () => document.getElementById("hand-cards");
const drawButton = () => document.querySelector('#draw:not([value="pass"])');
const asList = () => recall("hand", "buttons") === "list";
let answer = null;

async function fetchRows() {
  const response = await fetch(`/games/${document.getElementById("main").dataset.game}/cards/`);
  // Whoever is logged out is sent to another page.
  if (!response.ok || response.redirected) throw new Error(`What the cards do was not found: ${response.status}`);
  document.body.insertAdjacentHTML("beforeend", await response.text());
}

// Returns the list with a row for each card of the table (games/render/card_rules.py).
async function rows() {
  answer ??= fetchRows();
  try {
    await answer;
  } catch (error) {
    answer = null; // the next press asks again
    throw error;
  }
  return document.getElementById("card-rules");
}

const rowOf = (card, list) => [...list.children].find(({ dataset }) => dataset.name === nameOf(card));

// Shows a card large, with its sentence and a link to its rule.
export async function explain(card) {
  const row = rowOf(card, await rows());
  const dialog = document.getElementById("card-info");
  if (dialog.open) return;
  dialog.querySelector("div").replaceChildren(card.querySelector(":scope > .face").cloneNode(true));
  dialog.querySelector("h2").textContent = nameOf(card);
  dialog.querySelector("p").replaceChildren(...row.cloneNode(true).childNodes);
  dialog.onkeydown = (event) => event.stopPropagation(); // the keys of the game do nothing meanwhile
  dialog.onclose = () => {
    const next = card.isConnected && card.matches("button") ? card : document.getElementById("headline");
    if (document.activeElement === document.body) next.focus();
  };
  dialog.showModal();
}

function place() {
  const line = document.getElementById("lifted");
  if (!line) return;
  const { left, top, width } = document.querySelector(".lifted").getBoundingClientRect();
  const most = innerWidth - line.offsetWidth - GAP;
  line.style.bottom = `${innerHeight - top + GAP}px`;
  line.style.left = `${Math.max(GAP, Math.min(left + (width - line.offsetWidth) / 2, most))}px`;
}

// Lifts a card, or marks the draw pile, and says what it does when it is pressed again.
async function lift(control) {
  const isCard = control.matches(".card");
  const name = isCard ? nameOf(control) : drawButton().textContent.trim();
  const line = document.createElement("p");
  line.id = "lifted";
  line.className = "note placed";
  line.textContent = name;
  control.classList.add("lifted");
  document.querySelector(".say").append(line);
  place();
  const list = await rows();
  if (!line.isConnected) return;
  const does = isCard ? rowOf(control, list).firstElementChild.textContent : "";
  line.textContent = [`${name}.`, does, isCard ? list.dataset.play : list.dataset.draw].filter(Boolean).join(" ");
  place();
  markNew(control); // nobody has read that yet
  say(line.textContent, { first: true });
}

let asked = null; // what was pressed once

function putBack() {
  asked?.classList.remove("lifted");
  document.getElementById("lifted")?.remove();
  asked = null;
}

// Asks the reader's setting (User.Confirm), and whether turns are long (`slow`). After a key the server asks.
function takesTwo(control, isPressed) {
  const { confirm, ...marks } = hand().dataset;
  const isSlow = "slow" in marks;
  if (control.getAttribute("aria-disabled") === "true") return false; // the server says why
  if ("outOfTurn" in marks) return confirm === "all" || (asList() && (confirm !== "off" || "unheard" in marks));
  if (!isPressed || "asks" in control.dataset) return false;
  return confirm === "all" ? isSlow || byTouch : confirm === "taps" && isSlow && byTouch;
}

function answerOutOfTurn(card) {
  const isLocked = card.type === "button"; // it would cost points
  const text = isLocked ? hand().dataset.outOfTurn : `Press again to play ${nameOf(card)} out of turn.`;
  say(text, { first: true });
  show(text);
}

let byTouch = matchMedia("(any-pointer: coarse)").matches; // the press; a guess for one that waited for this module
let from = 0; // where the press began, in px from the upper edge of the window
let began = 0;
let holding = 0; // the timer of a long press
let isHeld = false; // the press was a long one

document.addEventListener(
  "pointerdown",
  ({ target, pointerType, clientY, timeStamp }) => {
    byTouch = pointerType !== "mouse";
    began = timeStamp;
    from = target.closest(".card.lifted") ? clientY : -Infinity;
    isHeld = false;
    clearTimeout(holding);
    const card = byTouch && target.closest("#hand-cards .card, .top-card");
    if (!card) return;
    holding = setTimeout(() => {
      isHeld = true;
      explain(card);
    }, LONG);
  },
  { capture: true },
);
for (const end of ["pointerup", "pointercancel"]) {
  document.addEventListener(end, () => clearTimeout(holding), { capture: true });
}
document.addEventListener("pointerup", ({ clientY, timeStamp }) => {
  if (from - clientY > FLICK && timeStamp - began < QUICK) document.querySelector(".card.lifted")?.click();
});

document.addEventListener(
  "click",
  (event) => {
    const pile = asked?.matches(".drawpile") && event.target.closest("#draw") ? asked : null; // its button does the same
    const control = pile ?? event.target.closest("#hand-cards .card, .drawpile");
    if (control !== asked && !event.target.closest(".toggle")) putBack();
    if (!control || (control.matches(".drawpile") && !drawButton())) return;
    const isPressed = event.detail > 0; // not by a key
    if (isHeld && isPressed) {
      event.preventDefault();
      return;
    }
    const isOut = "outOfTurn" in hand().dataset;
    const isLocked = control.type === "button";
    if (control === asked || !(isLocked || takesTwo(control, isPressed))) return;
    event.preventDefault();
    asked = isLocked ? null : control;
    if (isOut) answerOutOfTurn(control);
    else lift(control);
  },
  { capture: true },
);
// Then the server does not ask as well.
document.body.addEventListener("htmx:configRequest", ({ detail }) => {
  if (asked && detail.verb === "post" && detail.elt.id === "play") detail.parameters.sure = "1";
});
onPageShown(putBack);
document.addEventListener("scroll", place, { capture: true, passive: true });
window.addEventListener("resize", place);
