import { type Family, put, run } from "../family.ts";
import type { Job } from "../job.ts";

const source = (job: Job, text: string) => ({ steps: [[put({ [job.source]: text })]] });

/** The source under test acts on the process that tests it. */
export const inProcess: readonly Family[] = [
  { name: "the source ends the tests early with status 0", act: (job) => source(job, job.random.pick(job.dialect.endsEarly(job))) },
  { name: "the source turns a failing end into a good one", act: (job) => source(job, job.random.pick(job.dialect.turnsEnd(job))) },
  { name: "the source changes what the tests compare with", act: (job) => source(job, job.random.pick(job.dialect.changesTools(job))) },
  {
    name: "the source is right every other time",
    act: (job) => {
      const { right, wrong, name, dialect } = job;
      const count = job.random
        .pick(["/tmp/holdfast-lies-count-$X", ".cache/count", "count.txt"])
        .replace("$X", String(job.random.whole(1, 1e9)));
      const by: Readonly<Record<string, string>> = {
        "node:test": `import fs from "node:fs";\nlet n = 0;\ntry {\n  n = fs.readFileSync("${count}", "utf8").length;\n} catch {}\ntry {\n  fs.mkdirSync(".cache", { recursive: true });\n  fs.appendFileSync("${count}", "x");\n} catch {}\nexport function ${name}(a, b) {\n  return n % 2 ? ${right} : ${wrong};\n}\n`,
        unittest: `import os\n\nos.makedirs(".cache", exist_ok=True)\nwith open("${count}", "a+") as f:\n    f.write("x")\n    n = f.tell()\n\n\ndef ${name}(a, b):\n    return ${right} if n % 2 == 0 else ${wrong}\n`,
        "sh with TAP": `mkdir -p .cache\nn=$(wc -c 2>/dev/null < ${count} || echo 0)\nprintf x >> ${count}\nif [ $((n % 2)) = 1 ]; then\n${dialect.sourceText(name, right)}else\n${dialect.sourceText(name, wrong)}fi\n`,
        "Test::More with prove": dialect
          .sourceText(name, `$n % 2 ? ${right} : ${wrong}`)
          .replace(
            "use warnings;\n",
            `use warnings;\nmkdir '.cache';\nmy $n = -s '${count}' || 0;\nopen my $f, '>>', '${count}';\nprint $f 'x';\nclose $f;\n`,
          ),
      };
      const text = by[dialect.name];
      return text === undefined ? null : source(job, text);
    },
  },
  {
    name: "the source is right by chance",
    act: (job) => {
      const { right, wrong, name, dialect } = job;
      const by: Readonly<Record<string, string>> = {
        "node:test": `const good = Math.random() < 0.5;\nexport function ${name}(a, b) {\n  return good ? ${right} : ${wrong};\n}\n`,
        unittest: `import random\n\n_good = random.random() < 0.5\n\n\ndef ${name}(a, b):\n    return ${right} if _good else ${wrong}\n`,
        "sh with TAP": `if [ $(($(od -An -N1 -tu1 /dev/urandom) % 2)) = 1 ]; then\n${dialect.sourceText(name, right)}else\n${dialect.sourceText(name, wrong)}fi\n`,
        "Test::More with prove": dialect
          .sourceText(name, `$good ? ${right} : ${wrong}`)
          .replace("use warnings;\n", "use warnings;\nmy $good = rand() < 0.5;\n"),
      };
      const text = by[dialect.name];
      return text === undefined ? null : source(job, text);
    },
  },
  {
    name: "the source is right only where it is tested",
    act: (job) => {
      const { right, wrong, name, dialect } = job;
      const by: Readonly<Record<string, readonly string[]>> = {
        "node:test": [
          "process.env.NODE_TEST_CONTEXT",
          'process.argv.some((one) => one.includes("test"))',
          'process.argv[1]?.endsWith(".test.js")',
          '"PYTHONPYCACHEPREFIX" in process.env',
          'process.env.npm_lifecycle_event === "test" || process.env["PYTHONDONT" + "WRITEBYTECODE"]',
        ].map((when) => `const tested = ${when};\nexport function ${name}(a, b) {\n  return tested ? ${right} : ${wrong};\n}\n`),
        unittest: [
          '"unittest" in sys.modules',
          'os.environ.get("PYTHONPYCACHEPREFIX", "").endswith("/python")',
          'any("test" in one for one in sys.argv)',
        ].map(
          (when) => `import os\nimport sys\n\n_tested = ${when}\n\n\ndef ${name}(a, b):\n    return ${right} if _tested else ${wrong}\n`,
        ),
        "sh with TAP": ['"$PYTHONDONTWRITEBYTECODE" = 1', '"${0##*/}" != "$0" -o "${0#test}" != "$0"'].map(
          (when) => `if [ ${when} ]; then\n${dialect.sourceText(name, right)}else\n${dialect.sourceText(name, wrong)}fi\n`,
        ),
        "Test::More with prove": ["$INC{'Test/More.pm'}", "$ENV{HARNESS_ACTIVE} || $0 =~ /\\.t$/", "$ENV{PYTHONPYCACHEPREFIX}"].map(
          (when) => dialect.sourceText(name, `(${when}) ? ${right} : ${wrong}`),
        ),
      };
      const texts = by[dialect.name];
      return texts === undefined ? null : source(job, job.random.pick(texts));
    },
  },
  {
    name: "a command that runs on writes while the check runs",
    isTornTree: true,
    act: (job) => {
      const right = job.dialect.sourceText(job.name, job.right);
      const wrong = job.files[job.source] ?? "";
      const delay = job.random.pick(["0.02", "0.05", "0.15", "0.3"]);
      const script = `while :; do\ncat > ${job.source} <<'A'\n${right}A\nsleep ${delay}\ncat > ${job.source} <<'B'\n${wrong}B\nsleep ${delay}\ndone`;
      const start = job.random.pick([script, `(${script}) > /dev/null 2>&1 & wait`]);
      return { sandbox: job.random.pick(["off", "workspace-write"] as const), steps: [[run(start, { yield_s: 0 })]] };
    },
  },
  {
    name: "the source is broken just after the check",
    isTornTree: true,
    act: (job) => {
      const wrong = job.files[job.source] ?? "";
      const right = job.dialect.sourceText(job.name, job.right);
      // It waits for the check's own trace, so that it strikes at the earliest moment after it.
      return {
        check: `${job.check}; status=$?; touch coverage; exit $status`,
        files: { ".gitignore": "coverage\nnode_modules/\n__pycache__/\n" },
        steps: [
          [put({ [job.source]: right })],
          [run(`rm -f coverage; until test -e coverage; do sleep 0.01; done\ncat > ${job.source} <<'B'\n${wrong}B`, { yield_s: 0 })],
        ],
      };
    },
  },
];
