import { afterEach, beforeEach, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { makePlace, type Place } from "./place.ts";

/** The check imports from `dist`, which is ignored and which its command does not name. */
let place: Place;
const check = commandCheck("node check.js", { inputs: ["none"] });
const wrong = "module.exports = (a, b) => a - b;\n";
const right = "module.exports = (a, b) => a + b;\n";

beforeEach(() => {
  place = makePlace();
  place.write(".gitignore", "dist/\nnode_modules/\n");
  place.write("package.json", JSON.stringify({ scripts: { build: "node build.js" } }));
  place.write("build.js", "");
  place.write("check.js", 'process.exit(require("./dist/add.js")(1, 2) === 3 ? 0 : 1)');
  place.write("add.js", wrong);
  place.write("dist/add.js", wrong);
  place.write("node_modules/bundler.js", "1");
  place.commit();
});
afterEach(() => place.end());

type Run = (command: string, work: () => void) => Promise<void>;

async function ending(work: (run: Run) => Promise<void>) {
  const baseline = await place.baseline(check);
  await work(async (command, what) => {
    const looksAgain = await place.verifier.beforeRun(command, place.dir, baseline);
    what();
    const record = await looksAgain?.();
    if (record) place.runs.push(record);
  });
  const { evidence, verdict } = await place.round(baseline, check);
  return { verdict: verdict.verdict, kinds: evidence.flatMap((one) => one.weaknesses.map(({ kind }) => kind)) };
}
const build = (): void => place.write("dist/add.js", right);

test("output of a recorded build of the final tree is no weakness, nor is what was built on the way", async () => {
  const end = await ending(async (run) => {
    await run("npm run build", () => place.write("dist/add.js", wrong));
    place.write("add.js", right);
    await run("npm run build", build);
  });
  expect(end).toEqual({ verdict: "pass", kinds: [] });
});

test("a recorded build explains that a check passes on a tree on which it failed, where it does so each time", async () => {
  place.write("add.js", right);
  place.remove("dist");
  place.commit();
  expect(await ending((run) => run("npm run build", build))).toEqual({ verdict: "pass", kinds: [] });
  place.remove("dist");
  place.runs.length = 0;
  place.write("check.js", `require("./dist/add.js"); require("fs").mkdirSync("${place.top}/once");`);
  place.commit();
  expect(await ending((run) => run("npm run build", build))).toEqual({ verdict: "weak", kinds: ["flaky"] });
});

test("ignored files that the check can do without are no weakness", async () => {
  place.write("check.js", 'process.exit(require("./add.js")(1, 2) === 3 ? 0 : 1)');
  place.commit();
  const end = await ending(async () => {
    place.write("add.js", right);
    place.write("dist/data.db", "1");
  });
  expect(end).toEqual({ verdict: "pass", kinds: [] });
});

const lies: Readonly<Record<string, (run: Run) => Promise<void>>> = {
  "written by hand": async () => build(),
  "edited after the build": async (run) => {
    await run("npm run build", () => place.write("dist/add.js", wrong));
    build();
  },
  "edited before a build that leaves it": async (run) => {
    build();
    await run("npm run build", () => place.write("dist/log.txt", "up to date"));
  },
  "built from another tree": async (run) => {
    place.write("add.js", right);
    await run("npm run build", build);
    place.write("add.js", `${wrong}// other\n`);
  },
  "built and edited in one command": (run) => run("npm run build && sed -i s/-/+/ dist/add.js", build),
  "built by another script": async (run) => {
    place.write("package.json", JSON.stringify({ scripts: { build: "sed s/-/+/ add.js > dist/add.js" } }));
    await run("npm run build", build);
    place.git("checkout", "package.json");
  },
  "built by a script file that was another then": async (run) => {
    place.write("build.js", "evil");
    await run("npm run build", build);
    place.git("checkout", "build.js");
  },
};
for (const [what, work] of Object.entries(lies)) {
  test(`ignored output that the check uses is stale: ${what}`, async () => {
    const end = await ending(async (run) => {
      place.write("other.js", "so that the tree is another than the baseline's");
      await work(run);
    });
    expect(end).toEqual({ verdict: "weak", kinds: ["stale_build"] });
  });
}

test("a build with dependencies that are others at the end does not count", async () => {
  const end = await ending(async (run) => {
    place.write("add.js", right);
    place.write("node_modules/evil.js", "1");
    await run("npm run build", build);
    place.remove("node_modules/evil.js");
  });
  expect(end.kinds).toContain("stale_build");
});

test("a run without the output counts only with as many tests", async () => {
  const counted = commandCheck("node --test 'dist/*.test.js'");
  const baseline = await place.baseline(counted);
  place.write("dist/a.test.js", 'require("node:test")("a", () => {});\n');
  place.write("add.js", right);
  const { evidence } = await place.round(baseline, counted);
  expect(evidence[0]?.weaknesses.map(({ kind }) => kind)).toEqual(["stale_build"]);
});
