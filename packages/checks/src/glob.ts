import { tester } from "@holdfast/runtime/paths/linear";

/**
 * Globs over paths with `/`: `*` and `?` within a name, `**` across folders, `[…]`, `{a,b}`. A glob without `/` matches a
 * file's name in any folder; one that ends with `/` matches everything below. One test for all `globs`, made to be
 * asked of every file of a workspace.
 */
export function matcher(globs: readonly string[]): (path: string) => boolean {
  const names: string[] = [];
  const paths: string[] = [];
  for (const glob of globs) {
    const trimmed = glob.replace(/^\.?\//, "");
    const whole = trimmed.endsWith("/") ? `${trimmed}**` : trimmed;
    if (whole.includes("/") || glob.startsWith("/")) paths.push(source(whole));
    else names.push(source(whole));
  }
  const ofName = testers(names);
  const ofPath = testers(paths);
  return (file) => {
    const name = file.slice(file.lastIndexOf("/") + 1);
    return ofName.some((test) => test(name)) || ofPath.some((test) => test(file));
  };
}

/** Those with few stars in one, which is quick to ask of many files; each of the others by itself. */
function testers(sources: readonly string[]): ((text: string) => boolean)[] {
  const isPlain = (one: string): boolean => (one.match(/\*/g) ?? []).length <= 3;
  const plain = sources.filter(isPlain);
  const together = plain.length === 0 ? null : new RegExp(`^(?:${plain.join("|")})$`, "su");
  return [...(together === null ? [] : [(text: string) => together.test(text)]), ...sources.filter((one) => !isPlain(one)).map(tester)];
}

function source(glob: string): string {
  let out = "";
  let braces = 0;
  for (let i = 0; i < glob.length; i += 1) {
    const c = glob[i] ?? "";
    if (c === "*") {
      if (glob[i + 1] !== "*") out += "[^/]*";
      else if (glob[i + 2] === "/") {
        out += "(?:[^/]+/)*";
        i += 2;
      } else {
        out += ".*";
        i += 1;
      }
    } else if (c === "?") out += "[^/]";
    else if (c === "{") {
      out += "(?:";
      braces += 1;
    } else if (c === "}" && braces > 0) {
      out += ")";
      braces -= 1;
    } else if (c === "," && braces > 0) out += "|";
    else if (c === "[") {
      const end = glob.indexOf("]", i + 2);
      const set = end < 0 ? null : characterSet(glob.slice(i + 1, end));
      if (set === null) out += "\\[";
      else {
        out += set;
        i = end;
      }
    } else out += c.replace(/[\\^$.|+()[\]{}/]/g, "\\$&");
  }
  return out + ")".repeat(braces);
}

/** Null for what is no set, such as a range that runs backwards. */
function characterSet(inner: string): string | null {
  const set = `[${inner.replace(/^!/, "^").replace(/[\\[\]]/g, "\\$&")}]`;
  try {
    new RegExp(set, "u");
    return set;
  } catch {
    return null;
  }
}
