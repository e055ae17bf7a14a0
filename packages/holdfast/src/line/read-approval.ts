import type { Approval, GrantFor } from "@holdfast/protocol";

/** What a person typed at an approval. `none`: it is no answer to it. */
export type ApprovalAnswer =
  | { readonly type: "allow" }
  | { readonly type: "deny"; readonly note: string }
  | { readonly type: "grant"; readonly for: GrantFor; readonly offer: string }
  | { readonly type: "problem"; readonly text: string }
  | { readonly type: "none" };

/** Pure. `y`, `n`, `n WHY`; `1` allows the first rule offered for the session, `r1` keeps it for good. */
export function readApprovalAnswer(line: string, { offers = [] }: Approval): ApprovalAnswer {
  const text = line.trim();
  if (/^y(?:es)?$/i.test(text)) return { type: "allow" };
  const no = /^no?(?:[,:]?\s+([\s\S]+)|[,:]?)$/i.exec(text);
  if (no !== null) return { type: "deny", note: no[1]?.trim() ?? "" };
  const granted = /^(r?)([1-9])$|^(r)$/i.exec(text);
  if (granted === null) return { type: "none" };
  const wanted = granted[1] || granted[3] ? "rule" : "session";
  const offer = offers.find(({ id }) => id === (granted[2] ?? "1"));
  return offer === undefined
    ? { type: "problem", text: offers.length === 0 ? "it can only be allowed once: y or n" : `there is no ${granted[2]} to allow` }
    : { type: "grant", for: wanted, offer: offer.id };
}

/** The keys that an approval takes. */
export function approvalPrompt({ offers = [] }: Approval): string {
  const numbers = offers.map(({ id }) => id).join("/");
  return offers.length === 0 ? "allow? y/n › " : `allow? y once, ${numbers} for the session, r${numbers} as a rule, n › `;
}
