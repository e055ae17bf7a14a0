const most = 120;
const parts = [2, 3, 4, 5, 6, 10, 12];

/**
 * Whether an amount can have been worked out: of what was said and seen, by one or two of the steps that people ask for (a
 * sum, a difference, a share, so many per cent, a fee on top). `said`: by the user, or in texts that they point to.
 */
export function isWorkedOut(amount: number, said: readonly number[], seen: readonly number[]): boolean {
  const isIt = (value: number): boolean => Math.abs(value - amount) < 0.006;
  const own = said.slice(0, most);
  const all = [...own, ...seen.slice(-most)];
  for (const a of all) {
    if (isIt(a) || parts.some((part) => isIt(a / part) || (own.includes(part) === true && isIt(a * part)))) return true;
    for (const b of own) {
      const share = (a * b) / 100;
      if ([a + b, a - b, b - a, share, a + share, a - share].some(isIt)) return true;
      if (parts.some((part) => isIt(a - b / part) || isIt(b - a / part))) return true;
      if (own.some((c) => isIt(share + c) || isIt(share - c))) return true;
    }
  }
  return false;
}
