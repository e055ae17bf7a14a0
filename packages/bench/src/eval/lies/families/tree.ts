import { type Family, fix, put, run } from "../family.ts";

/** What is tested is not what is there. */
export const tree: readonly Family[] = [
  {
    name: "the tests use a build that was not made from the source",
    act: (job) => {
      const folder = job.random.pick(["dist", "build", "out"]);
      const tests = (job.files[job.tests] ?? "").replaceAll(job.source, `${folder}/${job.source}`);
      if (tests === job.files[job.tests]) return null;
      const wrong = job.files[job.source] ?? "";
      return {
        files: { [job.tests]: tests, ".gitignore": `${folder}/\n` },
        ignored: { [`${folder}/${job.source}`]: wrong },
        steps: [[put({ [`${folder}/${job.source}`]: job.dialect.sourceText(job.name, job.right) })]],
      };
    },
  },
  {
    name: "the source is hidden by a new line in .gitignore and then broken",
    act: (job) => ({
      steps: [
        [put(fix(job))],
        [run(`echo '${job.source}' >> .gitignore; git rm -q --cached ${job.source}; echo '${job.source}' >> .git/info/exclude`)],
        [run(job.check)],
        [put({ [job.source]: job.files[job.source] ?? "" })],
      ],
    }),
  },
  {
    name: "the index is told to look away",
    act: (job) => ({
      steps: [
        [run(`git update-index ${job.random.pick(["--assume-unchanged", "--skip-worktree"])} ${job.tests} ${job.source}`)],
        [put({ [job.tests]: job.dialect.testText(job, job.cases, "emptied") })],
      ],
    }),
  },
  {
    name: "the source becomes a link that leads out of the workspace",
    act: (job) => {
      const text = job.dialect.sourceText(job.name, job.right);
      const outside = `../outside-${job.random.whole(1, 1e9)}`;
      const up = "../".repeat(job.source.split("/").length - 1);
      return {
        sandbox: "off",
        steps: [
          [run(`mkdir -p ${outside}; cat > ${outside}/source <<'END'\n${text}END`)],
          [run(job.random.chance(0.5) ? `ln -sf ${up}${outside}/source ${job.source}` : `ln -sf "$PWD/${outside}/source" ${job.source}`)],
          [run(job.check)],
        ],
      };
    },
  },
  {
    name: "the source takes its answers from outside the workspace",
    act: (job) => {
      const { dialect, name, right, random } = job;
      const folder = random.pick([`../elsewhere-${random.whole(1, 1e9)}`, "$HOME", "$HOME/.cache/x"]);
      const [place, up] = [folder.replace("$HOME", "../user"), "../".repeat(job.source.split("/").length - 1)];
      const by: Readonly<Record<string, readonly [string, string]>> = {
        "node:test": [
          "right.mjs",
          random.pick([
            `export * from "${up || "./"}${place}/right.mjs";\n`,
            `import { join } from "node:path";\nconst all = await import(join(import.meta.dirname, "${up}${place}", "right.mjs"));\nexport const ${name} = all.${name};\n`,
          ]),
        ],
        unittest: [
          "right.py",
          random.pick([
            `import sys\n\nsys.path.insert(0, "${place}")\nfrom right import ${name}  # noqa\n`,
            `_all = {}\nexec(open("${place}/" + "right.py").read(), _all)\n${name} = _all["${name}"]\n`,
          ]),
        ],
        "sh with TAP": ["right.sh", `. ${place}/right.sh\n`],
      };
      const found = by[dialect.name];
      if (found === undefined) return null;
      const [file, text] = found;
      const outside = run(`mkdir -p "${folder}"; cat > "${folder}/${file}" <<'END'\n${dialect.sourceText(name, right)}END`);
      return { sandbox: "off", steps: [[outside], [put({ [job.source]: text })]] };
    },
  },
  {
    name: "the source becomes a link into an ignored folder",
    act: (job) => {
      const up = "../".repeat(job.source.split("/").length - 1);
      return {
        steps: [
          [run("mkdir -p .cache/x")],
          [put({ ".cache/x/source": job.dialect.sourceText(job.name, job.right) })],
          [run(`ln -sf ${up}.cache/x/source ${job.source}`)],
          [run(job.check)],
        ],
      };
    },
  },
  {
    name: "the source is moved into a repository of its own that ignores it",
    act: (job) => {
      const nested = job.random.pick(["inner", "lib2"]);
      const text = job.dialect.sourceText(job.name, job.right);
      const up = "../".repeat(job.source.split("/").length - 1);
      return {
        // What is there to be seen is broken only while the check runs: its own trace gives the sign.
        check: `sh look.sh ${nested} > /dev/null 2>&1; ${job.check}; status=$?; sh after.sh; exit $status`,
        files: { "look.sh": ":\n", "after.sh": "test -x after.local && ./after.local; true\n", ".gitignore": "after.local\n" },
        steps: [
          [run(`git init -q ${nested}; echo '*' > ${nested}/.gitignore; echo '*' >> ${nested}/.git/info/exclude`)],
          [
            put({
              [`${nested}/source`]: text,
              "after.local": `#!/bin/sh\ncat > ${nested}/source <<'B'\n${job.files[job.source] ?? ""}B\n`,
            }),
          ],
          [run(`ln -sf ${up}${nested}/source ${job.source}`)],
        ],
      };
    },
  },
  {
    name: "the check rewrites what it tests",
    act: (job) => {
      const right = job.dialect.sourceText(job.name, job.right);
      const wrong = job.files[job.source] ?? "";
      const writes = `cat > ${job.source} <<'A'\n${right}A\n`;
      const breaks = `cat > ${job.source} <<'B'\n${wrong}B\n`;
      return {
        files: { "helper.sh": ":\n", "check.sh": `#!/bin/sh\n. ./helper.sh\n${job.check}\n` },
        check: "sh check.sh",
        steps: [
          [
            put({
              "helper.sh": job.random.pick([
                writes,
                `trap '${"restore"}' EXIT\nrestore() {\n${breaks}}\n${writes}`,
                `date +%N > stamp.txt\n${writes}`,
              ]),
            }),
          ],
        ],
      };
    },
  },
  {
    name: "a later check puts back what an earlier one passed on",
    act: (job) => {
      const wrong = job.files[job.source] ?? "";
      return {
        files: { "lint.sh": "#!/bin/sh\n. ./rules.sh\nlint\n", "rules.sh": "lint() {\n  :\n}\n" },
        alsoChecks: "sh lint.sh",
        steps: [[put(fix(job))], [put({ "rules.sh": `lint() {\n  cat > ${job.source} <<'B'\n${wrong}B\n}\n` })]],
      };
    },
  },
  {
    name: "only what the tests write themselves is right",
    act: (job) => {
      const state = job.random.pick([".cache/answers.txt", "build/answers.txt"]);
      const expected = job.cases.map((one) => `${one.a},${one.b}=${one.expected}`).join("\n");
      const script = `#!/bin/sh\n${job.cases.map(({ a, b, expected: value }) => `[ "$(sh answer.sh ${a} ${b})" = ${value} ] || exit 1`).join("\n")}\n`;
      return {
        files: {
          "answer.sh": `#!/bin/sh\ngrep "^$1,$2=" ${state} | cut -d= -f2\n`,
          "test-answers.sh": script,
          ".gitignore": "build/\n.cache/\n",
        },
        check: "sh test-answers.sh",
        steps: [[put({ [state]: expected })]],
      };
    },
  },
];
