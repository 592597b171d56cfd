// Keeps "14 h left" true between two updates: <time datetime="…" data-left="50400.0">, the seconds that were left when
// the page came. They are counted from then on, for the computer's own clock may be minutes off. Says it as the server does.

const SLEPT = 2000;
const ends = new WeakMap(); // element -> what it was told, and the moment of performance.now() at which time is up
const [navigation] = performance.getEntriesByType("navigation");
let told = navigation?.responseStart ?? performance.now();
let old = navigation?.type === "back_forward"; // the browser shows what it kept
let skew = Date.now() - performance.now();

export function timeLeft(exactly) {
  const seconds = Math.ceil(exactly);
  if (seconds <= 0) return "time is up";
  if (seconds < 120) return `${seconds} s left`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min left`;
  if (seconds < 259200) return `${Math.floor(seconds / 3600)} h left`;
  return `${Math.round(seconds / 86400)} days left`;
}

function endOf(time) {
  const news = `${time.dateTime} ${time.dataset.left}`;
  if (ends.get(time)?.news !== news) ends.set(time, { news, at: told + Number(time.dataset.left) * 1000 });
  return ends.get(time).at;
}

function tick() {
  for (const time of document.querySelectorAll("time[data-left]")) {
    const text = timeLeft((endOf(time) - performance.now()) / 1000);
    if (time.textContent !== text) time.textContent = text;
  }
}

// While a computer sleeps some browsers count no time: then live.js asks how things stand.
function lookIfOld() {
  const now = Date.now() - performance.now();
  if (old || Math.abs(now - skew) > SLEPT) document.dispatchEvent(new Event("woke"));
  old = false;
  skew = now;
}

tick();
setInterval(() => {
  lookIfOld();
  tick();
}, 1000);
document.body.addEventListener("htmx:afterSwap", () => {
  told = performance.now();
  tick();
});
