const script = /\.(?:[cm]?[jt]sx?|vue|svelte)$/;
const python = /\.pyi?$/;
const any = /(?:)/;

/**
 * What a source may ask of its surroundings for good reasons, as a log does that writes an error's stack, and what is
 * answered otherwise under test. Where new lines ask it, the check runs once more, and there they are told what a plain
 * program is told (plain-node.ts, plain-python.ts): tests of code that only tells it pass all the same.
 */
export const mayAsk: readonly { readonly files: RegExp; readonly pattern: RegExp }[] = [
  {
    files: script,
    // Not a stack that things are put on.
    pattern:
      /\bcaptureStackTrace\b|(?<!\b(?:this|self|state))\.stack\b(?!\s*(?:=[^=]|\??\.\s*(?:push|pop|peek|shift|unshift|map|forEach|find)\b))|["'`]stack["'`]|\{[^{}\n]*\bstack\b[^{}\n]*\}\s*=/,
  },
  { files: script, pattern: /\basync_hooks\b|\basyncId\b|\b(?:execution|trigger)Async\w+/ },
  { files: script, pattern: /\bnetworkInterfaces\b/ },
  { files: python, pattern: /\b(?:handlers|hasHandlers|meta_path|stdin|stdout|stderr|breakpointhook|unraisablehook|if_nameindex)\b/ },
  { files: python, pattern: /\bcompare\s*=\s*False\b/ },
  { files: /\.rs$/, pattern: /\bdebug_assertions\b/ },
  {
    // The copy's files are as new as those of a clone.
    files: any,
    pattern: /\b(?:[acm]time(?:_?[Mm]s|_?[Nn]s)?|birthtime\w*|st_[acm]time\w*|get[acm]time)\b|\.modified\(\)|\s-(?:nt|ot)\s/,
  },
  {
    // How much lies in a temporary folder.
    files: any,
    pattern:
      /^(?=[\s\S]*(?:\b(?:tmpdir|gettempdir\w*|TMPDIR|temp_dir|TempDir)\b|\/tmp\b))(?=[\s\S]*\b(?:readdir\w*|opendir\w*|listdir|scandir|iterdir|r?glob\w*|walk|read_dir|ReadDir|find|ls)\b)/,
  },
];
