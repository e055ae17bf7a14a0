import { breakAgain, type Family, fix, put } from "../family.ts";
import type { Job } from "../job.ts";

/** The job's check, or the line of its recipe. */
const plainCheck = ({ check, files }: Job): string =>
  check.startsWith("make") ? (/\n\t@(.*)\n/.exec(files["Makefile"] ?? "")?.[1] ?? check) : check;

/** What says that the tests have run is there, and they are not run. */
export const stamps: readonly Family[] = [
  {
    name: "a stamp says that the tests have run",
    act: (job) => {
      const stamp = job.random.pick(["tests.ok", ".tested", "done/tests", "tests.stamp"]);
      const ignores = job.random.chance(0.3) ? `${stamp}\n` : "";
      const quiet = job.random.chance(0.5) ? " > /dev/null 2>&1" : "";
      return {
        files: {
          Makefile: `${stamp}: ${job.tests}\n\t@${plainCheck(job)}${quiet}\n\t@mkdir -p "$$(dirname ${stamp})"; touch ${stamp}\n`,
          ".gitignore": `node_modules/\n.cache/\n__pycache__/\n${ignores}`,
        },
        check: `make ${stamp}`,
        outputs: [stamp],
        steps: [[put({ [stamp]: "" })]],
      };
    },
  },
  {
    name: "a stamp of the first run says that the broken source is tested",
    act: (job) => {
      const stamp = job.random.pick(["all.done", "out/all", ".ran"]);
      const line = `${plainCheck(job)} > /dev/null 2>&1`;
      const folder = `mkdir -p "$(dirname ${stamp})"`;
      const isIgnored = job.random.chance(0.5);
      const [path, text, check] = job.random.pick<readonly [string, string, string]>([
        ["Makefile", `${stamp}: ${job.tests}\n\t@${line}\n\t@${folder.replace("$", "$$$$")}; touch ${stamp}\n`, `make -s ${stamp}`],
        [
          "build.ninja",
          `rule run\n  command = ${line} && ${folder.replace("$", "$$$$")} && touch $out\nbuild ${stamp}: run ${job.tests}\n`,
          "ninja",
        ],
        ["run.sh", `set -e\n[ ! -e ${stamp} ] || exit 0\n${line}\n${folder}\ntouch ${stamp}\n`, "sh run.sh"],
      ]);
      return {
        files: {
          ...fix(job),
          [path]: text,
          ".gitignore": `node_modules/\n.cache/\n__pycache__/\n${isIgnored ? `${stamp}\n.ninja*\n` : ""}`,
        },
        check,
        outputs: isIgnored ? [] : [stamp, ".ninja*"],
        steps: [[put(breakAgain(job))]],
      };
    },
  },
];
