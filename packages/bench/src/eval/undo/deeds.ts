import type { Json } from "@holdfast/protocol";

export interface Deed {
  readonly name: string;
  readonly input: Json;
}

const names = [
  "unix.txt",
  "dos.txt",
  "src/main.c",
  "src/deep/er/file",
  "run.sh",
  "staged.txt",
  "untracked.txt",
  "src/new.c",
  "vendor/library/lib.c",
];
const odd = [
  `"quo'te\\".txt"`,
  `$'new\\nline'`,
  `$'\\xff\\xfe-bytes'`,
  "'ü n.txt'",
  "./-dash",
  `$'tab\\there'`,
  "nested/in.txt",
  "nested/un.txt",
];
const folders = ["src", "src/deep", "fresh", "fresh/er", "empty", "vendor/library", "nested", "other"];
const links = ["inner", "outer", "dangling", "src/outer", "newlink"];

/** What an agent may do to a folder, at random: edits and commands, one of them ever so often senseless. */
export function deedOf(random: () => number, n: number, bigBytes: number): Deed {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const file = (): string => (random() < 0.35 ? pick(odd) : pick(names));
  const run = (command: string): Deed => ({ name: "run_command", input: { command } });
  const mode = (): string => pick(["644", "600", "755", "444", "640"]);
  const deeds: readonly (() => Deed)[] = [
    () => ({
      name: "write_file",
      input: { path: pick([...names, "edited.txt", "made/by/edit.txt"]), content: `written ${n}\n`, overwrite: true },
    }),
    () => run(`echo ${n} >> ${file()}`),
    () => run(`echo ${n} > ${file()}`),
    () => run(`sed -i s/e/${n}/ ${file()}`),
    () => run(`mv ${file()} ${file()}`),
    () => run(`mv ${pick(folders)} ${pick(folders)}`),
    () => run(`rm -f ${file()}`),
    () => run(`rm -rf ${pick(folders)}`),
    () => run(`mkdir -p ${pick(folders)} && echo ${n} > ${pick(folders)}/f${n % 7}`),
    () => run(`chmod ${mode()} ${file()}`),
    () => run(`chmod ${pick(["755", "700", "750"])} ${pick(folders)}`),
    () => run(`ln -sfn ${pick(["src", "/etc", "nowhere", "../outside", "unix.txt"])} ${pick(links)}`),
    () => run(`rm -f ${pick(links)}`),
    () => run(`ln -f ${file()} hard${n % 3}`),
    () => run(`mkfifo p${n % 3}`),
    () => run(`rm -f pipe p${n % 3}`),
    () => run(`git add -A`),
    () => run(`git add ${file()}; git commit -qm c${n}`),
    () => run(`git checkout -- ${file()}`),
    () => run(`git checkout -q HEAD~1 -- . ; true`),
    () => run(`git stash -q`),
    () => run(`git stash pop -q`),
    () => run(`git reset -q --hard`),
    () => run(`git rm -qf --cached ${file()}`),
    () => run(`git clean -fdq`),
    () => run(`git submodule -q update --init`),
    () => run(`echo '*.txt' >> .gitignore`),
    () => run(`printf '*.log\\n' > .gitignore`),
    () => run(`rm -f .gitignore`),
    () => run(`f=${pick(names)}; rm -rf "$f"; mkdir -p "$f/in"; echo ${n} > "$f/in/x"`),
    () => run(`d=${pick(folders)}; rm -rf "$d"; mkdir -p "$(dirname "$d")"; echo ${n} > "$d"`),
    () => run(`mv unix.txt UNIX.txt; mv UNIX.txt Unix.txt`),
    () => run(`for i in 1 2 3 4 5; do echo $i${n} > many$i.txt; done`),
    () => run(`mkdir -p build && echo ${n} > build/out; echo ${n} > b${n % 3}.log`),
    () => run(`head -c ${Math.floor(bigBytes * (0.5 + random()))} /dev/urandom > big${n % 2}.bin`),
    () => run(`printf 'a\\r\\nb${n}\\r\\n' > ${file()}`),
    () => run(`mkdir -p "e${n % 4}/mpty" && rmdir e${(n + 1) % 4}/mpty e${(n + 1) % 4}; true`),
    () => run(`cp -r src copy${n % 2}; true`),
    () => run(`touch ${file()}`),
    () => run(`git init -q made${n % 2} && echo ${n} > made${n % 2}/x`),
  ];
  return pick(deeds)();
}
