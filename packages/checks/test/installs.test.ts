import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { makePlace, type Place } from "./place.ts";

/** An installer in the project's eyes only: what it does is written down here, what is recorded of it is real. */
let place: Place;
const check = commandCheck("node check.js", { inputs: ["none"] });
const lock = { lockfileVersion: 3, packages: { "node_modules/plus": { version: "1.0.0" } } };
const lockText = (more: object = {}): string => JSON.stringify({ ...lock, packages: { ...lock.packages, ...more } }, null, 2);

beforeEach(() => {
  place = makePlace();
  place.write(".gitignore", "node_modules/\n.npmrc\n");
  place.write("package.json", JSON.stringify({ name: "p", scripts: { prepare: "node tools/prepare.js" } }));
  place.write("package-lock.json", lockText());
  place.write("tools/prepare.js", "");
  place.write("check.js", 'process.exit(require("./a.json").ok ? 0 : 1)');
  place.write("a.json", '{ "ok": false }');
  place.write("node_modules/plus/index.js", "1");
  place.commit();
});
afterEach(() => place.end());

async function install(baseline: Awaited<ReturnType<Place["baseline"]>>, command: string, work: () => void): Promise<void> {
  const looksAgain = await place.verifier.beforeRun(command, place.dir, baseline);
  work();
  const record = await looksAgain?.();
  if (record) place.runs.push(record);
}

async function ending(work: (run: (command: string, work: () => void) => Promise<void>) => Promise<void>) {
  const baseline = await place.baseline(check);
  place.write("a.json", '{ "ok": true }');
  await work((command, what) => install(baseline, command, what));
  const { evidence, verdict } = await place.round(baseline, check);
  return {
    verdict: verdict.verdict,
    kinds: evidence.flatMap((one) => one.weaknesses.map(({ kind }) => kind)),
    evidence,
    report: verdict.report,
  };
}
const weak = { verdict: "weak", kinds: ["inputs_changed"] };
const reinstall = (): void => {
  place.remove("node_modules");
  place.write("node_modules/plus/index.js", "1");
};

test("a recorded install by the baseline's lock file is no weakness, and the report says that it was", async () => {
  const end = await ending((run) => run("npm ci", reinstall));
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
  expect(end.report.criteria[0]?.evidence).toContain("dependencies by `npm ci`");
});

test("a new dependency is none either, and the changed lock file is named", async () => {
  const end = await ending(async (run) => {
    await run("npm install zod", () => {
      place.write("node_modules/zod/index.js", "2");
      place.write("package-lock.json", lockText({ "node_modules/zod": { version: "4.0.0" } }));
    });
    await run("npm install -D ms", () => {
      place.write("node_modules/ms/index.js", "3");
      place.write("package-lock.json", lockText({ "node_modules/ms": { version: "2.0.0" }, "node_modules/zod": { version: "4.0.0" } }));
    });
  });
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
  expect(end.report.criteria[0]?.evidence).toContain("dependencies by `npm install -D ms`, package-lock.json changed");
});

test("an install that removes what was there first makes up for an edit; one that leaves it does not", async () => {
  const edit = (): void => place.write("node_modules/plus/index.js", "evil");
  const baseline = await place.baseline(check);
  place.write("a.json", '{ "ok": true }');
  edit();
  await install(baseline, "npm install", () => place.write("node_modules/.package-lock.json", "{}"));
  expect((await place.round(baseline, check)).verdict.verdict).toBe("weak");
  await install(baseline, "npm ci", reinstall);
  expect((await place.round(baseline, check)).verdict.report.reasons).toEqual([]);
});

const lies: Readonly<Record<string, Parameters<typeof ending>[0]>> = {
  "no install at all": async () => reinstall(),
  "an edit after the install": async (run) => {
    await run("npm ci", reinstall);
    place.write("node_modules/plus/index.js", "evil");
  },
  "an install and an edit in one command": (run) => run("npm ci && sed -i s/1/2/ node_modules/plus/index.js", reinstall),
  "a lock file that was another during the install": async (run) => {
    place.write("package-lock.json", lockText({ "node_modules/evil": { version: "6.6.6" } }));
    await run("npm ci", reinstall);
    place.write("package-lock.json", lockText());
  },
  "a lock file that makes a folder of the workspace a dependency": (run) =>
    run("npm install", () => {
      place.write("node_modules/fake/index.js", "4");
      place.write("package-lock.json", lockText({ "node_modules/fake": { resolved: "fake", link: true } }));
    }),
  "a lock file that says no more what a package's content is": async (run) => {
    const entry = { version: "1.0.0", resolved: "https://example.org/zod.tgz" };
    await run("npm install zod", () => {
      place.write("node_modules/zod/index.js", "evil");
      place.write("package-lock.json", lockText({ "node_modules/zod": entry }));
    });
  },
  "no lock file": async (run) => {
    place.remove("package-lock.json");
    await run("npm install", reinstall);
  },
  "a script that the install runs": async (run) => {
    place.write("package.json", JSON.stringify({ name: "p", scripts: { prepare: "true", postinstall: "node evil.js" } }));
    await run("npm ci", reinstall);
    place.git("checkout", "package.json");
  },
  "a file that such a script runs": async (run) => {
    place.write("tools/prepare.js", "evil");
    await run("npm ci", reinstall);
    place.git("checkout", "tools/prepare.js");
  },
  "a patch that the install applies": async (run) => {
    place.write("patches/plus.patch", "evil");
    await run("npm ci", reinstall);
    place.remove("patches");
  },
  "ignored configuration that is gone afterwards": async (run) => {
    place.write(".npmrc", "script-shell=./evil");
    await run("npm ci", reinstall);
    place.remove(".npmrc");
  },
};
for (const [what, work] of Object.entries(lies)) {
  test(`dependencies stay weak: ${what}`, async () => expect(await ending(work)).toMatchObject(weak));
}

test("the real npm ci is recorded", async () => {
  mkdirSync(join(place.top, "plus/package"), { recursive: true });
  execFileSync(
    "bash",
    [
      "-c",
      `echo '{"name":"plus","version":"1.0.0"}' > package/package.json && mkdir -p ${place.dir}/deps && tar -czf ${place.dir}/deps/plus.tgz package`,
    ],
    {
      cwd: join(place.top, "plus"),
    },
  );
  const npm = (...args: string[]) =>
    execFileSync("npm", [...args, "--no-audit", "--no-fund"], {
      cwd: place.dir,
      stdio: "ignore",
      env: { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`, HOME: join(place.top, "home") },
    });
  place.remove("node_modules");
  place.write("package.json", JSON.stringify({ name: "p", dependencies: { plus: "file:deps/plus.tgz" } }));
  place.remove("package-lock.json");
  npm("install", "--package-lock-only");
  place.commit();
  const end = await ending((run) => run("npm ci", () => npm("ci")));
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
  expect(place.runs[0]?.folders[0]).toMatchObject({ key: "main:node_modules", before: null });
});
