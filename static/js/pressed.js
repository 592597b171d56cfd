// A control that sends a form shows at once that it was pressed. This keeps what the hand was before the newest change for
// motion.js, which is loaded when something moves.
const hand = () => [...document.querySelectorAll("#hand-cards .card")];

export const nameOf = (card) => card.querySelector(".sr").textContent;
export let held = hand().map(nameOf); // names of the cards
export let pressed = null; // rectangle of the card that the player has pressed

// The server's markup of the next page does not have the class.
document.body.addEventListener("htmx:beforeRequest", (event) => {
  const { verb, triggeringEvent } = event.detail.requestConfig;
  const button = verb === "post" && triggeringEvent?.submitter;
  if (button) button.classList.add("pressed");
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) for (const button of document.querySelectorAll(".pressed")) button.classList.remove("pressed");
});
document.body.addEventListener("htmx:beforeSwap", () => {
  held = hand().map(nameOf);
  const card = document.querySelector("#hand-cards :is(.card.pressed, .card.on)");
  pressed = card && card.getBoundingClientRect();
});
