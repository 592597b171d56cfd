// On the page that asks for patience: asks whether the site is well again, and then loads what the person wanted to see.
// The page stands still meanwhile. It came by a GET: nothing is sent twice.

const FIRST_WAIT = 2000;
const LONGEST_WAIT = 30000;
const FORGOTTEN = 2 * LONGEST_WAIT;
const kept = history.state?.patience; // by this page before it loaded itself again
const recent = kept && Date.now() - kept.at < FORGOTTEN;
let attempts = recent ? kept.attempts : 0;

async function look() {
  attempts += 1;
  try {
    const answer = await fetch("/healthz", { cache: "no-store" });
    if (answer.ok) {
      // If it is well, and yet too busy for this page, it is given more time.
      history.replaceState({ patience: { attempts: attempts + 1, at: Date.now() } }, "");
      location.reload();
      return;
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // nobody answers yet
  }
  later();
}

function later() {
  const wait = Math.min(FIRST_WAIT * 2 ** attempts, LONGEST_WAIT);
  setTimeout(look, wait * (0.5 + Math.random())); // jitter: a site that comes back is not met by everyone at once
}

document.getElementById("by-itself").hidden = false;
later();
