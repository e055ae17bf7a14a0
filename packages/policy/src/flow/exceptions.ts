/** "All except Zed", "but never to ana@example.com": up to where the clause ends; a full stop within an address ends none. */
const excepting =
  /\b(?:(?:but |and |or )?(?:not|never)(?: \w+)? (?:to|with|for) (?=["'‘“#]?(?:\S*@|\p{Lu}|www|https?:))|except(?: for)?\b|excluding\b|apart from\b|aside from\b|other than\b|(?:all|every|everyone|everybody|anyone|anybody) but\b|but not\b)(?:[^,.;:!?\n]|[.:](?=\S))*/gu;

/** What a text leaves out of what it asks for, and the text without that. */
export function exceptionsIn(text: string): { readonly rest: string; readonly left: readonly string[] } {
  const left: string[] = [];
  const rest = text.replaceAll(excepting, (found) => {
    left.push(found);
    return /^(?:all|every)/.exec(found) === null ? " " : `${found.replace(/ but\b.*$/s, "")} `;
  });
  return { rest, left };
}
