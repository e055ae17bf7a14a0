import { commonFlags } from "./parse.ts";
import type { CommandSpec, FlagSpec } from "./command.ts";
import { wrap } from "../render/layout.ts";

/** The help page of one command, plain text at most `width` columns wide. */
export function commandHelp(spec: CommandSpec, width: number): string {
  const blocks = [
    wrap(spec.summary, width).join("\n"),
    section("Usage", spec.usage),
    section("Flags", describeFlags({ ...spec.flags, ...commonFlags }, width - 2)),
    ...(spec.notes === undefined
      ? []
      : [
          section(
            "Notes",
            spec.notes.flatMap((note) => wrap(note, width - 2)),
          ),
        ]),
    section(
      "Examples",
      spec.examples.flatMap(([command, what]) => [command, `    ${what}`]),
    ),
  ];
  return `${blocks.join("\n\n")}\n`;
}

/** The front page: every command with its summary. */
export function frontPage(commands: readonly (readonly [string, string])[], width: number): string {
  const column = Math.max(...commands.map(([name]) => name.length)) + 2;
  const rows = commands.flatMap(([name, summary]) => hang(name.padEnd(column), summary, width - 2));
  return [
    ...wrap("Holdfast runs an agent on your files: the model proposes, the runtime decides, runs and checks.", width),
    "",
    section("Usage", [
      "holdfast [flags]                  line mode",
      "holdfast exec [flags] [prompt|-]  one turn, then exit",
      "holdfast COMMAND --help           help with examples",
    ]),
    "",
    section("Commands", rows),
    "",
    section("Examples", [
      'holdfast exec --model openai/NAME --check "npm test" "Fix the login bug"',
      'holdfast exec resume --last "also cover the empty password"',
    ]),
    "",
  ].join("\n");
}

function describeFlags(flags: Readonly<Record<string, FlagSpec>>, width: number): string[] {
  const rows = Object.entries(flags).map(([name, flag]) => {
    const short = flag.short === undefined ? "    " : `-${flag.short}, `;
    return [`${short}--${name}${flag.value === undefined ? "" : ` ${flag.value}`}`, flag.help] as const;
  });
  const column = Math.min(30, Math.max(...rows.map(([left]) => left.length)) + 2);
  return rows.flatMap(([left, help]) =>
    left.length < column ? hang(left.padEnd(column), help, width) : [left, ...hang(" ".repeat(column), help, width)],
  );
}

function hang(left: string, text: string, width: number): string[] {
  const lines = wrap(text, width - left.length);
  return lines.map((line, index) => (index === 0 ? left : " ".repeat(left.length)) + line);
}

function section(title: string, lines: readonly string[]): string {
  return [`${title}:`, ...lines.map((line) => `  ${line}`)].join("\n");
}
