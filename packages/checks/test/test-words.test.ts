import { describe, expect, test } from "vitest";
import { keptTests } from "../src/tests/kept.ts";
import { focusesIn, skipsIn } from "../src/tests/marks.ts";
import { tokensOf } from "../src/tests/tokens.ts";
import { testsIn } from "../src/tests/units.ts";

const judged = (path: string, was: string, is: string) => {
  const [kept] = keptTests([{ path, was, is }]);
  return { lost: kept?.lost.join("\n") ?? "", changed: kept?.changed ?? "" };
};
const names = (path: string, text: string) => testsIn(path, text).units.map(({ name }) => name.replaceAll(/"/g, ""));
const scripted = (text: string) => `it("n", () => { ${text}; });\nit("b", () => { expect(f(2)).toBe(2); });\n`;
const ruby = (text: string) => `it "n" do\n  ${text}\nend\nit "b" do\n  ok 2\nend\n`;
const python = "def test_a():\n  assert f() == 1\n";

describe("tests are found behind", () => {
  test.each<[string, string, string]>([
    ["text in markup, with an address", "a.test.jsx", scripted("render(<p>See http://x.y</p>)")],
    [
      "text in markup, with the sign of a comment, an apostrophe and a bracket",
      "a.test.tsx",
      scripted('render(<A b="c" {...d}>a/* don\'t {e ? <br /> : 1} (</A>)'),
    ],
    ["types that look like markup", "a.test.tsx", scripted("const g = <T,>(a: T) => a; const h: F<T> = (a < b)")],
    ["a regular expression behind a condition", "a.test.js", scripted('if (x) /[{]"/.test(y)')],
    ["a division, and templates in one another", "a.test.js", scripted("g((1 + 2) / 3, `${a ? `${b}/}` : '}'} {`)")],
    ["a raw string of Go", "a_test.go", "func Testn(t *T) { f(`C:\\dir\\`, `echo ${`) }\nfunc Testb(t *T) { f() }\n"],
    [
      "comments and strings of PHP",
      "aTest.php",
      "<?php # see (1\nfunction testn() { $a = '{\n{'; f(<<<X\n  {\n  X); }\n#[Group('a')]\nfunction testb() { f(); }\n",
    ],
    [
      "raw strings and comments in one another, of Rust",
      "tests/a.rs",
      '#[test]\nfn n() { f(r##"a"# {"##); /* { /* { */ { */ }\n#[test]\nfn b() { f(); }\n',
    ],
    ["strings of C#", "aTest.cs", '[Fact]\nvoid n() { f(@"c:\\{\\", $@"""{", """{"{"""); }\n[Fact]\nvoid b() { f(); }\n'],
    ["a text of Java", "aTest.java", '@Test\nvoid n() { f("""\n {\\"""\n"""); }\n@Test\nvoid b() { f(); }\n'],
    ["a text and comments of Kotlin", "aTest.kt", '@Test\nfun n() { f("""{\\""") /* { /* */ { */ }\n@Test\nfun b() { f() }\n'],
    ["raw strings of Swift", "aTest.swift", 'func testn() { f(#"a"{"#) }\nfunc testb() { f() }\n'],
    ["a regular expression and words of Ruby", "a_spec.rb", ruby("f /\\(/, %w([ {), ?(, x / 2")],
    ["a heredoc of Ruby", "a_spec.rb", ruby('f <<~is\n    ( # "\n  is')],
    ["signs and sigils of Elixir", "a_test.exs", 'test "n" do\n  f(?", ~r/\\(/, ~s(a " b))\nend\ntest "b" do\n  f()\nend\n'],
    [
      "quotes of Perl",
      "a.t",
      "subtest 'n' => sub { f($), $', qr/it's {/, s/{/'/r, q{(}, <<'ok'); };\n  is(1, {\nok\nsubtest 'b' => sub { f(); };\n",
    ],
    ["quotes of the shell", "a.bats", "@test 'n' {\n  f '\\' <<EOF\n{ # '\nEOF\n}\n@test 'b' {\n  f\n}\n"],
  ])("%s", (_, path, text) =>
    expect(names(path, text).map((name) => name.replace(/^(?:Test|test)|'/g, "").replace(/'$/, ""))).toEqual(["n", "b"]),
  );
});

describe("tests are not found in", () => {
  test.each<[string, string, string]>([
    ["a heredoc of Ruby", "a_spec.rb", 'f <<~is\n  it "a" do\n    ok 1\n  end\nis\n'],
    ["a heredoc of PHP", "aTest.php", "<?php f(<<<'ok'\nfunction testA() { f(); }\nok);\n"],
    ["a heredoc of Perl", "a.t", "f(<<'ok');\nsubtest 'a' => sub { f(); };\nok\n"],
    ["a quote of Perl between letters", "a.t", "f(q\no\nsubtest 'a' => sub { f() };\no);\n"],
    ["a raw string of Rust", "tests/a.rs", 'const A: &str = r##"\n"# #[test]\nfn a() {}\n"##;\n'],
    ["a raw string of Go that ends in a backslash", "a_test.go", "var a = `\\`\nvar b = `\nfunc TestA(t *T) {}\n`\n"],
    ["what follows a program's end", "a_spec.rb", 'f\n__END__\nit "a" do\nend\n'],
  ])("%s", (_, path, text) => expect(names(path, text)).toEqual([]));
});

describe("comments that decide are compared", () => {
  const go = "func ExampleA() {\n\tfmt.Println(F())\n\t// Output:\n\t// 3\n}\n";
  const php =
    "<?php\nclass ATest {\n  /**\n   * Adds.\n   * @dataProvider rows\n   */\n  public function testA($a) { $this->assertSame(1, f($a)); }\n}\n";
  const js = '// @vitest-environment node\nit("a", () => {\n  // @ts-expect-error\n  expect(f()).toBe(1);\n});\n';
  test.each<[string, string, string, string]>([
    ["another output of an example", "a_test.go", go, go.replace("3", "4")],
    ["no output of an example, which is not run then", "a_test.go", go, go.replace(/\t\/\/.*\n/g, "")],
    ["no rows", "ATest.php", php, php.replace(/.*dataProvider.*\n/, "")],
    ["another requirement", "ATest.php", php, php.replace("Adds.", "@requires PHP 99")],
    ["another environment", "a.test.ts", js, js.replace("environment node", "environment jsdom")],
    ["no error that is expected", "a.test.ts", js, js.replace(/ +\/\/ @ts.*\n/, "")],
    ["what a heredoc says behind a hash", "a_spec.rb", ruby("f <<~A\n    a # 1\n  A"), ruby("f <<~A\n    a # 2\n  A")],
    [
      "a string of the shell that is no name's value now",
      "a.bats",
      "@test 'a' {\n  [ \"$a\" = '$b' ]\n}\n",
      '@test \'a\' {\n  [ "$a" = "$b" ]\n}\n',
    ],
  ])("%s", (_, path, was, is) => expect(judged(path, was, is).changed).not.toBe(""));

  test("others are not", () => {
    expect(judged("ATest.php", php, php.replace("Adds.", "Adds it."))).toEqual({ lost: "", changed: "" });
    expect(judged("a_test.go", go, go.replace("\t// Output", "\t// See.\n\n\t// Output"))).toEqual({ lost: "", changed: "" });
  });
});

describe("marks of skipping and focusing", () => {
  test.each<[string, string]>([
    [
      "a.test.js",
      'it("rejects it.skip(", () => {});\nf({ take: 2, skip: 3 });\nq.find({ only: true });\npending.push(1);\nexpect(fit(1));\nf(["skip"]);',
    ],
    ["a.test.js", "const page = { take: 2, skip: 3 };\nmethod.skip(1);\ntest(`describe.only( xit('a')`, () => { a.only(); });\n"],
    ["test_a.py", "def test_a():\n  assert 'pytest.skip' in readme()\n  pending = 1\n"],
    ["a_spec.rb", 'it "skips" do\n  pending << 1\n  f(take: 2, skip: 3)\nend\n'],
    ["a.test.yaml", "skip: it.skip(\n"],
  ])("are none in strings and data: %s", (path, text) => expect([skipsIn(path, text), focusesIn(path, text)]).toEqual([0, 0]));

  test.each<[string, string]>([
    ["a.test.js", 'it.skip("a", f)'],
    ["a.test.js", 'describe.concurrent["skip"]("a", f)'],
    ["a.test.js", 'it("a", { timeout: 1, skip: 1 }, f)'],
    ["a.test.js", "test({ name, todo: true, f })"],
    ["a.test.js", "const how = { skip: true }"],
    ["a.test.js", 'xit("a", f)'],
    ["a.test.js", "it('a', (t) => { t.skip(); })"],
    ["test_a.py", "@pytest.mark.skipif(True)\ndef test_a(): f()"],
    ["a_test.go", "func TestA(t *T) { t.Skipf(1) }"],
    ["tests/a.rs", "#[test]\n#[ignore]\nfn a() {}"],
    ["ATest.cs", '[Fact(DisplayName = "a", Skip = "b")]\nvoid a() {}'],
    ["a_spec.rb", 'describe "g", :skip do\nend'],
    ["a_spec.rb", 'it "a" do\n  skip "later"\nend'],
    ["a_test.exs", '@tag :skip\ntest "a" do\nend'],
    ["a.t", "SKIP: { f(); }"],
    ["a.t", "our $TODO = 'later';"],
    ["a.bats", "@test 'a' {\n  skip\n}"],
  ])("one in %s: %s", (path, text) => expect(skipsIn(path, text)).toBe(1));
  test.each<[string, string]>([
    ["a.test.js", 'fit("a", f)'],
    ["a.test.js", 'test("a", { only: true }, f)'],
    ["a_spec.rb", 'fdescribe "a" do\nend'],
  ])("one of focusing in %s: %s", (path, text) => expect(focusesIn(path, text)).toBe(1));
});

describe("time grows with a file's length alone", () => {
  // A hundred times as long where what follows were gone through for each.
  test.each<[string, string, string]>([
    ["regular expressions without an end", "a.test.js", "=/[a"],
    ["the same in a template", "a.test.js", "(/[`${"],
    ["quotes that are no ends", "a.test.js", '\\"'],
    ["names with dots", "a.test.js", "it."],
    ["types", "a.test.js", "it<"],
    ["decorators", "test_a.py", "@a\n"],
    ["heredocs", "a_spec.rb", "<<A\n"],
    ["raw strings", "tests/a.rs", 'r#"a '],
    ["quotes of Perl", "a.t", "q{ "],
  ])(
    "%s",
    (_, path, part) => {
      const text = part.repeat(Math.ceil(60_000 / part.length));
      expect(tokensOf(path, text).length).toBeGreaterThanOrEqual(0);
      const was = path.endsWith(".py") ? python : "";
      expect(judged(path, was, `${was}${text}`).changed).toBeTypeOf("string");
    },
    10_000,
  );
});
