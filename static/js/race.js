// A race for the buzzer. Its ring runs out with the time left.
import { onPageShown } from "./page_shown.js";

onPageShown(() => {
  const left = document.querySelector("#race .left");
  if (!left) return; // the race is over
  const [now, all] = left.getAttribute("stroke-dasharray").split(" ");
  for (const animation of left.getAnimations()) animation.cancel();
  left.animate({ strokeDasharray: [`${now} ${all}`, `0 ${all}`] }, { duration: now * 1000, fill: "forwards" });
});

// No card can be played meanwhile, so Space on one of them presses the buzzer, as it does elsewhere.
document.addEventListener("keydown", (event) => {
  const buzzer = document.getElementById("buzz");
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.defaultPrevented) return;
  if (event.key !== " " || !buzzer || !event.target.closest("#hand-cards")) return;
  event.preventDefault();
  buzzer.click();
});
