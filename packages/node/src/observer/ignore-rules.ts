/**
 * Ignore rules of many folders as one list for the top folder, in the order of precedence (last match wins), so that
 * a snapshot can use the rules of an earlier moment. Syntax: gitignore(5).
 */

/** `text` is an ignore file that lies in `folder` (relative to the top, "" for the top itself). */
export function rootedRules(folder: string, text: string): string {
  const base = folder === "" ? "" : `/${escapeRule(folder)}`;
  const rules: string[] = [];
  for (const raw of text.replace(/^\ufeff/, "").split("\n")) {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    if (line === "" || line.startsWith("#")) continue;
    const sign = line.startsWith("!") ? "!" : "";
    const pattern = line.slice(sign.length);
    const body = pattern.replace(/(?<!\\) +$/, "");
    if (body === "" || body === "/") continue;
    const slash = body.indexOf("/");
    if (slash >= 0 && slash < body.length - 1) rules.push(`${sign}${base}/${pattern.replace(/^\//, "")}`);
    else rules.push(base === "" ? `${sign}${pattern}` : `${sign}${base}/**/${pattern}`);
  }
  return rules.map((rule) => `${rule}\n`).join("");
}

/** A rule that matches exactly this path. */
export function exactRule(path: string): string {
  return `/${escapeRule(path)}\n`;
}

function escapeRule(path: string): string {
  return path.replace(/[\\*?[\]]/g, "\\$&").replace(/ +$/, (spaces) => spaces.replaceAll(" ", "\\ "));
}
