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

/**
 * Workspace files that a command's words name, or that its build tool obeys, with the digest of their content: what a person
 * allows is this command with these files. Words are also sought in the folders that the command names (`cd sub && ./run`).
 */
export async function executedFiles(driver: Driver, command: string, cwd: string | undefined): Promise<[string, string][]> {
  const { files } = driver.ports;
  const words = [...new Set(command.match(/[^\s'"|&;()<>`$=]+/g) ?? [])].slice(0, mostWords);
  const named = programFiles.flatMap(([pattern, names]) => (pattern.test(command) ? names : []));
  const found = new Map<string, string>();
  const folders: string[] = [];
  const look = async (path: string): Promise<void> => {
    const { kind, root, real } = await files.identify(path);
    if (root === null) return;
    if (kind === "directory" && folders.length < mostFolders) folders.push(path);
    if (kind === "file" && !found.has(real)) found.set(real, await digestOf(driver, real));
  };
  const inFolder = (folder: string | undefined, word: string): string =>
    word.startsWith("/") || folder === undefined ? word : `${folder}/${word}`;
  for (const word of [...words, ...named]) await look(inFolder(cwd, word));
  for (const folder of [...folders]) for (const word of [...words, ...named]) if (!word.startsWith("/")) await look(inFolder(folder, word));
  return [...found];
}

/** Of a file's content; where it can't be read, why. */
export async function digestOf({ ports }: Driver, path: string): Promise<string> {
  try {
    return (await ports.files.read(path, largestProgram)).digest;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return error.code;
  }
}
