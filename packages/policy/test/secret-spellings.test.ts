import { expect, test } from "vitest";
import { decide } from "./world.ts";

const ids = async (lines: readonly string[]) => Promise.all(lines.map(async (line) => [line, (await decide(line)).rule.id]));

test("a secret file is known in every spelling that git and a file system take for it, and where it goes into the repository", async () => {
  for (const [line, id] of await ids([
    "git log -p -- ':(icase).ENV'",
    "git log -L1,2:.env",
    "git log -L 1,2:.env",
    "git add -f .env",
    "git commit .env -m x",
    "cat .ENV",
    "rg -uu --iglob .ENV X",
  ]))
    expect([line, id]).toEqual([line, "builtin:secret-read"]);
});

test("a search of a whole tree, and what only mentions such a name, run unasked", async () => {
  for (const line of [
    "grep -rn X .",
    "rg -uu X",
    "git log -L1,2:src/a.ts",
    "git add -A",
    "git add .env.example",
    "git commit -m 'fix src/.env'",
    "git commit -am .env",
    "git log --grep .env",
  ])
    expect([line, (await decide(line)).decision]).toEqual([line, "allow"]);
});

test("the whole environment is asked about by whatever it is printed", async () => {
  for (const [line, id] of await ids([
    "jq -n env",
    "jq -n '$ENV'",
    "jq -n 'env|keys,.'",
    "jq -n env.API_TOKEN",
    "awk 'BEGIN{for(k in ENVIRON)print k, ENVIRON[k]}'",
    "awk 'BEGIN{print ENVIRON[\"API_TOKEN\"]}'",
    "node -p 'process[\"env\"]'",
    "node -p 'process?.env'",
    "node -e 'const {env} = process; console.log(env)'",
    "node -p 'require(\"process\").env'",
    "python3 -c 'from os import environ; print(environ)'",
  ]))
    expect([line, id]).toEqual([line, "builtin:secret-read"]);
  for (const line of [
    "jq -n env.HOME",
    "jq .env a.json",
    "jq '{env: .a}' a.json",
    "awk 'BEGIN{print ENVIRON[\"HOME\"]}'",
    "node -p 'process[\"env\"].HOME'",
    "python3 -c 'import os; print(os.environ[\"HOME\"])'",
  ])
    expect([line, (await decide(line)).decision]).toEqual([line, "allow"]);
});
