// Offers the browser's own time zone first in a list of zones: <select data-zone>.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

for (const select of document.querySelectorAll("select[data-zone]")) {
  const option = [...select.options].find((each) => each.value === zone);
  if (!option) continue;
  const group = document.createElement("optgroup");
  group.label = "Where this browser is";
  const own = new Option(zone.replaceAll("_", " "), zone, false, option.selected);
  group.append(own);
  select.prepend(group);
}
