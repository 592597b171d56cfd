// Calls what looks at each new page: when the page is opened (`first`), and after each morph of #main. `posted` is true if a
// form brought it and not a fetch, and `button` sent that form.
//
// The calls run in the order in which their modules are loaded. It matters for these: presses.js, then banners.js (closes
// an old call of UNO), events.js (shows the next, and says what happened), hand.js (says which card is selected now).

// The version and the deal that the page shows.
export function shownVersion() {
  const { version, deal } = document.getElementById("main").dataset;
  return `${version}.${deal}`;
}

export function onPageShown(call) {
  call({ main: document.getElementById("main"), first: true, posted: false });
  document.body.addEventListener("htmx:afterSwap", ({ target, detail }) => {
    if (target.id !== "main") return; // the bell
    const { verb, triggeringEvent } = detail.requestConfig;
    call({ main: target, first: false, posted: verb === "post", button: triggeringEvent?.submitter });
  });
}
