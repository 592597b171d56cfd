// What a morph must leave alone: the state that belongs to the browser and that the server's markup does not know of.

const KEPT = {
  DETAILS: ["open"],
  BUTTON: ["role", "tabindex", "aria-selected", "aria-pressed", "hidden"],
  DIV: ["role", "tabindex", "aria-activedescendant"],
  P: ["hidden"],
};

Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) => !KEPT[node.tagName]?.includes(name);
