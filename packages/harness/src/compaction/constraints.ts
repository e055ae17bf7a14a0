/**
 * What makes a sentence of the user's a rule for the work. Wide on purpose: one too many costs a line, one too few a promise. In
 * the languages that people write most; scripts without spaces need no edges.
 */
const words = [
  // English
  "must|mustn't|never|always|don['’]?t|do not|only|at (?:most|least)|no (?:more|less|fewer|later) than|without|keep|avoid|required?|requires|forbid(?:den)?|not allowed|should|shouldn['’]?t|ensure|make sure|untouched|unchanged|under no circumstances|may not|cannot|can['’]?t|unless|except|limit(?:ed)?|constraint|rule|budget|deadline|until|nothing (?:else|but)|instead of|rather than|before you|leave|(?:answer|reply|respond|write|speak|talk)(?: to me)? in",
  // German
  "nie|niemals|immer|muss|müssen|darf|dürfen|soll|sollte|nur|ohne|kein(?:e|en|er|em)?|nicht|höchstens|mindestens|bis spätestens|vermeide|verboten|antworte",
  // French
  "jamais|toujours|doit|doivent|devez|faut|seulement|uniquement|sans|pas|aucune?|interdite?s?|évite[rz]?|au (?:plus|moins)|réponds|répondez",
  // Spanish, Portuguese, Italian
  "nunca|siempre|debes?|deben?|solo|sólo|solamente|sin|no|prohibid[oa]|evita|como máximo|al menos|responde|sempre|deve[ms]?|não|somente|apenas|sem|proibid[oa]|evite|no máximo|pelo menos|responda|mai|devi|devono|soltanto|senza|non|vietat[oa]|evita(?:re)?|rispondi",
  // Dutch, Polish, Turkish
  "nooit|altijd|moet|mag|alleen|zonder|geen|niet|nigdy|zawsze|musi|tylko|bez|nie|asla|her zaman|sadece|yalnızca|gerek",
  // Russian, Ukrainian
  "никогда|всегда|должен|должна|должно|должны|нельзя|только|без|не|запрещ\\p{L}*|обязательно|отвечай(?:те)?|ніколи|завжди|повин\\p{L}*|тільки|лише",
  // Arabic, Hebrew, Hindi
  "لا|يجب|دائما|دائمًا|أبدا|أبدًا|فقط|بدون|ممنوع|أجب|לא|תמיד|רק|אסור|בלי|कभी|हमेशा|केवल|सिर्फ|बिना|मत|जवाब",
].join("|");
const spaced = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words})(?![\\p{L}\\p{N}])`, "iu");
/** Chinese, Japanese, Korean, Thai. */
const unspaced =
  /不要|不得|不能|不可|不许|不准|必须|必須|应该|應該|务必|绝不|絕不|禁止|只能|只有|仅|僅|总是|總是|永远|永遠|请用|請用|回答|必ず|絶対|常に|ないで|しないこと|てはいけ|てはなら|だけ|のみ|以内|までに|答えて|반드시|절대|항상|하지\s?마|금지|만\s|까지|말고|대답|ห้าม|ต้อง|เท่านั้น|อย่า/u;

/** The sentences and list lines of a text that bind whoever works on it, word for word. */
export function constraintsIn(text: string): string[] {
  return text
    .split("\n")
    .flatMap((line) => line.split(/(?<=[.!?؟।])\s+(?=[\p{Lu}\p{Lo}]|["'`(¿¡])|(?<=[。！？])/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => spaced.test(sentence) || unspaced.test(sentence));
}
