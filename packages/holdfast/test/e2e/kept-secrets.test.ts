import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Finished } from "./run.ts";
import { createPlace } from "./run.ts";

/** One of each kind; every one has a mark that no other text holds, and characters that each writing changes. */
const canaries = {
  DEPLOY_TOKEN: 'canary/+"deploy" 88bb01 ü',
  FILE_TOKEN: "canary-file-88bb02-xyzzy",
  PROMPT_TOKEN: "canary-prompt-88bb03-plugh",
};

/** Every text in which a canary may be found again. */
function tracesOf(bytes: Buffer | string): string[] {
  const text = typeof bytes === "string" ? bytes : bytes.toString("latin1");
  return Object.values(canaries).flatMap((value) => {
    const utf8 = Buffer.from(value);
    const written = [
      utf8.toString("latin1"),
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      utf8.toString("base64").slice(4, 20),
      Buffer.from(`x:${value}`).toString("base64").slice(8, 24),
      Buffer.from(`xy:${value}`).toString("base64").slice(8, 24),
      utf8.toString("hex"),
    ];
    return written.filter((writing) => text.includes(writing));
  });
}

/** Stands in for the secret service: keeps what it is given on standard input, by its attributes. */
const keyring = `#!/bin/sh
verb=$1; for name; do :; done
echo "$@" >> "$0.args"
case $verb in
  store) cat > "$0.$name" ;;
  lookup) cat "$0.$name" 2>/dev/null ;;
  clear) rm -f "$0.$name" ;;
esac
`;

/** Prints it in pieces and in every writing, to both outputs, and into a file. */
const leak = `#!/bin/sh
printf '%s' "$TOKEN" | cut -c1-9 | tr -d '\\n'; sleep 0.3; printf '%s\\n' "$TOKEN" | cut -c10-
echo "plain $TOKEN" >&2
printf 'x:%s' "$TOKEN" | base64 -w0; echo
printf '%s' "$TOKEN" | od -An -tx1 | tr -d ' \\n'; echo
node -e 'console.log(JSON.stringify({t: process.env.TOKEN}), encodeURIComponent(process.env.TOKEN))'
echo "$TOKEN" > kept.txt
exit 3
`;

test("a secret from the keyring reaches the one command that a rule names, and nothing else: no record, output, request, hook or child", async () => {
  const run = (command: string) => ({ name: "run_command", input: { command } });
  const place = await createPlace(
    (results) => {
      if (results.length === 0)
        return { calls: [run("sh print.sh"), run("touch x; sh print.sh"), { name: "read_file", input: { path: "kept.txt" } }] };
      if (results.length === 3)
        return {
          text: `the model says ${canaries.FILE_TOKEN}`,
          calls: [
            { name: "write_file", input: { path: "said.txt", content: `x ${canaries.FILE_TOKEN} y` } },
            run(`echo ${canaries.FILE_TOKEN}`),
            { name: "edit_file", input: { path: "kept.txt", edits: [{ old: "canary", new: "c" }] } },
          ],
        };
      return { text: results.join("\n") };
    },
    { "print.sh": leak, "README.md": "# A project\n" },
  );
  const own = join(place.home, ".holdfast");
  const bin = join(place.home, "bin");
  for (const folder of [own, join(own, "policy"), bin]) mkdirSync(folder, { mode: 0o700, recursive: true });
  writeFileSync(join(bin, "secret-tool"), keyring);
  chmodSync(join(bin, "secret-tool"), 0o755);
  writeFileSync(
    join(own, "config.toml"),
    `[secrets.deploy]\nenv = "DEPLOY_TOKEN"\nhosts = ["deploy.example.com"]\nas = "TOKEN"\n[[hooks.after_tool]]\ncommand = "cat >> ${place.home}/hook.log; env >> ${place.home}/hook.log"\n`,
  );
  writeFileSync(join(own, "policy/mine.toml"), `[[rule]]\nid = "deploy"\ndecision = "allow"\ncommand = "sh print.sh"\nsecret = "deploy"\n`);
  const env = { PATH: `${bin}:${process.env["PATH"]}`, XDG_RUNTIME_DIR: place.home, PROMPT_TOKEN: "" };
  const holdfast = (args: string[], stdin?: string): Promise<Finished> =>
    place.start(args, { env, ...(stdin === undefined ? {} : { stdin }) }).finished;

  const set = [
    await holdfast(["secrets", "set", "DEPLOY_TOKEN"], `${canaries.DEPLOY_TOKEN}\n`),
    await holdfast(["secrets", "set", "FILE_TOKEN", "--file", "--expires", "1h"], canaries.FILE_TOKEN),
    await holdfast(["secrets", "set", "PROMPT_TOKEN", "--file"], canaries.PROMPT_TOKEN),
  ];
  expect(set.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(readFileSync(join(bin, "secret-tool.args"), "utf8")).not.toContain("canary");
  expect(readFileSync(join(bin, "secret-tool.DEPLOY_TOKEN"), "utf8")).toBe(canaries.DEPLOY_TOKEN);
  expect(statSync(join(own, "secrets.json")).mode & 0o777).toBe(0o600);

  const exec = await holdfast(["exec", "--check", "sh print.sh", "--no-baseline", `deploy, with ${canaries.PROMPT_TOKEN}`]);
  const id = await place.session();
  const json = await holdfast(["exec", "--json", "the same again"]);
  const listed = await holdfast(["secrets", "list"]);
  expect(listed.stdout).toMatch(/DEPLOY_TOKEN +keyring/);
  expect(listed.stdout).toMatch(/FILE_TOKEN +file +\d{4}-/);
  const outputs = [exec, json, listed, ...set];
  for (const line of [`sessions show --items ${id}`, `sessions export --format json ${id}`]) outputs.push(await holdfast(line.split(" ")));
  const broken = await holdfast(["exec", "--model", `openai/${canaries.FILE_TOKEN}`, "--cd", `/nowhere/${canaries.FILE_TOKEN}`, "go"]);
  outputs.push(broken);

  // The command had it, and wrote it where it may; an edit beside it is exact, though its before and after are stored without it.
  expect(readFileSync(join(place.workspace, "kept.txt"), "utf8")).toBe(`${canaries.DEPLOY_TOKEN.replace("canary", "c")}\n`);
  const results = place.server.requests.flatMap(({ input = [] }) =>
    input.filter(({ type }) => type === "function_call_output").map(({ output }) => String(output)),
  );
  expect(results.join("\n").split("[redacted secret]").length).toBeGreaterThan(4);
  expect(results.some((text) => text.includes("a rule allows a part of this line to reach further"))).toBe(true);
  expect(results.some((text) => text.includes("holds a mark that stands for a secret"))).toBe(true);

  for (const { stdout, stderr } of outputs) expect(tracesOf(stdout + stderr)).toEqual([]);
  expect(place.server.requests.flatMap((request) => tracesOf(JSON.stringify(request)))).toEqual([]);
  expect(tracesOf(readFileSync(join(place.home, "hook.log")))).toEqual([]);
  const files = readdirSync(own, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const found = files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => tracesOf(readFileSync(path)).length > 0);
  expect(found).toEqual([join(own, "secrets.json")]);

  expect((await holdfast(["secrets", "remove", "DEPLOY_TOKEN"])).code).toBe(0);
  expect(readdirSync(bin)).not.toContain("secret-tool.DEPLOY_TOKEN");
});
