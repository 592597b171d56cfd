// Two presses send a form once. The answer to the first would be lost, and with it a new log-in.
const AGAIN = 3000; // ms after which the same form can be sent again, if no other page has come

let sent = {};

document.addEventListener("submit", (event) => {
  if (event.defaultPrevented) return; // htmx sends it
  const { target: form, timeStamp: at } = event;
  if (sent.form === form && at - sent.at < AGAIN) event.preventDefault();
  else sent = { form, at };
});
window.addEventListener("pageshow", () => { sent = {}; }); // also by Back
