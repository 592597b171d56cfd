// Old links like /log/#m12 date from before the log had pages. Loads the page with that move.
function find() {
  const move = location.hash.match(/^#m([1-9]\d{0,8})$/);
  if (move && !location.search && !document.getElementById(`m${move[1]}`)) location.replace(`?to=${move[1]}${location.hash}`);
}

window.addEventListener("hashchange", find);
find();
