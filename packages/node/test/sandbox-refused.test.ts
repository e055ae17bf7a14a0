import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Processes, SandboxRefusal } from "@holdfast/runtime/ports/processes";
import { makePlace, ownEnvironment, processesAt, specFor } from "./processes-fixture.ts";

// Not below /tmp, of which commands have their own.
const place = makePlace("/var/tmp");
const outside = join(place.userHome, "outside");
const node = `'${process.execPath}'`;
let processes: Processes;

beforeAll(() => {
  processes = processesAt(place, { environment: { ...ownEnvironment, LANG: "C.UTF-8" }, resolve: async () => ["127.0.0.1"] });
  mkdirSync(outside);
  mkdirSync(join(place.userHome, ".ssh"));
  writeFileSync(join(place.userHome, ".ssh/id"), "SECRET");
});
afterAll(async () => {
  await processes.endSession("session", { forget: true });
  rmSync(place.base, { recursive: true, force: true });
});

async function refused(command: string, network: "none" | readonly string[] = "none"): Promise<readonly SandboxRefusal[]> {
  const confinement = { mode: "workspace-write", network: network === "none" ? network : [...network] } as const;
  const running = await processes.start(specFor(place, command, { confinement }));
  return (await running.ended).refused ?? [];
}

describe("what the sandbox refused to a command", () => {
  it.each([
    ["the shell", (path: string) => `echo x >${path}`],
    ["a C program", (path: string) => `touch '${path}'`],
    ["Node", (path: string) => `${node} -e 'fs.writeFileSync("${path}", "x")'`],
    ["Python", (path: string) => `/usr/bin/python3 -c 'open("${path}", "w")'`],
    ["a relative path", () => "touch ../outside/new"],
  ])("is told as the place it could not write, by %s", async (who, write) => {
    const found = await refused(write(join(outside, "new")));
    const path = who === "a relative path" ? expect.stringMatching(/outside\/new$/) : join(outside, "new");
    expect(found).toEqual([{ kind: "write", path, open: outside }]);
  });

  it("is told of a place that is hidden", async () => {
    const hidden = join(place.userHome, ".ssh/id");
    expect(await refused(`cat ${hidden}`)).toEqual([{ kind: "hidden", path: hidden }]);
  });

  it.each([
    ["curl", "curl -sS https://registry.example.com/x"],
    ["Node", `${node} -e 'require("https").get("https://registry.example.com/x")'`],
    ["git", "git ls-remote https://registry.example.com/x.git"],
    [
      "Python",
      "/usr/bin/python3 -c 'import urllib.request; urllib.request.urlopen(\"https://registry.example.com/x\")' || { echo 'host=registry.example.com: Temporary failure in name resolution'; false; }",
    ],
  ])("is told as the host, where there is no network: %s", async (_who, command) => {
    expect(await refused(command)).toEqual([{ kind: "host", host: "registry.example.com", port: null, reason: expect.any(String) }]);
  });

  it("is what the proxy was asked for, whatever the command makes of it", async () => {
    const reason = expect.stringContaining("not on the list");
    expect(await refused("curl -s http://bad.test:8080/x >/dev/null; curl -s https://bad.test/ ; true", ["good.test"])).toEqual([
      { kind: "host", host: "bad.test", port: 8080, reason },
      { kind: "host", host: "bad.test", port: 443, reason },
    ]);
  });

  it("is nothing where a command fails by itself", async () => {
    for (const command of [
      "cat missing.txt",
      "exit 3",
      "touch missing/new",
      "chmod +x missing.sh",
      "touch /proc/new",
      `echo "Read-only file system: ${place.workspace}/a" ; false`,
      "echo 'touch: Read-only file system'; false",
      "touch /proc/new",
      `${node} -e 'throw new Error("no such file or directory: src/x.ts")'`,
      "curl -sS http://localhost:1/",
    ]) {
      expect([command, await refused(command)]).toEqual([command, []]);
    }
  });
});
