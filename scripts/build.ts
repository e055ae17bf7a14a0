/** Bundles the `holdfast` program into packages/holdfast/dist: one entry, and a chunk for each dynamically imported part. */
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const root = join(import.meta.dirname, "..");
const target = join(root, "packages/holdfast/dist");
/** Built aside and then renamed, so that a program that is started meanwhile finds all of the old build or all of the new. */
const fresh = `${target}.${process.pid}`;

/** Each has a native binary that it finds beside its own files. */
const external = [/^node:/, "@vscode/ripgrep"];

try {
  const bundle = await rolldown({
    cwd: root,
    input: { main: "packages/holdfast/src/main.ts" },
    platform: "node",
    external,
    checks: { circularDependency: true },
  });
  await bundle.write({ dir: fresh, format: "esm", sourcemap: true, minify: false, chunkFileNames: "[name]-[hash].js" });
  await bundle.close();
  await mkdir(fresh, { recursive: true });
  for (const folder of ["packages/node/sh", "packages/holdfast/demo"]) {
    if (existsSync(join(root, folder))) await cp(join(root, folder), join(fresh, folder.split("/").at(-1) ?? ""), { recursive: true });
  }
  const old = `${target}.old.${process.pid}`;
  if (existsSync(target)) await rename(target, old);
  await rename(fresh, target);
  await rm(old, { recursive: true, force: true });
} finally {
  await rm(fresh, { recursive: true, force: true });
}
