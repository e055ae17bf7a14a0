import type { CallPlan } from "@holdfast/protocol";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { Driver } from "./driver.ts";

const largestProgram = 1024 * 1024;
const mostWords = 64;
const mostFolders = 4;

/** Build tools run what these files say, whether or not the command names them. */
const programFiles: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\b(?:npm|npx|yarn|pnpm|bun|turbo|nx)\b/, ["package.json", ".npmrc", "turbo.json", "nx.json"]],
  [/\bg?make\b/, ["Makefile", "makefile", "GNUmakefile"]],
  [/\bcmake\b/, ["CMakeLists.txt"]],
  [/\bcargo\b/, ["Cargo.toml", "build.rs", ".cargo/config.toml"]],
  [/\bjust\b/, ["justfile", "Justfile", ".justfile"]],
  [/\btask\b/, ["Taskfile.yml", "Taskfile.yaml"]],
  [/\b(?:rake|bundle)\b/, ["Rakefile", "Gemfile"]],
  [/\bcomposer\b/, ["composer.json"]],
  [/\bmvn\b/, ["pom.xml"]],
  [/\bgradlew?\b/, ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradlew"]],
  [/\bdeno\b/, ["deno.json", "deno.jsonc"]],
  [/\b(?:pip3?|uv|poetry|hatch|pdm|tox|nox|pytest)\b/, ["pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "conftest.py"]],
  [/\bdocker(?:-compose)?\b/, ["Dockerfile", "compose.yaml", "compose.yml", "docker-compose.yml"]],
];

/** Stands for the whole workspace, where the line doesn't tell what it executes. */
const everything = "*";

export interface ExecutedFiles {
  /** By real path; null for what would be executed and isn't there. */
  readonly files: [string, string | null][];
  /** Those of them that run, or say what runs; the others are only named. */
  readonly programs: ReadonlySet<string>;
}

/**
 * Workspace files that a call's command executes or names, or that its build tool obeys, with the digest of their content:
 * what a person allows is this command with these files. The command is read as the shell reads it, and its text word by
 * word as well, also in the folders that it names (`cd sub && ./run`), for what it passes on to others in quotes.
 */
export async function executedFiles(driver: Driver, { command, typed, cwd }: CallPlan): Promise<ExecutedFiles> {
  const line = command ?? typed?.text;
  if (line === undefined) return { files: [], programs: new Set() };
  const { files, policy } = driver.ports;
  const read = (await policy.executes?.(line, cwd ?? files.cwd)) ?? { paths: [], programs: [], isWhole: true };
  const words = [...new Set(line.match(/[^\s'"|&;()<>`$=]+/g) ?? [])].slice(0, mostWords);
  const obeyed = programFiles.flatMap(([pattern, names]) => (pattern.test(line) ? names : []));
  const found = new Map<string, string | null>();
  const programs = new Set<string>();
  const folders: string[] = [];
  const look = async (path: string, runs: boolean): Promise<void> => {
    const { kind, root, real } = await files.identify(path);
    if (root === null) return;
    if (kind === "directory" && folders.length < mostFolders && !folders.includes(path)) folders.push(path);
    if (kind !== "file" && !(kind === "missing" && runs)) return;
    if (runs) programs.add(real);
    if (!found.has(real)) found.set(real, kind === "file" ? await digestOf(driver, real) : null);
  };
  const inFolder = (folder: string | undefined, word: string): string =>
    word.startsWith("/") || folder === undefined ? word : `${folder}/${word}`;
  const lookIn = async (folder: string | undefined): Promise<void> => {
    for (const word of words) await look(inFolder(folder, word), false);
    for (const name of obeyed) await look(inFolder(folder, name), true);
  };
  await lookIn(cwd);
  for (const path of read.paths) await look(path, false);
  for (const path of read.programs) await look(path, true);
  for (const folder of [...folders]) await lookIn(folder);
  if (!read.isWhole) found.set(everything, await digestOf(driver, everything));
  return { files: [...found], programs };
}

/** True where files are as they were, and what executes `now` runs no others. */
export async function areAsBefore(
  driver: Driver,
  before: readonly (readonly [string, string | null])[],
  { files, programs }: ExecutedFiles,
): Promise<boolean> {
  const now = new Map(files);
  for (const [path, digest] of before) {
    const found = now.get(path);
    if ((found === undefined ? await digestNow(driver, path) : found) !== digest) return false;
  }
  const known = new Set(before.map(([path]) => path));
  return files.every(([path, digest]) => digest === null || known.has(path) || !programs.has(path));
}

async function digestNow(driver: Driver, path: string): Promise<string | null> {
  if (path !== everything && (await driver.ports.files.identify(path)).kind === "missing") return null;
  return digestOf(driver, path);
}

/** Of a file's content; of one that is too large, or can't be read, what the file system says of it, else why. */
async function digestOf({ ports }: Driver, path: string): Promise<string> {
  try {
    if (path === everything) return (await ports.observer.snapshot(null)).subject;
    return (await ports.files.read(path, largestProgram)).digest;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return (await ports.files.stamp?.(path).catch(() => null)) ?? error.code;
  }
}
