import type { Json } from "@holdfast/protocol";
import { isObject, parseObject } from "../parts.ts";
import { nameOf } from "../paths.ts";
import { lockedOrigins, originOf, requirement, requirementsIn, stringsIn, tabledOrigins } from "./origins.ts";

const objectIn = (value: Json | undefined): Readonly<Record<string, Json>> => (isObject(value) ? value : {});
const objectKeys = (value: Json | undefined): string[] => Object.keys(objectIn(value));
const found =
  (pattern: RegExp) =>
  (text: string): string[] =>
    [...text.matchAll(pattern)].map((match) => match.slice(1).find((name) => name !== undefined) ?? "");

const requirementFile = /^requirements[\w.-]*\.(?:txt|in)$/;

/** How each manifest and lock file names packages. */
const readers: readonly { readonly file: RegExp; readonly read: (text: string) => string[] }[] = [
  {
    file: /^package\.json$/,
    read: (text) => {
      const content = parseObject(text) ?? {};
      const kinds = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
      const steering = [content["overrides"], content["resolutions"], objectIn(content["pnpm"])["overrides"]];
      return [
        ...kinds.flatMap((kind) => objectKeys(content[kind])),
        ...[...kinds.map((kind) => content[kind]), ...steering].flatMap(stringsIn).flatMap(originOf),
      ];
    },
  },
  {
    file: /^(?:package-lock|npm-shrinkwrap)\.json$/,
    read: (text) => {
      const content = parseObject(text) ?? {};
      const [packages, others] = [objectIn(content["packages"]), objectIn(content["dependencies"])];
      const entries = [...Object.entries(packages).filter(([key]) => key !== ""), ...Object.entries(others)];
      return entries.flatMap(([key, entry]) => [key.split("node_modules/").at(-1) ?? key, ...lockedOrigins(entry)]);
    },
  },
  { file: /^yarn\.lock$/, read: found(/^"?(@?[^@\s"]+)@/gm) },
  { file: /^pnpm-lock\.yaml$/, read: found(/^ {2}'?\/?(@?[\w./-]+?)[@/][\d(]/gm) },
  { file: /^bun\.lock$/, read: found(/^\s+"((?:@[\w.-]+\/)?[\w.-]+)": \[/gm) },
  { file: /^deno\.jsonc?$/, read: found(/"(?:npm:|jsr:|https?:\/\/)(@?[^@"]+)/g) },
  // What a source brings in by an address of its own.
  { file: /\.[cm]?[jt]sx?$/, read: found(/(?:\bfrom|\bimport)\s*\(?\s*["'](?:npm:|jsr:|https?:\/\/)(@?[^@"']+)/g) },
  { file: requirementFile, read: (text) => text.split("\n").flatMap((line) => requirement(line.replace(/(?:^|\s)#.*$/, "").trim())) },
  {
    file: /\.py$/,
    read: (text) =>
      [...text.matchAll(/^# \/\/\/ script\s*\n((?:#[^\n]*\n)*?)# \/\/\/\s*$/gm)].flatMap(([, head = ""]) =>
        requirementsIn(/^dependencies\s*=\s*\[([\s\S]*?)\]\s*$/m.exec(head.replace(/^# ?/gm, ""))?.[1] ?? ""),
      ),
  },
  {
    file: /^setup\.py$/,
    read: (text) => {
      const lists = [...text.matchAll(/\b(?:(?:install|setup|tests|extras)_require\w*)["']?\s*[=:]\s*(\w+|\[[^\]]*\]|\{[^}]*\})/g)];
      const named = (name: string): string[] =>
        [
          ...text.matchAll(
            new RegExp(`\\b${name}\\s*(?:\\+?=|\\.(?:append|extend)\\()\\s*(\\[[^\\]]*\\]|\\{[^}]*\\}|["'][^"'\\n]*["'])`, "g"),
          ),
        ].map(([, list = ""]) => list);
      return lists
        .flatMap(([, list = ""]) => (/^\w/.test(list) ? named(list) : [list]))
        .flatMap((list) => requirementsIn(list.replace(/(["'])[\w.-]+\1\s*:/g, "")));
    },
  },
  {
    file: /^setup\.cfg$/,
    read: (text) =>
      text.split(/^(?=\[)/m).flatMap((section) => {
        const isExtra = section.startsWith("[options.extras_require]");
        const lists = isExtra
          ? [section.replace(/^\[.*|^[\w.-]+\s*=/gm, "")]
          : found(/^(?:install|setup|tests)_requires\s*=((?:[^\n]*(?:\n[ \t]+|$))*[^\n]*)/gm)(section);
        return lists.flatMap((list) => list.split(/[\n;]/)).flatMap((line) => requirement(line.trim()));
      }),
  },
  {
    file: /^pyproject\.toml$/,
    read: (text) =>
      text
        .split(/^(?=\s*\[)/m)
        .flatMap((section) =>
          /^\s*\[(?:tool\.poetry\.(?:[\w.-]+\.)?dependencies|tool\.poetry\.dev-dependencies)\]/.test(section)
            ? [...found(/^([A-Za-z0-9][\w.-]*)\s*=/gm)(section), ...tabledOrigins(section)]
            : /^\s*\[tool\.(?:uv|pdm|rye)\b[^\]]*sources/.test(section)
              ? tabledOrigins(section)
              : /dependencies|dependency-groups/.test(section)
                ? [
                    ...found(/["']([A-Za-z0-9][\w.-]*)\s*(?:[[<>=!~;@ ]|["'])/g)(section),
                    ...found(/@\s*((?:\w+\+)?https?:\/\/[^\s"'@#]+)/g)(section),
                  ]
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
            ? [...found(/^([A-Za-z0-9][\w-]*)\s*[.=]/gm)(section), ...tabledOrigins(section)]
            : /^\s*\[(?:patch\b|replace\b|[^\]]*dependencies\.)/.test(section)
              ? [...found(/^\s*\[[^\]]*dependencies\.([\w-]+)\]/gm)(section), ...tabledOrigins(section)]
              : found(/^\s*\[[^\]]*dependencies\.([\w-]+)\]/gm)(section),
        ),
  },
  { file: /^go\.mod$/, read: found(/^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/\S+)\s+v\d|=>\s*([\w-]+\.[\w.-]+\/\S+)\s+v\d/gm) },
  { file: /^go\.sum$/, read: found(/^(\S+)\s/gm) },
  { file: /^Gemfile$/, read: found(/^\s*gem\s+["']([^"']+)|\b(?:git|github|gist)(?::\s*|\s*=>\s*)["']([^"']+)/gm) },
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

/** Whether a file is one of Python's requirements by its name; such a file may take in others of any name. */
export function isRequirementFile(path: string): boolean {
  return requirementFile.test(nameOf(path));
}

/** Whether a file is one that packages are named in. */
export function namesDependencies(path: string): boolean {
  return readers.some(({ file }) => file.test(nameOf(path)));
}

/** Names of the packages that a manifest or lock file names, with where they are from if not by name; empty for any other file. */
export function dependenciesIn(path: string, text: string): ReadonlySet<string> {
  return new Set(readers.filter(({ file }) => file.test(nameOf(path))).flatMap(({ read }) => read(text)));
}
