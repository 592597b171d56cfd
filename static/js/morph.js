// Attributes that a morph keeps, because scripts or the browser set them and the server's markup lacks them.

const KEPT = {
  DETAILS: ["open"],
  BUTTON: ["role", "tabindex", "aria-selected", "aria-pressed", "hidden"],
  DIV: ["role", "tabindex", "aria-activedescendant"],
  P: ["hidden"],
};

// What the reader has filled in and not sent yet. The markup has what is stored.
const isField = (name, node) => name === "checked" && node.form?.hasAttribute("data-keep-fields");

Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
  !KEPT[node.tagName]?.includes(name) && !isField(name, node);
