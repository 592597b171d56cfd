// One-letter shortcuts. A control names its keys in data-key, and a key clicks the first such control on the page. So G
// is green while a colour is chosen, and says the stack otherwise. While U is purple, Shift+U calls UNO. The last control
// with a key is hidden and says why the key does nothing now (games/render/idle_keys.py).
import { say } from "./announce.js";
import { recall } from "./store.js";

const scope = () => recall("keys", "game"); // off | game | page
const TYPING = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";
const PRESSED_BY_SPACE = "button, summary, input, a[href]";
const UNFOLDED = ".switch[open], :popover-open"; // Escape closes these first

// On a keyboard without Latin letters (Cyrillic, Greek, Hebrew, Arabic) the place of the key says which letter it is.
function letterOf({ key, code }) {
  const isForeign = /[\p{L}\p{M}]/u.test(key) && !/\p{Script=Latin}/u.test(key);
  return (isForeign && code.startsWith("Key") ? code.slice(3) : key).toLowerCase();
}

function nameOf(event) {
  if (event.key === " ") return "space";
  const letter = letterOf(event);
  return event.shiftKey && /^[a-z]$/.test(letter) ? `shift+${letter}` : letter;
}

function listens(target) {
  if (target.closest(TYPING)) return false;
  return scope() === "page" || target === document.body || Boolean(target.closest("#main, #keys-help"));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.defaultPrevented) return;
  const key = nameOf(event);
  if (key.length !== 1 && !["space", "escape"].includes(key) && !key.startsWith("shift+")) return;
  if (key === "space" && event.target.closest(PRESSED_BY_SPACE)) return;
  if (key === "escape" ? document.querySelector(UNFOLDED) : key !== "space" && scope() === "off") return;
  if (!listens(event.target)) return;
  const all = [...document.querySelectorAll(`[data-key~="${CSS.escape(key)}"]`)];
  const control = all.find(({ hidden, dataset }) => !hidden || dataset.say);
  if (!control) return;
  if (!control.hidden || event.target !== document.body) event.preventDefault(); // Space may scroll the page
  // What the end of a round covers is not pressed blindly, but its keys still speak.
  if (control.closest("[inert]") && !control.dataset.say) {
    say("Press Enter to continue first.", { first: true });
    return;
  }
  control.click();
  if (control.matches("summary")) control.focus();
  if (control.matches("input")) say(`${control.labels[0].textContent.trim()}: ${control.checked ? "on" : "off"}.`, { first: true });
});

// What a switch (a details element) has unfolded over the table.
document.addEventListener("keydown", (event) => {
  const open = document.querySelector(".switch[open]");
  if (event.key !== "Escape" || !open) return;
  open.open = false;
  open.querySelector("summary").focus();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-say]");
  if (button) {
    const left = document.querySelector("time[data-left]")?.textContent ?? "";
    say(button.dataset.say.replace("{left}", left), { first: true });
  }
  if (event.target.closest('a[href="#log"]')) document.getElementById("show-log").open = true;
});
