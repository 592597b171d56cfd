// A folded part of the form for a new table says what is chosen in it, as the server does for a new page (`Fold.line`).
function said(field) {
  if (field.dataset.line !== undefined) return field.dataset.line;
  return field.value && `${field.labels[0].textContent}: ${field.value}`;
}

const form = document.querySelector(".newtable");
const chosenGame = () => form.querySelector("[name=preset]:checked ~ span b");
const follow = () => {
  const game = chosenGame();
  if (game) document.querySelector("#how-to").href = game.dataset.rules;
};
form.addEventListener("change", follow);
follow(); // a browser that comes back to the page may have kept what was chosen
for (const fold of form.querySelectorAll(".fold")) {
  const line = fold.querySelector("summary span");
  const tell = () => {
    const chosen = [...fold.querySelectorAll(":checked + [data-line], [placeholder]")].map(said);
    line.textContent = chosen.filter(Boolean).join(", ") || (line.dataset.none && `As ${chosenGame()?.textContent ?? "chosen above"}`);
  };
  form.addEventListener("change", tell);
  tell();
}
