/**
 * Tests texts against what a glob was translated to, without ever going back: each character once for each place that the
 * expression can be in. JavaScript's own engine tries every way to share a name out among several stars, and one more star in
 * a stranger's glob can cost it an hour; so it is asked only where there are few.
 */
export function tester(source: string): (text: string) => boolean {
  if ((source.match(/[^\\]\*/g) ?? []).length <= mostStars) {
    const expression = new RegExp(`^(?:${source})$`, "su");
    return (text) => expression.test(text);
  }
  const automaton = compile(source);
  return (text) => runs(automaton, text);
}

/** So many stars cost at most the cube of a name's length. */
const mostStars = 3;

/** Where an expression can be. One with `eats` goes on to `next` with a character that passes, others without one. */
interface State {
  readonly eats: ((letter: string) => boolean) | null;
  next: number[];
}
interface Automaton {
  readonly states: readonly State[];
  readonly start: number;
  readonly end: number;
}
/** A part of one: what comes before leads to `from`, and from `to` on comes what follows. */
interface Part {
  readonly from: number;
  readonly to: number;
}

/** Knows what the translations of globs are made of: characters, classes, `.`, groups, `|`, and `*` and `?` behind them. */
function compile(source: string): Automaton {
  const states: State[] = [];
  const add = (eats: State["eats"] = null): number => states.push({ eats, next: [] }) - 1;
  const link = (from: number, to: number): unknown => states[from]?.next.push(to);
  let at = 0;

  const either = (): Part => {
    const [from, to] = [add(), add()];
    for (;;) {
      const one = sequence();
      link(from, one.from);
      link(one.to, to);
      if (source[at] !== "|") return { from, to };
      at += 1;
    }
  };
  const sequence = (): Part => {
    const from = add();
    let to = from;
    while (at < source.length && source[at] !== "|" && source[at] !== ")") {
      const part = repeated(atom());
      link(to, part.from);
      to = part.to;
    }
    return { from, to };
  };
  const repeated = (part: Part): Part => {
    const sign = source[at];
    if (sign !== "*" && sign !== "+" && sign !== "?") return part;
    at += 1;
    const [from, to] = [add(), add()];
    link(from, part.from);
    link(part.to, to);
    if (sign !== "?") link(part.to, part.from);
    if (sign !== "+") link(from, to);
    return { from, to };
  };
  const atom = (): Part => {
    if (source.startsWith("(?:", at)) {
      at += 3;
      const part = either();
      at += 1;
      return part;
    }
    const [text] = /^(?:\(\?!\)|(?:\(\?!\/\))?\[(?:\\.|[^\]\\])*\]|\\?.)/su.exec(source.slice(at)) ?? [""];
    at += text.length;
    const expression = new RegExp(`^${text}$`, "su");
    const [from, to] = [add((letter) => expression.test(letter)), add()];
    link(from, to);
    return { from, to };
  };

  const { from, to } = either();
  return { states, start: from, end: to };
}

function runs({ states, start, end }: Automaton, text: string): boolean {
  let here = reached(states, [start]);
  for (const letter of text) {
    if (here.size === 0) return false;
    here = reached(
      states,
      [...here].flatMap((one) => (states[one]?.eats?.(letter) === true ? (states[one]?.next ?? []) : [])),
    );
  }
  return here.has(end);
}

/** With all that can be come to without a character. */
function reached(states: readonly State[], from: readonly number[]): Set<number> {
  const found = new Set(from);
  for (const one of found) {
    const state = states[one];
    if (state?.eats === null) for (const next of state.next) found.add(next);
  }
  return found;
}
