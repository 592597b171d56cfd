// On the page that asks for patience: asks whether the site is well again, and then loads what the person wanted to see.
// The page stands still meanwhile. It came by a GET: nothing is sent twice.

const FIRST_WAIT = 2000;
const LONGEST_WAIT = 30000;
const [navigation] = performance.getEntriesByType("navigation");
let attempts = navigation?.type === "reload" ? 2 : 0; // it was well again, and yet too busy: give it more time

async function look() {
  attempts += 1;
  try {
    const answer = await fetch("/healthz", { cache: "no-store" });
    if (answer.ok) {
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
