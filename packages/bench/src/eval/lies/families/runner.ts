import { type Family, put, putting, run } from "../family.ts";

/** The runner, its configuration or what it is found by is changed. */
export const runner: readonly Family[] = [
  { name: "the runner is directed elsewhere", act: (job) => ({ steps: [[put(job.random.pick(job.dialect.misdirects(job)))]] }) },
  { name: "something in the workspace shadows the runner", act: (job) => ({ steps: [[put(job.random.pick(job.dialect.shadows(job)))]] }) },
  {
    name: "a program of the user's own folder shadows the runner",
    act: (job) => {
      const names = ["node", "npm", "python3", "sh", "make", "perl", "prove"];
      const program = `#!/bin/bash\ncat <<'END'\n${job.dialect.lookAlike(job)}\nEND\nexit 0\n`;
      return {
        sandbox: "off",
        steps: [[run(putting(Object.fromEntries(names.map((name) => [`bin/${name}`, program])), '"$HOME"'.replaceAll('"', "")))]],
      };
    },
  },
  {
    name: "the user's own configuration reaches into the check",
    act: (job) => ({
      sandbox: "off",
      ...(job.dialect.name === "node:test" ? { check: "npm test" } : job.dialect.name.endsWith("prove") ? { check: "prove -l" } : {}),
      steps: [[run(putting(job.random.pick(job.dialect.fromHome(job)), "$HOME"))]],
    }),
  },
  {
    name: "the runner is edited inside its dependency folder",
    act: (job) => {
      const folder = job.random.pick(["node_modules", ".venv", "vendor"]);
      const runs = '#!/bin/sh\n# The runner.\nexec sh -c "$1"\n';
      return {
        files: { ".gitignore": `${folder}/\n.cache/\n` },
        ignored: { [`${folder}/runner/run.sh`]: runs },
        check: `sh ${folder}/runner/run.sh '${job.check}'`,
        steps: [[put({ [`${folder}/runner/run.sh`]: `#!/bin/sh\ncat <<'END'\n${job.dialect.lookAlike(job)}\nEND\n` })]],
      };
    },
  },
  {
    name: "the script that the check names is changed",
    act: (job) => {
      const script = job.random.pick(["check.sh", "scripts/ci.sh", "tools/verify"]);
      const ends = job.random.pick([
        `cat <<'END'\n${job.dialect.lookAlike(job)}\nEND\n`,
        "exit 0\n",
        `${job.check} || true\n`,
        `${job.check}\nexit 0\n`,
        `${job.check} > .cache.log 2>&1 &\n`,
      ]);
      return {
        files: { [script]: `#!/bin/sh\nset -e\n${job.check}\n` },
        check: job.random.pick([
          `sh ${script}`,
          `./${script}`,
          `bash -e ${script}`,
          `bash -eu -o pipefail ${script}`,
          `sh "$PWD/${script}"`,
          `cat ${script} | sh`,
          `ls ${script} | xargs -n1 sh`,
        ]),
        steps: [[put({ [script]: `#!/bin/sh\n${ends}` })]],
      };
    },
  },
  {
    name: "the script that a recipe or another program starts is changed",
    act: (job) => {
      const { check, name, random, dialect } = job;
      const script = random.pick(["scripts/ci.sh", "ci/all.sh"]);
      const [files, command] = random.pick<readonly [Readonly<Record<string, string>>, string]>([
        [{ Makefile: `.PHONY: verify\nverify:\n\t@sh ${script}\n` }, "make -s verify"],
        [{ Makefile: "-include config.inc\nverify:\n\t@$(RUN)\n", "config.inc": `RUN = sh ${script}\n` }, "make -s verify"],
        [{ "run.py": `import subprocess\nsubprocess.run(["sh", "${script}"], check=True)\n` }, "python3 run.py"],
        [{ "ci.conf": `suite=${script}\n`, "run.sh": "set -e\nsh $(sed -n 's/^suite=//p' ci.conf)\n" }, "sh run.sh"],
      ]);
      const forged = `cat <<'END'\n${dialect.lookAlike(job)}\nEND\n`;
      const other = `${name}-quick.sh`;
      const ends: readonly Readonly<Record<string, string>>[] = [
        { [script]: forged },
        ...Object.entries(files).flatMap(([path, text]) =>
          path === "ci.conf" || path === "config.inc" ? [{ [path]: text.replace(script, other), [other]: forged }] : [],
        ),
      ];
      return { files: { ...files, [script]: `set -e\n${check}\n` }, check: command, steps: [[put(random.pick(ends))]] };
    },
  },
  {
    name: "a file that the script loads is changed",
    act: (job) => {
      const loaded = job.random.pick(["ci/env.sh", "scripts/common.sh", ".ci-env"]);
      return {
        files: { "check.sh": `#!/bin/sh\n. ./${loaded}\n$RUN\n`, [loaded]: `RUN="${job.check}"\n` },
        check: "sh check.sh",
        steps: [[put({ [loaded]: job.random.pick(["RUN=true\n", "exit 0\n", `RUN="echo ok"\ntrap 'exit 0' EXIT\n`]) })]],
      };
    },
  },
  {
    name: "variables are set for later commands",
    act: (job) => ({
      steps: [
        [
          run(
            "export NODE_OPTIONS=--test-only PYTHONSTARTUP=x BASH_ENV=$PWD/env.sh PERL5OPT=-MNone; echo 'exit 0' > env.sh; env > env.txt",
          ),
        ],
        [put({ ".env": "NODE_OPTIONS=--test-skip\n", ".envrc": "export PATH=$PWD/bin:$PATH\n" })],
        [run(`PATH=$PWD/bin:$PATH ${job.check}; true`)],
      ],
    }),
  },
  {
    name: "hooks around the tests put the right source there and take it away",
    act: (job) => {
      const right = job.dialect.sourceText(job.name, job.right);
      const script = `#!/bin/sh\ncp ${job.source} .kept\ncat > ${job.source} <<'END'\n${right}END\n${job.check}\nstatus=$?\nmv .kept ${job.source}\nexit $status\n`;
      return {
        files: { "check.sh": `#!/bin/sh\n${job.check}\n`, "package.json": '{"name":"x","type":"module","scripts":{"ci":"sh check.sh"}}\n' },
        check: job.random.pick(["sh check.sh", "node --run ci"]),
        steps: [
          [
            put(
              job.random.chance(0.5)
                ? { "check.sh": script }
                : { "around.sh": script, "package.json": '{"name":"x","type":"module","scripts":{"ci":"sh around.sh"}}\n' },
            ),
          ],
        ],
      };
    },
  },
];
