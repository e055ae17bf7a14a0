/** Lines for bash that run nothing but `aa`, `bb`, `cc` and `dd`, in as many ways as the grammar has. */
export function shellLines(count: number, random: () => number): string[] {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const words =
    "x|-y|'q r'|\"p;s\"|\\;|$'a\\tb'|a\\ b|''|\"\"|#h|x#y|{m,n}|$Z|\"$Z\"|${Z:-w}|*|[[|]]|!|then|fi|esac|{|}|=|v=1|--|\\\n|'\n'|\"\\\"\"|'\\'|$|%|2|a'b'c|a\\'b|`echo k`|$(echo k)|$((1+1))|${#Z}|<(:)|\\\\|'a'\\''b'|\"a\\\nb\"|$\"loc\"|a{1..2}b|x\\\ny".split(
      "|",
    );
  const redirections = [
    "",
    " >/dev/null",
    " 2>&1",
    " </dev/null",
    " <<< 'h'",
    " >&2",
    " 2>&-",
    " <<'E1'\nbody $(aa)\nE1\n",
    " <<E2\nbody\nE2\n",
    " <<-E3\n\tb\n\tE3\n",
  ];
  const names = ["aa", "bb", "cc", "dd"];
  const spelled = [
    "\\aa",
    "'bb'",
    '"cc"',
    "a\\a",
    "$'dd'",
    "a''a",
    "b\\\nb",
    "command aa",
    "time cc",
    "! dd",
    "v=1 aa",
    "v=(a b) bb",
    "v[0]=1 cc",
  ];
  const glue = [";", "&&", "||", "|", "&", "\n", "|&", "; # c\n", "&&\n", "|\n"];
  const simple = (): string =>
    (random() < 0.2 ? pick(spelled) : pick(names)) +
    Array.from({ length: Math.floor(random() * 4) }, () => ` ${pick(words)}`).join("") +
    (random() < 0.25 ? pick(redirections) : "");
  const plain = (): string => simple().replace(/['"`\\()]/g, "");
  const list = (depth: number): string => {
    let line = command(depth);
    for (let more = Math.floor(random() * 3); more > 0; more--) line += pick(glue) + command(depth);
    return line;
  };
  function command(depth: number): string {
    if (depth <= 0 || random() < 0.45) return simple();
    const inner = (): string => list(depth - 1);
    return pick<() => string>([
      () => `( ${inner()} )`,
      () => `{ ${inner()}\n}`,
      () => `if ${inner()}; then ${inner()}; fi`,
      () => `if true; then ${inner()}; elif ${inner()}; then ${inner()}; else ${inner()}; fi`,
      () => `for i in 1 a$(echo b); do ${inner()}; done`,
      () => `for ((i=0;i<1;i++)); do ${inner()}; done`,
      () => `while false; do ${inner()}; done`,
      () => `until true; do ${inner()}; done`,
      () => `case x in (y|x) ${inner()} ;; *) ${inner()};; esac`,
      () => `case x in x) ${inner()} ;& y) ${inner()};; esac`,
      () => `f() { ${inner()}\n}; f`,
      () => `function g { ${inner()}\n}; g`,
      () => `f() ( ${inner()} ); f x`,
      () => `aa "$(${inner()}\n)"`,
      () => `cc \`${plain()}\``,
      () => `aa "\${Z:-$(${inner()}\n)}"`,
      () => `bb <(${inner()}\n)`,
      () => `cc > >(${inner()}\n)`,
      () => `[[ x = x ]] && ${inner()}`,
      () => `(( 1 )) && ${inner()}`,
      () => `aa <<EOF\n$(${inner()}\n)\nEOF\n`,
      () => `aa <<'EOF'\n$(bb)\nEOF\n`,
      () => `eval '${plain()}'`,
      () => `trap '${plain()}' EXIT`,
      () => `x=$(${inner()}\n)`,
      () => `arr=($(${inner()}\n)); aa`,
      () => `aa "\${arr[$(${plain()}; echo 0)]}"`,
      () => `coproc ${simple()}`,
      () => `{ ${inner()}\n} >/dev/null`,
    ])();
  }
  /** Some are broken: what bash makes of those counts as well. */
  const broken = ["'", '"', "\\", "`", ")", "(", "\n", ";", "$(", "}", "{", "#", " ", "<<E", "$'", "&"];
  return Array.from({ length: count }, () => {
    const line = list(2);
    if (random() > 0.15) return line;
    const at = Math.floor(random() * line.length);
    return line.slice(0, at) + pick(broken) + line.slice(at + Math.floor(random() * 3));
  });
}
