import type { Json } from "@holdfast/protocol";
import { parseObject } from "../parts.ts";
import { nameOf } from "../paths.ts";

const objectKeys = (value: Json | undefined): string[] =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
const found =
  (pattern: RegExp) =>
  (text: string): string[] =>
    [...text.matchAll(pattern)].map((match) => match.slice(1).find((name) => name !== undefined) ?? "");

/** How each manifest and lock file names packages. */
const readers: readonly { readonly file: RegExp; readonly read: (text: string) => string[] }[] = [
  {
    file: /^package\.json$/,
    read: (text) => {
      const content = parseObject(text) ?? {};
      const kinds = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
      return kinds.flatMap((kind) => objectKeys(content[kind]));
    },
  },
  {
    file: /^(?:package-lock|npm-shrinkwrap)\.json$/,
    read: (text) => {
      const content = parseObject(text) ?? {};
      return [...objectKeys(content["packages"]).filter((key) => key !== ""), ...objectKeys(content["dependencies"])].map(
        (key) => key.split("node_modules/").at(-1) ?? key,
      );
    },
  },
  { file: /^yarn\.lock$/, read: found(/^"?(@?[^@\s"]+)@/gm) },
  { file: /^pnpm-lock\.yaml$/, read: found(/^ {2}'?\/?(@?[\w./-]+?)[@/][\d(]/gm) },
  { file: /^bun\.lock$/, read: found(/^\s+"((?:@[\w.-]+\/)?[\w.-]+)": \[/gm) },
  { file: /^deno\.jsonc?$/, read: found(/"(?:npm|jsr):(@?[^@"]+)/g) },
  { file: /^requirements[\w.-]*\.(?:txt|in)$/, read: found(/^\s*([A-Za-z0-9][\w.-]*)/gm) },
  {
    file: /^pyproject\.toml$/,
    read: (text) =>
      text
        .split(/^(?=\s*\[)/m)
        .flatMap((section) =>
          /^\s*\[(?:tool\.poetry\.(?:[\w.-]+\.)?dependencies|tool\.poetry\.dev-dependencies)\]/.test(section)
            ? found(/^([A-Za-z0-9][\w.-]*)\s*=/gm)(section)
            : /dependencies|dependency-groups/.test(section)
              ? found(/["']([A-Za-z0-9][\w.-]*)\s*(?:[[<>=!~;@ ]|["'])/g)(section)
              : [],
        ),
  },
  { file: /^(?:poetry|uv|Cargo|pdm)\.lock$/, read: found(/^name = "([^"]+)"/gm) },
  { file: /^Pipfile$/, read: found(/^"?([A-Za-z0-9][\w.-]*)"?\s*=/gm) },
  {
    file: /^Cargo\.toml$/,
    read: (text) =>
      text
        .split(/^(?=\s*\[)/m)
        .flatMap((section) =>
          /^\s*\[[^\]]*dependencies\]/.test(section)
            ? found(/^([A-Za-z0-9][\w-]*)\s*[.=]/gm)(section)
            : found(/^\s*\[[^\]]*dependencies\.([\w-]+)\]/gm)(section),
        ),
  },
  { file: /^go\.mod$/, read: found(/^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/\S+)\s+v\d/gm) },
  { file: /^go\.sum$/, read: found(/^(\S+)\s/gm) },
  { file: /^Gemfile$/, read: found(/^\s*gem\s+["']([^"']+)/gm) },
  { file: /^Gemfile\.lock$/, read: found(/^ {4}([\w.-]+) \(/gm) },
  {
    file: /^composer\.json$/,
    read: (text) => {
      const content = parseObject(text) ?? {};
      return [...objectKeys(content["require"]), ...objectKeys(content["require-dev"])];
    },
  },
  { file: /^composer\.lock$/, read: found(/^\s+"name": "([^"]+\/[^"]+)"/gm) },
  { file: /^pom\.xml$/, read: found(/<artifactId>\s*([^<\s]+)/g) },
  { file: /^build\.gradle(?:\.kts)?$/, read: found(/["']([\w.-]+:[\w.-]+)(?::[^"']*)?["']/g) },
  { file: /\.(?:cs|fs|vb)proj$|^Directory\.Packages\.props$/, read: found(/<Package(?:Reference|Version)\s+Include="([^"]+)"/g) },
  { file: /^mix\.exs$/, read: found(/\{:(\w+),\s*["'~]/g) },
];

/** Names of the packages that a manifest or lock file names; empty for any other file. */
export function dependenciesIn(path: string, text: string): ReadonlySet<string> {
  const reader = readers.find(({ file }) => file.test(nameOf(path)));
  return new Set(reader === undefined ? [] : reader.read(text));
}
