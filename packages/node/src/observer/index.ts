export { createObserver, type ObserverInput } from "./observer.ts";
export { manifestBlobs } from "./manifest.ts";
export { openParts } from "./parts.ts";
