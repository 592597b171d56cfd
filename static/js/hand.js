// The hand: arrow keys and Tab, the rendering as a list, and the focus after a move.
import { say } from "./announce.js";
import { onPageShown, shownVersion } from "./page_shown.js";
import { nameOf } from "./pressed.js";
import { markNew, pressAgain } from "./presses.js";
import { recall, remember } from "./store.js";

const KEYS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
const hand = () => document.getElementById("hand-cards");
const cards = () => [...(hand()?.querySelectorAll(".card") ?? [])];
const asList = () => recall("hand", "buttons") === "list";
const fits = (card) => card.getAttribute("aria-disabled") !== "true";
const inHand = () => hand()?.contains(document.activeElement);
let slot = 0; // index of the card that the keyboard is on
let chosen = null; // its name, which of that name it is, and of how many. Null if the reader has not heard of it
let placing = false; // the script moves the focus

// Makes one card the roving tab stop, or in the list the active descendant. Without `heard` the card only fills a gap.
function moveTo(to, { focus = false, heard = true } = {}) {
  const all = cards();
  if (!all.length) return;
  slot = Math.max(0, Math.min(to, all.length - 1));
  const name = nameOf(all[slot]);
  const same = all.filter((card) => nameOf(card) === name);
  chosen = heard ? { name, n: same.indexOf(all[slot]), count: same.length } : null;
  hand().toggleAttribute("data-unheard", !heard);
  placing = true;
  const list = asList();
  all.forEach((card, n) => {
    card.tabIndex = !list && n === slot ? 0 : -1;
    if (list) card.setAttribute("aria-selected", String(n === slot));
  });
  if (list) {
    hand().setAttribute("aria-activedescendant", all[slot].id);
    all[slot].scrollIntoView({ block: "nearest" });
    if (focus) hand().focus({ preventScroll: true });
  } else if (focus) {
    all[slot].focus();
  }
  placing = false;
}

// Stays on the card, wherever it is now. If it is gone, the first that fits is next once it is the reader's turn. `drawn`
// comes before both. Returns true if the card is another one, which must be said.
function follow(drawn = null) {
  const all = cards();
  const same = all.filter((card) => nameOf(card) === chosen?.name);
  const kept = same.length >= chosen?.count && same[chosen.n]; // of two that are alike, the other one was not chosen
  const next = drawn ?? (!kept && hand()?.classList.contains("on-turn") && all.find(fits));
  if (next || kept) moveTo(all.indexOf(next || kept), { focus: inHand() });
  else moveTo(slot, { heard: false });
  return Boolean(next);
}

// Who uses a pointer needs no selected card. It is said before whose turn it is, which can be long.
function tell() {
  if (!inHand() || !(asList() || document.activeElement.matches(":focus-visible"))) return;
  say(`Selected: ${chosen.name}.`, { version: shownVersion(), early: true });
}

const sheet = document.createElement("link"); // the styles of the list, once it is wanted
sheet.rel = "stylesheet";

// Runs after every swap, because the server sends the rendering that works without scripts.
function enhance() {
  for (const skip of document.querySelectorAll(".skips a")) skip.hidden = !document.querySelector(skip.hash);
  const toggle = document.getElementById("hand-list");
  if (toggle) {
    toggle.hidden = false;
    toggle.setAttribute("aria-pressed", String(asList()));
    if (asList() && !sheet.href) document.head.append(Object.assign(sheet, { href: toggle.dataset.sheet }));
  }
  if (!hand()) return;
  if (asList()) {
    hand().setAttribute("role", "listbox");
    hand().tabIndex = 0;
    for (const card of cards()) card.setAttribute("role", "option");
  } else {
    hand().setAttribute("role", "toolbar");
    hand().removeAttribute("tabindex");
    hand().removeAttribute("aria-activedescendant");
    for (const card of cards()) {
      card.removeAttribute("role");
      card.removeAttribute("aria-selected");
    }
  }
}

// Browsers scroll to what is focused, also if it stands in the bar of actions, which is always in view.
function focusInPlace(element) {
  element.focus({ preventScroll: true });
  const { top, bottom } = element.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) element.scrollIntoView({ block: "nearest" });
}

// Focus the first of these: a chooser, the hand, the headline.
function focusAfterMove() {
  const asked = document.querySelector("#main [data-focus]");
  if (asked && !asked.classList.contains("card")) return focusInPlace(asked);
  if (cards().length) return moveTo(slot, { focus: true, heard: Boolean(chosen) });
  document.getElementById("headline")?.focus();
}

// The next card that can be played, or the one before with `step` -1. Undefined if there is none. From a card that cannot
// be played the search begins again at the other end of the hand.
function playable(step) {
  const all = step > 0 ? cards() : cards().reverse();
  const here = all.indexOf(cards()[slot]);
  const rest = all.slice(here + 1);
  if (all[here] && !fits(all[here])) rest.push(...all.slice(0, here));
  return rest.find(fits);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !hand()?.contains(event.target)) return;
  const last = cards().length - 1;
  let to = null;
  if (event.key in KEYS) to = slot + KEYS[event.key];
  if (event.key === "Home") to = 0;
  if (event.key === "End") to = last;
  if (event.key === "Tab") {
    const next = playable(event.shiftKey ? -1 : 1);
    if (next) to = cards().indexOf(next); // otherwise Tab leaves the hand
  }
  if (to !== null) {
    event.preventDefault();
    const before = slot;
    moveTo(to, { focus: true });
    if (slot === before && !event.repeat) say(slot ? "Last card." : "First card.", { first: true });
  } else if (event.key === "Enter" && event.target === hand()) {
    event.preventDefault();
    if (!event.repeat) cards()[slot]?.click();
  }
});

document.addEventListener("focusin", (event) => {
  const at = cards().indexOf(event.target);
  if (at >= 0 && !placing) moveTo(at);
});

document.addEventListener("click", (event) => {
  const card = event.target.closest(".card");
  if (card && hand()?.contains(card)) moveTo(cards().indexOf(card));
  if (event.target.closest('a[href="#hand"]') && cards().length) {
    event.preventDefault();
    const first = cards().findIndex(fits);
    // While none fits, H chooses no card: the first that fits is next.
    moveTo(first < 0 ? slot : first, { focus: true, heard: first >= 0 || Boolean(chosen) });
  }
  if (event.target.closest(".drawpile") && !event.defaultPrevented) document.querySelector('#draw:not([value="pass"])')?.click();
  if (event.target.id === "about-card") explain(inHand() ? cards()[slot] : document.querySelector(".top-card"));
  if (event.target.closest("#hand-list")) {
    remember("hand", asList() ? "buttons" : "list");
    enhance();
    moveTo(slot, { heard: Boolean(chosen) });
  }
});

// This module says what a card does, and stops presses that do not play yet: by touch, and out of turn.
const byTouch = matchMedia("(any-pointer: coarse)").matches;
let canPress = false; // the module is there, or cannot be loaded: then each press plays
let waiting = null; // the last press before that

const load = () => import("./card_info.js");
const explain = async (card) => (await load()).explain(card);
async function prepare() {
  await load().catch(console.warn);
  canPress = true;
}

document.addEventListener("contextmenu", (event) => {
  const card = event.target.closest("#hand-cards .card, .top-card");
  if (card) event.preventDefault();
  if (card) explain(card);
});
document.addEventListener(
  "click",
  async (event) => {
    if (canPress || !event.target.closest(byTouch ? ".card, .drawpile" : "[data-out-of-turn] .card")) return;
    event.preventDefault();
    event.stopPropagation();
    waiting = event;
    const shown = shownVersion();
    await prepare();
    if (waiting === event && shownVersion() === shown) pressAgain(event);
  },
  { capture: true },
);

let before = null;
let wasOnTurn = false;
document.body.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.requestConfig.verb === "post") document.getElementById("play")?.setAttribute("aria-busy", "true");
});
document.body.addEventListener("htmx:afterRequest", () => {
  document.getElementById("play")?.removeAttribute("aria-busy");
});
document.body.addEventListener("htmx:beforeSwap", () => {
  before = document.activeElement;
});
onPageShown(({ first, posted }) => {
  if (byTouch || document.querySelector("[data-out-of-turn], [data-confirm=all]")) prepare();
  enhance();
  const lost = !first && before !== document.body && document.activeElement === document.body;
  const drawn = posted || lost ? document.querySelector("#hand-cards [data-focus]") : null;
  const another = follow(drawn);
  const onTurn = Boolean(hand()?.classList.contains("on-turn"));
  // A roulette: the hand can do nothing before a colour is chosen.
  const asked = !first && onTurn && !wasOnTurn && inHand() && document.querySelector("#chooser [data-focus]");
  if (posted || lost || asked) focusAfterMove();
  const fitting = cards().find(fits); // the turn's sentence begins with it
  const unnamed = onTurn && !wasOnTurn && chosen && fitting && fitting !== cards()[slot];
  wasOnTurn = onTurn;
  if (first || !(another || unnamed)) return;
  if (another) markNew(cards()[slot], { onlyByKey: true }); // Enter means another card now, which the reader has not heard of yet
  const named = drawn || document.getElementById("events").dataset.now.includes(`: ${chosen.name}`); // by what is said anyway
  if (!named) tell();
});
document.body.classList.add("ready"); // until then a press does nothing (play.css)
