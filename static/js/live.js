// Keeps the page up to date. A socket says that there is a new version, and the page fetches it. While the socket is down,
// the page polls. A page that gets no answer says so. New markup is morphed into the page. Each request of a visible page
// says how long ago a person gave a sign, because the server sends notices to those who do not look (games/presence.py).
import { onPageShown } from "./page_shown.js";
import { leaving } from "./reload.js";
import { idleSeconds, onSign } from "./signs.js";

const POLL = 10000;
const POLL_ANYWAY = 6; // with an open socket, only every sixth poll
const LONGEST_WAIT = 30000;
const SILENT = 12000; // the server sends something every 10 s (games/live/consumer.py)
const SILENCE = 90000; // ms after which the next sign is told at once. The server counts a sign for twice as long.
const BACK = 1000; // ms in which what the person does may send a request anyway
const LATE = 3000; // ms without an answer after which the page says so
const NOT_FOR_YOU = 4404;
const SHUT_OUT = 4403;
const main = () => document.getElementById("main");
// A player who is out sees the moves that are left one a second, however fast bots make them.
const watches = () => "watches" in main().dataset;
const WATCH = 1000;
const shown = () => Number(main().dataset.revision);
let socket = null;
let attempts = 0;
let newest = 0;
let news = false; // since the last request, something of this reader's own has changed, or the computer slept
let busy = false;
let settling = false; // htmx has swapped in a response, and still uses the addresses of the page before it
let ticks = 0;
let late = 0; // timer
let silent = 0; // timer
const chip = document.getElementById("connection");

let swappedAt = 0;
let waiting = 0;

const behind = () => newest > shown() || "more" in main().dataset || news;

function refetch() {
  if (busy || settling) return; // the end of the request, or of its settling, checks `behind` again
  const left = watches() ? swappedAt + WATCH - performance.now() : 0;
  clearTimeout(waiting);
  if (left > 0) {
    waiting = setTimeout(refetch, left);
    return;
  }
  htmx.trigger(main(), "refetch");
}

const lost = () => late || chip.textContent;

function missing() {
  if (lost()) return;
  late = setTimeout(() => {
    late = 0;
    chip.textContent = "Reconnecting…"; // a live region
  }, LATE);
}

function answered() {
  clearTimeout(late);
  late = 0;
  chip.textContent = "";
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const opened = new WebSocket(`${scheme}://${location.host}/ws/games/${main().dataset.game}/`);
  let heard = false;
  let first = true;
  socket = opened;
  // The browser may take minutes to close a broken connection.
  function giveUp() {
    missing();
    connect();
    opened.close();
  }
  opened.addEventListener("message", (event) => {
    if (socket !== opened) return;
    attempts = 0;
    heard = true;
    answered();
    clearTimeout(silent);
    silent = setTimeout(giveUp, SILENT);
    const message = JSON.parse(event.data);
    // The first message of a socket can have a lower revision than the page only after a restore.
    news ||= message.news || (first && message.revision < shown());
    first = false;
    newest = message.revision;
    if (behind()) refetch();
  });
  opened.addEventListener("close", (event) => {
    if (socket !== opened) return;
    clearTimeout(silent);
    if (event.code === NOT_FOR_YOU) refetch(); // the answer may be to reload the page, which says why
    if (event.code === SHUT_OUT && !leaving()) {
      location.reload(); // the new page says why
      return;
    }
    if (heard) missing(); // while the socket stays down, polls tell whether the server answers
    const wait = Math.min(1000 * 2 ** attempts, LONGEST_WAIT);
    attempts += 1;
    setTimeout(connect, wait * (0.5 + Math.random())); // jitter, so that not all pages reconnect at once
  });
}

let told = 0; // when the last sign was that the server knows of. Loading the page is one.
let telling = 0; // timer
document.body.addEventListener("htmx:configRequest", (event) => {
  const idle = idleSeconds();
  if (document.hidden || idle === Infinity) return;
  event.detail.headers["X-Idle-Seconds"] = idle;
  told = performance.now() - idle * 1000;
});
const untold = () => performance.now() - told > SILENCE;
onSign(() => {
  if (telling || !untold()) return;
  telling = setTimeout(() => {
    telling = 0;
    if (!untold()) return;
    news = true; // fetch again after a request under way, which did not tell
    refetch();
  }, BACK);
});

document.body.addEventListener("htmx:beforeRequest", () => {
  busy = true;
  missing();
  news = false; // what is told from here on may be newer than the response
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  busy = false;
  const { status } = event.detail.xhr;
  if (status && status < 500) answered();
  else missing();
  const asked = event.detail.requestConfig.verb === "post";
  if (behind() && (asked || event.detail.successful)) refetch(); // after a failed fetch the poll retries
});

onPageShown(({ first }) => {
  if (first) return;
  settling = true;
  swappedAt = performance.now();
});
document.body.addEventListener("htmx:afterSettle", () => {
  settling = false;
  if (behind()) refetch();
});

// Ignore a response that is older than the page.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const found = event.detail.xhr.responseText.match(/data-revision="(\d+)"/);
  if (found && Number(found[1]) < shown()) event.detail.shouldSwap = false;
});

// Poll now and then with an open socket too, because the channel layer can lose messages.
setInterval(() => {
  ticks += 1;
  const due = socket.readyState !== WebSocket.OPEN || lost() || behind() || ticks % POLL_ANYWAY === 0;
  if (!document.hidden && due) refetch();
}, POLL);
window.addEventListener("offline", missing);
window.addEventListener("online", refetch);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refetch();
});
document.addEventListener("woke-up", () => {
  news = true; // a response under way may date from before the sleep
  refetch();
});
connect();

// Attributes that a morph keeps, because scripts or the browser set them and the server's markup lacks them.

const KEPT = {
  DETAILS: ["open"],
  BUTTON: ["role", "tabindex", "aria-selected", "aria-pressed", "hidden"],
  DIV: ["role", "tabindex", "aria-activedescendant"],
  P: ["hidden"],
};

// What the reader has filled in and not sent yet. The markup has what is stored.
const isField = (name, node) =>
  (name === "checked" || (name === "value" && node.type === "text")) && node.form?.hasAttribute("data-keep-fields");

Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
  !KEPT[node.tagName]?.includes(name) && !isField(name, node);
