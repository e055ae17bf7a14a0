/**
 * Keeps the shape of the code: which package may import which, what a package.json says about it, no cycles between
 * files, and nothing of Node in the packages that must run in a browser.
 */
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { parseSync } from "oxc-parser";

const siblings = ["policy", "checks", "harness", "models", "tools", "mcp", "stores"];
const core = ["protocol", "runtime", ...siblings];

/** Who may import whom: the diagram in docs/architecture.md. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  runtime: ["protocol"],
  ...Object.fromEntries(siblings.map((name) => [name, ["protocol", "runtime"]])),
  node: ["protocol", "runtime"],
  browser: ["protocol", "runtime", "stores"],
  holdfast: [...core, "node"],
  bench: [...core, "node", "browser", "holdfast"],
};

/** Packages of Web-standard APIs only, and the entries of the stores that are too, with all they import. */
const webPackages = /^packages\/(protocol|runtime|policy|checks|harness|models|tools|mcp|browser)\/src\//;
const webStores = /^packages\/stores\/src\/(index|memory|indexeddb)\.ts$/;

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** What a file imports, re-exports, or imports dynamically by a plain string; types too. */
export function importsOf(file: string, source: string): string[] {
  const { module, errors } = parseSync(file, source);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  const dynamic = module.dynamicImports.map((one) => source.slice(one.moduleRequest.start, one.moduleRequest.end));
  return [
    ...module.staticImports.map((one) => one.moduleRequest.value),
    ...module.staticExports.flatMap((one) => one.entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
    ...dynamic.filter((text) => /^["']/.test(text)).map((text) => text.slice(1, -1)),
  ];
}

/** The package a bare specifier belongs to: `@holdfast/node/x` → `@holdfast/node`. */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function short(name: string): string | null {
  if (name === "holdfast") return name;
  return name.startsWith("@holdfast/") ? name.slice("@holdfast/".length) : null;
}

/** Each cycle once, as the files along it. */
export function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const done = new Set<string>();
  const path: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    if (at >= 0) cycles.push([...path.slice(at), file]);
    if (at >= 0 || done.has(file)) return;
    path.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of graph.keys()) visit(file);
  return cycles;
}

/** The files given, and all that they lead to. */
function reachable(graph: ReadonlyMap<string, readonly string[]>, from: readonly string[]): Set<string> {
  const found = new Set(from);
  for (const file of found) for (const next of graph.get(file) ?? []) found.add(next);
  return found;
}

/** What is wrong with the packages below `root`, a sentence each. */
export function faultsIn(root: string): string[] {
  const faults: string[] = [];
  const graph = new Map<string, string[]>();
  const builtins: { readonly file: string; readonly specifier: string }[] = [];
  for (const folder of readdirSync(join(root, "packages")).toSorted()) {
    const allowed = arrows[folder];
    if (!allowed) faults.push(`packages/${folder}: not in the diagram; add its arrows to scripts/check-arrows.ts and docs/architecture.md`);
    const manifest = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8")) as Manifest;
    const own = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));
    for (const name of own) {
      const target = short(name);
      if (target && allowed && !allowed.includes(target))
        faults.push(`packages/${folder}/package.json: ${folder} may not depend on ${target}`);
    }
    for (const path of typescriptFiles(join(root, "packages", folder))) {
      const file = relative(root, path);
      const isSource = file.startsWith(`packages/${folder}/src/`);
      const edges: string[] = [];
      for (const specifier of importsOf(file, readFileSync(path, "utf8"))) {
        if (specifier.startsWith(".")) {
          const target = relative(root, resolve(dirname(path), specifier));
          // A port's conformance suite is shared between test folders.
          const isShared = !isSource && /^packages\/[^/]+\/test\//.test(target);
          if (!target.startsWith(`packages/${folder}/`) && !isShared) faults.push(`${file}: reaches out of its package with ${specifier}`);
          if (isSource && !target.startsWith(`packages/${folder}/src/`)) faults.push(`${file}: source imports ${specifier} outside src`);
          edges.push(target);
          continue;
        }
        const name = packageOf(specifier);
        const isBuiltin = specifier.startsWith("node:") || builtinModules.includes(name);
        if (!isSource) continue;
        if (isBuiltin) {
          builtins.push({ file, specifier });
          continue;
        }
        const target = short(name);
        if (target && target !== folder && allowed && !allowed.includes(target)) faults.push(`${file}: ${folder} may not import ${target}`);
        if (name !== manifest.name && !own.has(name))
          faults.push(`${file}: imports ${name}, which packages/${folder}/package.json doesn't name`);
      }
      graph.set(file, edges);
    }
  }
  const web = reachable(
    graph,
    [...graph.keys()].filter((file) => webPackages.test(file) || webStores.test(file)),
  );
  for (const { file, specifier } of builtins) {
    if (web.has(file)) faults.push(`${file}: imports ${specifier}, but must run in a browser`);
  }
  for (const cycle of cyclesIn(graph)) faults.push(`cycle: ${cycle.join(" → ")}`);
  return faults;
}

function typescriptFiles(folder: string): string[] {
  return ["src", "test"].flatMap((part) => {
    const top = join(folder, part);
    try {
      return readdirSync(top, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .toSorted()
        .map((name) => join(top, name));
    } catch {
      return [];
    }
  });
}

if (import.meta.main) {
  const faults = faultsIn(join(import.meta.dirname, ".."));
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
