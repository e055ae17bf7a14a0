const withValue = new Set(
  "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -samefile -lname -ilname -fstype -printf -regextype -used".split(
    " ",
  ),
);
const alone = new Set(
  "-print -print0 -ls -prune -depth -d -xdev -mount -empty -readable -writable -executable -not -and -or -a -o ! ( ) , -true -false -follow -daystart -noleaf -quit -nouser -nogroup -ignore_readdir_race -noignore_readdir_race -warn -nowarn -H -L -P -E -X -s -x".split(
    " ",
  ),
);

/** The paths that a find call starts from, where all of its expression only tests and prints; null elsewhere. */
export function readFind(texts: readonly string[]): string[] | null {
  const starts: string[] = [];
  let inExpression = false;
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i]!;
    if (withValue.has(text) || /^-newer[aBcmt]{2}$/.test(text)) {
      i++;
      if (texts[i] === undefined) return null;
      inExpression = true;
    } else if (alone.has(text)) {
      inExpression ||= !/^-[HLPEXsx]$/.test(text);
    } else if (!inExpression && !text.startsWith("-") && text !== "") starts.push(text);
    else return null;
  }
  return starts;
}

/** The single name that a find call looks for; null where it looks for more, or its tests could be joined otherwise. */
export function onlyName(texts: readonly string[]): string | null {
  const at = texts.indexOf("-name");
  if (at < 0 || texts.indexOf("-name", at + 1) >= 0 || texts.some((text) => /^(?:-o|-or|!|-not|,|\(|\)|-regex|-path|-iname)$/.test(text)))
    return null;
  return texts[at + 1] ?? null;
}
