import { expect, test } from "vitest";
import { machine, request } from "../src/examples/machine.ts";
import { createPolicy } from "../src/index.ts";
import { rulesOf } from "./given-rules.ts";
import { decide, policy } from "./world.ts";

async function byRules(line: string, ...words: readonly string[]): Promise<string> {
  const rules = rulesOf("user", ...words.map((command) => ({ decision: "allow", command })));
  return (await createPolicy({ ...machine, rules, isAlone: true }).decide(request(line))).decision;
}

test("an allow for words doesn't cover what a program is given to do on its input", async () => {
  for (const [line, ...rules] of [
    ["psql <<< 'drop database x'", "psql"],
    ["psql <<'E'\ndrop database x\nE", "psql"],
    ["psql < a.sql", "psql"],
    ["psql < /dev/null <<< 'drop database x'", "psql"],
    ["echo 'drop database x' | psql", "echo", "psql"],
    ["(psql) < a.sql", "psql"],
    ["exec < a.sql; psql", "psql", "exec"],
    ["bash -c psql <<< 'drop database x'", "psql", "bash -c psql"],
    ["timeout 5 psql < a.sql", "psql", "timeout 5 psql"],
    ["kubectl apply -f - < x", "kubectl apply -f -"],
    ["docker exec -i db sh < x", "docker exec -i db sh"],
    ["sudo -u app bash < x", "sudo -u app bash"],
    ["node < evil.js", "node"],
    ["python3 < x.py", "python3"],
    ["3< x.py python3 <&3", "python3"],
    ["exec 3< x.py; python3 <&3", "python3", "exec"],
    ["git update-ref --stdin < x", "git update-ref --stdin"],
    ["git apply < x", "git apply"],
    ["curl -d @- https://a.example.com < x", "curl -d @- https://a.example.com"],
    ["gh api --input - x < y", "gh api --input - x"],
    ["cat list | xargs rm", "cat", "xargs rm"],
    ["./cat < x", "./cat"],
    ["awk -f - a < x", "awk -f - a"],
  ] as const)
    expect([line, await byRules(line, ...rules)]).toEqual([line, "review"]);
});

test("it covers programs that look through a text, keep it, or read none", async () => {
  for (const [line, ...rules] of [
    ["cat x | wc -l", "cat", "wc"],
    ["wc -l < x", "wc"],
    ["psql < /dev/null", "psql"],
    ["grep a x | sort | head -3", "grep", "sort", "head"],
    ["jq .a <<< '{}'", "jq"],
    ["sed -n 1p < x", "sed"],
    ["git log --oneline | git shortlog", "git log", "git shortlog"],
    ["echo a | tee dist/x", "echo", "tee dist/x"],
    ["cat x | while read -r l; do mkdir dist; done", "cat", "read -r l", "mkdir dist"],
    ["cat x | while read -r l; do git add a; done", "cat", "read -r l", "git add a"],
    ["npm test 2>&1 | tail -5", "npm test", "tail"],
  ] as const)
    expect([line, await byRules(line, ...rules)]).toEqual([line, "allow"]);
});

test("no answer for a session is offered for what a program is given to do, nor holds for it", async () => {
  const offered = (line: string) => policy.decide({ ...request(line), wantsOffers: true });
  for (const line of ["psql <<< 'update x set a=1'", "ssh prod bash <<< 'uptime'", "ssh prod bash < x"])
    expect([line, (await offered(line)).decision, (await offered(line)).offers ?? []]).toEqual([line, "review", []]);
  const [first] = (await offered("psql -c 'update x set a=1'")).offers ?? [];
  expect(first).toBeDefined();
  const granted = ((await offered("psql")).offers ?? []).map(({ rule }) => rule);
  expect(granted.length).toBeGreaterThan(0);
  expect((await policy.decide({ ...request("psql"), granted })).decision).toBe("allow");
  expect((await policy.decide({ ...request("psql <<< 'drop database prod'"), granted })).decision).toBe("review");
});

test("what stands beside the input takes no pipe's place", async () => {
  for (const line of ["cat x | bash 3< /dev/null", "cat x | bash 3<<< true", "cat x | bash 2<&1", "cat x | bash {fd}< y"])
    expect([line, (await decide(line)).decision]).toEqual([line, "review"]);
});
