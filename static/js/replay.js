// The arrow keys step through a replay by clicking its links.
const STEPS = { Home: "first", ArrowLeft: "back", ArrowRight: "on", End: "last" };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.target.closest("input")) return;
  const link = document.querySelector(`[data-step="${STEPS[event.key]}"][href]`);
  if (!link) return;
  event.preventDefault();
  link.click();
});
