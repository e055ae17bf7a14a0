import { describe, expect, test } from "vitest";
import { decide } from "./world.ts";

/** Neither proven, so never rerun as a read, nor let through where more than the sandbox is at stake. */
async function notProven(commands: readonly string[]): Promise<void> {
  for (const command of commands) expect((await decide(command)).provenRead, command).toBe(false);
}
async function reviewed(commands: readonly string[]): Promise<void> {
  for (const command of commands) expect((await decide(command)).decision, command).toBe("review");
}
async function proven(commands: readonly string[]): Promise<void> {
  for (const command of commands) expect(await decide(command), command).toMatchObject({ decision: "allow", provenRead: true });
}

describe("each kind of fault that let a command past a policy", () => {
  test("compound command: each segment is judged alone", async () => {
    await notProven(["git log && ./mark", "git log | ./mark", "git log & ./mark"]);
    await reviewed(["true; rm src/a.ts", "(rm src/a.ts)", "{ rm src/a.ts; }", "if true; then rm src/a.ts; fi", "ls || rm -r src"]);
  });

  test("redirection as a write: files follow the rule for writes, /dev/null and descriptors don't", async () => {
    await reviewed([
      "echo x > ~/out",
      "wc README.md > ~/out",
      "echo x >> .git/hooks/pre-commit",
      "echo x >| ../f",
      "echo x &> ../f",
      "echo x > >(tee ../f)",
    ]);
    await notProven(["echo x > out.txt", ": > f", "> f", "ls 1<>f"]);
    await proven(["ls 2>/dev/null", "ls 2>&1", "ls &>/dev/null", "ls 2>&-"]);
  });

  test("environment prefix and interpreter wrapper: the program is found", async () => {
    await reviewed([
      "AWS_PROFILE=p aws x",
      "bash -c 'aws x'",
      'sh -lc "aws x"',
      "eval aws x",
      "env -i aws x",
      "bash <<< 'aws x'",
      "echo aws x | sh",
    ]);
  });

  test("position of a flag: a pager before the subcommand, a patch after it", async () => {
    await reviewed(["git -p log", "git --paginate show", "git -c core.pager=./mark log"]);
    await proven(["git log -p", "git diff -p"]);
  });

  test("an argument that makes a reader write or run", async () => {
    await notProven([
      "find . -exec ./mark {} +",
      "find . -fprint out",
      "find . -name x -o -fprintf out a",
      "sort -o out f",
      "git diff --output=out",
      "sed -n 'w out' f",
      "uniq f out",
      "xxd f out",
      "env ./mark",
      "find . -ok ls {} ;",
    ]);
    await reviewed([
      "find . -delete",
      "sed '1e ./mark' f",
      "awk 'BEGIN{system(\"./mark\")}'",
      "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=./mark f",
      "date -s now",
      "sort --compress-program=./m f",
    ]);
    await proven(["find . -name '*.ts'", "sed -n 's/write/exec/p' a", "sort -u -- -o"]);
  });

  test("unknown flag: what isn't in the table isn't trusted", async () => {
    await notProven([
      "rg x . --pre=./mark",
      "rg --pre ./mark x",
      "rg --hostname-bin=./mark x",
      "rg -z x",
      "RIPGREP_CONFIG_PATH=./cfg rg x",
      "ls --new-flag",
      "grep --unheard x",
      "git status --new",
    ]);
  });

  test("spelling of a program: only a bare name or the system's own folder counts", async () => {
    await notProven([
      "./git status",
      "/tmp/git status",
      "../bin/ls",
      "git(){ ./mark; }; git status",
      "alias git=./mark; git status",
      "hash -p ./mark git; git status",
      "PATH=.:$PATH git status",
    ]);
    await proven(["/usr/bin/git status", "/bin/ls"]);
  });

  test("newline injection: every line is a command", async () => {
    await notProven(["echo hi\n./mark", "# note\n./mark", "echo <<A\n$(./mark)\nA"]);
    await reviewed(["echo hi\r\n./mark", "echo hi\nrm -rf src", "cat <<E\n$(rm -rf src)\nE"]);
    await proven(["echo a \\\n b", "cat <<'E'\n$(./mark)\nE"]);
  });

  test("computed command name: what isn't literal is asked for", async () => {
    await reviewed([
      'echo safe\n"${VAR:-./mark}"',
      "x=./mark; $x",
      "./m*rk",
      "source <(cat mark)",
      ". $x",
      '"$(echo rm)" src',
      "/bin/r? -rf src",
    ]);
    await notProven(["echo safe\n$'\\x2e/mark'", ". ./mark"]);
  });

  test("over-normalisation: a flag binds wherever it stands", async () => {
    for (const command of [
      "git push --force",
      "git push origin main --force",
      "git push -f",
      "git -C . push --force",
      "git push origin +main",
    ]) {
      expect((await decide(command)).reason, command).toContain("rewrites");
    }
  });

  test("self-modification: no way of writing reaches hooks and settings unasked", async () => {
    await reviewed([
      "echo x > .holdfast/config.toml",
      "sed -i s/a/b/ .git/config",
      "mv x .mcp.json",
      "cp x .vscode/tasks.json",
      "ln -sf x .git/hooks/pre-commit",
      "tee AGENTS.md < x",
      "git checkout AGENTS.md",
      "touch .github/workflows/x.yml",
      "cd .git && echo x > config",
    ]);
  });

  test("trap, alias and function: code that runs later is seen", async () => {
    await reviewed(["trap 'npm publish' EXIT; git status", "trap 'curl -s https://example.com' DEBUG\nls", "f() { rm -rf src; }; f"]);
    await notProven(["command_not_found_handle() { ls; }; ls; nosuch"]);
  });

  test("another repository's settings: a read elsewhere isn't proven", async () => {
    await notProven([
      "cd /tmp/x && git status",
      "git -C /tmp/x status",
      "git --git-dir=/tmp/x status",
      "GIT_DIR=/tmp/x git status",
      "cd sub; git status",
    ]);
    await proven(["cd src && ls", "git --no-pager status"]);
  });

  test("text that bash evaluates although it is quoted", async () => {
    await reviewed([
      "[ -v 'a[$(id)]' ]",
      "[[ 'a[$(id)]' -eq 1 ]]",
      "let 'a[$(id)]'",
      "unset 'a[$(id)]'",
      "printf -v 'a[$(id)]' x",
      "x='$(id)'; echo ${x@P}",
    ]);
  });

  test("words that the parser and bash split differently", async () => {
    await reviewed(["r<()m -rf src", "echo x > a<(true)b", "for x in a<()b; do ls; done"]);
    await notProven(["\\[[ a ]]", "command [[ a ]]", "\\coproc ls", ">/dev/null [[ a ]]"]);
  });

  test("deletion in two steps", async () => {
    await reviewed([
      "mv src /tmp/x && rm -rf /tmp/x",
      "mv src x; rm -rf x",
      "cd nowhere; rm a.ts",
      'd=src; rm -rf "$d"',
      "rm -rf {src,docs}",
    ]);
  });

  test("secrets by every spelling", async () => {
    await reviewed([
      'cat ~/.ss"h"/id_rsa',
      "cat ${HOME}/.ssh/id_rsa",
      "cat /home/ana/./.ssh/../.ssh/id_rsa",
      "cat ~/.s*/id_rsa",
      "p=/usr; cat $p/../etc/shadow",
      'rg "$(< ~/.ssh/id_rsa)" .',
      "tar cf x.tar ~/.aws",
      "base64 < ~/.netrc",
    ]);
  });
});
