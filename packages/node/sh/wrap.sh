# The wrapper of one command: it outlives the program that started it. Plain POSIX sh; run by bash for its job control,
# which works without a terminal (see docs/decisions/0002-command-wrapper.md). Whoever reads this file (run.sh, stand-by.sh)
# has closed what it inherited, and says with HOLDFAST_WRAPPER_FORM which arguments it means to pass.
#
#   wrap NUMBER FOLDER MARK SECONDS FIRST REST BLOCKS CONFINED FILTER GROUP INPUT CWD PLACES PLACE... COMMAND...
#
# NUMBER stands before whatever is said to the starter. FOLDER holds the records (start, exit) and the spool (output).
# MARK names the run in the environment of everything it starts. SECONDS is the time limit, FIRST and REST its parts: what ends
# within FIRST needs no timer. BLOCKS caps the output, in units of 512 bytes. CONFINED is yes where COMMAND is bubblewrap
# with a bash in it that reads its standard input. FILTER is none, or the file that COMMAND reads as descriptor 12 and closes.
# GROUP is none, or the file in which a process writes its pid to join the command's control group. INPUT is none; or pipe or terminal, where COMMAND reads what is written to
# the named pipe FOLDER/input. PLACES counts the paths that must not be there at the end;
# each is an argument, for names of a workspace may hold anything. Descriptor 3 tells the starter, in lines
# of NUMBER and a word: ok and the wrapper's pid once the claim is taken (or: taken, before; unwritten, by nobody), ended once
# the exit record stands.
#
# A program that was updated while it runs finds this script of the new version. What it then passes would be taken for
# something else, and a path of the system for one to move away: nothing is done for who doesn't name this very form.
# Exit status 75: it was taken before; 76: the arguments are of another form (it counts up whenever they change); 77: the claim
# could not be written.
[ "${HOLDFAST_WRAPPER_FORM-}" = 7 ] || exit 76
unset HOLDFAST_WRAPPER_FORM

if [ -r /proc/self/stat ]; then . "${0%/*}/linux.sh"; else . "${0%/*}/other.sh"; fi

# Both ends of a pipe, as descriptors 4 and 5; without a process, where the system lets us open a here-document's pipe.
open_pipe() {
  exec 4<<PIPE
x
PIPE
  if [ -p /proc/self/fd/4 ]; then
    read -r _ <&4
    exec 5>/proc/self/fd/4
  else
    mkfifo -m 600 "$folder/$1"
    exec 7<>"$folder/$1" 5>"$folder/$1" 4<"$folder/$1" 7>&-
  fi
}

# A group that the kernel refuses is the starter's to do without: it watches as well.
join_group() {
  [ "$group" = none ] || echo "$BASHPID" >"$group"
} 2>/dev/null

# The first process in the sandbox (pid 1: it can't be killed from inside, and when it ends so does everything). It reads
# this from its standard input, for only then does bash say which child a signal ended; bubblewrap can't tell. No descriptor
# that reaches the sandbox is of a file: the command could open it again, for writing, through /proc/1/fd.
confine() {
  join_group
  [ "$filter" = none ] || exec 12<"$filter"
  exec "$@" 3<&0 4<&- >&5 5>&- 6<&- 2>&7 7>&- 8<&- 9>&- <<'INSIDE'
set -m
trap 'kill -s TERM -- -1' TERM
[ "$1" != none ] || exec 3</dev/null
shift
echo begun >&2
"$@" 2>&1 <&3 3<&- &
command=$!
while :; do
  wait "$command"
  status=$?
  kill -0 "$command" 2>/dev/null || break
  sleep 0.05
done
exit "$status"
INSIDE
}

is_left() {
  if [ "$confined" = yes ]; then kill -0 "$command" 2>/dev/null; else is_left_of "$command"; fi
}

# Signals everything that belongs to the command. Under the sandbox its first process passes the signal on.
signal_all() {
  if [ "$confined" = yes ]; then
    inner=$(inner_of "$command")
    [ "$1" = TERM ] || kill -s "$1" "$command"
    [ -z "$inner" ] || kill -s "$1" "$inner"
  else
    kill -s "$1" -- "-$command"
    for pid in $(marked); do kill -s "$1" "$pid"; done
  fi 2>/dev/null
}

# Until nothing is left: a process that forks while we look is found in the next round.
kill_all() {
  rounds=0
  while [ "$rounds" -lt 100 ]; do
    signal_all KILL
    is_left || break
    doze 0.01
    rounds=$((rounds + 1))
  done
}

# Politely, then after two seconds by force.
end_command() {
  signal_all TERM
  doze 2 &
  grace=$!
  while is_left && kill -0 "$grace" 2>/dev/null; do doze 0.02; done
  kill -s TERM "$grace" 2>/dev/null
  kill_all
}

# Sets at to what stands at the real path $1, or to what was put in its way: a link, or a file in place of a folder. The way to
# the folder $2 was walked before.
find_intruder() {
  at=$2 rest=${1#"$2"/}
  while [ -n "$rest" ]; do
    at=$at/${rest%%/*}
    case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
    [ ! -h "$at" ] || return 0
    [ -e "$at" ] || return 1
    [ -d "$at" ] || return 0
  done
}

# Spools what comes from descriptor 4 until it ends. Nothing is buffered. Descriptor 10 has an end when the reader has ended,
# which alone holds the other.
start_reader() {
  exec 12<&4
  open_pipe read.pipe
  exec 10<&4 11>&5 5>&-
  (
    exec 3>&- 4<&- 6<&- 8<&- 9>&- 10<&-
    ulimit -c 0
    ulimit -f "$blocks"
    HOLDFAST_WRAPPER=$mark exec cat <&12 >>"$folder/output" 12<&-
  ) 2>/dev/null &
  reader=$!
  exec 11>&- 12<&-
}

# Sets why where the reader, which has ended, could not go on: the kernel enforces the cap (it may not write a file larger
# than that, and is ended by a signal of its own where it tries). Whatever else ends it before its time costs output.
settle_reader() {
  wait "$reader"
  ended=$?
  while kill -0 "$reader" 2>/dev/null; do
    wait "$reader"
    ended=$?
  done
  reader=
  case $ended in
    0) ;;
    # A signal to us came instead, and may have cost us the status; where none came this is the reader's own end.
    127 | 129 | 130 | 138 | 143) [ -n "$called" ] || why=${why:-unspooled} ;;
    *) if [ "$(kill -l "$ended" 2>/dev/null)" = XFSZ ]; then why=${why:-output_capped}; else why=${why:-unspooled}; fi ;;
  esac
}

# The timer doesn't hold the idle pipe's other end: when we end, however that comes, it reads that and ends as well. A signal
# alone could reach it before it is ready to take one, and then it would wait on, and wake whoever has our number by then.
start_timer() {
  (
    exec 3>&- 6<&- 9>&- 10<&-
    is_over "$rest" && kill -s USR1 "$self"
  ) 2>/dev/null &
  timer=$!
}

# A command that was stopped leaves a line in the notice as well. What a signal ended is not there any more when we look.
forget_stops() {
  { read -r _; read -r said; } <"$folder/notice"
  [ -z "$said" ] || ! kill -0 "$command" 2>/dev/null || echo begun >"$folder/notice"
}

# Until the command has ended, or why says that it has to. As long as it may write we look now and then whether it lives: no
# signal tells us, for bash can lose a child that ends just then, or its status.
await_command() {
  while [ -z "$why" ] && [ -n "$reader" ] && kill -0 "$command" 2>/dev/null; do
    if has_read 0.2; then settle_reader; elif [ "$confined" = no ]; then forget_stops; fi
  done
  while [ -z "$why" ]; do
    wait "$command"
    status=$?
    kill -0 "$command" 2>/dev/null || break
    # Job control also returns, and says so, when the command was stopped.
    [ -n "$why" ] || { doze 0.1; [ "$confined" = yes ] || echo begun >"$folder/notice"; }
  done
}

wrap() {
  number=$1 folder=$2 mark=$3 seconds=$4 first=$5 rest=$6 blocks=$7 confined=$8 filter=$9
  shift 9
  group=$1 input=$2
  shift 2
  cwd=$1 places=$2
  shift 2
  self=${BASHPID:-$$}
  unset HOLDFAST_WRAPPER
  # A fork of a shell has no job control of its own.
  set -m

  why= called=
  trap 'called=yes why=${why:-timed_out}' USR1
  trap 'called=yes why=${why:-ended}' TERM INT HUP

  # The claim: this file is created by exactly one of us, or by whoever revoked this attempt. The place of the exit record is
  # taken with it: to write over that needs no room on any disk, and what fills one meanwhile doesn't get it.
  birth
  claimed=no
  set -C
  if ! { { claimed=yes; echo >|"$folder/exit" && printf 'run %s %s %s %s %s end\n' "$self" "$started" "$boot" "$seconds" "$confined"; } >"$folder/start"; } 2>/dev/null; then
    if [ "$claimed" = no ] && { [ -e "$folder/start" ] || [ -h "$folder/start" ]; }; then
      tell taken
      exit 75
    fi
    # A full disk: the file is ours and says nothing. That nobody may write it says that nothing was started, and takes no room.
    [ "$claimed" = no ] || chmod 400 "$folder/start"
    tell unwritten
    exit 77
  fi
  set +C
  tell "ok $self"

  # What the shell itself says goes here: a line for each child that a signal ended, and for nothing else.
  exec 2>>"$folder/notice"

  # A pipe that nobody writes to, as descriptors 8 and 9: waiting on it with a limit is a sleep without a process.
  open_pipe idle
  exec 8<&4 9>&5

  # What is typed to the command. The keeper has the pipe open for writing, so that what the command reads has no end, until
  # somebody who wants it to end the keeper, by TERM. It ends with us, as the timer does. Our own input is the other end.
  keeper=
  if [ "$input" != none ]; then
    mkfifo -m 600 "$folder/input"
    exec 4<>"$folder/input"
    (
      trap 'exit 0' TERM
      exec 3>&- 9>&-
      is_over "$first"
      is_over "$rest"
    ) >&4 4<&- 2>/dev/null &
    keeper=$!
    exec <"$folder/input" 4<&-
    printf 'input %s %s end\n' "$input" "$keeper" >>"$folder/start"
  fi

  # Whatever a fork of a shell starts beside itself reads nothing, unless it is told to.
  if [ "$confined" = yes ]; then
    open_pipe said
    exec 6<&4 7>&5
    open_pipe output.pipe
    { shift "$places"; confine "$@"; } <&0 &
    command=$!
    exec 7>&-
  else
    open_pipe output.pipe
    if cd "$cwd" 2>/dev/null; then
      echo begun >&2
      if [ "$group" = none ]; then
        HOLDFAST_RUN=$mark "$@" <&0 >&5 2>&1 3>&- 4<&- 5>&- 8<&- 9>&- &
      else
        (join_group; HOLDFAST_RUN=$mark exec "$@" <&0 >&5 2>&1 3>&- 4<&- 5>&- 8<&- 9>&-) &
      fi
    else
      (echo "holdfast: the folder $cwd is gone" >&5; exit 126) &
    fi
    command=$!
  fi
  exec 5>&-
  printf 'command %s end\n' "$command" >>"$folder/start"

  timer= reader=
  hear_first
  if [ "$heard" != all ]; then start_reader; fi
  exec 4<&-
  if [ "$heard" = more ] && has_read "$first"; then settle_reader; fi
  if [ -z "$why" ] && kill -0 "$command" 2>/dev/null; then start_timer; fi
  await_command
  if [ -n "$why" ]; then
    end_command
    # A signal that comes as the command ends makes bash forget that it has reaped it, and then it would wait on.
    ! kill -0 "$command" 2>/dev/null || wait "$command"
  fi
  trap called=yes USR1 TERM INT HUP

  # Its own process has ended: so does whatever it left behind. A pid namespace has seen to that already.
  if [ "$confined" = no ]; then
    if kill -s KILL -- "-$command" 2>/dev/null; then kill_all; fi
    # What left the group may hold the pipe, and then the reader goes on.
    [ -z "$reader" ] || has_read 0.05 || kill_all
  fi
  [ -z "$reader" ] || settle_reader

  if [ "$confined" = no ]; then exec 6<"$folder/notice"; fi
  read -r begun <&6
  read -r said <&6
  remove_intruders "$@"
  if [ -n "$why" ]; then end=$why
  elif [ "$begun" != begun ]; then
    end='exited 126'
    if [ "$confined" = yes ]; then
      printf 'holdfast: the sandbox could not be set up:\n%s\n%s\n' "$begun" "$said" >>"$folder/output" || end=unspooled
    fi
  elif [ "$status" -gt 128 ] && [ -n "$said" ]; then end="signalled $((status - 128))"
  else end="exited $status"; fi

  # One write, over the place that was taken for it; a record without its last word counts as none.
  printf '%s end\n' "$end" 1<>"$folder/exit"
  [ -z "$timer" ] || kill -s TERM -- "-$timer" 2>/dev/null
  [ -z "$keeper" ] || kill -s TERM "$keeper" 2>/dev/null

  # What left the group and holds no pipe is found by its mark. The starter does that faster, if it still lives.
  tell ended || [ "$confined" = yes ] || kill_all
  exit 0
}

# Says a word to the starter, which may be gone.
tell() {
  trap '' PIPE
  printf '%s %s\n' "$number" "$1" >&3 2>/dev/null
  set -- "$?"
  trap - PIPE
  return "$1"
}

# Places whose content would run later, outside the sandbox, and that were absent before: moved out of the workspace. We
# move from within the folder, once sure that it is the one meant: a link must not lead us to a file of somebody else's.
remove_intruders() {
  count=0 looked= base=
  # Beside the folder of all runs, in HOLDFAST_HOME: it may be its owner's, and stays when the session goes.
  home=${folder%/*/*/*/*/*}
  away=$home/removed${folder#"$home"/commands}
  while [ "$places" -gt 0 ]; do
    path=$1 places=$((places - 1))
    shift
    # The way to the next place of the same folder was walked already.
    if [ "${path%/*}" = "$looked" ]; then
      at=$path
      [ -e "$at" ] || [ -h "$at" ] || continue
    else
      looked=${path%/*}
      case $path in "$base"/*) ;; *) base= ;; esac
      from=$base
      base=${base:-$looked}
      find_intruder "$path" "$from" || continue
    fi
    count=$((count + 1))
    (cd -P -- "${at%/*}/" && [ "$PWD" = "${at%/*}" ] && take_away "${at##*/}" "$away/$count-${at##*/}") ||
      echo "holdfast: $at could not be moved away; look at it before you go on: $later" >>"$folder/output" ||
      why=${why:-unspooled}
  done
}

later='what it holds would run later, outside the sandbox'

# Of the current folder. A folder that its owner may not write in can't be moved to another, nor anything out of it; what is
# on another disk is copied, which may fail.
take_away() {
  mkdir -p -m 700 "$away"
  if mv -- "./$1" "$2" || { make_movable "$1" && mv -- "./$1" "$2"; }; then
    echo "holdfast: moved $at out of the workspace, to $2: $later"
  elif mv -- "./$1" "./$1.holdfast-set-aside-$self"; then
    echo "holdfast: renamed $at to $1.holdfast-set-aside-$self: $later"
  else
    return 1
  fi >>"$folder/output"
}

make_movable() {
  chmod u+rwx .
  [ -h "./$1" ] || [ ! -d "./$1" ] || chmod u+rwx "./$1"
}
