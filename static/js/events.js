// What happened since the page was made comes in the list #events of each response (games/render/page_events.py). Each
// event is said, shown and moved once, also if two responses have it.
import { interrupt, say, update } from "./announce.js";
import { show } from "./moments.js";
import { play } from "./motion.js";

const told = new Set(); // keys of events
const headline = () => document.getElementById("headline")?.textContent ?? "";
let heading = headline();

function tell(events) {
  for (const event of events) {
    const text = event.firstElementChild.textContent;
    const routine = !("kept" in event.dataset);
    if ("atOnce" in event.dataset) interrupt(text);
    else say(text, { move: routine ? Number(event.dataset.move) : 0 });
    if (event.dataset.banner) show(event.dataset.banner, Number(event.dataset.seconds ?? 0));
  }
}

document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id !== "main") return;
  const list = document.getElementById("events");
  const { version, deal } = document.getElementById("main").dataset;
  update(`${version}.${deal}`, list.dataset.lead);
  const refusal = event.detail.requestConfig.verb === "post" && document.getElementById("refusal");
  if (refusal) interrupt(refusal.textContent);
  const events = [...list.children].filter(({ dataset }) => !told.has(dataset.key));
  events.forEach(({ dataset }) => told.add(dataset.key));
  tell(events);
  play(events);
  const now = events.length ? list.dataset.now : "";
  if (now) say(now, { version: `${version}.${deal}` });
  // Changes that are no moves (a pause, more time, a game called off) are told by the new headline.
  else if (!events.length && !refusal && heading !== headline()) say(headline());
  heading = headline();
});
