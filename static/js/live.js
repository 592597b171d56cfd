// Keeps the page up to date. A socket says that there is a new version, and the page fetches it. While the socket is down,
// the page polls.

const POLL = 10000;
const POLL_ANYWAY = 6; // with an open socket, only every sixth poll
const LONGEST_WAIT = 30000;
const NOT_FOR_YOU = 4404;
const SHUT_OUT = 4403;
const main = () => document.getElementById("main");
const shown = () => Number(main().dataset.version);
// Versions count moves. While no move is due, the page can change without one (a seat taken, the next deal, a rematch), so
// each message about the shown version may be a change. Otherwise the first message with a version means its move, and any
// further one another change: a pause, more time, a seat with another player.
const unversioned = () => "unversioned" in main().dataset;
let socket = null;
let attempts = 0;
let newest = 0;
let lastHeard = -1;
let otherChange = false; // since the last request, a change that is no move was announced, or the computer slept
let messaged = false; // a message came since the last request
let busy = false;
let settling = false; // htmx has swapped in a response, and still uses the addresses of the page before it
let ticks = 0;

const behind = () => newest > shown() || (messaged && unversioned()) || otherChange;

function refetch() {
  if (busy || settling) return; // the end of the request, or of its settling, checks `behind` again
  htmx.trigger(main(), "refetch");
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/ws/games/${main().dataset.game}/`);
  socket.addEventListener("message", (event) => {
    attempts = 0;
    const { version } = JSON.parse(event.data);
    newest = Math.max(newest, version);
    messaged ||= version >= shown();
    otherChange ||= version === lastHeard;
    lastHeard = version;
    if (behind()) refetch();
  });
  socket.addEventListener("close", (event) => {
    if (event.code === NOT_FOR_YOU) return;
    if (event.code === SHUT_OUT) {
      location.reload(); // the new page says why
      return;
    }
    const wait = Math.min(1000 * 2 ** attempts, LONGEST_WAIT);
    attempts += 1;
    setTimeout(connect, wait * (0.5 + Math.random())); // jitter, so that not all pages reconnect at once
  });
}

// The server may send a notice to a player whose page is in the background.
document.body.addEventListener("htmx:configRequest", (event) => {
  if (document.hidden) event.detail.headers["X-In-Background"] = "1";
});

document.body.addEventListener("htmx:beforeRequest", () => {
  busy = true;
  messaged = otherChange = false; // messages from here on may be newer than the response
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  busy = false;
  const asked = event.detail.requestConfig.verb === "post";
  if (behind() && (asked || event.detail.successful)) refetch(); // after a failed fetch the poll retries
});

document.body.addEventListener("htmx:afterSwap", () => {
  settling = true;
});
document.body.addEventListener("htmx:afterSettle", () => {
  settling = false;
  if (behind()) refetch();
});

// Ignore a response that is older than the page.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const found = event.detail.xhr.responseText.match(/data-version="(\d+)" data-deal="(\d+)"/);
  if (!found) return;
  const [version, deal] = found.slice(1).map(Number);
  const older = version < shown() || (version === shown() && deal < Number(main().dataset.deal));
  if (older) event.detail.shouldSwap = false;
});

// Poll now and then with an open socket too, because the channel layer can lose messages.
setInterval(() => {
  ticks += 1;
  const due = socket.readyState !== WebSocket.OPEN || behind() || ticks % POLL_ANYWAY === 0;
  if (!document.hidden && due) refetch();
}, POLL);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refetch();
});
document.addEventListener("woke-up", () => {
  otherChange = true; // a response under way may date from before the sleep
  refetch();
});
connect();
