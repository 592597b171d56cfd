// On the 503 page of a GET and on the offline page: checks the health of the site until it is up, then reloads the page.

const FIRST_WAIT = 2000;
const LONGEST_WAIT = 30000;
const FORGOTTEN = 2 * LONGEST_WAIT;
const kept = history.state?.patience; // stored by this script before an earlier reload
const recent = kept && Date.now() - kept.at < FORGOTTEN;
let attempts = recent ? kept.attempts : 0;

async function look() {
  attempts += 1;
  try {
    const answer = await fetch("/healthz", { cache: "no-store" });
    if (answer.ok) {
      // The site is up. If it is still too busy for this page, wait longer next time.
      history.replaceState({ patience: { attempts: attempts + 1, at: Date.now() } }, "");
      location.reload();
      return;
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // a TypeError means that the server is not reachable yet
  }
  later();
}

function later() {
  const wait = Math.min(FIRST_WAIT * 2 ** attempts, LONGEST_WAIT);
  setTimeout(look, wait * (0.5 + Math.random())); // jitter, so that not all pages return at once
}

document.getElementById("by-itself").hidden = false;
window.addEventListener("online", () => location.reload());
later();
