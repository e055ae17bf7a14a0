import { type ShellWord } from "./command.ts";
import { optionValues, roughOperands } from "./options.ts";

/** A tool of a package manager that runs a program of the project, or fetches one first. */
export interface Runner {
  readonly inner: readonly ShellWord[];
  /** `-c` strings. */
  readonly line: ShellWord | null;
  /** True where it may fetch the program: a version or `-y` is given, or its purpose is to run what isn't installed. */
  readonly mayFetch: boolean;
  /** The name that is fetched unless the project has it installed; null where that can't happen. */
  readonly unlessInstalled: string | null;
}

/** Tools that projects of their kind have installed: without looking, they are taken to be there. */
const usualTools = new Set(
  "tsc tsx ts-node tsup tsd tsserver eslint prettier biome oxlint oxfmt stylelint standard xo vitest jest mocha ava tap c8 nyc playwright cypress wdio karma vite webpack rollup rolldown esbuild parcel swc babel tsdown unbuild turbo nx lerna ng next nuxt nuxi astro svelte-check svelte-kit vue-tsc vue-cli-service remix react-scripts react-router gatsby expo storybook tailwindcss postcss sass lessc markdownlint markdownlint-cli2 commitlint lint-staged cspell knip depcheck madge typedoc jsdoc api-extractor size-limit publint attw prisma drizzle-kit knex sequelize sequelize-cli typeorm mikro-orm graphql-codegen openapi-typescript nodemon concurrently npm-run-all run-s run-p rimraf cross-env dotenv husky semantic-release release-it changeset np wrangler serverless cdk jscodeshift tsc-alias sort-package-json syncpack license-checker depcruise stryker pm2 serve-static".split(
    " ",
  ),
);

const runnerValues = [
  "-p",
  "--package",
  "-w",
  "--workspace",
  "--prefix",
  "-C",
  "--dir",
  "--filter",
  "-F",
  "--cwd",
  "--with",
  "--python",
  "--extra",
  "--group",
  "--directory",
  "--project",
  "--env-file",
];

/** Names whose purpose is to fetch a template or a tool. */
const fetches = /^(?:create-|degit$|giget$|tiged$|@[^/]+\/create(?:-|$))/;

/** Null where `words` aren't a runner's. */
export function readRunner(program: string, words: readonly ShellWord[]): Runner | null {
  const args = words.slice(1);
  switch (program) {
    case "npx":
    case "pnpx":
    case "bunx":
    case "uvx":
      return fromNode(args, program === "pnpx" || program === "uvx");
    case "npm":
      return after(args, ["exec", "x"], (rest) => fromNode(rest, false));
    case "pnpm":
      return after(args, ["exec"], (rest) => run(rest)) ?? after(args, ["dlx"], (rest) => fromNode(rest, true));
    case "yarn":
      return (
        after(args, ["exec"], (rest) => run(rest)) ??
        after(args, ["node"], (rest, name) => run([name, ...rest])) ??
        after(args, ["dlx"], (rest) => fromNode(rest, true))
      );
    case "bun":
      return after(args, ["x"], (rest) => fromNode(rest, true));
    case "corepack":
      return after(args, ["pnpm", "yarn", "npm"], (rest, name) => run([name, ...rest]));
    case "uv":
    case "poetry":
    case "pipenv":
    case "pdm":
    case "hatch":
    case "rye":
    case "pixi":
      return after(args, ["run"], (rest) => run(rest));
    case "bundle":
    case "composer":
    case "mise":
    case "rtx":
    case "asdf":
    case "pyenv":
    case "rbenv":
    case "nodenv":
    case "fnm":
      return after(args, ["exec", "x"], (rest) => run(rest));
    case "volta":
      return after(args, ["run"], (rest) => run(rest));
    case "rustup":
      return after(args, ["run"], (rest) => run(roughFrom(rest).slice(1)));
    case "lerna":
    case "nx":
      return after(args, ["exec"], (rest) => runLine(rest));
    case "just": {
      const at = args.findIndex((word) => word.literal === "-c" || word.literal === "--command");
      return at < 0 ? null : run(args.slice(at + 1));
    }
    case "pipx":
      return after(args, ["run"], (rest) => fromNode(rest, true));
    default:
      return null;
  }
}

function run(words: readonly ShellWord[]): Runner {
  return { inner: roughFrom(words), line: null, mayFetch: false, unlessInstalled: null };
}

/** A single word is a line for a shell. */
function runLine(words: readonly ShellWord[]): Runner {
  const runner = run(words);
  return runner.inner.length === 1 ? { ...runner, inner: [], line: runner.inner[0]! } : runner;
}

function after(
  words: readonly ShellWord[],
  names: readonly string[],
  make: (rest: readonly ShellWord[], name: ShellWord) => Runner,
): Runner | null {
  const first = roughOperands(words, runnerValues)[0];
  if (first === undefined || first.literal === null || !names.includes(first.literal)) return null;
  return make(words.slice(words.indexOf(first) + 1), first);
}

/** From the first operand on: options before it are the runner's own. */
function roughFrom(words: readonly ShellWord[]): readonly ShellWord[] {
  const first = roughOperands(words, runnerValues)[0];
  return first === undefined ? [] : words.slice(words.indexOf(first));
}

function fromNode(words: readonly ShellWord[], always: boolean): Runner {
  const inner = roughFrom(words);
  const before = words.slice(0, words.length - inner.length);
  const texts = before.map((word) => word.literal ?? "");
  const line = optionValues([...before, ...inner.slice(0, 1)], ["-c", "--call"], "pw")[0] ?? null;
  const name = inner[0]?.literal ?? "";
  const isFetched =
    always ||
    texts.some((text) => ["-y", "--yes", "-p", "--package"].includes(text) || text.startsWith("--package=")) ||
    fetches.test(name) ||
    /.@|^(?:https?:|github:|git[+@])/.test(name);
  const staysLocal = texts.some((text) => text === "--no-install" || text === "--no" || text === "--offline");
  const local = inner[0] === undefined || inner[0].literal === null ? inner : [withoutVersion(inner[0]), ...inner.slice(1)];
  const mayFetch = isFetched && !staysLocal;
  const isAsked = line === null && !mayFetch && !staysLocal && name !== "" && !usualTools.has(name);
  return { inner: line === null ? local : [], line, mayFetch, unlessInstalled: isAsked ? name : null };
}

/** `prisma@5` is judged as `prisma`, `@scope/tool@1` as `@scope/tool`. */
function withoutVersion(word: ShellWord): ShellWord {
  const name = (word.literal ?? "").replace(/(?!^)@[^/]*$/, "");
  return name === word.literal ? word : { ...word, literal: name, guesses: [name], pattern: name };
}
