// Attributes that a morph keeps, because scripts or the browser set them and the server's markup lacks them.

const KEPT = {
  DETAILS: ["open"],
  BUTTON: ["role", "tabindex", "aria-selected", "aria-pressed", "hidden"],
  DIV: ["role", "tabindex", "aria-activedescendant"],
  P: ["hidden"],
};

Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) => !KEPT[node.tagName]?.includes(name);
