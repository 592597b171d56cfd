// What happened since the page was made comes in the list #events of each response (games/render/page_events.py). Each
// event is said, shown and moved once, also if two responses have it.
import { interrupt, say, update } from "./announce.js";
import { show } from "./banners.js";
import { onPageShown, shownVersion } from "./page_shown.js";
import "./pressed.js";
import { isNew } from "./store.js";

const MOST_MISSED = 99;

const told = new Set(); // keys of events
const tips = new Set(); // that have been said
let missed = []; // copies of the events since the reader's last move, as far as this page has seen them
let wasOnTurn = Boolean(document.getElementById("move"));
const headline = () => document.getElementById("headline")?.textContent ?? "";
let heading = headline();

function tell(events, posted) {
  for (const event of events) {
    const text = event.firstElementChild.textContent;
    const routine = !("kept" in event.dataset);
    if ("atOnce" in event.dataset) interrupt(text);
    else if (text) say(text, { move: routine && !posted ? Number(event.dataset.move) : 0 }); // the reader's own move is said at once
    const { banner, seconds = 0, motion, sound } = event.dataset;
    const hands = ["swap", "pass"].includes(motion);
    if (banner) show(banner, { seconds: Number(seconds), kept: !routine, hands, sound });
  }
}

// Moves their cards. Returns when each of them begins to be heard, in ms.
async function play(events) {
  if (!events.some(({ dataset }) => dataset.motion)) return new Map();
  return (await import("./motion.js")).play(events);
}

// Moves their cards and makes their sounds, and that of the reader's turn.
async function perform(events, turn) {
  const times = await play(events);
  const heard = events.map((event) => ({ name: event.dataset.sound, times: times.get(event) ?? [0] })).filter(({ name }) => name);
  if (turn) heard.push({ name: "turn", times: [0] });
  if (heard.length) (await import("./sounds.js")).play(heard, { vibrates: true });
}

// The end of a round lies over the table if the round ends while the page is open. That of a game does so too, and when a
// player opens its page for the first time.
const end = () => document.getElementById("ended")?.dataset.of;
let lastEnd = document.querySelector("#ended[data-unseen]") ? "" : end();

async function showEnd() {
  if (!end() || end() === lastEnd) return;
  lastEnd = end();
  (await import("./round_end.js")).show();
}

// What others did since the reader's last move. `fresh`: the page was opened, and this tab has not shown it yet.
async function offerNews(fresh = false) {
  if (document.getElementById("news")) (await import("./news.js")).offer(missed, fresh);
}

const copies = (events) => events.map((event) => event.cloneNode(true));

function tellNews(list, posted) {
  const version = shownVersion();
  update(version, list.dataset.lead);
  const events = [...list.children].filter(({ dataset }) => !told.has(dataset.key));
  events.forEach(({ dataset }) => told.add(dataset.key));
  tell(events, posted);
  missed = posted ? [] : [...missed, ...copies(events)].slice(-MOST_MISSED);
  offerNews();
  const { now, tip } = list.dataset;
  const after = events.length ? [now, tip].filter((text) => text && !tips.has(text)) : [];
  if (events.length) tips.add(tip);
  const onTurn = Boolean(document.getElementById("move"));
  perform(events, onTurn && !wasOnTurn);
  wasOnTurn = onTurn;
  const refusal = posted && document.getElementById("refusal");
  for (const text of after) say(text, { version });
  // Changes that are no moves (a pause, more time, a game called off) are told by the new headline.
  if (!events.length && !refusal && heading !== headline()) say(headline());
  heading = headline();
}

// A page that was opened shows once what the reader missed.
function showMissed({ dataset }, list) {
  const events = [...list.children];
  events.forEach(({ dataset: { key } }) => told.add(key));
  missed = copies(events);
  offerNews(isNew(`missed in ${dataset.game}`, dataset.version));
}

onPageShown(({ main, first, posted }) => {
  const list = document.getElementById("events");
  if (document.getElementById("race")) import("./race.js");
  showEnd();
  if (end() === "game") import("./copy.js");
  if (first) showMissed(main, list);
  else tellNews(list, posted);
});
