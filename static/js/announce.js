// Speaks through the two live regions of base.html, one sentence after the other.
// Fed by the response header HX-Trigger: {"announce": {"polite": ["Bob draws 4 cards."], "assertive": ["Your turn."]}}

const queues = { polite: [], assertive: [] };
const speaking = { polite: false, assertive: false };
const fading = { polite: 0, assertive: 0 };
const GAP = 80; // an emptied region needs a moment, or the same sentence is not read twice
const STANDS = 10000; // who walks through the page must not find "Your turn" where it is somebody else's by now

function pause(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}

async function speak(kind) {
  if (speaking[kind]) return;
  speaking[kind] = true;
  clearTimeout(fading[kind]);
  const region = document.getElementById(`live-${kind}`);
  while (queues[kind].length) {
    const sentence = queues[kind].splice(0).join(" ");
    region.textContent = "";
    await pause(GAP);
    region.textContent = sentence;
    await pause(Math.min(600 + sentence.length * 25, 4000));
  }
  speaking[kind] = false;
  fading[kind] = setTimeout(() => {
    region.textContent = "";
  }, STANDS);
}

export function announce(sentences, kind = "polite") {
  queues[kind].push(...[sentences].flat());
  speak(kind);
}

// What was urgent before the last news is not any more.
function hush(kind) {
  queues[kind].length = 0;
  document.getElementById(`live-${kind}`).textContent = "";
}

function trouble(text) {
  const note = document.getElementById("trouble");
  if (note) {
    note.textContent = text;
    note.hidden = !text;
  }
  if (text) announce(text, "assertive");
}

let said = false; // something was said of what the last request brought
document.body.addEventListener("htmx:beforeRequest", () => {
  said = false;
});
document.body.addEventListener("announce", (event) => {
  const { polite = [], assertive = [] } = event.detail;
  said = polite.length + assertive.length > 0;
  if (said && !assertive.length) hush("assertive");
  if (assertive.length) announce(assertive, "assertive");
  if (polite.length) announce(polite, "polite");
});

// What is no move (a pause, more time, a game called off) is told by the headline, which then reads otherwise.
const headline = () => document.getElementById("headline")?.textContent ?? "";
let heading = headline();
document.body.addEventListener("htmx:afterSwap", () => {
  if (heading === headline()) return;
  heading = headline();
  if (said) return;
  hush("assertive");
  announce(heading);
});

// A background fetch that fails is tried again by live.js; only what a person asked for is worth an alarm.
const asked = (event) => event.detail.requestConfig?.verb === "post";
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.body.addEventListener(name, (event) => {
    if (asked(event)) trouble("The server didn’t answer. Try again: a move never counts twice.");
  });
}
// A refusal is a part of the page and is swapped in; a whole page, such as "This page is out of date", is not: only its
// reason is told.
const isWhole = (xhr) => /^\s*<!doctype/i.test(xhr.responseText);
function reason(xhr) {
  const lead = isWhole(xhr) && new DOMParser().parseFromString(xhr.responseText, "text/html").querySelector("#main .lead");
  return lead ? lead.textContent : `The server couldn’t do that (error ${xhr.status}). Reload the page.`;
}
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr } = event.detail;
  if (xhr.status < 400 || !isWhole(xhr)) return;
  event.detail.shouldSwap = false;
  event.detail.isError = true;
});
document.body.addEventListener("htmx:responseError", (event) => {
  if (asked(event)) trouble(reason(event.detail.xhr));
});
document.body.addEventListener("htmx:afterSwap", () => trouble(""));
