import { expect, test } from "vitest";
import { showHidden } from "../src/hidden.ts";

test("what a model reads and a person doesn't see is shown: tags, turned text, no width, selectors in rows, blanks", () => {
  const letters = [..."ob"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
  expect(showHidden(`a${letters}b`)).toBe("a<U+E006F><U+E0062>b");
  expect(showHidden("x\u202ey\u2066z\u200b\ufeff\u2060")).toBe("x<U+202E>y<U+2066>z<U+200B><U+FEFF><U+2060>");
  expect(showHidden("a\ufe01\ufe02b\u3164")).toBe("a<U+FE01><U+FE02>b<U+3164>");
  expect(showHidden("a\u200c\u200db")).toBe("a<U+200C><U+200D>b");
  expect(showHidden("x\ufe01y\ufe02z\ufe0f \ufff9s\ufffb")).toBe("x<U+FE01>y<U+FE02>z<U+FE0F> <U+FFF9>s<U+FFFB>");
  expect(showHidden("a\u{e0100}b")).toBe("a<U+E0100>b");
});

test("what writing and emoji need stays as it is", () => {
  for (const text of ["می\u200cخواهم", "\u{1f469}\u200d\u{1f4bb}", "❤\ufe0f", "e\u0301", "plain\ttext\n", "日本語", "क्\u200dष"])
    expect(showHidden(text)).toBe(text);
});
