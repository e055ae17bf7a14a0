/** Names of folders and files that tools make for themselves, next to the sources they serve. */

/** Folders of installed dependencies: they decide what a check does, and are never part of the work. */
export const dependencyFolders: ReadonlySet<string> = new Set([
  "node_modules",
  ".venv",
  "venv",
  "vendor",
  "bower_components",
  ".yarn",
  ".bundle",
  ".tox",
  ".nox",
]);

/** Caches inside dependency folders, which tools write while they only run. */
export const cacheNames: ReadonlySet<string> = new Set([
  ".cache",
  ".vite",
  ".vite-temp",
  ".vitest",
  ".tmp",
  "__pycache__",
  ".pytest_cache",
]);

/** Large folders that tools make again by themselves; a scratch copy starts without them. */
export const rebuiltFolders: ReadonlySet<string> = new Set([
  "target",
  ".next",
  ".nuxt",
  ".svelte-kit",
  ".turbo",
  ".gradle",
  ".cache",
  ".parcel-cache",
  ".nyc_output",
  "coverage",
  "htmlcov",
  "__pycache__",
  ".pytest_cache",
  ".mypy_cache",
  ".ruff_cache",
]);

/** Folders that tools write for people: where they are ignored, no check is held to what is in them. */
export const reportFolders: ReadonlySet<string> = new Set([
  "coverage",
  "htmlcov",
  ".nyc_output",
  ".coverage",
  "test-results",
  "playwright-report",
  "__pycache__",
]);
