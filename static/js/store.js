// Preferences in the browser's storage. They are not kept if the browser forbids storage.

export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}

export function recall(name, otherwise) {
  try {
    return localStorage.getItem(name) ?? otherwise;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return otherwise;
  }
}

// Stores a value in this tab, and returns true if it was another one before.
export function isNew(name, value) {
  try {
    const before = sessionStorage.getItem(name);
    sessionStorage.setItem(name, value);
    return before !== value;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return true;
  }
}
