// Puts the browser's time zone first in a list of zones: <select data-zone="offer">. With "choose" it is also selected
// while the value is UTC, and a browser that names no zone of the list, only an offset, makes its user choose one. An
// option's data-also lists older names of its zone. A form that may make a guest has a hidden field "browser_zone", which
// gets the zone when the form is sent, because an update of the page may replace it before.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const UTC = /^(Etc\/)?(UTC|GMT|UCT|Zulu|Universal|Greenwich|GMT0)$|^\+00:00$/;
const isOwn = (option) => option.value === zone || (option.dataset.also ?? "").split(" ").includes(zone);

document.addEventListener("submit", ({ target }) => {
  const field = target.elements.browser_zone;
  if (field) field.value = zone;
});

for (const select of document.querySelectorAll("select[data-zone]")) {
  const option = [...select.options].find(isOwn);
  const choose = select.dataset.zone === "choose" && select.value === "UTC";
  if (!option) {
    if (choose && !UTC.test(zone)) {
      select.prepend(new Option("Choose your time zone", "", true, true));
      select.required = true;
    }
    continue;
  }
  const group = document.createElement("optgroup");
  group.label = "This browser’s time zone";
  const own = new Option(option.value.replaceAll("_", " "), option.value, false, option.selected || choose);
  group.append(own);
  select.prepend(group);
}
