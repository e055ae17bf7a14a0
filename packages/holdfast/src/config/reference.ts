import type { Key, Node } from "./kinds.ts";
import { fileTop } from "./load.ts";

/** docs/config.md: what a person has to know, and every key. */
export function configReference(): string {
  const { profiles: _, ...settings } = fileTop.keys;
  const single = Object.entries(settings).filter(([, { node }]) => isSingle(node));
  const sections = Object.entries(settings).flatMap(([name, key]) => section(name, key, key));
  return [introduction, heading("Keys at the top"), rows(single), ...sections].join("\n");
}

const introduction = `# Config

<!-- Written by \`npm run schemas\` from packages/holdfast/src/config. -->

TOML, in layers. A value of a later layer replaces that of an earlier one:

1. built in;
2. yours: \`$HOLDFAST_HOME/config.toml\` (\`~/.holdfast/config.toml\`);
3. the project's: \`.holdfast/config.toml\` in it, once the project is trusted (\`holdfast trust\`). Before that it isn't read;
4. a profile, \`[profiles.NAME]\` with any of the keys, chosen with \`-p NAME\`;
5. the environment: the variables named below, and \`HOLDFAST_PROFILE\`, which chooses a profile;
6. \`--config KEY=VALUE\`, for one run, repeatable: \`--config limits.max_steps=50\`. A value that isn't TOML is taken as text;
7. the other flags, such as \`--model\`.

\`\`\`sh
holdfast config show               # every value, and the file and line that set it; keys are hidden
holdfast config check              # all that is wrong, at once
holdfast config path               # the files
holdfast config schema > ~/.holdfast/config.schema.json
\`\`\`

With the last, an editor that knows \`#:schema ./config.schema.json\` as the first line of a TOML file completes keys and marks mistakes.

A resumed session keeps the settings it was started with; only flags change them: \`--config\`, a profile named with \`-p\`, and the others.

## What a project may set

A project's file is written by whoever wrote the project. Trusted, it may set the keys that are marked with *project* below, and nothing that would reach your keys, your machine or your money: any other key is an error that names the line. Its limits may only be tighter than yours. Its checks are added to yours. The model that it chooses is one of a provider that you set up. Its hooks and MCP servers run in the sandbox, each only after you accepted exactly what it runs, with the project's files that its command line names: \`holdfast trust\` shows them, \`holdfast trust --accept HASH\` accepts one. A server of yours with the same name stays yours.
`;

function section(name: string, key: Key, outer: Key): string[] {
  const { node } = key;
  if (node.is === "table") {
    const inner = Object.entries(node.keys);
    const single = inner.filter(([, one]) => isSingle(one.node));
    const events = inner.filter(([, one]) => one.node.is === "rows");
    const deeper = inner.filter(([, { node: one }]) => one.is === "table" || (one.is === "named" && one.of.is === "table"));
    return [
      ...(single.length + events.length > 0 ? [heading(`[${name}]`), about(outer)] : []),
      ...(single.length > 0 ? [rows(single)] : []),
      ...eventRows(name, events),
      ...deeper.flatMap(([part, more]) => section(`${name}.${part}`, more, { ...more, ...pick(outer) })),
    ];
  }
  const entry = node.is === "either" ? node.named.of : node.is === "named" ? node.of : null;
  if (entry?.is !== "table") return [];
  const title = node.is === "either" ? `[${name}."PROVIDER/NAME"]` : `[${name}.NAME]`;
  return [heading(title), about(outer), rows(Object.entries(entry.keys))];
}

function pick({ project, reason }: Key): Pick<Key, "project" | "reason"> {
  return { ...(project === undefined ? {} : { project }), ...(reason === undefined ? {} : { reason }) };
}

function eventRows(name: string, events: readonly (readonly [string, Key])[]): string[] {
  const [first] = events;
  if (first === undefined || first[1].node.is !== "rows") return [];
  const list = events.map(([event, { help }]) => `| \`[[${name}.${event}]]\` | ${help} |`).join("\n");
  return [`| event | |\n|---|---|\n${list}\n`, rows(Object.entries(first[1].node.of.keys))];
}

function heading(title: string): string {
  return `## ${title.startsWith("[") ? `\`${title}\`` : title}\n`;
}

function about({ help, project, reason }: Key): string {
  const rule =
    project === "may"
      ? " *project*"
      : project === "tighter"
        ? " *project: only tighter*"
        : reason === undefined
          ? ""
          : ` A project can't set it: ${reason}.`;
  return `${capital(help)}.${rule}\n`;
}

function rows(keys: readonly (readonly [string, Key])[]): string {
  const lines = keys.map(([name, key]) => `| \`${name}\` | ${kindOf(key.node)} | ${notes(key)} |`);
  return `| key | value | |\n|---|---|---|\n${lines.join("\n")}\n`;
}

function notes(key: Key): string {
  const said = [
    key.help,
    ...(key.required ? ["required"] : []),
    ...(key.default === undefined ? [] : [`default \`${JSON.stringify(key.default)}\``]),
    ...(key.env === undefined ? [] : [`\`${key.env}\``]),
    ...(key.project === "may" ? ["*project*"] : []),
    ...(key.reason === undefined ? [] : [`not in a project: ${key.reason}`]),
  ];
  return said.join("; ").replaceAll("|", "\\|");
}

function kindOf(node: Node): string {
  if (node.is === "leaf") return node.wanted.replaceAll("|", "\\|");
  if (node.is === "adding") return `a list, each ${node.of.wanted}`;
  if (node.is === "either") return node.leaf.wanted;
  return "a table of names and values";
}

function isSingle(node: Node): boolean {
  return node.is === "leaf" || node.is === "adding" || node.is === "either" || (node.is === "named" && node.of.is === "leaf");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
