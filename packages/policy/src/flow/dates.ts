/** A day as a text names it; without a year where none is said. */
export interface Day {
  readonly year: number | null;
  readonly month: number;
  readonly day: number;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const monthName =
  /\b(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b/giu;
const reach = 40;

/** The days that a text names: `2025-01-11`, `January 11th`, `the 13th to the 17th of May 2024`, `3.4.2025` in both orders. */
export function daysOf(text: string): Day[] {
  const days: Day[] = [];
  const add = (year: number | null, month: number, day: number): void => {
    if (month >= 1 && month <= 12 && day >= 1 && day <= 31) days.push({ year, month, day });
  };
  for (const [, year, month, day] of text.matchAll(/\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/g))
    add(Number(year), Number(month), Number(day));
  for (const [, a, b, year] of text.matchAll(/\b(\d{1,2})[/.](\d{1,2})[/.](\d{4})\b/g)) {
    add(Number(year), Number(a), Number(b));
    add(Number(year), Number(b), Number(a));
  }
  for (const found of text.matchAll(monthName)) {
    const month = months.indexOf(found[1]!.slice(0, 3).toLowerCase()) + 1;
    const near = text.slice(Math.max(0, found.index - reach), found.index + found[0].length + reach);
    const year = /\b((?:19|20)\d{2})\b/.exec(text.slice(found.index, found.index + reach))?.[1] ?? null;
    for (const [, day] of near.matchAll(/\b(\d{1,2})(?:st|nd|rd|th)?\b(?![:.]\d|\s*(?:am|pm)\b)/giu))
      add(year === null ? null : Number(year), month, Number(day));
  }
  return days;
}

/** The same day, as far as both say. */
export function isSameDay(a: Day, b: Day): boolean {
  return a.month === b.month && a.day === b.day && (a.year === null || b.year === null || a.year === b.year);
}

/** The same day of perhaps another year: a person's "April 25th" says nothing of it, and a model works one out. */
export function isSameDate(a: Day, b: Day): boolean {
  return a.month === b.month && a.day === b.day;
}

/** Whether a word can stand in a time or a repetition as programs write them: `2026-06-09T11:00Z`, `next Friday at noon`, `FREQ=WEEKLY;BYDAY=MO`. */
export function isOfTime(word: string): boolean {
  return (
    /^\d{1,4}(?:st|nd|rd|th)?$|^\d{1,2}(?:am|pm|h|m|z|t\d{1,2})$|^\d{2}t\d{2,6}z?$|^\d{8}(?:t\d{4,6}z?)?$|^\d{10}(?:\d{3})?$|^\d{2,6}z$|^p?t?(?:\d+[ymwdhs])+$/.test(
      word,
    ) || ofTime.has(word)
  );
}

const ofTime = new Set(
  (
    "jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov november dec december " +
    "mon monday tue tues tuesday wed wednesday thu thur thursday fri friday sat saturday sun sunday mo tu we th fr sa su " +
    "am pm t z utc gmt cet cest est edt cst cdt mst mdt pst pdt bst ist jst now today tonight tomorrow noon midday midnight morning afternoon evening night " +
    "day days week weeks weekday weekdays weekend month months year years hour hours hr hrs h minute minutes min mins second seconds sec s " +
    "next last this every each of at on in from to until till and the a first daily weekly biweekly fortnightly monthly quarterly yearly annually hourly once never none null " +
    "rrule freq interval count byday bymonthday bymonth dtstart tzid"
  ).split(" "),
);

/** `Europe/Berlin` */
export const timeZone = /\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)\/[A-Z]\w{1,30}/g;
