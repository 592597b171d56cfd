// Shows the buttons that use passkeys if this browser has them, and says if the device gave none. allauth's scripts do
// the rest.
const failed = document.getElementById("passkey-failed");

for (const button of document.querySelectorAll("[data-passkey]")) {
  button.hidden = !window.PublicKeyCredential;
  button.addEventListener("click", () => { failed.hidden = true; });
}
const unknown = document.getElementById("passkey-unknown"); // not on the log-in page, which has another way
if (unknown) unknown.hidden = Boolean(window.PublicKeyCredential);

document.addEventListener("allauth.error", (event) => {
  event.preventDefault(); // allauth would only write to the console
  failed.hidden = false;
});
