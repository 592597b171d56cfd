// Sets up notifications in this browser. It asks only when the button is pressed, and says what is missing. It is on the
// page of notification settings only.
const form = document.getElementById("this-device");

function show(reason) {
  for (const text of document.querySelectorAll("[data-why]")) text.hidden = text.dataset.why !== reason;
}

/** Returns the name of what is missing, or "". */
function missing() {
  if (!window.isSecureContext) return "http";
  // iPhones and iPads have push only in an app on the home screen. Only their browsers have `standalone`.
  if (!("PushManager" in window)) return navigator.standalone === false ? "iphone" : "browser";
  if (!navigator.serviceWorker) return "browser";
  return Notification.permission === "denied" ? "refused" : "";
}

function bytes(base64url) {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

async function subscribe() {
  // `ready` waits forever without a worker; installed_app.js logs why there is none.
  const registration = await navigator.serviceWorker.register("/service-worker.js");
  await navigator.serviceWorker.ready;
  // A new subscription works even if the old one has another key, or its push service has refused it.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(form.dataset.key) });
}

async function send() {
  if ((await Notification.requestPermission()) !== "granted") {
    show("refused");
    return;
  }
  const { endpoint, keys } = (await subscribe()).toJSON();
  form.elements.endpoint.value = endpoint;
  form.elements.public.value = keys.p256dh;
  form.elements.auth.value = keys.auth;
  form.submit();
}

if (form) {
  const why = missing();
  show(why);
  form.hidden = why !== "";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send().catch((error) => {
      console.info(error);
      show("failed");
    });
  });
}
