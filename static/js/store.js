// What a browser remembers of its user's wishes. A browser that forbids storage just forgets them.

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
