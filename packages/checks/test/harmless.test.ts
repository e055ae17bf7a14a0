import { describe, expect, test } from "vitest";
import { withoutHarmless } from "../src/reach/harmless.ts";
import { reachRules } from "../src/reach/rules.ts";

const testText = "from shop.price import total\n. src/price.sh\nNEXT_ROW=1\nnumber = pandas.x\n";
const found = (path: string, text: string): string | null => {
  const plain = withoutHarmless(path, text, testText);
  expect(plain.split("\n").length).toBe(text.split("\n").length);
  return reachRules.find((rule) => rule.namedByTests === undefined && rule.files.test(path) && rule.pattern.test(plain))?.id ?? null;
};

/** Each with the nearest that still counts. */
describe("a source may", () => {
  test.each([
    ["a.py", 'DEBUG = "SHOP_DEBUG" in os.environ', 'DEBUG = "PYTEST_CURRENT_TEST" in os.environ'],
    ["a.py", 'if "A" not in os.environ:', "if name not in os.environ:"],
    [
      "a.py",
      'subprocess.run(["vi", path], env=dict(os.environ, LANG="C"), check=True)',
      "seen = dict(os.environ)\nsubprocess.run([], env=seen)",
    ],
    ["a.py", "subprocess.Popen([f(1)], env=os.environ.copy())", "subprocess.run([])\nask(env=os.environ.copy())"],
    [
      "a.py",
      'subprocess.run([], env=dict(os.environ, A="b"))',
      "class subprocess:\n    run = ask\nsubprocess.run([], env=dict(os.environ))",
    ],
    ["a.py", 'return "numpy" in sys.modules', 'return "argparse" in sys.modules'],
    ["a.py", 'return "numpy" in sys.modules', 'return "pandas" in sys.modules'],
    ["a.py", 'sys.exit(f"usage: {sys.argv[0]} PRICE")', 'name = f"usage: {sys.argv[0]} PRICE"'],
    [
      "a.py",
      'sys.exit(f"usage: {sys.argv[0]} PRICE")',
      'try:\n    sys.exit(f"usage: {sys.argv[0]}")\nexcept SystemExit as end:\n    seen = str(end)',
    ],
    [
      "a.py",
      'if __name__ == "__main__":\n    import doctest\n\n    doctest.testmod()\n',
      "import doctest\n\ndoctest.DocTestRunner.summarize = none\n",
    ],
    ["a.py", "    if os.fork() == 0:\n        work()\n        os._exit(0)", "    if os.fork() == 0:\n        work()\n    os._exit(0)"],
    ["a.py", "if os.fork() == 0:\n    os._exit(0)", "if os.fork() != 0:\n    os._exit(0)"],
    ["a.py", "def log():\n    sys.excepthook = hook", "sys.excepthook = hook"],
    ["a.py", "def log():\n    sys.excepthook = hook", "def hook(*_):\n    raise SystemExit(0)\ndef log():\n    sys.excepthook = hook"],
    ["A.pm", 'local $SIG{ALRM} = sub { die "slow" };', "$SIG{ALRM} = sub { $? = 0 };"],
    ["A.pm", "local $SIG{__WARN__} = sub { die @_ };", "local $SIG{__DIE__} = sub { exit 0 };"],
    ["A.pm", "local $SIG{INT} = sub { $stop = 1 };", "local $SIG{INT} = sub { exit 0 };"],
    ["A.pm", "select(undef, undef, undef, 0.01);", "select(my $none);"],
    ["A.pm", "END { unlink @left }", "END { unlink @left; $? = 0 }"],
    ["A.pm", "main(@ARGV) unless caller;\n\n1;\n", "main(@ARGV) unless caller;\nsub total { $wrong }\n1;\n"],
    ["A.pm", "main(@ARGV) unless caller;\n1;\n", "right() if caller;\n1;\n"],
    ["a.sh", "readonly PRICE_SCALE=1", "readonly NEXT_ROW=1"],
    ["a.sh", "readonly PRICE_SCALE=1", "readonly REPLY=1"],
    [
      "a.sh",
      'HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)',
      '[ "${BASH_SOURCE[1]}" = x ] && HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)',
    ],
    ["a.sh", 'if [ "${BASH_SOURCE[0]}" = "$0" ]; then main "$@"; fi\n', 'if [ "${BASH_SOURCE[0]}" != "$0" ]; then main "$@"; fi\n'],
    ["a.sh", '[[ "${BASH_SOURCE[0]}" == "$0" ]] && main "$@"\n', '[[ "${BASH_SOURCE[0]}" == "$0" ]] && main "$@"\ntotal() { echo 1; }\n'],
  ])("%s: %j, and not %j", (path, honest, lying) => {
    expect(found(path, honest)).toBeNull();
    expect(found(path, lying)).not.toBeNull();
  });
});
