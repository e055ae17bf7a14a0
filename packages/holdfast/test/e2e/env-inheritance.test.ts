import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

const keys = ["ANTHROPIC_API_KEY", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "CI_JOB_TOKEN", "FOO_TOKEN"];
const command = (line: string, more: object = {}) => ({ name: "run_command", input: { command: line, ...more } });

test.each(["workspace-write", "off"])(
  "env inheritance (B07): no child has our variables but by name: commands, what they leave running, servers, hooks (sandbox %s)",
  async (sandbox) => {
    const place = await createPlace((results) =>
      results.length === 0
        ? { calls: [{ name: "search_tools", input: { query: "probe" } }, command("sh look.sh"), command("sh stay.sh", { yield_s: 0 })] }
        : { text: "done" },
    );
    // What a script of the project does is nothing that a person is asked about.
    const others = "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a HOLDFAST_RUN; ps auxww 2>/dev/null";
    writeFileSync(join(place.workspace, "look.sh"), `(env; ${others}) > command.txt\n`);
    writeFileSync(join(place.workspace, "stay.sh"), "env > background.txt; sleep 1\n");
    const at = (name: string): string => join(place.home, name);
    mkdirSync(join(place.home, ".holdfast"), { recursive: true, mode: 0o700 });
    writeFileSync(
      join(place.home, ".holdfast/config.toml"),
      `[mcp.probe]\ncommand = "sh"\nargs = ["-c", "env > ${at("server.txt")}; cat >/dev/null"]\nenv = { GIVEN = "by-name" }\nstartup_timeout_ms = 1500\n[[hooks.before_tool]]\ncommand = "env > ${at("hook.txt")}"\n`,
      { mode: 0o600 },
    );
    const canaries = Object.fromEntries(keys.map((name) => [name, `canary-${name.toLowerCase()}-51f2`]));
    const finished = await place.start(["exec", "--sandbox", sandbox, "go"], { env: { ...canaries, LANG: "C.UTF-8" } }).finished;
    expect(finished.code).toBe(0);
    const told: Record<string, string> = {
      command: readFileSync(join(place.workspace, "command.txt"), "utf8"),
      background: readFileSync(join(place.workspace, "background.txt"), "utf8"),
      server: readFileSync(at("server.txt"), "utf8"),
      hook: readFileSync(at("hook.txt"), "utf8"),
    };
    for (const [who, text] of Object.entries(told)) {
      expect([who, text.includes("canary-"), text.includes("e2e-key")]).toEqual([who, false, false]);
      expect([who, text]).toEqual([who, expect.stringMatching(/^PATH=/m)]);
    }
    expect(told["command"]).toMatch(/^HOME=/m);
    expect(told["command"]).toMatch(/^LANG=C\.UTF-8$/m);
    expect(told["server"]).toMatch(/^GIVEN=by-name$/m);
  },
);
