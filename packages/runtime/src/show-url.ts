/**
 * A text that may hold addresses of a config, as it may be shown: without the user part of a URL, and without the values of
 * its query and what stands behind `#`, where keys are written. Names of the query stay, and so does a value that is wholly a
 * variable to put in (`${NAME}`). Of any scheme, and within other words, such as a program's arguments.
 */
export function showUrls(text: string): string {
  return text.includes("://")
    ? text.replaceAll(/([a-z][a-z0-9+.-]{0,30}:\/\/)([^\s"'<>`]+)/gi, (_, scheme: string, rest: string) => scheme + show(rest, scheme))
    : text;
}

function show(rest: string, scheme: string): string {
  const [, place = "", query, hash] = /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(rest) ?? [];
  const names = query?.split("&").map((pair) => {
    const at = pair.indexOf("=");
    // Without a name all of it is the value.
    if (at === -1) return pair === "" ? "" : "…";
    return isVariable.test(pair.slice(at + 1)) || at === pair.length - 1 ? pair : `${pair.slice(0, at)}=…`;
  });
  // In a URL that is none, a password's own / ? or # stands before the @.
  const isWhole = URL.canParse(scheme + rest.replaceAll(/[{}$]/g, "x"));
  if (!isWhole && rest.includes("@")) return `…@${show(rest.slice(rest.lastIndexOf("@") + 1), scheme)}`;
  const shown = place.replaceAll(/(^|:\/\/)[^/\\]*@/g, "$1…@");
  return `${shown}${names === undefined ? "" : `?${names.join("&")}`}${hash === undefined ? "" : hash === "" ? "#" : "#…"}`;
}

const isVariable = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;
