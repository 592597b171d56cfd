// For the installed app: registers the service worker, and shows on the icon how many games wait for the reader. It is on
// every page, so it also loads what speaks, and what sends forms once. A tag would load what speaks once more where it is
// imported: under a name with a hash.
import "./announce.js";
import { onPageShown } from "./page_shown.js";
import "./send_once.js";

// A browser may refuse both, for example in a private window.
const log = (error) => console.info(error);
const next = () => document.getElementById("next-game"); // only pages of people who are logged in have it

function showBadge() {
  const turns = Number(next()?.dataset.turns ?? 0);
  if (turns) navigator.setAppBadge?.(turns).catch(log);
  else navigator.clearAppBadge?.().catch(log);
}

if (next()) navigator.serviceWorker?.register("/service-worker.js").catch(log);
onPageShown(showBadge);
