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
