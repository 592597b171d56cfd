// Short sounds, made with WebAudio, and a vibration. Sounds are off until the reader chooses them.
import { recall } from "./store.js";

// Tones of each sound, the most important sound last: [frequency in Hz, start in s, length in s]
const SOUNDS = {
  draw: [[260, 0, 0.05]],
  card: [[480, 0, 0.05]],
  tick: [[1400, 0, 0.04]],
  uno: [[660, 0, 0.09], [880, 0.09, 0.16]],
  hit: [[220, 0, 0.12], [165, 0.12, 0.22]],
  stamp: [[196, 0, 0.05], [98, 0.04, 0.16]],
  out: [[110, 0, 0.6]],
  won: [[523, 0, 0.12], [659, 0.12, 0.12], [784, 0.24, 0.3]],
  turn: [[587, 0, 0.1], [784, 0.1, 0.2]],
};
const MOST = 3; // sounds for one change of the page
const GAP = 0.08; // s between two sounds
const LOUDEST = 0.4; // gain
const FADE = 0.02; // s
const VIBRATION = [60, 40, 60]; // ms: on, off, on

let context = null;
let free = 0; // when the last sound ends, in s on the clock of the context

// Phones may start the clock of a context only during a press.
for (const press of ["pointerup", "keydown"]) document.addEventListener(press, () => context?.resume());

function tone(frequency, start, length, gain) {
  const oscillator = new OscillatorNode(context, { type: "triangle", frequency });
  const volume = new GainNode(context, { gain: 0 });
  volume.gain.setValueAtTime(0, start);
  volume.gain.linearRampToValueAtTime(gain, start + FADE);
  volume.gain.setValueAtTime(gain, start + length - FADE);
  volume.gain.linearRampToValueAtTime(0, start + length);
  oscillator.connect(volume).connect(context.destination);
  oscillator.start(start);
  oscillator.stop(start + length);
}

function sound(heard) {
  context ??= new AudioContext();
  const now = context.currentTime;
  if (context.state !== "running" && free > now) return; // at most one change waits for the clock
  const gain = LOUDEST * (Number(recall("volume", "50")) / 100) ** 2;
  for (const { name, times } of heard) {
    const [first] = times;
    const start = Math.max(free, now + first / 1000) - first / 1000;
    for (const time of times) {
      for (const [frequency, from, length] of SOUNDS[name]) {
        tone(frequency, start + time / 1000 + from, length, gain);
        free = start + time / 1000 + from + length + GAP;
      }
    }
  }
}

// Plays each of these sounds {name, times} once, at most the `MOST` most important ones. A sound does not begin before its
// times, in ms from now, and is heard at each of them.
export function play(heard, { vibrates = false } = {}) {
  if (!navigator.userActivation.hasBeenActive) return; // before a press browsers allow neither
  const names = heard.map(({ name }) => name);
  const chosen = Object.keys(SOUNDS).filter((name) => names.includes(name)).slice(-MOST);
  const once = heard.filter(({ name }, n) => chosen.includes(name) && names.indexOf(name) === n);
  if (recall("sounds", "off") === "on") sound(once);
  if (vibrates && names.includes("turn") && recall("vibration", "on") === "on") navigator.vibrate?.(VIBRATION);
}
