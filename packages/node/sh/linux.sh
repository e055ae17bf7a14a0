# What the wrapper needs to know of processes, from /proc, without starting any.

# Sets started and boot: a pid alone can be reused, the three together can't.
birth() {
  read -r line </proc/self/stat
  set -- ${line##*) }
  started=${20}
  read -r boot </proc/sys/kernel/random/boot_id
}

# Prints the pids of everything that carries the mark.
marked() {
  for file in $(grep -lsF -- "HOLDFAST_RUN=$mark" /proc/[0-9]*/environ); do
    file=${file#/proc/}
    echo "${file%/environ}"
  done
}

# Whether anything of command $1 lives. Its group is no answer: it lasts while nobody has collected its dead.
is_left_of() { [ -n "$(marked)" ]; }

# Prints the first process inside the sandbox that process $1 made.
inner_of() {
  read -r first _ <"/proc/$1/task/$1/children"
  echo "$first"
}

doze() { read -r -t "$1" _ <&8; }

# True once so many seconds have passed; false as soon as nobody is left who holds the pipe's other end.
is_over() {
  read -r -t "$1" _ <&8
  [ "$?" -gt 128 ]
}

# Waits so long for the reader to end; it alone holds the other end of this pipe.
has_read() {
  read -r -t "$1" _ <&10
  [ "$?" = 1 ]
}

# Most commands say little and are over at once: they need no reader. Spools the first words that come within the first
# moment, a byte at a time, so that nothing after them is taken; and sets heard to all, more, or late.
hear_first() {
  local LC_ALL=C words= 2>/dev/null
  IFS= read -r -d '' -n 256 -t "$first" words <&4
  case $? in
    0) heard=more ;;
    1) heard=all ;;
    *) heard=late ;;
  esac
  [ -z "$words" ] || printf %s "$words" >>"$folder/output" || why=${why:-unspooled}
  # It stopped at a byte that no variable holds.
  [ "$heard" != more ] || [ "${#words}" = 256 ] || printf '\0' >>"$folder/output" || why=${why:-unspooled}
}
