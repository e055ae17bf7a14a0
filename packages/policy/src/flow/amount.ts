import type { Mandate } from "./action.ts";
import { isWorkedOut } from "./amounts.ts";
import type { Finding } from "./finding.ts";
import { finding } from "./found.ts";
import type { FlowMemory } from "./memory.ts";
import { isNamedSource, isPointedTo, isProseMeant } from "./origin.ts";
import { numbersOf } from "./said.ts";
import type { Slot } from "./slots.ts";
import { stem } from "./words.ts";

/** An amount that only others' text names, or that is far beyond all that was said and seen; of a payment, another than the one said. */
export function judgeAmount(memory: FlowMemory, slot: Slot, isPayment: boolean, { by }: Mandate): Finding[] {
  const [amount = Number(slot.value)] = typeof slot.value === "number" ? [slot.value] : numbersOf(slot.value);
  const said = isPayment ? by.flatMap(({ amounts }) => amounts) : [];
  if (said.length > 0 && !said.includes(amount) && !by.some(({ words }) => reckoning.some((word) => words.has(word)))) {
    const sentence = `${slot.path}, ${String(slot.value)}, is another amount than the one you said.`;
    return [{ type: "unproven", id: "other_amount", path: slot.path, value: String(slot.value), sentence }];
  }
  if (!Number.isFinite(amount) || memory.user.numbers.has(amount) || memory.trusted.numbers.has(amount) || memory.fieldNumbers.has(amount))
    return [];
  const pieces = memory.numbers.get(amount) ?? [];
  if (pieces.length > 0 && amount >= 10) {
    if (!pieces.some((piece) => isNamedSource(memory, piece) || isProseMeant(memory, piece))) {
      return [finding(memory, "tainted", "amount", slot, { from: "prose", tool: pieces[0]?.record.source.tool ?? null, pieces })];
    }
  }
  if (isPayment ? isPaymentWorkedOut(memory, amount) : amount <= Math.max(10, memory.largest * 2)) return [];
  return [finding(memory, "unproven", "amount", slot, { from: "none", tool: null, pieces: [] })];
}

function isPaymentWorkedOut(memory: FlowMemory, amount: number): boolean {
  const { user, trusted, numbers, fieldNumbers } = memory;
  const read = [...numbers].flatMap(([number, pieces]) => (pieces.some((piece) => isPointedTo(memory, piece)) ? [number] : []));
  return isWorkedOut(amount, [...user.numbers, ...trusted.numbers, ...read], [...fieldNumbers]);
}

/** Words with which a request means another amount than it says. */
const reckoning = (
  "half halve double twice triple third quarter percent per cent times time each plus minus more less extra tip fee top remaining remainder rest " +
  "difference split share total together sum average increase decrease reduce raise except without without already owe"
)
  .split(" ")
  .map(stem);
