/** Names that bash knows itself: no file is looked for. */
export const builtins: ReadonlySet<string> = new Set(
  ": . [ [[ (( alias bg bind break builtin caller cd command compgen complete continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test time times trap true type typeset ulimit umask unalias unset wait".split(
    " ",
  ),
);
