// What others did since the reader's last move, as a list that can be played on the table. Where it lies over the table,
// it opens by itself. events.js loads this module when a page has the list.
import { play } from "./motion.js";

const overTable = matchMedia("(max-width: 51.99rem), (max-height: 34rem)"); // as in css/game/news.css
const news = () => document.getElementById("news");
let missed = [];

// Takes the events of the list. `fresh`: the reader has not seen them move.
export function offer(events, fresh) {
  missed = events;
  if (!news()) return; // the page has moved on while this module was loaded
  document.getElementById("play-news").hidden = !missed.some(({ dataset }) => dataset.motion);
  if (!fresh) return;
  if (overTable.matches && "opens" in news().dataset) news().open = true;
  else play(missed);
}

document.addEventListener("click", ({ target }) => {
  if (target.id !== "play-news" && target.id !== "skip-news") return;
  news().open = false;
  if (target.id === "skip-news") return; // hand.js follows the link
  news().querySelector("summary").focus({ preventScroll: true });
  play(missed);
});

// Nothing that has the focus is covered.
document.addEventListener("focusin", ({ target }) => {
  if (news() && target.closest("#table, #players, #hand, #log")) news().open = false;
});
