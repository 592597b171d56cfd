// Calls what looks at each page that is shown: once when the page is opened, and after each morph of #main. A call gets
// `main`; `first`, true if the page has just been opened; `posted`, true if a form brought it and not a fetch; and the
// `button` that sent that form.
//
// The calls run in the order in which their modules are loaded, imports first. It matters on the game page: presses.js is
// before all that mark something as new (banners.js, events.js for the end of a round, hand.js), and banners.js closes the
// banner of a missing call before events.js shows the next one. events.js says and moves what happened before hand.js says
// which card is selected now.

const main = () => document.getElementById("main");

export function onPageShown(call) {
  call({ main: main(), first: true, posted: false });
  // When htmx settles is too late: in between nothing would have the focus.
  document.body.addEventListener("htmx:afterSwap", ({ target, detail }) => {
    if (target.id !== "main") return; // what came beside it, like the bell
    const { verb, triggeringEvent } = detail.requestConfig;
    call({ main: main(), first: false, posted: verb === "post", button: triggeringEvent?.submitter });
  });
}
