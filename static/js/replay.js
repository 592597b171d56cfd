// A replay moves on by the arrow keys, by itself, and by a press on the chart. All of these follow the links of the page,
// so every step has its own address.
import { say } from "./announce.js";
import { onPageShown } from "./page_shown.js";
import { recall } from "./store.js";

const KEYS = { Home: "first", ArrowLeft: "back", ArrowRight: "on", End: "last" };
const STEP = 1000; // ms that a step stays at normal speed
const TYPING = "input, select, textarea";
const calm = matchMedia("(prefers-reduced-motion: reduce)");

let playing = false;
let timer = 0;
const main = () => document.getElementById("main");
const link = (step) => document.querySelector(`[data-step="${step}"][href]`);
// Where less motion is asked for, a step stays at least a second.
const speed = () => Math.min(Number(recall("replay-speed", "1")) || 1, calm.matches ? 1 : Infinity);

function show() {
  document.getElementById("autoplay").hidden = false;
  document.getElementById("play").textContent = playing ? "Pause" : link("on") ? "Play" : "Play again";
  for (const option of document.querySelectorAll("#speed option")) option.disabled = calm.matches && Number(option.value) > 1;
}

// The step that follows by itself takes the place of the one before in the history, so that Back leads out of the replay.
function follow(target) {
  main().removeAttribute("hx-push-url");
  main().setAttribute("hx-replace-url", "true");
  target.click();
}

function plan() {
  clearTimeout(timer);
  if (playing && !document.hidden) timer = setTimeout(next, STEP / speed());
}

function next() {
  const target = link("on");
  if (target) follow(target);
  else pause();
}

function pause() {
  playing = false;
  clearTimeout(timer);
  main().setAttribute("hx-push-url", "true");
  main().removeAttribute("hx-replace-url");
  show();
}

function play() {
  playing = true;
  show();
  if (link("on")) plan();
  else follow(link("first"));
}

function toggle() {
  if (playing) pause();
  else play();
  say(playing ? "Playing." : "Paused.", { first: true });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.target.closest(TYPING)) return;
  if (event.key === " " && !event.target.closest("button, summary")) {
    event.preventDefault();
    if (!event.repeat) toggle();
    return;
  }
  const target = link(KEYS[event.key]);
  if (!target) return;
  event.preventDefault();
  pause();
  target.click();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("#play")) toggle();
  // A link that the reader follows ends the playing. Those that are followed by itself are not trusted.
  else if (event.isTrusted && event.target.closest("#main a, #main [type=submit]")) pause();
  const plot = event.target.closest(".plot");
  if (!plot) return;
  pause();
  const { left, width } = plot.getBoundingClientRect();
  const [first, last] = [Number(plot.dataset.first), Number(plot.dataset.last)];
  const part = Math.min(1, Math.max(0, (event.clientX - left) / width));
  const form = document.querySelector(".jump");
  const query = new URLSearchParams(new FormData(form));
  query.set("n", Math.round(first + part * (last - first)));
  query.set("round", plot.dataset.round);
  htmx.ajax("GET", `${form.getAttribute("action")}?${query}`, { source: main() });
});

document.addEventListener("change", (event) => {
  if (event.target.id === "speed") plan();
});
// A hidden page waits, and goes on when it is seen again.
document.addEventListener("visibilitychange", plan);
document.body.addEventListener("htmx:configRequest", (event) => {
  if (playing) event.detail.headers["X-Autoplay"] = "1";
});
onPageShown(() => {
  show();
  plan();
  if (playing && !link("on")) pause();
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) pause();
});
calm.addEventListener("change", show);
