// Announces sentences through the two live regions of base.html, one after the other.
// They come in the response header HX-Trigger: {"announce": {"polite": ["Bob draws 4 cards."], "assertive": ["Your turn."]}}

const queues = { polite: [], assertive: [] };
const speaking = { polite: false, assertive: false };
const fading = { polite: 0, assertive: 0 };
const GAP = 80; // ms a region stays empty, so that screen readers read the same sentence again
const CLEAR_AFTER = 10000; // ms, so that nobody who explores the page finds an old "Your turn"

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
  }, CLEAR_AFTER);
}

export function announce(sentences, kind = "polite") {
  queues[kind].push(...[sentences].flat());
  speak(kind);
}

// Drop urgent sentences that newer ones have overtaken.
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

let said = false; // the last response had announcements
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

// Changes that are no moves (a pause, more time, a game called off) are announced by the new headline.
const headline = () => document.getElementById("headline")?.textContent ?? "";
let heading = headline();
document.body.addEventListener("htmx:afterSwap", () => {
  if (heading === headline()) return;
  heading = headline();
  if (said) return;
  hush("assertive");
  announce(heading);
});

// live.js retries background fetches that fail. Only a failed POST of the player is reported.
const asked = (event) => event.detail.requestConfig?.verb === "post";
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.body.addEventListener(name, (event) => {
    if (asked(event)) trouble("The server didn’t answer. Try again: a move never counts twice.");
  });
}
// A refusal comes as a fragment and is swapped in. Of a whole error page, such as "This page is out of date", only the
// reason is shown.
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
