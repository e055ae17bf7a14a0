import { expect, test } from "vitest";
import { decideWith, rulesOf } from "./given-rules.ts";
import { decide } from "./world.ts";

const refused = rulesOf("user", { command: ["rm", "git push"] });

async function expectEach(commands: readonly string[], expected: string): Promise<void> {
  for (const command of commands) expect([command, (await decide(command)).decision]).toEqual([command, expected]);
}

test("code on a line is read in many languages, in frameworks' own tools, and wherever an interpreter takes it from its input", async () => {
  await expectEach(
    [
      "python3 /dev/stdin <<< 'import os; os.remove(\"a\")'",
      "cat a | python3 /dev/stdin",
      "python3 -c 'import os as o; o.remove(\"src/a.ts\")'",
      "python3 -m timeit -s 'import os' 'os.system(\"git push\")'",
      "./manage.py shell -c 'import os; os.remove(\"a\")'",
      `node --import 'data:text/javascript,import("child_process")' a.js`,
      `npx ts-node -e 'require("fs").rmSync("src")'`,
      `perl -e 'open(F,"|git push")'`,
      `ruby -e 'IO.popen("git push")'`,
      `rails runner "FileUtils.rm_rf('src')"`,
      `php artisan tinker --execute='unlink("a");'`,
      "mix run -e 'File.rm_rf!(\"src\")'",
      "Rscript -e 'system(\"git push\")'",
      "julia -e 'run(`git push`)'",
      "groovy -e '\"git push\".execute()'",
      "ocaml -e 'Sys.command \"git push\"'",
      "gnuplot -e 'system(\"git push\")'",
      "erl -noshell -eval 'os:cmd(\"git push\").'",
      "tclsh <<< 'file delete -force src'",
      "m4 <<< 'syscmd(`git push`)'",
      "cat a | m4",
      "dc -e '!git push'",
      "ex -sc '!git push' a",
      "emacs -Q -batch -eval '(delete-file \"a\")'",
      "awk -f - <<< 'BEGIN{system(\"git push\")}'",
      `gawk 'BEGIN{f="system"; @f("git push")}'`,
    ],
    "review",
  );
  await expectEach(
    [
      "python3 -c 'import platform; print(platform.system())'",
      `python3 -m timeit '"-".join("ab")'`,
      "node --import tsx --test a.ts",
      "npx ts-node src/a.ts",
      `perl -e 'open(my $f, "<", "a"); print <$f>'`,
      "rails runner script.rb",
      "mix run priv/repo/x.exs",
      "Rscript -e 'summary(lm(y ~ x))'",
      "gnuplot -e 'set term png; plot sin(x)'",
      "echo '2 3 + p' | dc",
      "php artisan test",
    ],
    "allow",
  );
});

test("a program is known under names that the line gives it, and by the command that a container or another machine is given", async () => {
  for (const command of [
    "source /dev/stdin <<< 'git push'",
    "coreutils --coreutils-prog=rm -rf src",
    "scp -S 'git push' a localhost:b",
    "ssh -oProxyCommand='git push' localhost",
    "node /usr/lib/node_modules/npm/bin/npm-cli.js exec -- rm -rf src",
  ])
    expect([command, await decideWith(refused, command)]).toEqual([command, "deny user-1"]);
  const allowed = rulesOf("organisation", { id: "there", decision: "allow", fact: ["remote_change", "services"] });
  for (const command of ["ssh prod rm -rf x", "ssh prod 'cd x && git push'", "docker exec x rm -rf y", "kubectl exec p -- git push"])
    expect([command, await decideWith([...allowed, ...refused], command)]).toEqual([command, "review user-1"]);
  await expectEach(["cp /bin/rm x && ./x -rf src", "ln -s $(which git) ./g", "ssh localhost rm -rf src", "cat a | . /dev/stdin"], "review");
  await expectEach(["ln -s /usr/bin/python3 .venv/bin/python", "cp /usr/bin/env bin/", "cp /usr/share/dict/words w"], "allow");
});

test("settings of the environment and of package managers that name a program are asked about", async () => {
  await expectEach(
    [
      "LESS='+!git push' less a",
      "VIMINIT=':!git push' vim a",
      "FZF_DEFAULT_COMMAND=./x fzf",
      "CARGO_BUILD_RUSTC=./x cargo build",
      "GOFLAGS=-vettool=./x go vet",
      "CONFIG_SHELL=./x ./configure",
      `cargo test --config 'target."cfg(all())".runner="git push"'`,
      "npm test --script-shell=./x",
      "pnpm test --node-options='--require ./x'",
    ],
    "review",
  );
  await expectEach(
    ["LESS=-FRX less a", "GOFLAGS=-mod=vendor go vet", "cargo test --config net.offline=true", "npm --silent test"],
    "allow",
  );
});

test("a script that a line writes itself is read where the line runs it", async () => {
  for (const command of [
    "echo 'git push' > x.sh; sh x.sh",
    "printf 'cd src\\ngit push\\n' >> ./x && bash x",
    "cat > x.sh <<'X'\ngit push\nX\n. ./x.sh",
    "cat <<'X' > x && chmod +x x && ./x\n#!/bin/sh\nrm -rf src\nX",
    "echo 'git push' | tee x.sh; sh x.sh",
    "printf 'all:\\n\\trm -rf src\\n' > Makefile && make",
    "echo 'import os; os.remove(\"a\")' > x.py; python3 x.py",
  ])
    expect([command, (await decideWith(refused, command)).split(" ")[0]]).toEqual([command, "review"]);
  await expectEach(
    ["cat > x.sh <<'X'\nnpm test\nX\nbash x.sh", "echo 'rm -rf src' > notes.md; cat notes.md", "echo 'console.log(1)' > x.js && node x.js"],
    "allow",
  );
});

test("an address that is given to a tool for media, or read by code of any language, needs the network", async () => {
  await expectEach(
    [
      "ffmpeg -i https://x.example/a.mp4 b.mp4",
      "pandoc http://x.example -o b.html",
      `Rscript -e 'readLines("http://x.example")'`,
      `elixir -e ':httpc.request("http://x.example")'`,
    ],
    "review",
  );
  await expectEach(["ffmpeg -i a.mov b.mp4", "xmllint --noout a.xml", "ffmpeg -i http://localhost:3000/a.mp4 b.mp4"], "allow");
});
