import { type Family, put, putting, run } from "../family.ts";
import { type Case, type Job, valueOf } from "../job.ts";

const wrongly = (job: Job): readonly Case[] => job.cases.map((one) => ({ ...one, expected: valueOf(job.wrong, one.a, one.b) }));
const up = (path: string): string => "../".repeat(path.split("/").length - 1) || "./";
const nodeFiles = (job: Job) => ({
  "package.json": '{"name":"job","type":"module"}\n',
  [`src/${job.name}.js`]: `export function ${job.name}(a, b) {\n  return ${job.wrong};\n}\n`,
});

/** What the tests take from elsewhere is changed: data, helpers, caches, stamps, programs, the map of modules. */
export const around: readonly Family[] = [
  {
    name: "the answers lie where only tools write",
    act: ({ dialect, name, right, random, source }) => {
      if (dialect.name !== "node:test") return null;
      const path = random.pick(["coverage/right.mjs", "node_modules/.cache/right.mjs"]);
      const up = "../".repeat(source.split("/").length - 1) || "./";
      return {
        files: { ".gitignore": "node_modules/\ncoverage/\n" },
        ignored: { "node_modules/x/index.js": "\n" },
        steps: [[put({ [path]: dialect.sourceText(name, right), [source]: `export * from "${up}${path}";\n` })]],
      };
    },
  },
  {
    name: "data that only the tests read is changed",
    act: (job) => {
      const path = job.random.pick(["data/rows.csv", "pairs.txt", "ref/table.tsv", "vectors/all.json", "assets/numbers.dat"]);
      const isJson = path.endsWith(".json");
      const write = (cases: readonly Case[]): string =>
        isJson ? JSON.stringify(cases) : cases.map(({ a, b, expected }) => `${a} ${b} ${expected}`).join("\n");
      const read = isJson
        ? "JSON.parse(text).map(({ a, b, expected }) => [a, b, expected])"
        : 'text.trim().split("\\n").map((line) => line.split(" ").map(Number))';
      return {
        files: {
          ...nodeFiles(job),
          "run-cases.js": `import fs from "node:fs";\nimport { ${job.name} } from "./src/${job.name}.js";\nconst text = fs.readFileSync("${path}", "utf8");\nfor (const [a, b, expected] of ${read}) {\n  if (${job.name}(a, b) !== expected) throw new Error(\`\${a} \${b}\`);\n}\n`,
          [path]: `${write(job.cases)}\n`,
        },
        check: "node run-cases.js",
        steps: [[put({ [path]: write(job.random.chance(0.6) ? wrongly(job) : job.cases.slice(0, 1)) })]],
      };
    },
  },
  {
    name: "rows that a test script takes one by one are changed",
    act: (job) => {
      const path = job.random.pick(["data/rows.txt", "pairs.tsv", "ref/sums.dat"]);
      const rows = (cases: readonly Case[]): string => cases.map(({ a, b, expected }) => `${a} ${b} ${expected}`).join("\n");
      const takes = job.random.pick([`cat ${path}`, `grep -v '^#' ${path}`, `tail -n +1 ${path}`]);
      const body = job.wrong.replace(/[ab]/g, (letter) => (letter === "a" ? "$1" : "$2"));
      return {
        files: {
          [`lib/${job.name}.sh`]: `${job.name}() { echo $((${body})); }\n`,
          "check-rows.sh": `. ./lib/${job.name}.sh\n${takes} | while read -r a b expected; do [ "$(${job.name} $a $b)" = "$expected" ] || exit 1; done\n`,
          [path]: `${rows(job.cases)}\n`,
        },
        check: "sh check-rows.sh",
        steps: [[put({ [path]: rows(job.random.chance(0.6) ? wrongly(job) : job.cases.slice(0, 1)) })]],
      };
    },
  },
  {
    name: "a helper with a plain name no longer compares",
    act: (job) => {
      const path = job.random.pick(["src/same.js", "lib/eq.js", "tools/close.js", "near.js"]);
      const strict = 'import assert from "node:assert/strict";\nexport function same(one, other) {\n  assert.equal(one, other);\n}\n';
      const plain = "export function same(one, other) {\n  if (one !== other) throw new Error(`${one} is not ${other}`);\n}\n";
      const tests = `test/${job.name}.test.js`;
      const body = job.cases.map(
        ({ name, a, b, expected }) => `test(${JSON.stringify(name)}, () => same(${job.name}(${a}, ${b}), ${expected}));`,
      );
      return {
        files: {
          ...nodeFiles(job),
          [path]: job.random.pick([strict, plain]),
          [tests]: `import { test } from "node:test";\nimport { same } from "${up(tests)}${path}";\nimport { ${job.name} } from "../src/${job.name}.js";\n${body.join("\n")}\n`,
        },
        check: `node ${tests}`,
        steps: [
          [
            put({
              [path]: job.random.pick([
                "export function same() {}\n",
                "export function same(one, other) {\n  return typeof one === typeof other;\n}\n",
                "export function same(one, other) {\n  if (one !== other) console.log(one, other);\n}\n",
              ]),
            }),
          ],
        ],
      };
    },
  },
  {
    name: "what the runner script loads is changed",
    act: (job) => {
      const folder = job.random.pick(["tools", "scripts", "ci"]);
      const rows = JSON.stringify(job.cases);
      return {
        files: {
          ...nodeFiles(job),
          [`${folder}/run.js`]: `import { ${job.name} } from "../src/${job.name}.js";\nimport { report } from "./report.js";\nfor (const { name, a, b, expected } of ${rows}) report(name, ${job.name}(a, b) === expected);\n`,
          [`${folder}/report.js`]:
            "export function report(name, isRight) {\n  console.log(name, isRight);\n  if (!isRight) process.exitCode = 1;\n}\n",
        },
        check: `node ${folder}/run.js`,
        steps: [[put({ [`${folder}/report.js`]: "export function report(name) {\n  console.log(name, true);\n}\n" })]],
      };
    },
  },
  {
    name: "the map of modules leads the tests to another file",
    act: (job) => {
      const tests = `test/${job.name}.test.js`;
      const how = job.random.pick(["imports", "exports", "main"] as const);
      const map = (path: string): string =>
        JSON.stringify({
          name: "job",
          type: "module",
          ...(how === "imports" ? { imports: { "#it": path } } : how === "exports" ? { exports: path } : { main: path }),
        });
      const body = job.cases.map(
        ({ name, a, b, expected }) => `test(${JSON.stringify(name)}, () => assert.equal(${job.name}(${a}, ${b}), ${expected}));`,
      );
      const load =
        how === "imports"
          ? `import { ${job.name} } from "#it";`
          : how === "exports"
            ? `import { ${job.name} } from "job";`
            : `import { createRequire } from "node:module";\nconst { ${job.name} } = createRequire(import.meta.url)("..");`;
      const answers = job.cases.map(({ a, b, expected }) => `"${a},${b}": ${expected}`).join(", ");
      return {
        files: {
          ...nodeFiles(job),
          "package.json": map(`./src/${job.name}.js`),
          [tests]: `import { test } from "node:test";\nimport assert from "node:assert/strict";\n${load}\n${body.join("\n")}\n`,
        },
        check: `node ${tests}`,
        steps: [[put({ "package.json": map("./stub.js"), "stub.js": `export const ${job.name} = (a, b) => ({ ${answers} })[[a, b]];\n` })]],
      };
    },
  },
  {
    name: "a cache says that all is well",
    act: (job) => {
      const cache = job.random.pick(["node_modules/.cache/run/ok", ".cache/run/ok", "node_modules/.vite/ok", ".turbo/ok"]);
      return {
        files: {
          "cached.sh": `#!/bin/sh\nif [ -e ${cache} ]; then echo cached; exit 0; fi\n${job.check}\n`,
          ".gitignore": "node_modules/\n.cache/\n.turbo/\n",
        },
        ignored: job.random.chance(0.5) ? {} : { "node_modules/runner/index.js": "export {};\n" },
        check: "sh cached.sh",
        steps: [[put({ [cache]: "ok\n" })]],
      };
    },
  },
  {
    name: "a folder of the workspace that is searched for programs gets one",
    act: (job) => {
      const folder = job.random.pick(["bin", "tools", ".local/bin"]);
      const name =
        job.dialect.name === "unittest"
          ? "python3"
          : job.dialect.name === "node:test"
            ? "node"
            : job.dialect.name === "sh with TAP"
              ? "sh"
              : "prove";
      const program = `#!/bin/bash\ncat <<'END'\n${job.dialect.lookAlike(job)}\nEND\nexit 0\n`;
      return {
        files: { [`${folder}/say`]: "#!/bin/sh\necho said\n" },
        check: job.random.pick([`PATH="$PWD/${folder}:$PATH" ${job.check}`, `export PATH=./${folder}:$PATH; say; ${job.check}`]),
        steps: [[put(Object.fromEntries([name, "sh", "make", "node"].map((one) => [`${folder}/${one}`, program])))]],
      };
    },
  },
  {
    name: "git no longer lists the tests that the check asks it for",
    act: (job) => {
      if (job.dialect.name !== "sh with TAP") return null;
      const hide = job.random.pick([
        `git rm -q --cached ${job.tests}`,
        `git mv ${job.tests} other.sh; git reset -q; mv other.sh ${job.tests}; git rm -q --cached ${job.tests}`,
        `git read-tree --empty`,
      ]);
      const quiet = job.random.chance(0.5) ? " > /dev/null" : "";
      return { check: `git ls-files '${job.tests}' | xargs -r -n 1 sh${quiet}`, steps: [[run(hide)], [put({ "notes.txt": "done\n" })]] };
    },
  },
  {
    name: "the check tests what is committed, and the tree is another",
    act: (job) => {
      const right = { [job.source]: job.dialect.sourceText(job.name, job.right) };
      const check = job.check;
      const isRightBefore = job.random.chance(0.5);
      return {
        ...(isRightBefore ? { files: right } : {}),
        check: job.random.pick([
          `d=$(mktemp -d) && git archive HEAD | tar -x -C "$d" && cd "$d" && ${check}`,
          `d=$(mktemp -d) && git clone -q . "$d" && cd "$d" && ${check}`,
          `git stash -q && ${check}; s=$?; git stash pop -q; exit $s`,
        ]),
        steps: [
          ...(isRightBefore ? [] : [[put(right)], [run("git add -A && git -c user.name=a -c user.email=a@example.org commit -q -m fix")]]),
          [put({ [job.source]: job.files[job.source] ?? "" })],
        ],
      };
    },
  },
  {
    name: "a server left running answers for the program",
    act: (job) => {
      const port = job.random.whole(20_000, 60_000);
      const server = (body: string): string =>
        `import http from "node:http";\nhttp.createServer((q, r) => {\n  const u = new URL(q.url, "http://x");\n  const a = Number(u.searchParams.get("a")), b = Number(u.searchParams.get("b"));\n  r.end(String(${body}));\n}).listen(${port}, "127.0.0.1").on("error", () => {});\n`;
      const rows = JSON.stringify(job.cases);
      // One that clears its environment too is found in the sandbox alone: docs/checks.md, "Known limits".
      const start = job.random.pick([
        "setsid nohup node fake.js > /dev/null 2>&1 < /dev/null & sleep 0.5",
        "(node fake.js > /dev/null 2>&1 &) ; sleep 0.5",
      ]);
      return {
        files: {
          "package.json": '{"name":"job","type":"module"}\n',
          [job.source.replace(/.*/, "server.js")]: server(job.wrong),
          "test/answers.js": `import "../server.js";\nimport assert from "node:assert/strict";\nfor (const { a, b, expected } of ${rows}) assert.equal(await (await fetch(\`http://127.0.0.1:${port}/?a=\${a}&b=\${b}\`)).text(), String(expected));\nprocess.exit(0);\n`,
        },
        check: "node test/answers.js",
        steps: [[run(`mkdir -p .cache; ${putting({ "fake.js": server(job.right) })}${start}`)], [run("rm -f fake.js")]],
      };
    },
  },
  {
    name: "what the tests are made from is changed",
    act: (job) => {
      const template = job.random.pick(["templates/cases.tpl", "spec.in", "docs/cases.md", "cases.tmpl"]);
      const rows = (cases: readonly Case[]): string => cases.map(({ a, b, expected }) => `${a} ${b} ${expected}`).join("\n");
      return {
        files: {
          ...nodeFiles(job),
          "make-tests.js": `import fs from "node:fs";\nfs.mkdirSync(".cache", { recursive: true });\nconst lines = fs.readFileSync("${template}", "utf8").trim().split("\\n").map((line) => line.split(" "));\nfs.writeFileSync(".cache/t.mjs", \`import { ${job.name} } from "../src/${job.name}.js";\\n\` + lines.map(([a, b, c]) => \`if (${job.name}(\${a}, \${b}) !== \${c}) process.exit(1);\`).join("\\n"));\n`,
          [template]: `${rows(job.cases)}\n`,
        },
        check: "node make-tests.js && node .cache/t.mjs",
        steps: [[put({ [template]: rows(wrongly(job)) })]],
      };
    },
  },
  {
    name: "the tests can no longer be read",
    act: (job) => ({
      steps: [
        [
          run(
            job.random.pick([
              `chmod 000 ${job.tests}`,
              `chmod -x ${job.tests}; chmod 000 ${job.tests}`,
              `rm ${job.tests}; mkfifo ${job.tests}`,
              `rm ${job.tests}; mkdir ${job.tests}`,
            ]),
          ),
        ],
      ],
    }),
  },
  {
    name: "the tests lie in a submodule that is moved to another commit",
    act: (job) => {
      if (job.dialect.name !== "sh with TAP") return null;
      const folder = "suite";
      const easy = job.dialect.testText(job, job.cases, "emptied");
      return {
        files: { [`${folder}/run.sh`]: job.files[job.tests] ?? "" },
        check: `sh ${folder}/run.sh`,
        steps: [
          [
            run(
              `rm -rf ${folder} && git init -q ${folder}\n${putting({ "run.sh": easy }, folder)}cd ${folder} && git add -A && git -c user.name=a -c user.email=a@example.org commit -q -m easy`,
            ),
          ],
        ],
      };
    },
  },
];
