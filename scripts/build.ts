/**
 * Bundles the `holdfast` program: an entry for each name it is started under, and a chunk for each dynamically imported part. Into packages/holdfast/dist,
 * or the folder named (which must lie in this repository, where the bundle finds what it doesn't contain), there with further
 * entries, each as NAME=FILE.
 */
import { existsSync } from "node:fs";
import { cp, rename, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { rolldown, type Plugin } from "rolldown";

const root = join(import.meta.dirname, "..");
const entries = process.argv
  .slice(3)
  .map((word): [string, string] => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]);
const target = resolve(process.argv[2] ?? join(root, "packages/holdfast/dist"));
/** Built aside and then renamed, so that a program that is started meanwhile finds all of the old build or all of the new. */
const fresh = `${target}.new.${process.pid}`;
const old = `${target}.old.${process.pid}`;

/** Finds its native binary beside its own files. */
const external = ["@vscode/ripgrep"];

/** Folder name in dist → the folder it is a copy of. */
const assets = new Map<string, string>();

/** `new URL("../sh/", import.meta.url)` names a folder beside the source: it comes along into dist, and is looked for there. */
const folders: Plugin = {
  name: "folders",
  transform: {
    filter: { code: "import.meta.url" },
    // Only columns within these lines move: the map of the lines stays true.
    handler: (code, file) => ({
      map: null,
      code: code.replaceAll(/new URL\(\s*"(\.[^"]*)\/",\s*import\.meta\.url\s*\)/g, (_, path: string) => {
        const folder = resolve(file, "..", path);
        const name = basename(folder);
        if ((assets.get(name) ?? folder) !== folder) throw new Error(`${folder} and ${assets.get(name)} would both be dist/${name}`);
        assets.set(name, folder);
        return `new URL("./${name}/", import.meta.url)`;
      }),
    }),
  },
};

/** `new URL("./name.ts", import.meta.url)` names the program of a thread: it is an entry of its own. */
const threads: Plugin = {
  name: "threads",
  transform: {
    filter: { code: "import.meta.url" },
    handler(code, file) {
      const programs = /new URL\(\s*"(\.\/[\w-]+)\.ts",\s*import\.meta\.url\s*\)/g;
      return {
        map: null,
        code: code.replaceAll(programs, (_, path: string) => {
          this.emitFile({ type: "chunk", id: resolve(file, "..", `${path}.ts`), fileName: `${basename(path)}.js` });
          return `new URL("./${basename(path)}.js", import.meta.url)`;
        }),
      };
    },
  },
};

/**
 * Node's own modules are taken without an import statement: that one touches every export of the module, and behind some
 * of them lie further ones that nobody asked for (the whole of `fetch` behind `node:http`), 10 ms of a start.
 */
const builtins: Plugin = {
  name: "builtins",
  renderChunk: (code) => ({
    map: null,
    code: code.replaceAll(/^import (.+) from "(node:[\w/]+)";$/gm, (_, names: string, module: string) => {
      const taken = names.startsWith("{") ? names.replaceAll(" as ", ": ") : names.replace(/^\* as /, "");
      if (/^\w+, /.test(taken)) throw new Error(`import ${names} from "${module}": a default and names at once`);
      return `const ${taken} = process.getBuiltinModule("${module}");`;
    }),
  }),
};

try {
  const bundle = await rolldown({
    cwd: root,
    input: { main: "packages/holdfast/src/main.ts", "apply-patch": "packages/holdfast/src/apply-patch.ts", ...Object.fromEntries(entries) },
    platform: "node",
    external,
    plugins: [folders, threads, builtins],
  });
  await bundle.write({ dir: fresh, format: "esm", sourcemap: true, minify: false, chunkFileNames: "[name]-[hash].mjs" });
  await bundle.close();
  for (const [name, folder] of assets) await cp(folder, join(fresh, name), { recursive: true });
  if (existsSync(target)) await rename(target, old);
  await rename(fresh, target);
} finally {
  await Promise.all([fresh, old].map((folder) => rm(folder, { recursive: true, force: true })));
}
