// The form for a new table follows the chosen game, and a folded part says what is chosen in it, as the server does for a
// new page (`Fold.summary`).
const form = document.querySelector(".newtable");
const presets = JSON.parse(document.querySelector("#of-presets").textContent);
const game = () => form.querySelector("[name=preset]:checked");
const title = () => form.querySelector("[name=preset]:checked ~ span b");
const chosen = (name) => form.querySelector(`[name=${name}]:is(:checked, [type=number])`)?.value;

function said(field) {
  if (field.dataset.line !== undefined) return field.dataset.line;
  return field.value && `${field.labels[0].textContent}: ${field.value}`;
}

// What else the chosen options change: titles and values of options that were left alone.
function also() {
  const needed = {};
  for (const [name, values] of Object.entries(presets[game()?.value]?.needs ?? {})) {
    Object.assign(needed, values[chosen(name)]);
  }
  const left = Object.entries(needed).filter(([name]) => !chosen(name)).map(([, text]) => text);
  return left.length ? [`also ${left.join(", ")}`] : [];
}

function followGame() {
  if (!game()) return;
  document.querySelector("#how-to").href = title().dataset.rules;
  for (const [name, value] of Object.entries(presets[game().value].defaults)) {
    const field = form.querySelector(`[name=${name}]`);
    if (field.type === "number") field.placeholder = `Default: ${value}`;
    else form.querySelector(`[name=${name}][value=""] + span small`).textContent = value;
  }
}

form.addEventListener("change", followGame);
followGame(); // a browser that comes back to the page may have kept what was chosen
for (const fold of form.querySelectorAll(".fold")) {
  const line = fold.querySelector("summary span");
  const tell = () => {
    const parts = [...fold.querySelectorAll(":checked + [data-line], [placeholder]")].map(said);
    if (line.dataset.nothingChosen) parts.push(...also());
    line.textContent = parts.filter(Boolean).join(", ")
      || (line.dataset.nothingChosen && `As ${title()?.textContent ?? "chosen above"}`);
  };
  form.addEventListener("change", tell);
  tell();
}
