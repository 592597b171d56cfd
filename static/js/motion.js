// Moves copies of cards over the table. The page below already shows what comes after, so nothing waits for a motion, and
// a press, Escape or the next change ends it.
import { held, nameOf, pressed } from "./pressed.js";
import { recall } from "./store.js";

const FLIGHT = 250; // ms
const NEXT_CARD = 40; // ms between two cards of one draw
const NEXT_TURNED = 120; // ms between two cards that are turned over
const NEXT_MOVE = 320; // ms
const MOST_TIME = 600; // ms that one event may take
const MOST_CARDS = 8; // copies of one draw, or of one hand that is given away
const MOST_MOVES = 12; // older ones are not shown
const LONG = 1000; // ms after which a motion has a button to skip it

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const layer = document.createElement("div");
layer.ariaHidden = "true";
const skip = document.createElement("button");
skip.type = "button";
skip.className = "button small skip";
skip.textContent = "Skip motion";
skip.hidden = true;
document.body.append(layer, skip);

let timers = [];
let animations = [];
let drawn = []; // cards of the hand that are new

const hand = () => [...document.querySelectorAll("#hand-cards .card")];
const top = () => document.querySelector(".top-card");
const deck = () => document.querySelector(".drawpile");
const back = () => document.querySelector(".drawpile .face");
const disc = (seat) => document.querySelector(`#seat-${seat} .disc`);
const isReader = (seat) => document.getElementById(`seat-${seat}`)?.classList.contains("you");
export const still = () => reduced.matches || recall("motion", "on") === "off";

// A card-shaped rectangle in the middle of an element.
function cardAt(element, width) {
  const box = element.getBoundingClientRect();
  return { left: box.left + (box.width - width) / 2, top: box.top + (box.height - width * 1.4) / 2, width };
}

// Where the cards of a seat come from and go to.
function place(seat) {
  const cards = isReader(seat) && document.getElementById("hand-cards");
  return cards ? cardAt(cards, 60) : disc(seat) && cardAt(disc(seat), 26);
}

const at = (time, run) => timers.push(setTimeout(run, time));

// How many ms after the one before it each of `count` cards sets out.
const step = (usual, count, time = MOST_TIME) => Math.min(usual, (time - FLIGHT) / count);

function animate(element, frames, options) {
  const animation = element.animate(frames, options);
  animations.push(animation);
  return animation;
}

// Keeps an element unseen until the copy that flies there has arrived.
const hide = (element, time) => animate(element, { opacity: [0, 0] }, { duration: time });

function fly(face, from, to, stay = 0, turn = 0) {
  if (!face || !from || !to) return;
  const copy = document.createElement("div");
  copy.className = "flying";
  copy.append(face.cloneNode(true));
  Object.assign(copy.style, { left: `${to.left}px`, top: `${to.top}px`, width: `${to.width}px`, rotate: `${turn}deg` });
  layer.append(copy);
  const start = `translate(${from.left - to.left}px, ${from.top - to.top}px) scale(${from.width / to.width})`;
  const animation = animate(copy, { transform: [start, "none"], rotate: ["0deg", `${turn}deg`] }, { duration: FLIGHT, easing: "ease-out" });
  animation.onfinish = () => at(stay, () => copy.remove());
}

// Each function shows an event from `start` ms on and returns how long that takes.
const MOTIONS = {
  play({ seat, faces }, start, last) {
    const shown = faces.length ? faces : [top().querySelector(":scope > .face")];
    const from = (isReader(seat) && pressed) || place(seat);
    const next = step(NEXT_CARD, shown.length);
    const stay = last ? 0 : NEXT_MOVE; // below the last card is the page
    shown.forEach((face, n) => at(start + n * next, () => fly(face, from, top().getBoundingClientRect(), stay)));
    const time = (shown.length - 1) * next + FLIGHT;
    if (last) hide(top().querySelector(":scope > .face"), start + time);
    return time;
  },
  stack(_, start) {
    at(start, () => {
      const number = document.getElementById("owed");
      if (number) animate(number, { scale: [1.6, 0.9, 1] }, { duration: FLIGHT, easing: "ease-out" });
    });
    return FLIGHT;
  },
  draw({ seat, many }, start) {
    const count = Math.min(many, MOST_CARDS);
    const mine = isReader(seat) ? drawn.splice(0, many) : [];
    mine.forEach((card, n) => hide(card, start + Math.min(n, count) * NEXT_CARD + FLIGHT));
    for (let n = 0; n < count; n += 1) {
      const to = () => mine[n]?.getBoundingClientRect() ?? place(seat);
      at(start + n * NEXT_CARD, () => fly(back(), cardAt(deck(), deck().offsetWidth), to()));
    }
    return (count - 1) * NEXT_CARD + FLIGHT;
  },
  turn({ seat, many, faces }, start) {
    const counter = document.createElement("div");
    counter.className = "flying counter";
    const first = many - faces.length;
    const next = step(NEXT_TURNED, faces.length);
    const time = faces.length * next + FLIGHT;
    if (isReader(seat)) drawn.splice(0, many).forEach((card) => hide(card, start + time));
    faces.forEach((face, n) =>
      at(start + n * next, () => {
        const box = deck().getBoundingClientRect();
        counter.textContent = first + n + 1;
        Object.assign(counter.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px` });
        layer.append(counter);
        fly(face, cardAt(deck(), box.width), place(seat));
      }),
    );
    at(start + time, () => counter.remove());
    return time;
  },
  swap({ seat, target }, start) {
    return cross([[seat, target], [target, seat]], start);
  },
  pass({ many }, start) {
    const seats = [...document.querySelectorAll(".player:not(.out)")].map(({ id }) => Number(id.slice(5))).sort((a, b) => a - b);
    return cross(seats.map((seat, n) => [seat, seats.at((n + many) % seats.length)]), start);
  },
  // The hand of a player who is out falls over.
  topple({ seat }, start) {
    const box = place(seat);
    for (const turn of box ? [-75, 10, 75] : []) at(start, () => fly(back(), box, { ...box, top: box.top + 30 }, FLIGHT, turn));
    return 2 * FLIGHT;
  },
  flip(_, start) {
    for (const id of ["table", "hand-cards"]) {
      const part = document.getElementById(id);
      if (part) at(start, () => animate(part, { transform: ["rotateY(90deg)", "none"] }, { duration: FLIGHT, easing: "ease-out" }));
    }
    return FLIGHT;
  },
};

// Cards fly from hand to hand, for each pair of seats. The reader's own leave before the new ones arrive.
function cross(pairs, start) {
  for (const [from, to] of pairs) {
    if (isReader(from)) give(from, to, start);
    else if (isReader(to)) take(from, start + FLIGHT);
    else for (let n = 0; n < 3; n += 1) at(start + n * NEXT_CARD, () => fly(back(), place(from), place(to)));
  }
  return pairs.some(([from]) => isReader(from)) ? MOST_TIME : 2 * NEXT_CARD + FLIGHT;
}

function give(seat, to, start) {
  const cards = hand();
  const count = Math.min(held.length, MOST_CARDS);
  const next = step(NEXT_CARD, count, MOST_TIME - FLIGHT);
  for (let n = 0; n < count; n += 1) {
    at(start + n * next, () => fly(back(), cards[n]?.getBoundingClientRect() ?? place(seat), place(to)));
  }
}

function take(from, start) {
  const cards = hand();
  const next = step(NEXT_CARD, Math.min(cards.length, MOST_CARDS), MOST_TIME - FLIGHT);
  cards.forEach((card, n) => {
    const time = start + Math.min(n, MOST_CARDS - 1) * next;
    hide(card, time + FLIGHT);
    if (n < MOST_CARDS) at(time, () => fly(card.querySelector(".face"), place(from), card.getBoundingClientRect()));
  });
}

// Without motion an outline marks where something has changed.
function flash({ motion, seat }) {
  const changed = motion === "play" || motion === "flip" ? document.getElementById("table") : disc(seat);
  if (changed) animate(changed, { outline: Array(2).fill("4px solid var(--focus)") }, { duration: 600 });
}

function stop() {
  timers.forEach(clearTimeout);
  animations.forEach((animation) => animation.cancel());
  timers = [];
  animations = [];
  layer.replaceChildren();
  skip.hidden = true;
}

function read(item) {
  const { motion, seat, target, many, move } = item.dataset;
  return { item, motion, move, seat: Number(seat), target: Number(target), many: Number(many), faces: [...item.children].slice(1) };
}

// Shows the motions of these items of #events, one move after the other. Returns a map of each item to the times, in ms from
// now, at which its cards set out: one, or one for each card that is turned over.
export function play(events) {
  const all = events.map(read);
  const moving = all.filter(({ motion }) => motion);
  if (moving.length) stop();
  const moves = [...new Set(moving.map(({ move }) => move))].slice(-MOST_MOVES);
  const seen = !document.hidden && top();
  const shown = seen ? moving.filter(({ move }) => moves.includes(move)) : [];
  if (still()) shown.slice(-2).forEach(flash);
  const moved = still() ? [] : shown;
  const lastPlay = moved.findLast(({ motion }) => motion === "play");
  const before = [...held];
  drawn = hand().filter((card) => {
    const n = before.indexOf(nameOf(card));
    return n < 0 || !before.splice(n, 1);
  });
  let start = 0;
  const times = new Map();
  for (const event of all) {
    const { item, motion, faces } = event;
    const next = step(NEXT_TURNED, faces.length);
    times.set(item, motion === "turn" ? faces.map((_, n) => start + n * next) : [start]);
    if (moved.includes(event)) start += Math.max(MOTIONS[motion](event, start, event === lastPlay), NEXT_MOVE);
  }
  if (start > LONG) {
    const { left, bottom } = top().getBoundingClientRect();
    // At the lower end of the piles, where it covers nothing but cards, or in sight if the page is scrolled
    skip.style.top = `${Math.min(Math.max(bottom, 60), innerHeight)}px`;
    skip.style.left = `${left}px`;
    skip.hidden = false;
    at(start, stop);
  }
  return times;
}

document.addEventListener("pointerdown", stop, { capture: true });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") stop();
});
