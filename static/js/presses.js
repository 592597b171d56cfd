// One gesture makes one move. A press does nothing soon after another press, or soon after what it is on has changed: the
// player has not seen the new page yet. So do a double click, a burst of taps, a held key, and a press just when another
// player moves.
import { onPageShown } from "./page_shown.js";

const AGAIN = 550; // ms after a press in which the pointer, or the same key, presses nothing more
const ELSE = 750; // ms after a press in which the pointer presses nothing else at its place, and no card that it has lifted
const THUMB = 24; // px around that place
const UNSEEN = 400; // ms after another press or a change, before a player can mean what is there now
const CONTROLS = "#main :is([type=submit], button.card, .drawpile, #uno, #continue, a[hx-get], span[data-say]), .banner .say-it, .next";

let seen = new Map(); // of each control: its text, its box, and when the text and either of them changed
// A press on the page before can have led here. Those who open or reload the page are looking at it.
const [visit] = performance.getEntriesByType("navigation");
let changedAt = visit?.type === "navigate" && document.referrer ? performance.now() : -Infinity;
let last = { at: -Infinity };
let down = {}; // the press that has begun
let key = "";

// A card stays what it is if it becomes playable.
function textOf(control) {
  const text = (control.labels?.[0] ?? control).textContent;
  return control.matches(".card") ? text : text + control.value;
}

// A card stands higher if it becomes playable or is under the pointer.
function isNear(a, b) {
  return Math.abs(a.x - b.x) <= b.width / 8 && Math.abs(a.y - b.y) <= b.height / 2;
}

function look(control) {
  const before = seen.get(control);
  const now = { text: textOf(control), box: control.getBoundingClientRect() };
  const same = before?.text === now.text;
  now.changed = same ? before.changed : changedAt;
  now.moved = same && isNear(before.box, now.box) ? before.moved : changedAt;
  return now;
}

export function markNew(control, { onlyByKey = false } = {}) {
  const now = performance.now();
  const before = look(control);
  seen.set(control, { ...before, changed: now, moved: onlyByKey ? before.moved : now });
}

export function markAllNew() {
  changedAt = performance.now();
  seen.clear();
}

// Does a press that a script has stopped.
export function pressAgain(event) {
  last = { at: -Infinity };
  event.target.dispatchEvent(new event.constructor(event.type, event));
}

// At the place of the last press, or with the same key
function isSame(by, { clientX, clientY }) {
  return by === last.by && (by !== "pointer" || Math.hypot(clientX - last.x, clientY - last.y) < THUMB);
}

function isTooSoon(control, at, by, event) {
  const since = at - last.at;
  if (control.hidden) return by === last.by && since < UNSEEN; // it only says why a key does nothing
  const { changed, moved } = look(control);
  // The switch to call UNO sends nothing. Without it, the card of the same turn would be played alone.
  if (control.id === "uno") return control === last.control && since < AGAIN;
  if (at - (by === "pointer" ? moved : changed) < UNSEEN) return true;
  // To call UNO and play at once are two presses, because the first one sends nothing.
  if (last.control?.id === "uno" && control !== last.control) return false;
  const isElse = by === "pointer" && isSame(by, event) && textOf(control) !== last.text;
  if (isElse || control.matches(".lifted")) return since < ELSE;
  return since < (by === last.by ? AGAIN : UNSEEN);
}

// On window, to be before all other listeners
window.addEventListener(
  "pointerdown",
  (event) => {
    const control = event.target.closest(CONTROLS);
    down = { control, at: event.timeStamp };
    // Otherwise it would end a motion and remove the reason of a refusal.
    if (control && isTooSoon(control, event.timeStamp, "pointer", event)) event.stopImmediatePropagation();
  },
  { capture: true },
);
window.addEventListener(
  "keydown",
  (event) => {
    const control = event.target.closest(CONTROLS);
    if (!event.repeat) {
      key = event.key;
      down = { control, at: event.timeStamp };
    } else if (control && [" ", "Enter"].includes(event.key)) {
      event.preventDefault();
    }
  },
  { capture: true },
);
window.addEventListener(
  "click",
  (event) => {
    if (last.event?.eventPhase) return; // a script answers that press with another click, as the banner does
    const control = event.target.closest(CONTROLS);
    const by = event.detail ? "pointer" : key;
    if (!control || (by !== "pointer" && control.matches("a"))) return; // by keyboard nobody follows a link by mistake
    // A press means what was there when it began.
    const at = down.control === control ? down.at : event.timeStamp;
    down = {};
    if (isTooSoon(control, at, by, event)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      // A burst of presses is one, also where the sentence about a lifted card came late.
      if (isSame(by, event) && (at - last.at < ELSE || control.matches(".lifted"))) last.at = event.timeStamp;
    } else if (!control.hidden) {
      last = { event, control, by, at: event.timeStamp, text: textOf(control), x: event.clientX, y: event.clientY };
    }
  },
  { capture: true },
);

document.body.addEventListener("htmx:beforeSwap", () => {
  seen = new Map([...document.querySelectorAll(CONTROLS)].map((control) => [control, look(control)]));
});
onPageShown(({ first, posted, button }) => {
  if (first) return;
  changedAt = performance.now();
  if (posted) seen.delete(button ?? last.control); // the same button means another move now
});
