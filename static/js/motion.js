// Moves copies of cards over the table. The page below already shows what comes after, so nothing waits for a motion, and
// a press, Escape or the next change ends it.
import { recall } from "./store.js";

const FLIGHT = 250; // ms
const NEXT_CARD = 40; // ms between two cards of one draw
const NEXT_TURNED = 120; // ms between two cards that are turned over
const NEXT_MOVE = 320; // ms
const MOST_CARDS = 8; // copies of one draw
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
let pressed = null; // rectangle of the card that the player has pressed
let drawn = []; // cards of the hand that are new

const hand = () => [...document.querySelectorAll("#hand-cards .card")];
const nameOf = (card) => card.querySelector(".sr").textContent;
const top = () => document.querySelector(".top-card");
const deck = () => document.querySelector(".drawpile");
const back = () => document.querySelector(".drawpile .face");
const disc = (seat) => document.querySelector(`#seat-${seat} .disc`);
let held = hand().map(nameOf); // before the change
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
    shown.forEach((face, n) => at(start + n * NEXT_CARD, () => fly(face, from, top().getBoundingClientRect(), NEXT_MOVE)));
    const time = (shown.length - 1) * NEXT_CARD + FLIGHT;
    if (last) hide(top().querySelector(":scope > .face"), start + time);
    return time;
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
    if (isReader(seat)) drawn.splice(0, many).forEach((card) => hide(card, start + faces.length * NEXT_TURNED + FLIGHT));
    faces.forEach((face, n) =>
      at(start + n * NEXT_TURNED, () => {
        const box = deck().getBoundingClientRect();
        counter.textContent = first + n + 1;
        Object.assign(counter.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px` });
        layer.append(counter);
        fly(face, cardAt(deck(), box.width), place(seat));
      }),
    );
    const time = faces.length * NEXT_TURNED + FLIGHT;
    at(start + time, () => counter.remove());
    return time;
  },
  swap({ seat, target }, start) {
    cross([[seat, target], [target, seat]], start);
    return 2 * NEXT_CARD + FLIGHT;
  },
  pass({ many }, start) {
    const seats = [...document.querySelectorAll(".player:not(.out)")].map(({ id }) => Number(id.slice(5))).sort((a, b) => a - b);
    cross(seats.map((seat, n) => [seat, seats.at((n + many) % seats.length)]), start);
    return 2 * NEXT_CARD + FLIGHT;
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

// Cards fly from hand to hand, for each pair of seats.
function cross(pairs, start) {
  for (const [from, to] of pairs) {
    for (let n = 0; n < 3; n += 1) at(start + n * NEXT_CARD, () => fly(back(), place(from), place(to)));
  }
}

// Without motion an outline marks where something has changed.
function flash({ motion, seat }) {
  const changed = motion === "play" || motion === "flip" ? document.getElementById("table") : disc(seat);
  if (changed) animate(changed, { outline: Array(2).fill("4px solid Highlight") }, { duration: 600 });
}

function stop() {
  timers.forEach(clearTimeout);
  animations.forEach((animation) => animation.cancel());
  timers = [];
  animations = [];
  layer.replaceChildren();
  skip.hidden = true;
}

function read({ dataset, children }) {
  const { motion, seat, target, many, move } = dataset;
  return { motion, move, seat: Number(seat), target: Number(target), many: Number(many), faces: [...children].slice(1) };
}

// Shows the motions of these items of #events, one move after the other.
export function play(events) {
  const moving = events.filter(({ dataset }) => dataset.motion).map(read);
  if (!moving.length) return;
  stop();
  const moves = [...new Set(moving.map(({ move }) => move))].slice(-MOST_MOVES);
  const shown = moving.filter(({ move }) => moves.includes(move));
  const lastPlay = shown.findLast(({ motion }) => motion === "play");
  if (document.hidden || !top()) return;
  if (still()) {
    shown.slice(-2).forEach(flash);
    return;
  }
  const before = [...held];
  drawn = hand().filter((card) => {
    const n = before.indexOf(nameOf(card));
    return n < 0 || !before.splice(n, 1);
  });
  let start = 0;
  for (const event of shown) start += Math.max(MOTIONS[event.motion](event, start, event === lastPlay), NEXT_MOVE);
  if (start > LONG) {
    const stage = document.getElementById("table").getBoundingClientRect();
    // At the lower end of the table, or in sight if the page is scrolled
    skip.style.top = `${Math.min(Math.max(stage.bottom, 60), innerHeight)}px`;
    skip.style.left = `${stage.right}px`;
    skip.hidden = false;
    at(start, stop);
  }
}

document.addEventListener("pointerdown", stop, { capture: true });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") stop();
});

// The card that is played shows at once that it was pressed. The server's markup of the next page does not have the class.
document.body.addEventListener("htmx:beforeRequest", (event) => {
  const { verb, triggeringEvent } = event.detail.requestConfig;
  const button = verb === "post" && triggeringEvent?.submitter;
  if (button) button.classList.add("pressed");
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) for (const button of document.querySelectorAll(".pressed")) button.classList.remove("pressed");
});
document.body.addEventListener("htmx:beforeSwap", () => {
  held = hand().map(nameOf);
  const card = document.querySelector("#hand-cards :is(.card.pressed, .card.on)");
  pressed = card && card.getBoundingClientRect();
});
