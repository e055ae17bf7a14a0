import { constants } from "node:fs";
import { lstat, open, realpath, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { LineOf } from "./positions.ts";
import { longestName, mostParts, readPositions } from "./positions.ts";

export interface TomlText {
  readonly tree: Readonly<Record<string, unknown>>;
  readonly lineOf: LineOf;
}

const largestFile = 256 * 1024;

/**
 * The text of a config file, null where there is none. A file of a project (`inside`) must lie there without any link on
 * the way: what commands of a session may not change is the place itself.
 * Throws `config_invalid` for what is no text file that a person wrote.
 */
export async function readConfigText(path: string, inside?: string): Promise<string | null> {
  const wrong = (what: string, hint: string, cause?: unknown) => new HoldfastError("config_invalid", `${path} ${what}`, { hint, cause });
  // A link to nothing is no missing file: somebody meant settings to be there, and limits among them.
  const nothing = async (): Promise<null> => {
    for (const link of [path, dirname(path)]) {
      if ((await lstat(link).catch(() => null))?.isSymbolicLink() !== true) continue;
      if ((await stat(link).catch(() => null)) === null) throw wrong("is a link to nothing", "mend the link, or remove it");
    }
    return null;
  };
  let real = path;
  if (inside !== undefined) {
    try {
      real = await realpath(path);
    } catch (error) {
      if (isMissing(error)) return await nothing();
      throw wrong("can't be read", "check its permissions", error);
    }
    if (real !== join(await realpath(inside), relative(inside, path))) {
      throw wrong("is reached by a link", "put the file itself there");
    }
  }
  let file;
  try {
    // Without waiting for a writer, should it be a pipe.
    file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) return await nothing();
    throw wrong("can't be read", "check its permissions", error);
  }
  try {
    const found = await file.stat();
    if (!found.isFile()) throw wrong("is not a file", "put a TOML file there, or remove it");
    if (found.size > largestFile) throw wrong(`is too large: ${found.size} bytes`, `a config file has at most ${largestFile / 1024} kB`);
    return decode(await file.readFile(), path);
  } finally {
    await file.close();
  }
}

function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** A byte order mark at the beginning is taken off. */
function decode(bytes: Uint8Array, path: string): string {
  const utf8 = () => new TextDecoder("utf-8", { fatal: true });
  try {
    return utf8().decode(bytes);
  } catch {
    let line = 1;
    for (let start = 0; start < bytes.length; line++) {
      const newline = bytes.indexOf(0x0a, start);
      const end = newline === -1 ? bytes.length : newline;
      try {
        utf8().decode(bytes.subarray(start, end));
      } catch {
        break;
      }
      start = end + 1;
    }
    throw new HoldfastError("config_invalid", `${path}:${line}: this is not UTF-8`, { hint: "save the file as UTF-8" });
  }
}

/** Throws `config_invalid` with file and line. The text itself is never repeated: it may hold keys. */
export async function parseToml(text: string, path: string): Promise<TomlText> {
  const toml = await import("smol-toml");
  const tooDeep = (line: number) =>
    new HoldfastError("config_invalid", `${path}:${line}: this key lies too deep, or its name is too long`, {
      hint: `a key has at most ${mostParts} parts, and ${longestName} characters with all of them`,
    });
  try {
    return { tree: toml.parse(text), lineOf: readPositions(text, tooDeep) };
  } catch (error) {
    if (!(error instanceof toml.TomlError)) throw error;
    const what = /^Invalid TOML document: (.+)/.exec(error.message)?.[1] ?? "";
    const isRepeated = what.startsWith("trying to redefine");
    const isModel = isRepeated && /^\s*model\s*=/m.test(text) && /^\s*\[\s*model\s*\./m.test(text);
    const hint = isModel
      ? 'beside tables [model."PROVIDER/NAME"] the model is named as main under [models]'
      : isRepeated
        ? "keep one of the two"
        : "see https://toml.io for the syntax";
    throw new HoldfastError(
      "config_invalid",
      `${path}:${error.line}: this is not valid TOML: ${isRepeated ? "this key or table is there already" : what}`,
      { hint },
    );
  }
}
