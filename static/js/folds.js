// The form for a new table follows the chosen game, and a folded part says what is chosen in it, as the server does for a
// new page (`Fold.summary`).
const form = document.querySelector(".newtable");
const presets = JSON.parse(document.querySelector("#of-presets").textContent);
const game = () => form.querySelector("[name=preset]:checked");
const title = () => form.querySelector("[name=preset]:checked ~ span b");
const chosen = (name) => form.querySelector(`[name=${name}]:is(:checked, [type=number])`)?.value;

// Of the numbers that do not all fit every game, those that were chosen. They come back with a game that they fit.
const wanted = {};

function offer(name, most) {
  const choices = [...form.querySelectorAll(`[name=${name}]`)];
  wanted[name] ??= chosen(name);
  for (const choice of choices) choice.disabled = Number(choice.value) > most;
  const value = Number(wanted[name]) > most ? String(most) : wanted[name];
  for (const choice of choices) choice.checked = choice.value === value;
}

const hasBots = () => (chosen("bots") === "others" ? chosen("way") === "bots" : chosen("bots") !== "0");

function said(field) {
  if (field.previousElementSibling?.name === "bot" && !hasBots()) return "";
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

function followGame(event) {
  const changed = event?.target;
  if (changed?.name in wanted) wanted[changed.name] = changed.value;
  if (!game()) return;
  const { lengths, most_players: most } = presets[game().value];
  offer("players", most);
  offer("bots", chosen("players") - 1);
  for (const [name, hint] of Object.entries(lengths)) {
    form.querySelector(`[name=target][value=${name}] + span small`).textContent = hint;
  }
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
