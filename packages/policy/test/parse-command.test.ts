import { describe, expect, test } from "vitest";
import { parseCommand } from "../src/index.ts";

/** Every command as its words; `?` stands for a word that isn't literal. */
function commands(line: string): string[] {
  return parseCommand(line)
    .commands.filter((command) => command.words.length > 0)
    .map((command) => command.words.map((word) => word.literal ?? "?").join(" "));
}
const problems = (line: string): string[] => parseCommand(line).problems.map((problem) => problem.kind);

describe("every simple command is found", () => {
  test.each([
    ["a | b && c || d; e & f", ["a", "b", "c", "d", "e", "f"]],
    ["a\nb\n\n\tc", ["a", "b", "c"]],
    ["(a; { b; }); if c; then d; elif e; then f; else g; fi", ["a", "b", "c", "d", "e", "f", "g"]],
    ["while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]],
    ["for x in $(a); do b; done; select y in `c`; do d; done", ["a", "b", "c", "d"]],
    ["case $(a) in b) c;; *) d;; esac", ["a", "c", "d"]],
    ["f() { a; }; f", ["a", "f"]],
    ['echo "$(a)" `b` ${x:-$(c)} $((d + $(e)))', ["a", "b", "c", "e", "echo ? ? ? ?"]],
    ["a <(b) >(c)", ["b", "c", "a ? ?"]],
    ["a > $(b)", ["b", "a"]],
    ["cat <<EOF\n$(a)\nEOF", ["a", "cat"]],
    ["cat <<'EOF'\n$(a)\nEOF", ["cat"]],
    ['cat <<< "$(a)"', ["a", "cat"]],
    ["x=$(a) b", ["a", "b"]],
    ["x=($(a) b)", ["a"]],
    ["[[ -f $(a) ]]", ["a", "[[ -f ?"]],
    ["(( $(a) > 1 ))", ["a", "(("]],
    ["coproc a", ["a"]],
    ["! time a", ["a"]],
    ["a \\\n  b", ["a b"]],
  ])("%s", (line, expected) => {
    expect(commands(line).toSorted()).toEqual(expected.toSorted());
  });
});

describe("wrappers are taken off", () => {
  test.each([
    ["env -i A=1 rm x", "rm x"],
    ["sudo -u root -n rm x", "rm x"],
    ["nice -n 5 timeout -k 1 5 nohup rm x", "rm x"],
    ["stdbuf -oL setsid rm x", "rm x"],
    ["command -p rm x", "rm x"],
    ["exec -a ls rm x", "rm x"],
    ["bash -c 'rm x'", "rm x"],
    ["sh -euc 'rm x' name", "rm x"],
    ["bash --norc -x -c 'rm x'", "rm x"],
    ["eval rm x", "rm x"],
    ['eval "rm x; ls"', "rm x"],
    ["xargs -0 -n1 rm -f", "rm -f ?"],
    ["xargs -I% rm a/%", "rm ?"],
    ["find . -name a -exec rm {} ;", "rm ?"],
    ["find . -execdir rm x {} +", "rm x ?"],
    ["fd a -x rm", "rm ?"],
    ["git bisect run rm x", "rm x"],
    ["git submodule foreach 'rm x'", "rm x"],
    ["git rebase --exec 'rm x' main", "rm x"],
    ["trap 'rm x' EXIT", "rm x"],
    ["watch -n 1 'rm x'", "rm x"],
    ["npx --no-install rimraf x", "rimraf x"],
    ["npm exec -- rimraf x", "rimraf x"],
    ["pnpm exec rimraf x", "rimraf x"],
    ["npx -c 'rm x'", "rm x"],
    ["uv run rm x", "rm x"],
    ["bash <<'EOF'\nrm x\nEOF", "rm x"],
    ["bash <<< 'rm x'", "rm x"],
    ["env -S 'rm x'", "rm x"],
    ["busybox rm x", "rm x"],
    ["flock lock -c 'rm x'", "rm x"],
  ])("%s", (line, inner) => {
    expect(commands(line)).toContain(inner);
  });

  test("the way to a command is kept", () => {
    expect(parseCommand("sudo env A=1 bash -c 'ls'").commands.at(-1)?.via).toEqual(["sudo", "env", "bash"]);
  });

  test("assignments before the inner command go with it", () => {
    const inner = parseCommand("env PATH=/x ls").commands.at(-1);
    expect(inner?.assignments.map((each) => each.name)).toEqual(["PATH"]);
  });
});

describe("what only exists at run time is a problem", () => {
  test.each([
    'eval "$x"',
    'bash -c "$x"',
    "a | sh",
    "source <(a)",
    "bash <<EOF\n$x\nEOF",
    "xargs sh -c",
    "su -c ls",
    "parallel a",
    "env --weird ls",
    "env -S 'rm -r' src",
    "echo ${x@P}",
    "mapfile -C 'a' x",
    "a | f; f() { sh; }",
  ])("%s", (line) => {
    expect(problems(line)).toContain("hidden_code");
  });
});

test("broken grammar is a problem at any depth", () => {
  for (const line of ["echo 'a", "if a; then b", "echo $(if a)", "bash -c 'echo \"a'", "a | | b", "( a"])
    expect(problems(line), line).toContain("syntax");
});

test("deep nesting and endless lines are problems, not failures", () => {
  expect(problems("$(".repeat(5000) + "a" + ")".repeat(5000))).not.toEqual([]);
  expect(problems("eval ".repeat(200) + "ls")).toContain("too_complex");
  expect(problems("a;".repeat(40_000))).toContain("too_complex");
});

describe("words", () => {
  const word = (text: string) => parseCommand(`a ${text}`).commands.at(-1)!.words[1]!;

  test("quotes of all kinds vanish", () => {
    expect(word("$'\\x72'\"m\"'-'\\r").literal).toBe("rm-r");
  });

  test("a glob, a variable and a substitution are unknown", () => {
    for (const text of ["*.ts", "a?", "[ab]", "$x", '"$x"', "${x}", "$(b)", "`b`", "{a,$x}", "{a,{b,c}}", "$((1))", "<(b)", '$"a"'])
      expect(word(text).literal, text).toBeNull();
  });

  test("what the line itself assigns is a guess, never a literal", () => {
    const command = parseCommand('x=/etc; y=$x/passwd; cat "$y"').commands.at(-1)!;
    expect(command.words[1]).toMatchObject({ literal: null, guesses: ["/etc/passwd"] });
  });

  test("braces give the words that bash makes of them", () => {
    const words = (text: string) =>
      parseCommand(`x ${text}`)
        .commands[0]!.words.slice(1)
        .map((each) => each.literal);
    expect(words("a{b,c}d")).toEqual(["abd", "acd"]);
    expect(words("-{delete,print}")).toEqual(["-delete", "-print"]);
    expect(words("f{1..3} '{a,b}'")).toEqual(["f1", "f2", "f3", "{a,b}"]);
    expect(words("~/.ss{h,}/id")).toEqual(["~/.ssh/id", "~/.ss/id"]);
    expect(word("a{b,c}$x").guesses).toEqual([]);
  });

  test("only an unquoted tilde means the home", () => {
    expect(word("~/x").fromHome).toBe(true);
    expect(word("'~/x'").fromHome).toBe(false);
    expect(word("\\~/x").fromHome).toBe(false);
  });
});

describe("the folder of a command is followed", () => {
  const last = (line: string) => parseCommand(line).commands.at(-1)!.places;
  test.each([
    ["ls", [""]],
    ["cd a && ls", ["a"]],
    ["cd a; ls", ["a", ""]],
    ["cd a && cd ../b && ls", ["a/../b"]],
    ["(cd a); ls", [""]],
    ["cd a | b; ls", [""]],
    ["cd /x && ls", ["/x"]],
    ["cd && ls", ["~"]],
    ["cd a || ls", [""]],
    ['cd "$x"; ls', null],
    ["cd -; ls", null],
    ["for x in a b; do cd x; done; ls", null],
    ["f() { cd /; }; f; ls", null],
    ["bash -c 'cd /x'; ls", [""]],
    ["eval 'cd /x' && ls", ["/x"]],
    ["pushd a && ls", ["a"]],
    ["cd a &\nls", [""]],
  ])("%s", (line, expected) => {
    expect(last(line)).toEqual(expected);
  });
});
