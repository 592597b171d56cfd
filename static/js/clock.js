// Counts down "14 h left" in <time datetime="…" data-left="50400.0">, the seconds left when the page was sent. Without a
// number they are those from the page's <main data-now="…">. It counts from when the page was sent, because the computer's
// clock may be wrong. The words are the same as in games/render/words.py.
import { onPageShown } from "./page_shown.js";

const SLEPT = 2000;
const ends = new WeakMap(); // element -> the values it came with, and the end on the scale of performance.now()
const [navigation] = performance.getEntriesByType("navigation");
let receivedAt = navigation?.responseStart ?? performance.now();
let old = navigation?.type === "back_forward"; // the browser shows the page from its cache
let skew = Date.now() - performance.now();

export function timeLeft(exactly) {
  const seconds = Math.ceil(exactly);
  if (seconds <= 0) return "time is up";
  if (seconds < 120) return `${seconds} s left`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min left`;
  if (seconds <= 172800) return `${Math.floor(seconds / 3600)} h left`;
  const hours = Math.floor(seconds / 3600);
  return `${Math.floor(hours / 24)} days${hours % 24 ? ` ${hours % 24} h` : ""} left`;
}

function endOf(time) {
  const { now } = document.getElementById("main").dataset;
  const { left } = time.dataset;
  const values = `${time.dateTime} ${left} ${now}`;
  const milliseconds = left ? left * 1000 : Date.parse(time.dateTime) - Date.parse(now);
  if (ends.get(time)?.values !== values) ends.set(time, { values, at: receivedAt + milliseconds });
  return ends.get(time).at;
}

function tick() {
  for (const time of document.querySelectorAll("time[data-left]")) {
    const text = timeLeft((endOf(time) - performance.now()) / 1000);
    if (time.textContent !== text) time.textContent = text;
  }
}

// In some browsers performance.now() stands still while the computer sleeps. Then live.js fetches the page.
function detectSleep() {
  const now = Date.now() - performance.now();
  if (old || Math.abs(now - skew) > SLEPT) document.dispatchEvent(new Event("woke-up"));
  old = false;
  skew = now;
}

onPageShown(({ first }) => {
  if (!first) receivedAt = performance.now();
  tick();
});
setInterval(() => {
  detectSleep();
  tick();
}, 1000);
