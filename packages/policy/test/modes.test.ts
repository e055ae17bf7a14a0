import { describe, expect, test } from "vitest";
import { decide } from "./world.ts";

describe("without a sandbox", () => {
  test("every command is refused with the reason", async () => {
    for (const command of ["ls", "npm test", "git push", "echo 'unclosed"]) {
      const answer = await decide(command, { canSandbox: false });
      expect(answer).toMatchObject({
        decision: "deny",
        rule: { id: "builtin:no-sandbox", source: expect.stringMatching(/^builtin\/deny\.toml:\d+$/) },
        provenRead: false,
      });
      expect(answer.forModel).toContain("--sandbox off");
    }
  });

  test("file tools still work", async () => {
    expect(await decide({ tool: "edit_file", path: "/srv/app/src/a.ts" }, { canSandbox: false })).toMatchObject({ decision: "allow" });
  });
});

describe("with the sandbox off", () => {
  const off = { mode: "off", canSandbox: false } as const;

  test("ordinary commands are allowed and it is said that nothing confines them", async () => {
    const answer = await decide("npm test", off);
    expect(answer).toMatchObject({ decision: "allow", rule: { id: "builtin:unconfined" }, provenRead: false });
    expect(answer.forModel).toContain("nothing confines");
  });

  test("reviews and proven reads stay what they are", async () => {
    expect(await decide("git reset --hard", off)).toMatchObject({ decision: "review" });
    expect(await decide("git push", off)).toMatchObject({ decision: "review" });
    expect(await decide("rm -rf /", off)).toMatchObject({ decision: "deny" });
    expect(await decide("ls", off)).toMatchObject({ decision: "allow", provenRead: true });
  });
});

describe("in a read-only session", () => {
  test("commands run and it is said that they can change nothing", async () => {
    expect(await decide("npm test", { mode: "read-only" })).toMatchObject({
      decision: "allow",
      rule: { id: "builtin:confined-read-only" },
    });
    expect(await decide("cat README.md", { mode: "read-only" })).toMatchObject({ decision: "allow", provenRead: true });
  });

  test("edits are refused with what would be allowed", async () => {
    for (const tool of ["edit_file", "write_file", "apply_patch"]) {
      const answer = await decide({ tool, path: "/srv/app/src/a.ts" }, { mode: "read-only" });
      expect(answer).toMatchObject({ decision: "deny", rule: { id: "builtin:read-only-mode" } });
      expect(answer.forModel).toContain("workspace-write");
    }
  });
});

describe("the network of the session", () => {
  test("hosts that can be read become the scope, others ask for all", async () => {
    expect((await decide("curl https://a.example.com/x http://b.example.com")).scope).toEqual({
      network: ["a.example.com", "b.example.com"],
    });
    expect((await decide("curl $URL")).scope).toEqual({ network: "all" });
    expect((await decide("npm install")).scope).toEqual({ network: "all" });
    expect((await decide("git clone git@git.example.com:a/b.git")).scope).toEqual({ network: ["git.example.com"] });
  });

  test("what it already allows needs no question", async () => {
    expect(await decide("curl https://a.example.com", { network: ["a.example.com"] })).toMatchObject({ decision: "allow" });
    expect(await decide("curl https://b.a.example.com", { network: ["*.a.example.com"] })).toMatchObject({ decision: "allow" });
    expect(await decide("npm install", { network: "all" })).toMatchObject({ decision: "allow" });
  });

  test("only what is missing is asked for", async () => {
    expect((await decide("curl https://a.example.com https://b.example.com", { network: ["a.example.com"] })).scope).toEqual({
      network: ["b.example.com"],
    });
    expect(await decide("curl https://a.example.com.evil.test", { network: ["a.example.com"] })).toMatchObject({ decision: "review" });
    expect(await decide("curl https://a.example.com@evil.test/", { network: ["a.example.com"] })).toMatchObject({
      decision: "review",
      scope: { network: ["evil.test"] },
    });
  });

  test("a change elsewhere is asked for whatever the network", async () => {
    expect(await decide("git push", { network: "all" })).toMatchObject({ decision: "review", scope: {} });
    expect(await decide("npm publish", { network: "all" })).toMatchObject({ decision: "review" });
  });

  test("the session's own servers need no question", async () => {
    for (const command of ["curl localhost:3000/health", "curl -s http://127.0.0.1:8080", "curl 'http://[::1]:9/x'"]) {
      expect(await decide(command), command).toMatchObject({ decision: "allow" });
    }
  });
});

describe("the scope of a review", () => {
  test("names the real path outside the workspace", async () => {
    expect((await decide("echo x > out-link/file")).scope).toEqual({ writable: ["/opt/out/file"] });
    expect((await decide("cp a ~/b")).scope).toEqual({ writable: ["/home/ana/b"] });
  });

  test("holds what all parts of the line need, and nothing else", async () => {
    const { scope, reason } = await decide("curl https://a.example.com > ~/x && git reset --hard && ls");
    expect(scope).toEqual({ network: ["a.example.com"], writable: ["/home/ana/x"] });
    expect(reason).toContain("lose work");
    expect(reason).toContain("network");
  });

  test("is empty for what is allowed or refused", async () => {
    expect((await decide("npm test")).scope).toEqual({});
    expect((await decide("rm -rf / ; curl https://a.example.com")).scope).toEqual({});
  });
});

test("a call that repeats one in doubt is at least reviewed", async () => {
  for (const example of ["ls", "npm test", { tool: "write_file", path: "/srv/app/src/a.ts" }, { tool: "read_output", path: "" }]) {
    expect(await decide(example, { repeatsDoubt: true })).toMatchObject({
      decision: "review",
      rule: { id: "builtin:repeats-doubt" },
      provenRead: false,
    });
  }
  expect(await decide("rm -rf /", { repeatsDoubt: true })).toMatchObject({ decision: "deny" });
});

test("an untrusted project is judged by the same rules", async () => {
  for (const command of ["ls", "npm test", "git push"])
    expect({ ...(await decide(command, { isTrusted: false })), risk: null }).toEqual({ ...(await decide(command)), risk: null });
});

test("three kinds of refusal are told apart", async () => {
  const ids = await Promise.all(
    ["curl \\\n -s https://example.com", "rm -rf /", 'echo "unclosed'].map(async (command) => (await decide(command)).rule.id),
  );
  expect(new Set(ids)).toEqual(new Set(["builtin:network", "builtin:destroys-system", "builtin:unparsed"]));
});

test("sentences stay short and carry no control characters into a terminal", async () => {
  const { reason, forModel } = await decide("cat $'/etc/shadow\\e[2J' ~/.ssh/$'\\e]0;x\\a'");
  expect((await decide(`cat ${"/.ssh".repeat(9000)}`)).reason.length).toBeLessThan(1000);
  expect(reason + forModel).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});
