// Keeps the page up to date. A socket says that there is a newer revision, and the page fetches it. While the socket is
// down, the page polls. A page that gets no answer says so. New markup is morphed into the page.
import { onPageShown } from "./page_shown.js";
import { leaving } from "./reload.js";
import { tellSigns } from "./signs.js";

const POLL = 10000; // ms
const POLL_ANYWAY = 6; // with a live socket, only every sixth poll
const LONGEST_WAIT = 30000; // ms
const SILENT = 12000; // ms. The server sends something every 10 s (games/live/consumer.py)
const LATE = 3000; // ms without an answer after which the page says so
const WATCH = 1000; // ms. A player who is out sees the moves that are left one a second, however fast bots make them
const NOT_FOR_YOU = 4404;
const SHUT_OUT = 4403;
const ANYWAY = Infinity; // heard instead of a revision: fetch, whatever the page shows

const main = () => document.getElementById("main");
const chip = document.getElementById("connection"); // a live region
const shown = () => Number(main().dataset.revision);
const isRevision = (value) => Number.isInteger(value) && value >= 0;

// The revision of a game only goes up, unless the site has been restored from a backup. Then the page is loaded again.
class LivePage {
  // "connecting" until the socket has said something, then "live"; "down" until a timer opens the next one.
  socketState = "down";
  socket = null;
  attempts = 0; // since a socket was live
  silenceTimer = 0;

  // "answering"; "late" if an answer is due; "lost" if the page says so.
  serverState = "answering";
  lateTimer = 0;

  // "idle"; "fetching" until a request ends; "settling" while htmx has swapped in a response and still uses the addresses
  // of the page before it.
  pageState = "idle";
  heard = -1; // the newest revision that was told and that no response covers yet
  heardMeanwhile = -1; // since the last request was sent
  shownAt = 0;
  watchTimer = 0;
  polls = 0;
  shownBefore = new WeakMap(); // request -> the revision that was shown when it was sent

  connect() {
    const socket = new WebSocket(`${location.origin.replace("http", "ws")}/ws/games/${main().dataset.game}/`);
    const ifCurrent = (call) => (event) => { if (socket === this.socket) call(event); };
    socket.addEventListener("message", ifCurrent(({ data }) => this.messageCame(JSON.parse(data))));
    socket.addEventListener("close", ifCurrent(({ code }) => this.socketClosed(code)));
    this.socket = socket;
    this.socketState = "connecting";
  }

  messageCame({ revision, news }) {
    const isRestored = this.socketState === "connecting" && revision < shown();
    this.socketState = "live";
    this.attempts = 0;
    this.answerCame();
    clearTimeout(this.silenceTimer);
    this.silenceTimer = setTimeout(() => this.giveSocketUp(), SILENT);
    this.hear(news || isRestored || !isRevision(revision) ? ANYWAY : revision);
  }

  // The browser may take minutes to close a broken connection.
  giveSocketUp() {
    const broken = this.socket;
    this.expectAnswer();
    this.connect();
    broken.close();
  }

  socketClosed(code) {
    clearTimeout(this.silenceTimer);
    if (code === NOT_FOR_YOU) this.fetch(); // the answer may be to reload the page, which says why
    if (code === SHUT_OUT && !leaving()) {
      location.reload(); // the new page says why
      return;
    }
    if (this.socketState === "live") this.expectAnswer(); // while it stays down, polls tell whether the server answers
    this.socketState = "down";
    const wait = Math.min(1000 * 2 ** this.attempts, LONGEST_WAIT);
    this.attempts += 1;
    setTimeout(() => this.connect(), wait * (0.5 + Math.random())); // jitter, so that not all pages reconnect at once
  }

  expectAnswer() {
    if (this.serverState !== "answering") return;
    this.serverState = "late";
    this.lateTimer = setTimeout(() => {
      this.serverState = "lost";
      chip.textContent = "Reconnecting…";
    }, LATE);
  }

  answerCame() {
    clearTimeout(this.lateTimer);
    this.serverState = "answering";
    chip.textContent = "";
  }

  hear(revision) {
    this.heard = Math.max(this.heard, revision);
    this.heardMeanwhile = Math.max(this.heardMeanwhile, revision);
    this.catchUp();
  }

  isBehind() {
    return this.heard > shown() || "more" in main().dataset;
  }

  catchUp() {
    if (this.isBehind()) this.fetch();
  }

  fetch() {
    if (this.pageState !== "idle") return; // whose end looks again
    const left = "watches" in main().dataset ? this.shownAt + WATCH - performance.now() : 0;
    clearTimeout(this.watchTimer);
    if (left > 0) this.watchTimer = setTimeout(() => this.fetch(), left);
    else htmx.trigger(main(), "refetch");
  }

  // Now and then with a live socket too, because the channel layer can lose messages.
  poll() {
    this.polls += 1;
    const isWell = this.socketState === "live" && this.serverState === "answering" && !this.isBehind();
    if (!document.hidden && (!isWell || this.polls % POLL_ANYWAY === 0)) this.fetch();
  }

  requestStarts({ xhr }) {
    this.pageState = "fetching";
    this.shownBefore.set(xhr, shown());
    this.heardMeanwhile = -1;
    this.expectAnswer();
  }

  responseCame(detail) {
    const { status, responseText } = detail.xhr;
    if (status >= 400 && /^\s*<!doctype/i.test(responseText)) {
      detail.shouldSwap = false; // a whole error page
      detail.isError = true; // refusals.js shows the reason
    }
    const found = responseText.match(/data-revision="(\d+)"/);
    if (!found) return;
    const revision = Number(found[1]);
    this.heard = this.heardMeanwhile;
    if (revision < shown()) detail.shouldSwap = false; // a newer one was faster
    const isRestored = revision < this.shownBefore.get(detail.xhr);
    if (isRestored && !leaving()) location.reload();
  }

  responseShown() {
    this.pageState = "settling";
    this.shownAt = performance.now();
  }

  requestEnded({ xhr, requestConfig, successful }) {
    if (this.pageState === "fetching") this.pageState = "idle";
    if (xhr.status && xhr.status < 500) this.answerCame();
    else this.expectAnswer();
    if (successful || requestConfig.verb === "post") this.catchUp(); // after a failed fetch the poll retries
  }

  settled() {
    if (this.pageState === "settling") this.pageState = "idle";
    this.catchUp();
  }
}

const page = new LivePage();
document.body.addEventListener("htmx:beforeRequest", ({ detail }) => page.requestStarts(detail));
document.body.addEventListener("htmx:beforeSwap", ({ detail }) => page.responseCame(detail));
onPageShown(({ first }) => { if (!first) page.responseShown(); });
document.body.addEventListener("htmx:afterRequest", ({ detail }) => page.requestEnded(detail));
document.body.addEventListener("htmx:afterSettle", () => page.settled());
setInterval(() => page.poll(), POLL);
window.addEventListener("offline", () => page.expectAnswer());
window.addEventListener("online", () => page.fetch());
document.addEventListener("visibilitychange", () => { if (!document.hidden) page.fetch(); });
// A response under way may date from before the sleep, and may not have told of the sign.
document.addEventListener("woke-up", () => page.hear(ANYWAY));
tellSigns(() => page.hear(ANYWAY));
page.connect();

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

Idiomorph.defaults.callbacks.beforeNodeMorphed = (_, node) => !node.dataset || !("unchanged" in node.dataset);
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
  !KEPT[node.tagName]?.includes(name) && !isField(name, node);
