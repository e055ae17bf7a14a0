/** Languages that are written alike. */
export type Family =
  | "js"
  | "go"
  | "rust"
  | "jvm"
  | "kotlin"
  | "dotnet"
  | "swift"
  | "php"
  | "c"
  | "dart"
  | "slashed"
  | "python"
  | "ruby"
  | "elixir"
  | "perl"
  | "shell"
  | "hashed";

export type Blocks = "brackets" | "indents";

const endings: readonly (readonly [RegExp, Family])[] = [
  [/\.(?:[cm]?[jt]sx?|vue|svelte)$/, "js"],
  [/\.go$/, "go"],
  [/\.rs$/, "rust"],
  [/\.(?:java|groovy)$/, "jvm"],
  [/\.(?:kts?|scala)$/, "kotlin"],
  [/\.cs$/, "dotnet"],
  [/\.swift$/, "swift"],
  [/\.php$/, "php"],
  [/\.(?:cc?|cpp)$/, "c"],
  [/\.dart$/, "dart"],
  [/\.(?:hs|ml|erl|lua)$/, "slashed"],
  [/\.pyi?$/, "python"],
  [/\.rb$/, "ruby"],
  [/\.exs?$/, "elixir"],
  [/\.(?:pl|pm|t)$/, "perl"],
  [/\.(?:sh|bash|zsh|bats)$/, "shell"],
  [/\.(?:jl|R)$/, "hashed"],
];

/** Null for what is no program of a language whose tests are told apart. */
export function familyOf(path: string): Family | null {
  return endings.find(([ending]) => ending.test(path))?.[1] ?? null;
}

export function isCode(path: string): boolean {
  return familyOf(path) !== null;
}

/** What a file's blocks are known by: signs around them, or how far their lines stand in. */
export function blocksOf(path: string): Blocks {
  return ["python", "ruby", "elixir"].includes(familyOf(path) ?? "") ? "indents" : "brackets";
}
