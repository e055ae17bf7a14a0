import { describe, expect, test } from "vitest";
import { keptTests } from "../src/tests/kept.ts";

type Files = Readonly<Record<string, readonly [was: string | null, is: string | null]>>;
const judged = (files: Files) => {
  const all = keptTests(Object.entries(files).map(([path, [was, is]]) => ({ path, was, is })));
  return {
    lost: all.flatMap(({ lost }) => lost).join("\n"),
    changed: all.flatMap(({ changed }) => (changed === "" ? [] : [changed])).join(", "),
  };
};
const kept = { lost: "", changed: "" };

const js = `import { f } from "../src/f.js";
const cases = [["a", 1], ["b", [1, 2]]];
const once = (x) => f(x);
test("one", () => { expect(f(1)).toBe(1); });
test("two", () => { expect(once(2)).toBe(2); });
test.each(cases)("all %s", (a, b) => { expect(f(a)).toBe(b); });
`;
const py =
  "import pytest\nfrom shop import total\n\n\ndef check(x):\n    assert x\n\n\ndef test_a():\n    assert (\n        total(1) == 1\n    )\n";
const hooked = `describe("a", () => {
  afterEach(() => { expect(errors).toEqual([]); });
  it("x", () => { expect(f(1)).toBe(1); });
});
describe("b", () => {
  it("y", () => { expect(f(2)).toBe(2); });
});
`;
const go = 'package a\n\nfunc TestA(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Fatal("x")\n\t}\n}\n';
const [a, b] = ["test/a.test.js", "test/b.test.js"];

describe("tests whose file has another name", () => {
  const elsewhere = (is: string, to = js): Files => ({ [a]: [js, null], [b]: [null, is], ...(to === js ? {} : { [b]: [to, is] }) });

  test("are as they were", () => {
    expect(judged(elsewhere(js.replace("one", "first")))).toEqual(kept);
    expect(judged(elsewhere(`${js}test("z", () => { ok(1); });\n`, 'test("z", () => { ok(1); });\n'))).toEqual(kept);
    const skipped = js.replace('test("one"', 'test.skip("one"');
    expect(judged({ [a]: [skipped, null], [b]: [null, skipped] })).toEqual(kept);
    const parts = hooked.split(/(?=describe)/);
    expect(judged({ [a]: [hooked, parts[0] ?? ""], [b]: [null, parts[1] ?? ""] })).toEqual(kept);
  });

  test.each<[string, string, string, "lost" | "changed"]>([
    ["emptied", "expect(f(1)).toBe(1);", "", "lost"],
    ["skipped", 'test("one"', 'test.skip("one"', "lost"],
    ["focused", 'test("one"', 'test.only("one"', "lost"],
    ["another value", "toBe(1)", "toBe(7)", "changed"],
    ["a return", "{ expect(f(1))", "{ return; expect(f(1))", "changed"],
    ["another row", '["a", 1]', '["a", 2]', "changed"],
    ["a row less", '["a", 1], ', "", "changed"],
    ["another helper", "=> f(x)", "=> x", "changed"],
    ["a mock", "const once", 'vi.mock("../src/f.js");\nconst once', "changed"],
    ["an end", "const once", "process.exit(0);\nconst once", "changed"],
  ])("%s", (_, was, is, what) => {
    const now = js.replace(was, is);
    expect(judged(elsewhere(now))[what]).not.toBe("");
    expect(judged(elsewhere(`${now}test("z", () => { ok(1); });\n`, 'test("z", () => { ok(1); });\n'))[what]).not.toBe("");
  });

  test.each<[string, string]>([
    ["py", "pytestmark = pytest.mark.slow\n"],
    ["go", "//go:build slow\n\n"],
  ])("a mark for all of a file: %s", (kind, mark) => {
    const [text, from, to] = kind === "py" ? [py, "test_a.py", "test_b.py"] : [go, "a_test.go", "b_test.go"];
    expect(judged({ [from]: [text, null], [to]: [null, mark + text] }).changed).toContain(to);
  });
});

describe("what acts on a test from beside it", () => {
  test("goes with it where it goes", () => {
    const [one = "", two = ""] = hooked.split(/(?=describe\("b")/);
    expect(judged({ [a]: [hooked, two], [b]: [null, one] })).toEqual(kept);
    expect(judged({ [a]: [hooked, `${two}${one}`] })).toEqual(kept);
  });

  test.each<[string, Files]>([
    [
      "a hook in another group",
      {
        [a]: [
          hooked,
          hooked
            .replace(/  afterEach.*\n/, "")
            .replace('describe("b", () => {\n', (all) => `${all}  afterEach(() => { expect(errors).toEqual([]); });\n`),
        ],
      },
    ],
    [
      "a hook that another file has, too",
      {
        [a]: [hooked, hooked.replace(/  afterEach.*\n/, "")],
        [b]: [null, hooked.replaceAll("it(", "it.concurrent(").replaceAll('"x"', '"v"').replaceAll('"y"', '"w"')],
      },
    ],
    [
      "a test in a group with mocks",
      {
        [a]: [
          `it("x", () => { expect(f(1)).toBe(1); });\ndescribe("m", () => {\n  beforeEach(() => vi.spyOn(o, "f"));\n  it("y", () => { ok(1); });\n});\n`,
          `describe("m", () => {\n  beforeEach(() => vi.spyOn(o, "f"));\n  it("x", () => { expect(f(1)).toBe(1); });\n  it("y", () => { ok(1); });\n});\n`,
        ],
      },
    ],
  ])("%s", (_, files) => expect(judged(files)).toMatchObject({ lost: "", changed: expect.stringContaining(a ?? "") as string }));
});

describe("a test that only has another name", () => {
  test.each([
    ["ATests.cs", "public class ATests {\n  [Fact]\n  public void One() { Assert.Equal(1, F()); }\n}\n", "One", "First"],
    ["ATests.swift", "class ATests: XCTestCase {\n  func testOne() { XCTAssertEqual(1, f()) }\n}\n", "testOne", "testFirst"],
    ["a_test.rb", "class ATest < Minitest::Test\n  def test_one\n    assert_equal 1, f\n  end\nend\n", "test_one", "test_first"],
    ["a.bats", '@test "one" {\n  [ "$output" = 1 ]\n}\n', "one", "first"],
    ["a.test.js", 'test("one", (t) => { t.is(f(), 1); });\n', "one", "first"],
    ["b.test.js", 'test("one", () => { screen.getByText("a"); });\n', "one", "first"],
    ["ATest.java", "class ATest {\n  @Test\n  void one() { verify(m).f(1); }\n}\n", "one", "first"],
  ])("%s", (path, text, was, is) => expect(judged({ [path]: [text, text.replace(was, is)] })).toEqual(kept));
});

test.each([
  [
    "ATests.cs",
    "public class ATests {\n  [Fact]\n  public void One() { Assert.Equal(1, F()); Assert.True(G()); }\n}\n",
    "Assert.True(G());",
  ],
  ["a.test.js", 'test("one", (t) => { t.is(f(), 1); t.true(g()); });\n', "t.true(g());"],
  ["a.bats", '@test "one" {\n  [ "$output" = 1 ]\n  [ "$status" -eq 0 ]\n}\n', '  [ "$status" -eq 0 ]\n'],
])("an assertion less is known in %s", (path, text, one) =>
  expect(judged({ [path]: [text, text.replace(one, "")] }).lost).toContain("2 assertions before, 1 now"),
);

test("another form of one assertion is none less", () => {
  const text = 'test("a", () => { assert.ok(f() === 1); });\ntest("b", async () => { await expect(f()).rejects.toThrow(); });\n';
  const now = text.replace("ok(f() === 1)", "equal(f(), 1)").replace("expect(f()).rejects.toThrow()", "assert.rejects(f())");
  expect(judged({ [a ?? ""]: [text, now] }).lost).toBe("");
});

describe("changed", () => {
  const group = (head: string, rest = "end\n") => `${head}\n  it "x" do\n    expect(f).to eq(1)\n  end\n${rest}`;
  const classOf = (head: string) => `${head} {\n  @Test\n  void one() { assertEquals(1, f()); }\n}\n`;
  const row = (mark: string) => `public class ATests {\n  [Theory]\n  ${mark}\n  public void One(int a) { Assert.Equal(a, F(a)); }\n}\n`;
  const assign = (statement: string) => js.replace("{ expect(f(1))", `{ ${statement}; expect(f(1))`);
  test.each<[string, string, string, string]>([
    // Arguments of attributes, options and bases
    ["a row of an attribute", "ATests.cs", row("[InlineData(3)]"), row("[InlineData(4)]")],
    ["a source of rows", "ATests.cs", row("[MemberData(nameof(Rows))]"), row("[MemberData(nameof(None))]")],
    [
      "a case of Rust",
      "tests/a.rs",
      "#[rstest]\n#[case(2)]\nfn a(x: i32) {\n    assert_eq!(f(x), x);\n}\n",
      "#[rstest]\n#[case(1)]\nfn a(x: i32) {\n    assert_eq!(f(x), x);\n}\n",
    ],
    ["an option by a function", "a.test.js", 'it("a", opts(slow), () => { ok(1); });\n', 'it("a", opts(never), () => { ok(1); });\n'],
    ["a base in C#", "ATest.cs", classOf("public class A : DbFixture"), classOf("public class A : FakeFixture")],
    ["a class that runners don't see", "ATest.cs", classOf("public class A"), classOf("internal class A")],
    ["a base in Kotlin", "ATest.kt", classOf("class A : Base()"), classOf("class A : Other()")],
    [
      "a base in Swift",
      "ATest.swift",
      "class A: XCTestCase {\n  func testA() { XCTAssert(f()) }\n}\n",
      "class A: NSObject {\n  func testA() { XCTAssert(f()) }\n}\n",
    ],
    ["an option of a group", "a_spec.rb", group('describe "g" do'), group('describe "g", if: false do')],
    ["a word of a group", "a_spec.rb", group('describe("g") do'), group('describe("g", :slow) do')],
    ["a condition behind its end", "a_spec.rb", group('describe "g" do'), group('describe "g" do', "end if false\n")],
    [
      "a condition behind a test's end",
      "a_spec.rb",
      group('describe "g" do'),
      group('describe "g" do').replace("  end\n", "  end if false\n"),
    ],
    // Imports
    ["an expect of one's own", "a.test.js", js, `import { expect } from "./fake.js";\n${js}`],
    ["a patch", "a.test.js", js, `import "./patch.js";\n${js}`],
    ["a patch gone", "a.test.js", `import "./matchers.js";\n${js}`, js],
    ["Python: a name over one's own", "test_a.py", py, py.replace("def test_a", "from tests.fakes import check\n\n\ndef test_a")],
    ["Python: all names", "test_a.py", py, py.replace("from shop", "from tests.fakes import *\nfrom shop")],
    [
      "Java: all names",
      "ATest.java",
      `import static org.junit.Assert.*;\n${classOf("class A")}`,
      `import static fake.Assert.*;\n${classOf("class A")}`,
    ],
    ["C#: a namespace", "ATests.cs", `using Xunit;\n${row("")}`, `using Fake;\n${row("")}`],
    ["C#: another name", "ATests.cs", row(""), `using Assert = Fakes.Assert;\n${row("")}`],
    [
      "Rust: a name over others",
      "tests/a.rs",
      "use super::*;\n#[test]\nfn a() {\n    assert!(total());\n}\n",
      "use super::*;\nuse fake::total;\n#[test]\nfn a() {\n    assert!(total());\n}\n",
    ],
    ["Perl: names", "t/a.t", "use Shop qw(total);\nok(total(1));\n", "use Fake qw(total);\nok(total(1));\n"],
    [
      "Elixir: a case",
      "a_test.exs",
      'defmodule A do\n  use ExUnit.Case, async: true\n  test "a" do\n    assert f()\n  end\nend\n',
      'defmodule A do\n  use Fake.Case, async: true\n  test "a" do\n    assert f()\n  end\nend\n',
    ],
    [
      "Ruby: a helper",
      "a_spec.rb",
      `require "spec_helper"\n${group('describe "g" do')}`,
      `require "fake_helper"\n${group('describe "g" do')}`,
    ],
    // What is taken from what stands there
    ["rows taken out", "a.test.js", js, js.replace("test.each", "const x = cases.splice(1);\ntest.each")],
    ["an expect that is another", "a.test.js", js, assign("const off = Object.assign(expect, fake)")],
    ["one handed on", "a.test.js", js, assign("const off = disable(expect)")],
    ["two names at once", "a.test.js", js, assign("const x = once = 1")],
    ["in an assertion", "a.test.js", js, assign("expect(cases.splice(0)).toBeTruthy()")],
    ["no assertion needed", "a.test.js", js, assign("expect.assertions(0)")],
    ["a program run", "a.test.js", js, assign('require("./patch.js")')],
    ["a word like an assertion", "a.test.js", js, assign("equalise(1)")],
    ["a block", "a.test.js", js, assign("{ wipe(); [zz] = [1] }")],
    ["Python: a table", "test_a.py", `RATES = {"b": 1}\n${py}`, `RATES = {"b": 1}\nRATES2 = RATES.pop("b")\n${py}`],
    [
      "a runner's own hook",
      "a_test.rb",
      "class ATest < Minitest::Test\n  def test_a\n    assert f\n  end\nend\n",
      "class ATest < Minitest::Test\n  def self.runnable_methods\n    []\n  end\n  def test_a\n    assert f\n  end\nend\n",
    ],
    [
      "a shell's assertion",
      "a.bats",
      '@test "a" {\n  assert_output "3"\n}\n',
      'assert_output() { :; }\n@test "a" {\n  assert_output "3"\n}\n',
    ],
    // Python's own
    ["another of its name", "test_a.py", py, `${py}\n\nif SLOW:\n    def test_a():\n        assert True\n`],
    ["a tuple", "test_a.py", py, py.replace("== 1\n", "== 1,\n")],
    // Rows
    ["a list in a row", "a.test.js", js, js.replace("[1, 2]]", "[1, 2], [3]]")],
    ["a list in a row of Python", "test_a.py", `cases = [(1, [(1, 2)])]\n${py}`, `cases = [(1, [(1, 2), (3, 4)])]\n${py}`],
  ])("%s", (_, path, was, is) => {
    expect(is).not.toBe(was);
    expect(judged({ [path]: [was, is] })).toMatchObject({ lost: "", changed: expect.stringContaining(path) as string });
  });
});

test("a test that another of its name replaces under a mark is compared with that", () => {
  expect(judged({ "test_a.py": [py, `${py}\n\n@pytest.mark.slow\ndef test_a():\n    assert True\n`] }).changed).toContain("test_a");
});

test.each<[string, string, string]>([
  [
    "what is tested comes by another form",
    `const { f } = require("./f.js");\ntest("a", () => { ok(f()); });\n`,
    `import { f } from "./f";\ntest("a", () => { ok(f()); });\n`,
  ],
  [
    "the runner is named",
    'it("a", () => { expect(f()).toBe(1); });\n',
    'import { expect, it } from "vitest";\nit("a", () => { expect(f()).toBe(1); });\n',
  ],
  ["a sorted copy", js, js.replace("{ expect(f(1))", "{ const all = [...cases].sort(); expect(all).toEqual([]); expect(f(1))")],
  [
    "a table that tests are made from",
    js.replaceAll("cases", "given"),
    js.replaceAll("cases", "given").replace("[1, 2]]]", "[1, 2]], [3, 4]]"),
  ],
])("%s: no change", (_, was, is) => expect(judged({ [a ?? ""]: [was, is] })).toEqual(kept));

test("a file that is gone and held no tests is changed, and a text for people nothing", () => {
  const gone = (path: string): Files => ({ [path]: ["export const a = 1;\n", null] });
  for (const path of ["test/util.js", "jest.config.js", "test/__snapshots__/a.snap", "pom.xml"])
    expect(judged(gone(path))).toEqual({ lost: "", changed: path });
  for (const path of [".env.example", "tests/README.md"]) expect(judged(gone(path))).toEqual(kept);
  expect(judged({ "t/a.t": ["ok(1);\n", null] }).lost).toBe("t/a.t was deleted");
});

test.each<[string, string | null, string]>([
  ["vitest.config.ts", "export default { test: { include: ['test/**'] } };\n", "export default { test: { include: ['test/z/**'] } };\n"],
  ["vitest.config.ts", null, "export default { test: { include: ['test/z/**'] } };\n"],
  ["jest.config.json", '{"testMatch": ["**/*.test.js"]}', '{"testMatch": ["**/none.js"]}'],
  [".mocharc.json", '{"spec": ["test/*.js"]}', '{"spec": ["none/*.js"]}'],
  ["pytest.ini", "[pytest]\n", "[pytest]\npython_files = none_*.py\n"],
  ["phpunit.xml", "<directory>tests</directory>\n", "<directory>none</directory>\n"],
])("a configuration that takes tests from elsewhere is changed: %s", (path, was, is) => {
  expect(judged({ [path]: [was, is] })).toEqual({ lost: "", changed: path });
  expect(judged({ [path]: [is, `${is.replaceAll("'", '"')}\n`] })).toEqual(kept);
});
