// Loads an open page again when the site has been upgraded, or when somebody else has logged in. A fetch brings neither
// new scripts and styles nor the name in the header. <main> says for what release and reader it was made. The page waits
// for a moment when that interrupts nobody.

const LOOK = 5000; // ms
const QUIET = 10000; // ms since the last press or key, unless nobody sees the page
// They choose a colour or a player, or watch a round to its end. A form is being sent. Something that they have opened
// lies over the page.
const BUSY = ":is(#chooser, [data-watches], .htmx-request, .switch[open], .layer, :popover-open)";
const TURN = "#move"; // it is the reader's turn, or they can call or catch
const FIELDS = "form :is(input:not([type=hidden]), select, textarea)";
const TYPING = "input, select, textarea";
const made = () => document.getElementById("main").dataset;
const { release, reader } = made(); // each fetch brings the newest ones. A whole page that answers a form has no release
// Servers of two releases may answer in turn, for example during an upgrade. Each release makes a page reload once.
const tried = () => history.state?.releases ?? [];
let touched = 0;
// The browser is sending a form, and its answer is another page. A reload would cancel that, and lose its cookies, such as
// those of a visitor who becomes a guest.
const ANSWERED = 20000; // ms after which the form counts as lost
let sentAt = -ANSWERED;
export const leaving = () => performance.now() - sentAt < ANSWERED;

function isOutdated() {
  const now = made();
  if (!release) return false;
  if (now.reader !== reader) return true;
  return now.release !== release && !tried().includes(now.release) && !document.querySelector(TURN);
}

function isFilledIn(field) {
  if (field.options) return [...field.options].some((option) => option.selected !== option.defaultSelected);
  return field.checked !== field.defaultChecked || field.value !== field.defaultValue;
}

function isFree() {
  if (leaving() || document.querySelector(BUSY) || document.activeElement?.matches(TYPING)) return false;
  if ([...document.querySelectorAll(FIELDS)].some(isFilledIn)) return false;
  return document.hidden || performance.now() - touched > QUIET;
}

setInterval(() => {
  if (!isOutdated() || !isFree()) return;
  history.replaceState({ ...history.state, releases: [...tried(), made().release] }, "");
  location.reload();
}, LOOK);
document.addEventListener("submit", (event) => {
  if (!event.defaultPrevented) sentAt = performance.now(); // otherwise htmx sends it
});
window.addEventListener("pageshow", () => { sentAt = -ANSWERED; }); // also by Back, after the form
document.body.addEventListener("htmx:beforeOnLoad", (event) => {
  if (leaving() && event.detail.requestConfig.verb === "get") event.preventDefault(); // polls fetch the page again if it stays
});
// A press may also be on its way to another page.
for (const name of ["pointerdown", "keydown", "scroll"]) {
  document.addEventListener(name, () => { touched = performance.now(); }, { capture: true, passive: true });
}
