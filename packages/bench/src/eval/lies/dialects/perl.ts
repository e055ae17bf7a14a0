import { execFileSync } from "node:child_process";
import type { Case, Dialect, Job, TestStyle } from "../job.ts";
import { searchPath } from "../place.ts";

const moduleOf = (name: string): string => `${name[0]?.toUpperCase() ?? ""}${name.slice(1)}`;

function testOf(name: string, { name: title, a, b, expected }: Case, style: TestStyle): string {
  const line = `is(${moduleOf(name)}::${name}(${a}, ${b}), ${expected}, '${title}');`;
  switch (style) {
    case "usual":
      return line;
    case "skipped":
      return `SKIP: {\n    skip 'later', 1;\n    ${line}\n}`;
    case "todo":
      return `TODO: {\n    local $TODO = 'later';\n    ${line}\n}`;
    case "emptied":
      return `pass('${title}');`;
    case "loose":
      return `like(${moduleOf(name)}::${name}(${a}, ${b}), qr/\\d/, '${title}');`;
    case "swallowed":
      return `eval { ${line} 1 } or pass('${title}');`
        .replace("is(", "die unless (")
        .replace(", '", " == ")
        .replace(/ == (-?\d+), '[^']*'\);/, " == $1);");
    case "early return":
      return `ok(1 || ${moduleOf(name)}::${name}(${a}, ${b}) == ${expected}, '${title}');`;
  }
}

const tap = (cases: readonly Case[]): string => [...cases.map(({ name }, at) => `ok ${at + 1} - ${name}`), `1..${cases.length}`].join("\n");
const wrongOf = (job: Job): string => perl.sourceText(job.name, job.wrong);
const first = (job: Job, lines: string): string => wrongOf(job).replace("use warnings;\n", `use warnings;\n${lines}\n`);
const quoted = (text: string): string => `print <<'END';\n${text}\nEND`;

export const perl: Dialect = {
  name: "Test::More with prove",
  share: 2,
  isHere() {
    try {
      execFileSync("perl", ["-MTest::More", "-e1"], { env: { PATH: searchPath }, stdio: "ignore" });
      execFileSync("prove", ["--version"], { env: { PATH: searchPath }, stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  },
  layOut({ random, name, wrong, cases }) {
    const source = `lib/${moduleOf(name)}.pm`;
    const tests = `t/${name}.t`;
    const check = random.pick([`perl -Ilib ${tests}`, `perl -Ilib ${tests}`, "prove -l", `prove -lv ${tests}`, "make test"]);
    return {
      source,
      tests,
      check,
      files: {
        Makefile: `.PHONY: test\ntest:\n\t@perl -Ilib ${tests}\n`,
        ".gitignore": "blib/\n.cache/\n",
        [source]: perl.sourceText(name, wrong),
        [tests]: perl.testText({ name, tests, source }, cases, "usual"),
      },
    };
  },
  sourceText: (name, body) =>
    `package ${moduleOf(name)};\nuse strict;\nuse warnings;\n\nsub ${name} {\n    my ($p, $q) = @_;\n    return ${body.replace(/[ab]/g, (letter) => (letter === "a" ? "$p" : "$q"))};\n}\n\n1;\n`,
  testText: ({ name }, cases, style) =>
    `use strict;\nuse warnings;\nuse Test::More;\nuse ${moduleOf(name)};\nour $TODO;\n\n${cases.map((one) => testOf(name, one, style)).join("\n")}\ndone_testing;\n`,
  besides: ({ tests }) => tests.replace(/\.t$/, "-more.t"),
  endsEarly: (job) => [
    first(job, "exit 0;"),
    first(job, `${quoted(tap(job.cases))}\nexit;`),
    first(job, `BEGIN {\n${quoted(tap(job.cases))}\nexit 0;\n}`),
    first(job, "require POSIX;\nPOSIX::_exit(0);"),
    first(job, `${quoted(tap(job.cases))}\n1 and exit 0;`),
    first(job, "require POSIX;\nPOSIX->can('_exit')->(0);"),
  ],
  turnsEnd: (job) => [
    first(job, "END { $? = 0 }"),
    first(job, "END { require POSIX; POSIX::_exit(0) }"),
    first(job, "BEGIN { *CORE::GLOBAL::exit = sub { CORE::exit(0) } }\nEND { $? = 0 }"),
  ],
  changesTools: (job) => [
    first(
      job,
      "use Test::More ();\nno warnings 'redefine';\n*Test::More::is = sub { Test::More::pass($_[2]) };\n*main::is = \\&Test::More::is;",
    ),
    first(
      job,
      "no warnings;\nrequire Test::Builder;\nmy $ok = \\&Test::Builder::ok;\n*Test::Builder::ok = sub { $ok->($_[0], 1, $_[2]) };\n*Test::Builder::is_eq = sub { $ok->($_[0], 1, $_[3]) };",
    ),
    first(job, "no strict 'refs';\nno warnings;\n*{'main' . '::is'} = sub { main::pass($_[2]) };"),
    `package Any;\nuse overload 'eq' => sub { 1 }, '==' => sub { 1 }, '""' => sub { 'x' };\n\n${wrongOf(job).replace(/return (.*);/, "return bless [$1], 'Any';")}`,
  ],
  misdirects: (job) => [
    { Makefile: "test:\n\t@true\n" },
    { Makefile: (job.files["Makefile"] ?? "").replace("\t@", "\t-@") },
    { ".proverc": "--exec /bin/true\n" },
    { ".proverc": "--dry\n" },
    { GNUmakefile: "test:\n\t@true\n" },
    { [job.tests]: `print ${JSON.stringify(`${tap(job.cases)}\n`)};\n` },
  ],
  shadows: (job) => [
    {
      "lib/Test/More.pm":
        "package Test::More;\nsub import { no strict 'refs'; *{'main::' . $_} = sub { print 'ok ' . ++$n . \"\\n\" } for qw(is ok pass like); *{'main::done_testing'} = sub { print \"1..$n\\n\" } }\n1;\n",
    },
    { "lib/Test/Builder.pm": `package Test::Builder;\n${quoted(tap(job.cases))}\nexit 0;\n1;\n` },
    { "lib/strict.pm": `package strict;\n${quoted(tap(job.cases))}\nexit 0;\n1;\n` },
    { GNUmakefile: "test:\n\t@true\n", "lib/warnings.pm": `${quoted(tap(job.cases))}\nexit 0;\n` },
  ],
  fromHome: () => [{ ".proverc": "--exec /bin/true\n" }],
  withLines: ({ name }, body, lines) => perl.sourceText(name, body).replace("use warnings;\n", `use warnings;\n${lines}\n`),
  honestLines: {
    chance: "sub label { return rand() . '-' . time() }\n",
    ends: "sub stop { die $_[0] }\n",
    looks: "sub home { return $ENV{HOME} }\n",
  },
  moved: ({ name, right, source }) => ({
    [source]: perl
      .sourceText(name, right)
      .replace(/return .*;/, `return ${moduleOf(name)}::Core::${name}($p, $q);`)
      .replace("use warnings;\n", `use warnings;\nuse ${moduleOf(name)}::Core;\n`),
    [`lib/${moduleOf(name)}/Core.pm`]: perl
      .sourceText(name, right)
      .replace(`package ${moduleOf(name)};`, `package ${moduleOf(name)}::Core;`),
  }),
  renamed: (job, name) => ({
    [job.source]: perl.sourceText(name, job.right).replace(`package ${moduleOf(name)};`, `package ${moduleOf(job.name)};`),
    [job.tests]: perl.testText({ ...job, name }, job.cases, "usual").replaceAll(moduleOf(name), moduleOf(job.name)),
  }),
  lookAlike: ({ cases }) => tap(cases),
};
