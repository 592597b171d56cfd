// Speaks through the live regions of base.html. Sentences wait in one queue, so that a cause comes before its effect. Only
// `interrupt` goes past it.

const MOST_WORDS = 25; // in one announcement
const TOGETHER = 1200; // ms that routine news waits for more of it, to be said at once
const STALE = 3500; // ms after which routine news is summed up
const GAP = 80; // ms a region stays empty, so that screen readers read the same sentence again
const CLEAR_AFTER = 10000; // ms, so that nobody who explores the page finds an old "Your turn"
const ONE_AFTER_THE_OTHER = "live-polite";
const AT_ONCE = "live-assertive";

// Objects {text, at, move, version, page}. Routine news has a `move`. A sentence with a `version` is untrue in a newer one.
// What a response says of its `page` goes when the next response comes.
const queue = [];
const fading = {};
let speaking = false;
let endPause = () => {}; // of the time in which an announcement is read
let lead = ""; // said after "8 more moves."

const words = (text) => text.split(/\s+/);
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function write(id, text) {
  clearTimeout(fading[id]);
  document.getElementById(id).textContent = text;
  if (text) fading[id] = setTimeout(() => write(id, ""), CLEAR_AFTER);
}

// Replaces old routine news of two moves and more by their number.
function sumUp() {
  const old = queue.filter((item) => item.move && performance.now() - item.at > STALE);
  const moves = new Set(old.map((item) => item.move)).size;
  if (moves < 2) return;
  const at = queue.indexOf(old[0]);
  const rest = queue.filter((item) => !old.includes(item));
  queue.splice(0, queue.length, ...rest.slice(0, at), { text: `${moves} more moves. ${lead}`.trim() }, ...rest.slice(at));
}

// Takes as many sentences from the queue as one announcement may have.
function next() {
  sumUp();
  const said = [];
  let count = 0;
  while (queue.length && (!count || count + words(queue[0].text).length <= MOST_WORDS)) {
    const { text } = queue.shift();
    said.push(text);
    count += words(text).length;
  }
  return said.join(" ");
}

async function speak() {
  if (speaking) return;
  speaking = true;
  await Promise.resolve(); // what is said in the same step is one announcement
  while (queue.length) {
    for (let waited = 0; waited < TOGETHER && queue.every(({ move }) => move); waited += GAP) await pause(GAP);
    write(ONE_AFTER_THE_OTHER, "");
    await pause(GAP);
    const text = next();
    write(ONE_AFTER_THE_OTHER, text);
    await Promise.race([pause(Math.min(600 + text.length * 25, 4000)), new Promise((end) => { endPause = end; })]);
  }
  speaking = false;
}

// Adds a sentence to the queue. Sentences of more than 25 words become several announcements.
// `first`: the reader has asked for it, so it is said before the sentences that wait. `early`: before whose turn it is.
export function say(text, { move = 0, version = "", first = false, early = false, page = false } = {}) {
  const all = words(text);
  const parts = [];
  for (let at = 0; at < all.length; at += MOST_WORDS) {
    parts.push({ text: all.slice(at, at + MOST_WORDS).join(" "), at: performance.now(), move, version, page });
  }
  const turn = early ? queue.findIndex((item) => item.version) : -1;
  queue.splice(first ? 0 : turn < 0 ? queue.length : turn, 0, ...parts);
  if (first) endPause();
  speak();
}

export async function interrupt(text) {
  write(AT_ONCE, "");
  await pause(GAP);
  write(AT_ONCE, text);
}

// Sets who leads, and drops sentences that only a version before this one made true.
export function update(version, leader) {
  lead = leader;
  queue.splice(0, queue.length, ...queue.filter((item) => !item.version || item.version === version));
}

document.body.addEventListener("announce", (event) => {
  queue.splice(0, queue.length, ...queue.filter((item) => !item.page));
  event.detail.sentences.forEach((text) => say(text, { page: true }));
});
