import { closing } from "../tests/tokens.ts";
import type { Token } from "../tests/token.ts";
import { argumentsIn, comparisons, expressionEnd, type Range } from "./ranges.ts";
import type { Edit } from "./edit.ts";
import { changedValue } from "./values.ts";

/** In tests that go through rows: the values of the column that the result is compared with. */
export function tableSites(path: string, text: string, tokens: readonly Token[]): Edit[] {
  const find = path.endsWith(".py") ? parametrized : /\.[cm]?[jt]sx?$/.test(path) ? each : null;
  if (find === null) return [];
  return tokens.flatMap((_, at) => {
    const table = find(path, tokens, at);
    if (table === null) return [];
    return table.rows.flatMap((row) => {
      const cells = argumentsIn(tokens, row);
      const cell = cells.length === table.width ? cells[table.column] : undefined;
      const edit = cell === undefined ? null : changedValue(path, text, tokens.slice(...cell));
      return edit === null ? [] : [edit];
    });
  });
}

interface Table {
  /** Where each row opens. */
  readonly rows: readonly number[];
  readonly column: number;
  readonly width: number;
}

function tableOf(
  tokens: readonly Token[],
  list: Range | undefined,
  names: readonly string[],
  isCompared: (name: string) => boolean,
): Table | null {
  const column = names.findIndex(isCompared);
  if (list === undefined || column < 0 || names.length < 2 || !/^[[(]$/.test(tokens[list[0]]?.text ?? "")) return null;
  const rows = argumentsIn(tokens, list[0]).map(([from]) => from);
  return { rows: rows.filter((at) => /^[[(]$/.test(tokens[at]?.text ?? "")), column, width: names.length };
}

/** `@pytest.mark.parametrize("a, want", [(1, 2), …])`. */
function parametrized(path: string, tokens: readonly Token[], at: number): Table | null {
  if (tokens[at]?.text !== "parametrize" || tokens[at + 1]?.text !== "(") return null;
  const [first, list] = argumentsIn(tokens, at + 1);
  const names = tokens
    .slice(...(first ?? [0, 0]))
    .flatMap((token) => (token.isString ? token.text.replace(/["']/g, "").split(",") : []))
    .map((name) => name.trim());
  const from = closing(tokens, at + 1);
  const next = tokens.findIndex(({ text }, index) => index > from && text === "parametrize");
  const end = next < 0 ? Math.min(tokens.length, from + 2_000) : next;
  const compared = new Set<string>();
  for (let index = from; index < end; index += 1)
    if (tokens[index]?.text === "assert") add(path, tokens, [index + 1, expressionEnd(path, tokens, index + 1)], compared);
  return tableOf(tokens, list, names, (name) => compared.has(name));
}

/** `test.each([[1, 2], …])("name", (a, want) => …)`. */
function each(_: string, tokens: readonly Token[], at: number): Table | null {
  if (tokens[at]?.text !== "each" || tokens[at - 1]?.text !== "." || tokens[at + 1]?.text !== "(") return null;
  const [list] = argumentsIn(tokens, at + 1);
  const call = closing(tokens, at + 1);
  const body = tokens[call]?.text === "(" ? argumentsIn(tokens, call)[1] : undefined;
  const open = body === undefined ? -1 : tokens.findIndex(({ text }, index) => index >= body[0] && index < body[1] && text === "(");
  if (body === undefined || open < 0) return null;
  const names = argumentsIn(tokens, open).map(([from]) => tokens[from]?.text ?? "");
  const compared = new Set<string>();
  for (let index = open; index < body[1]; index += 1) {
    if (!/^(?:toBe|toEqual|toStrictEqual|equal|strictEqual|deepEqual|deepStrictEqual)$/.test(tokens[index]?.text ?? "")) continue;
    const given = tokens[index + 1]?.text === "(" ? argumentsIn(tokens, index + 1) : [];
    for (const [from, end] of given) if (end === from + 1) compared.add(tokens[from]?.text ?? "");
  }
  return tableOf(tokens, list, names, (name) => compared.has(name));
}

function add(path: string, tokens: readonly Token[], range: Range, names: Set<string>): void {
  for (const { left, right, isEqual } of comparisons(path, tokens, range))
    for (const side of isEqual ? [left, right] : []) if (side[1] === side[0] + 1) names.add(tokens[side[0]]?.text ?? "");
}
