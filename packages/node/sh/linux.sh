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
