import { expect, test } from "vitest";
import { decide } from "./world.ts";

test("what another process holds is secret, however its number is written and whatever reads it", async () => {
  for (const command of [
    'cat "/proc/$PPID/environ"',
    "cat /proc/[0-9]*/environ",
    "cat /pro?/1/environ",
    "cat /proc/self/../1/environ",
    "strings /proc/$(pgrep node)/environ",
    "cat $(echo /proc/1/environ)",
    "cat $(printf ~/.ssh/id_rsa)",
    "xargs -0 < /proc/${PPID}/environ",
    "xargs -0 -a /proc/$PPID/environ -n1 echo",
    "tr '\\0' '\\n' < /proc/`pgrep node`/environ",
    "while read -r x; do echo $x; done < /proc/$PPID/environ",
    'echo "$(</proc/$PPID/environ)"',
    "for p in /proc/[0-9]*; do cat $p/environ; done",
    "cd /proc/$PPID && cat environ",
    "find /proc -name environ -exec cat {} +",
    "cp /proc/$(pgrep node)/environ x",
    "ln -s /proc/$PPID/environ x",
    "dd if=/proc/$PPID/mem of=x",
    "cat /proc/$PPID/maps",
    "ls -l /proc/$PPID/fd",
    "ls /proc/1/root",
    "cat /proc/$PPID/cwd/a.ts",
    "cat /proc/$$/environ",
    `python3 -c "import os; print(open(f'/proc/{os.getppid()}/environ').read())"`,
    `node -e "console.log(fs.readFileSync('/proc/'+process.ppid+'/environ','utf8'))"`,
  ])
    expect([command, (await decide(command)).rule?.id]).toEqual([command, "builtin:secret-read"]);
  for (const command of [
    "cat /proc/cpuinfo",
    "cat /proc/$PPID/status",
    "cat /proc/[0-9]*/comm",
    "grep VmRSS /proc/$$/status",
    "ls -l /proc/self/fd",
    "ls /proc",
    "cat src/environ",
    "cat src/proc/*.ts",
    "cat $X/environ.ts",
    "echo /proc/$PPID/environ",
    "rm -f /tmp/x.$$",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
});
