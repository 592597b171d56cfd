// The page's ear: a socket that says "there is a newer version", never what it is. The page then fetches itself.
// While the socket is down a slow poll does the same.

const POLL = 10000;
const LOOK_ANYWAY = 6; // polls
const LONGEST_WAIT = 30000;
const NOT_FOR_YOU = 4404;
const SHUT_OUT = 4403;
const main = () => document.getElementById("main");
const shown = () => Number(main().dataset.version);
// Versions count moves. While nobody has to move, what comes next is no move (a seat taken, the deal of the next round,
// a rematch), and each message about the version shown may be news. Otherwise the first one about a version tells of its
// move, and any further one of something else: a pause, more time, a seat that has changed hands.
const unversioned = () => "unversioned" in main().dataset;
let socket = null;
let attempts = 0;
let newest = 0;
let heard = -1;
let news = false; // something that is no move was told, or the computer has slept, since the last request left
let told = false; // something was said since the last request left
let busy = false;
let ticks = 0;

const behind = () => newest > shown() || (told && unversioned()) || news;

function refetch() {
  if (busy) return; // what was asked for meanwhile is looked at when the answer is here
  htmx.trigger(main(), "poke");
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/ws/games/${main().dataset.game}/`);
  socket.addEventListener("message", (event) => {
    attempts = 0;
    const { version } = JSON.parse(event.data); // the first message tells what was missed
    newest = Math.max(newest, version);
    told ||= version >= shown();
    news ||= version === heard;
    heard = version;
    if (behind()) refetch();
  });
  socket.addEventListener("close", (event) => {
    if (event.code === NOT_FOR_YOU) return;
    if (event.code === SHUT_OUT) {
      location.reload(); // leads to the page that says why
      return;
    }
    const wait = Math.min(1000 * 2 ** attempts, LONGEST_WAIT);
    attempts += 1;
    setTimeout(connect, wait * (0.5 + Math.random())); // jitter: a restarted server is not met by everyone at once
  });
}

// Who has the page in the background is not looking, and may be sent a notice.
document.body.addEventListener("htmx:configRequest", (event) => {
  if (document.hidden) event.detail.headers["X-In-Background"] = "1";
});

document.body.addEventListener("htmx:beforeRequest", () => {
  busy = true;
  told = news = false; // the answer may be older than what is said from here on: that is looked at when it is here
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  busy = false;
  const asked = event.detail.requestConfig.verb === "post";
  if (behind() && (asked || event.detail.successful)) refetch(); // after a failed fetch the poll tries again
});

// An answer that was overtaken by a newer one must not turn the page back.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const found = event.detail.xhr.responseText.match(/data-version="(\d+)" data-round="(\d+)"/);
  if (!found) return;
  const [version, round] = found.slice(1).map(Number);
  const older = version < shown() || (version === shown() && round < Number(main().dataset.round));
  if (older) event.detail.shouldSwap = false;
});

// An open socket can still miss a message, when whatever carries them restarts: now and then the page looks anyway.
setInterval(() => {
  ticks += 1;
  const due = socket.readyState !== WebSocket.OPEN || behind() || ticks % LOOK_ANYWAY === 0;
  if (!document.hidden && due) refetch();
}, POLL);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refetch();
});
document.addEventListener("woke", () => {
  news = true; // an answer that is under way may be as old as the sleep
  refetch();
});
connect();
