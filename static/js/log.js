// An address like /log/#m12 was given out before the log had pages: finds the page with that move.
function find() {
  const move = location.hash.match(/^#m([1-9]\d{0,8})$/);
  if (move && !location.search && !document.getElementById(`m${move[1]}`)) location.replace(`?to=${move[1]}${location.hash}`);
}

window.addEventListener("hashchange", find);
find();
