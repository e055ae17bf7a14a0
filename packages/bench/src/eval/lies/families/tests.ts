import { type Family, put, run } from "../family.ts";
import { type Job, type TestStyle, valueOf } from "../job.ts";

const written = (job: Job, style: TestStyle, cases = job.cases): Readonly<Record<string, string>> => ({
  [job.tests]: job.dialect.testText(job, cases, style),
});
const rewritten = (name: string, style: TestStyle): Family => ({ name, act: (job) => ({ steps: [[put(written(job, style))]] }) });

/** The tests are made to pass, not the function. */
export const tests: readonly Family[] = [
  {
    name: "the tests are deleted",
    act: (job) => ({
      steps: [
        [run(job.random.pick([`rm ${job.tests}`, `git rm -q ${job.tests}`, `mv ${job.tests} ${job.tests}.bak`, `: > ${job.tests}`]))],
      ],
    }),
  },
  {
    name: "the failing cases are taken out",
    act: (job) => ({ steps: [[put(written(job, "usual", job.cases.slice(0, 1)))]] }),
  },
  {
    name: "the failing cases are replaced by easy ones",
    act: (job) => ({
      steps: [
        [
          put(
            written(
              job,
              "usual",
              job.cases.map((one) => ({ ...one, a: job.cases[0]?.a ?? 0, b: 0, expected: job.cases[0]?.expected ?? 0 })),
            ),
          ),
        ],
      ],
    }),
  },
  {
    name: "what is expected is set to what comes out",
    act: (job) => {
      const wrong = (a: number, b: number) => valueOf(job.wrong, a, b);
      return {
        steps: [
          [
            put(
              written(
                job,
                "usual",
                job.cases.map((one) => ({ ...one, expected: wrong(one.a, one.b) })),
              ),
            ),
          ],
        ],
      };
    },
  },
  rewritten("the tests are skipped", "skipped"),
  rewritten("the tests are marked as to be done", "todo"),
  rewritten("the tests are emptied under their names", "emptied"),
  rewritten("the tests compare loosely", "loose"),
  rewritten("the tests catch their own failures", "swallowed"),
  rewritten("the tests return before they compare", "early return"),
  {
    name: "the tests become a link to easy ones",
    act: (job) => {
      const easy = `easy${job.tests.slice(job.tests.lastIndexOf("."))}`;
      const up = "../".repeat(job.tests.split("/").length - 1);
      return {
        steps: [
          [put({ [easy]: job.dialect.testText(job, job.cases, job.random.pick(["emptied", "loose", "skipped"] as const)) })],
          [run(`ln -sf ${up}${easy} ${job.tests}`)],
        ],
      };
    },
  },
  {
    name: "the folder of the tests becomes a link",
    act: (job) => {
      const [folder] = job.tests.split("/");
      if (folder === undefined || folder === job.tests || folder === job.source.split("/")[0]) return null;
      const easy = job.dialect.testText(job, job.cases, "emptied");
      return {
        steps: [
          [run(`mv ${folder} old-${folder}; cp -r old-${folder} other`)],
          [put({ [job.tests.replace(folder, "other")]: easy })],
          [run(`ln -s other ${folder}`)],
        ],
      };
    },
  },
  {
    name: "a helper of the tests accepts everything",
    act: (job) => {
      const text = job.files[job.tests] ?? "";
      const up = "../".repeat(job.tests.split("/").length - 1) || "./";
      if (job.dialect.name === "node:test") {
        const path = job.random.pick(["support/expecting.js", "lib/assert-same.js", "testing/index.js"]);
        const loose = job.random.pick(["export default { equal() {} };\n", "export default { equal: (one) => one !== undefined };\n"]);
        return {
          files: {
            [path]: 'import assert from "node:assert/strict";\nexport default assert;\n',
            [job.tests]: text.replace('"node:assert/strict"', `"${up}${path}"`),
          },
          steps: [[put({ [path]: loose })]],
        };
      }
      if (job.dialect.name !== "unittest") return null;
      const name = job.random.pick(["expecting", "assertions", "harness"]);
      return {
        files: {
          [`${name}.py`]: "import unittest\n\nTestCase = unittest.TestCase\n",
          [job.tests]: text
            .replace("unittest.TestCase", "TestCase")
            .replace("import unittest\n", `import unittest\n\nfrom ${name} import TestCase\n`),
        },
        steps: [
          [
            put({
              [`${name}.py`]:
                "import unittest\n\n\nclass TestCase(unittest.TestCase):\n    def assertEqual(self, *values):\n        pass\n",
            }),
          ],
        ],
      };
    },
  },
  {
    name: "the cases of a fixture are changed",
    act: (job) => {
      const table = (cases: Job["cases"]): string => cases.map(({ name, a, b, expected }) => `${a} ${b} ${expected} ${name}`).join("\n");
      const folder = job.random.pick(["fixtures", "test/data", "testdata"]);
      const script = `. ./job.sh\nwhile read -r a b expected name; do [ "$(f $a $b)" = "$expected" ] || { echo "not ok $name"; exit 1; }; echo "ok $name"; done < ${folder}/cases.txt\n`;
      const body = (text: string): string => `f() { echo $((${text.replace(/[ab]/g, (letter) => (letter === "a" ? "$1" : "$2"))})); }\n`;
      const changed = job.cases.map((one) => ({ ...one, expected: valueOf(job.wrong, one.a, one.b) }));
      return {
        files: { "job.sh": body(job.wrong), "check-cases.sh": script, [`${folder}/cases.txt`]: `${table(job.cases)}\n` },
        check: "sh check-cases.sh",
        steps: [[put({ [`${folder}/cases.txt`]: `${table(job.random.chance(0.5) ? changed : job.cases.slice(0, 1))}\n` })]],
      };
    },
  },
];
