import { folderOf, nameOf, resolvePath } from "./paths.ts";
import { parseObject } from "./parts.ts";
import { given, isInterpreter, scriptNames, shells, unwrap } from "./programs.ts";
import { simpleCommands } from "./shell-words.ts";

/** Folders of what is tested. */
export const sourceFolder = /^(?:.*\/)?(?:src|lib|app|pkg|internal)\//;
/** What is started to be tested, by its name. */
const programName = /^(?:main|cli|app|index|server|start|run|manage|__main__|__init__)\.\w+$/;
const codeEndings = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".py", ".rb", ".pl", ".pm"];
/** Code that a program which is none of the known may run. */
export function isCode(path: string): boolean {
  return codeEndings.some((ending) => path.endsWith(ending)) || path.endsWith(".sh");
}

/** What makes a program fail. */
const failing = /\bassert|\bthrow\b|\braise\b|\bdie\b|\bcroak\b|\bfail|not ok|\bexit(?:Code)?\b|\bexpect\b|reject/i;

/** Files that the lines of a JavaScript, Python, Perl or Ruby file in `folder` may load from beside it. */
export function loadsOf(text: string, folder: string): string[] {
  const relative = [...text.matchAll(/["'`](\.{1,2}\/[^"'`\n]+)["'`]/g)].map(([, path = ""]) => path);
  const modules = [...text.matchAll(/^\s*(?:from|import)\s+\.?([\w.]+)/gm)].map(([, name = ""]) => `./${name.replaceAll(".", "/")}`);
  return [...relative, ...modules].flatMap((one) => placesOf(one, folder));
}

/** The files that a name in quotes, or one that is given to an interpreter, may mean to its language. */
export function placesOf(name: string, folder: string): string[] {
  const path = resolvePath(folder, name);
  if (path === null) return [];
  const stem = path.replace(/\.[cm]?js$/, "");
  return [
    path,
    ...codeEndings.flatMap((ending) => [`${stem}${ending}`, `${path}/index${ending}`]),
    `${path}/__init__.py`,
    `${path}/__main__.py`,
  ];
}

const quoted = /"((?:\\.|[^"\\\n])+)"|'((?:\\.|[^'\\\n])+)'|`((?:\\.|[^`\\])+)`/g;

/** Texts in quotes. */
export function quotedTexts(text: string): string[] {
  return [...text.matchAll(quoted)].map(([, one, two, three]) => one ?? two ?? three ?? "");
}

/** Whether a text in quotes is a line for a shell: `execSync("node tools/all.mjs")`. */
export function isCommandLine(text: string): boolean {
  const words = given(unwrap(simpleCommands(text)[0] ?? []));
  const [program = "", ...rest] = words;
  return rest.length > 0 && (shells.has(nameOf(program)) || isInterpreter(nameOf(program)) || scriptNames(words).length > 0);
}

const whereItFails = /\.catch\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g;

/** What code that a line hands over loads, where it can't fail by itself: what it loads must judge then. */
export function judgesOf(code: string, folder: string): string[] {
  if (failing.test(code.replace(whereItFails, ""))) return [];
  return [...loadsOf(code, folder), ...quotedTexts(code).flatMap((one) => (one.includes(" ") ? [] : placesOf(one, folder)))];
}

/**
 * Whether a program that a script starts is a part of the test rather than what is tested: it loads code from elsewhere in
 * the workspace, and can fail.
 */
export function isSuite(path: string, text: string, has: (path: string) => boolean): boolean {
  if (sourceFolder.test(path) || programName.test(nameOf(path)) || !failing.test(text)) return false;
  const home = folderOf(path);
  const isElsewhere = (one: string): boolean => one !== path && has(one) && (home === "" || !one.startsWith(`${home}/`));
  return [home, "", "src", "lib"].some((folder) => loadsOf(text, folder).some(isElsewhere));
}

/** Configuration that names what is tested rather than what tests it, or that holds lines of a shell. */
const namesSources = /^(?:karma\.|[tj]sconfig)/;
const configFile = /\.(?:[cm]?[jt]s|json[5c]?|ya?ml|toml|ini|cfg|py)$|rc$/;
const loadable = /\.(?:[cm]?[jt]sx?|json[5c]?|py|rb)$/;
/** Keys of package.json that are a runner's configuration. */
const runnerKeys = ["jest", "vitest", "mocha", "ava", "tap", "c8", "nyc", "babel", "ts-node"];

/** What the configuration of a runner in `path` leads to: transforms, plugins, reporters, setups. What is tested may be named too, and is left out. */
export function configLoads(path: string, whole: string, isConfig: boolean): string[] {
  const home = folderOf(path);
  const text = nameOf(path) === "package.json" ? runnersOf(whole) : whole;
  if (!configFile.test(path)) return [];
  const lists = [...text.matchAll(/pytest_plugins\s*=\s*([[(][^\])]*|[^\n]*)/g)].flatMap(([, list = ""]) => quotedTexts(list));
  const flags = [...text.matchAll(/\s-p[ =]([\w.]+)/g)].map(([, name = ""]) => name);
  const modules = [...lists, ...flags].map((name) => `./${name.replaceAll(".", "/")}`);
  const isPath = /^\.{1,2}\/|^[\w@-][\w.@-]*\/[\w./@-]+$/;
  const namesOf = (one: string): string[] => quotedTexts(one).map((name) => name.replace(/^(?:<rootDir>|file:)\/*/, "./"));
  const isTold = path.endsWith(".py") || namesSources.test(nameOf(path));
  const paths = isTold ? [] : namesOf(text).filter((one) => isPath.test(one));
  // What it says is run with the tests, or loads itself, is run wherever it lies.
  const run =
    isTold || !isConfig ? [] : [...text.matchAll(runsBeside)].flatMap(([, list = "", plain = ""]) => [...namesOf(list), ...listIn(plain)]);
  const resolve = (one: string): string[] => [...placesOf(one, home), ...(home === "" ? [] : placesOf(one, ""))];
  return [
    ...[...paths, ...modules].flatMap(resolve).filter((one) => !sourceFolder.test(one) && !programName.test(nameOf(one))),
    ...run.filter((one) => isPath.test(one)).flatMap(resolve),
  ].filter((one) => loadable.test(one));
}

/** Keys of what a runner loads into itself or before its tests, with a value or a list in quotes or as YAML has it; and imports. */
const runsBeside =
  /(?:["']?\b(?:setupFiles\w*|globalSetup|globalTeardown|require|import|loader|reporters?|transform|resolver|runner|testRunner|environment|testEnvironment|snapshotSerializers|processors?|preset|plugins|extends|file)["']?\s*[:=]\s*|\b(?:from|import|require)\b\s*\(?\s*)(\[[^\]]*\]|\{[^}]*\}|"[^"\n]*"|'[^'\n]*')|^\s*(?:require|import|loader|reporter|file|extends):((?:[ \t]+[^\s"'[].*|(?:\s*\n[ \t]*-[ \t].*)+))/gm;

/** The values of a plain list in YAML. */
function listIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((one) => one !== "-" && one !== "");
}

function runnersOf(text: string): string {
  const content = parseObject(text) ?? {};
  return JSON.stringify(runnerKeys.map((key) => content[key]));
}
