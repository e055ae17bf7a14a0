import { createPolicy } from "@holdfast/policy";
import { expect, test } from "vitest";
import { machine, request } from "@holdfast/policy/examples/machine";
import { workbench, type Workbench } from "../../tools/test/workbench.ts";
import { hiddenFiles, secretsNow } from "../src/host/secret-paths.ts";

test("a search of a folder leaves out what a person is asked about by name, and what is hidden, whatever is in it", async () => {
  const roots: string[] = [];
  const at: Workbench = await workbench({ secretsNow: secretsNow("/home/ana", hiddenFiles(roots, ["private", "*.conf"])) });
  roots.push(at.root);
  try {
    const secret = [".env", "sub/.env.production", ".netrc", "keys/server.pem", "private/notes.md", "sub/db.conf"];
    for (const path of [...secret, "src/a.ts", ".env.example"]) await at.write(path, "TOKEN=1\n");
    const search = async (input: Parameters<Workbench["call"]>[1]) => (await at.call("search", input)).text;
    const note =
      "[6 files that may hold secrets were not looked into, whatever is there. Name one as path to search it: a person is asked.]";
    expect(await search({ pattern: "TOKEN" })).toBe(`.env.example\n1: TOKEN=1\nsrc/a.ts\n1: TOKEN=1\n${note}`);
    expect(await search({ pattern: "none" })).toBe(`No match.\n${note}`);
    expect(await search({ pattern: "TOKEN", glob: "**/.env" })).toMatch(/^No match\.\n\[1 file that/);
    expect(await search({ pattern: "TOKEN", path: "src" })).toBe("src/a.ts\n1: TOKEN=1");
    // Whoever names one was asked about, and sees it.
    for (const path of [".env", "keys/server.pem", "sub/db.conf"])
      expect(await search({ pattern: "TOKEN", path })).toBe(`${path}\n1: TOKEN=1`);
    expect(await search({ pattern: "TOKEN", path: "private" })).toBe("private/notes.md\n1: TOKEN=1");
  } finally {
    await at.close();
  }
});

test("a file tool that names what is hidden is asked about", async () => {
  const hidden = createPolicy({ ...machine, hidden: async () => ["/srv/app/private", "/srv/app/a.conf"] });
  const decide = async (tool: string, path: string) => (await hidden.decide(request({ tool, path }))).rule.id;
  expect(await decide("read_file", "a.conf")).toBe("builtin:secret-read");
  expect(await decide("search", "private")).toBe("builtin:secret-read");
  expect(await decide("read_file", "private/notes.md")).toBe("builtin:secret-read");
  expect(await decide("read_file", "src/a.ts")).toBe("builtin:file-read");
});
