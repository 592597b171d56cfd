// Shows the offline page if a page cannot be fetched, and keeps static files with the hash of their contents in their
// address. It stores nothing else, so no page of a person, and leaves all other requests to the browser. It also shows
// what is pushed to this browser.
const { cache: CACHE, offline: OFFLINE, files: FILES } = {{ worker }};
const STATIC = "{% load static %}{% get_static_prefix %}";
const ICON = "{% static 'img/icon-192.png' %}";
const HASHED = /\.[0-9a-f]{12}\.\w+$/;

const open = () => caches.open(CACHE);

async function install() {
  // Without cookies the answers are those to a visitor.
  const requests = [OFFLINE, ...FILES].map((address) => new Request(address, { credentials: "omit", cache: "no-cache" }));
  await (await open()).addAll(requests);
  await self.skipWaiting();
}

async function activate() {
  for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name);
  await self.registration.navigationPreload?.enable();
  await self.clients.claim();
}

async function page(event) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch (error) {
    return (await (await open()).match(OFFLINE)) ?? Promise.reject(error);
  }
}

async function hashedFile(request) {
  const cache = await open();
  const stored = await cache.match(request);
  if (stored) return stored;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}

// On a site that serves its sources, the names have no hash: the newest file wins.
async function file(request) {
  try {
    return await fetch(request);
  } catch (error) {
    return (await (await open()).match(request, { ignoreSearch: true })) ?? Promise.reject(error);
  }
}

// What is pushed is declarative web push. Browsers that know it show it without this script.
async function show({ notification: { title, ...options }, app_badge: badge }) {
  await self.registration.showNotification(title, { ...options, data: options.navigate, icon: ICON });
  await self.navigator.setAppBadge?.(badge);
}

async function openPage(address) {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find(({ url }) => url.split("#")[0] === address);
  await (page ? page.focus() : self.clients.openWindow(address));
}

self.addEventListener("push", (event) => event.waitUntil(show(event.data.json())));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPage(event.notification.data));
});
self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname, search } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate") event.respondWith(page(event));
  else if (!pathname.startsWith(STATIC) || search) return;
  else event.respondWith(HASHED.test(pathname) ? hashedFile(request) : file(request));
});
