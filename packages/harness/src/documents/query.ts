/** Words that stand in any text. */
const filler = new Set(
  `a an the of to in on at by for from with without and or but not no is are was were be been do does did has have had it its this
  that these those there i me my we our you your he she they them what which who when where why how can could would should will
  may might must please need want if as about into than then so tell me give show find`.split(/\s+/),
);
const mostWords = 40;

/** What of a question or of an output is looked for: its words, each once, those that say something. Pure. */
export function queryWords(text: string): string[] {
  const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [])];
  const telling = words.filter((word) => !filler.has(word) && word.length <= 60);
  return (telling.length === 0 ? words : telling).slice(0, mostWords);
}
