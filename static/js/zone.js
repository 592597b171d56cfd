// Puts the browser's time zone first in a list of zones: <select data-zone="offer">. With "choose" it is also selected
// while the value is UTC. An option's data-also lists older names of its zone. A form that may make a guest has a hidden
// field "browser_zone", which gets the zone when the form is sent, because an update of the page may replace it before.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const isOwn = (option) => option.value === zone || (option.dataset.also ?? "").split(" ").includes(zone);

document.addEventListener("submit", ({ target }) => {
  const field = target.elements.browser_zone;
  if (field) field.value = zone;
});

for (const select of document.querySelectorAll("select[data-zone]")) {
  const option = [...select.options].find(isOwn);
  if (!option) continue;
  const choose = select.dataset.zone === "choose" && select.value === "UTC";
  const group = document.createElement("optgroup");
  group.label = "This browser’s time zone";
  const own = new Option(option.value.replaceAll("_", " "), option.value, false, option.selected || choose);
  group.append(own);
  select.prepend(group);
}
