import { expect, test } from "vitest";
import { decide } from "./world.ts";

const hook = ".git/hooks/pre-commit";

async function rulesFor(commands: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const command of commands) {
    const { decision, rule } = await decide(command);
    if (decision !== "review") throw new Error(`${command}: ${decision}`);
    found.add(rule?.id ?? "none");
  }
  return found;
}

test("what a program writes by an operand or an option is a write like one behind a redirection", async () => {
  const inside = [
    "uniq -cf 2 a FILE",
    "shuf -eo FILE a b",
    "iconv -co FILE a",
    "iconv --outp=FILE a",
    "xxd -r a FILE",
    "tree -ao FILE",
    "strace -fo FILE ls",
    "sort -uo FILE a",
    "csplit -kf FILE a 3",
    "split -l 10 a FILE",
    "dd if=a of=FILE",
    "sed '1~2w FILE' a",
    "sed 'y/a/b/;/[/]/,+3!w FILE' a",
    "sed -ni p FILE",
    "awk -i inplace 1 FILE",
    "awk -v f=FILE '{print > f}' a",
    "gcc a.c -oFILE",
    "go build -o=FILE",
    "objcopy a FILE",
    "ar rcs FILE a.o",
    "openssl rand -out FILE 10",
    "ffmpeg -i a.mp4 FILE",
    "yq -i .a=1 FILE",
    "git merge-file FILE a b",
    "git interpret-trailers --in-place FILE",
    "tar -cvzfFILE a",
    "tar -cf a.tar --index-file=FILE src",
    "rsync --log-file=FILE a b",
    "gzip -k FILE",
    "sponge FILE",
    "prettier --write FILE",
    "pandoc a.md -o FILE",
    "python3 -m zipfile -c FILE a",
    "frob --to=FILE",
  ];
  expect(await rulesFor(inside.map((each) => each.replace("FILE", hook)))).toEqual(new Set(["builtin:protected-write"]));
  const outside = ["uniq a FILE", "xxd -c 4 a FILE", "curl -sLo FILE localhost:3000", "wget -qO FILE http://localhost", "cp -rt FILE a"];
  const more = ["install -Dm755 -t FILE a", "install -d FILE", "tar -xzC FILE -f a.tgz", "mktemp -p FILE", "ed FILE", "frob FILE"];
  expect(await rulesFor([...outside, ...more].map((each) => each.replace("FILE", "~/.local/bin/x")))).toEqual(
    new Set(["builtin:outside-write"]),
  );
  expect(await rulesFor(["sed 'r .env' a"])).toEqual(new Set(["builtin:secret-read"]));
});

test("what a program reads, or writes inside the workspace, is asked about no more", async () => {
  for (const command of [
    "uniq -c /etc/hosts",
    "xxd -l 16 /bin/ls",
    "split -b 1M /usr/share/a part-",
    "gunzip -c /usr/share/a.gz",
    "gcc -c -Wno-foo -I/usr/include/x -o build/a.o a.c",
    "tar -tvf /usr/share/a.tgz",
    "ar t /usr/lib/libc.a",
    "openssl x509 -in /etc/a.crt -noout",
    "yq .a /usr/share/a.yml",
    "unzip -o /usr/share/a.zip",
    "awk -F: '$3 > 5 {print $1}' /etc/passwd",
    "sed -i '/foo/a export x; echo y' src/a.ts",
    "sed 's/a/b;e/' a",
    "shellcheck .git/hooks/pre-commit",
    "prettier --check .",
    "go test -coverprofile=cover.out ./...",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
});
