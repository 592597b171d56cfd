// Keeps "14 h left" true between two updates: <time datetime="…" data-left>. Says it as the server does.

export function timeLeft(exactly) {
  const seconds = Math.ceil(exactly);
  if (seconds <= 0) return "time is up";
  if (seconds < 120) return `${seconds} s left`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min left`;
  if (seconds < 259200) return `${Math.floor(seconds / 3600)} h left`;
  return `${Math.round(seconds / 86400)} days left`;
}

function tick() {
  for (const time of document.querySelectorAll("time[data-left]")) {
    const text = timeLeft((Date.parse(time.dateTime) - Date.now()) / 1000);
    if (time.textContent !== text) time.textContent = text;
  }
}

setInterval(tick, 1000);
