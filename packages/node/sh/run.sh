# The wrapper of one command: it outlives the program that started it. Plain POSIX sh; run by bash for its job control,
# which works without a terminal (see docs/decisions/0002-command-wrapper.md).
#
#   bash --posix run.sh FOLDER MARK SECONDS BLOCKS CONFINED INPUT CWD ABSENT COMMAND...
#
# FOLDER holds the records (start, exit) and the spool (output). ABSENT lists paths that must not be there at the end.
# INPUT is none; or pipe or terminal, where COMMAND reads what is written to the named pipe FOLDER/input.
# MARK names the run in the environment of everything it starts. BLOCKS caps the output, in units of 512 bytes.
# CONFINED is yes where COMMAND is bubblewrap with a bash in it that reads its standard input. Descriptor 3 tells the
# starter: a line once the claim is taken, another once the exit record stands. Exit status 75: it was taken before; 76: the
# arguments are of another version (HOLDFAST_WRAPPER_FORM counts up whenever they change).
#
# A program that was updated while it runs finds this script of the new version. What it then passes would be taken for
# something else, and a path of the system for one to move away: nothing is done for who doesn't name this very form.
[ "${HOLDFAST_WRAPPER_FORM-}" = 3 ] || exit 76
unset HOLDFAST_WRAPPER_FORM
set -m
folder=$1 mark=$2 seconds=$3 blocks=$4 confined=$5 input=$6 cwd=$7 absent=$8
shift 8
unset HOLDFAST_WRAPPER

why=
trap 'why=${why:-timed_out}' USR1
trap 'why=${why:-output_capped}' USR2
trap 'why=${why:-unspooled}' ALRM
trap 'why=${why:-ended}' TERM INT HUP

. "${0%/*}/inherited.sh"
close_inherited 3
if [ -r /proc/self/stat ]; then . "${0%/*}/linux.sh"; else . "${0%/*}/other.sh"; fi

# The claim: this file is created by exactly one of us, or by whoever revoked this attempt.
birth
set -C
{ printf 'run %s %s %s %s %s end\n' "$$" "$started" "$boot" "$seconds" "$confined" >"$folder/start"; } 2>/dev/null || exit 75
set +C
trap '' PIPE
printf 'ok\n' >&3 2>/dev/null
trap - PIPE

# What the shell itself says goes here: a line for each child that a signal ended, and for nothing else.
exec 2>>"$folder/notice"

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

# The first process in the sandbox (pid 1: it can't be killed from inside, and when it ends so does everything). It reads
# this from its standard input, for only then does bash say which child a signal ended; bubblewrap can't tell. No descriptor
# that reaches the sandbox is of a file: the command could open it again, for writing, through /proc/1/fd.
confine() {
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

# A pipe that nobody writes to, as descriptors 8 and 9: waiting on it with a limit is a sleep without a process.
open_pipe idle
exec 8<&4 9>&5

# What is typed to the command. The keeper has the pipe open for writing, so that what the command reads has no end, until
# somebody who wants it to end the keeper, by TERM. It ends with us, as the timer below does. Our own input is the other end.
keeper=
if [ "$input" != none ]; then
  mkfifo -m 600 "$folder/input"
  exec 4<>"$folder/input"
  (
    trap 'exit 0' TERM
    exec 3>&- 9>&-
    is_over "$seconds"
  ) >&4 4<&- 2>/dev/null &
  keeper=$!
  exec <"$folder/input" 4<&-
  printf 'input %s %s end\n' "$input" "$keeper" >>"$folder/start"
fi

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

if [ "$confined" = yes ]; then
  open_pipe said
  exec 6<&4 7>&5
  open_pipe output.pipe
  confine "$@" &
  command=$!
  exec 7>&-
else
  # Here descriptors 6 and 7 let the reader tell that it is done.
  open_pipe done.pipe
  exec 6<&4 7>&5
  open_pipe output.pipe
  if cd "$cwd" 2>/dev/null; then
    echo begun >&2
    HOLDFAST_RUN=$mark "$@" >&5 2>&1 3>&- 4<&- 5>&- 6<&- 7>&- 8<&- 9>&- &
  else
    (echo "holdfast: the folder $cwd is gone" >&5; exit 126) &
  fi
  command=$!
fi
printf 'command %s end\n' "$command" >>"$folder/start"

# The kernel enforces the cap: the reader may not write a file larger than this, and is ended by a signal where it tries.
# Nothing is buffered. Any other failure is the disk's.
(
  exec 3>&- 5>&- 6<&- 8<&- 9>&-
  ulimit -c 0
  ulimit -f "$blocks"
  cat <&4 >>"$folder/output" 7>&-
  case $? in
    0) ;;
    1) kill -s ALRM "$$" ;;
    *) kill -s USR2 "$$" ;;
  esac
  [ "$confined" = yes ] || echo done >&7
) 2>/dev/null &
reader=$!
exec 4<&- 5>&- 7>&-

# The timer doesn't hold the idle pipe's other end: when we end, however that comes, it reads that and ends as well. A signal
# alone could reach it before it is ready to take one, and then it would wait on, and wake whoever has our number by then.
(
  exec 3>&- 6<&- 9>&-
  is_over "$seconds" && kill -s USR1 "$$"
) 2>/dev/null &
timer=$!

while [ -z "$why" ]; do
  wait "$command"
  status=$?
  kill -0 "$command" 2>/dev/null || break
  # Job control also returns, and says so, when the command was stopped.
  [ -n "$why" ] || { doze 0.1; [ "$confined" = yes ] || echo begun >"$folder/notice"; }
done
if [ -n "$why" ]; then
  end_command
  # A signal that comes as the command ends makes bash forget that it has reaped it, and then it would wait on.
  ! kill -0 "$command" 2>/dev/null || wait "$command"
fi
trap : USR1 TERM INT HUP ALRM

# Its own process has ended: so does whatever it left behind. A pid namespace has seen to that already.
if [ "$confined" = no ]; then
  if kill -s KILL -- "-$command" 2>/dev/null; then kill_all; fi
  # What left the group may hold the pipe, and then the reader goes on. (A shell that takes whole seconds only fails here
  # at once; where that is so, looking for the rest is cheap.)
  read -r -t 0.05 _ <&6 || kill_all
fi
while kill -0 "$reader" 2>/dev/null; do wait "$reader"; done

if [ "$confined" = no ]; then exec 6<"$folder/notice"; fi
read -r begun <&6
read -r said <&6
if [ -n "$why" ]; then end=$why
elif [ "$begun" != begun ]; then
  end='exited 126'
  if [ "$confined" = yes ]; then
    printf 'holdfast: the sandbox could not be set up:\n%s\n%s\n' "$begun" "$said" >>"$folder/output"
  fi
elif [ "$status" -gt 128 ] && [ -n "$said" ]; then end="signalled $((status - 128))"
else end="exited $status"; fi

# Sets at to what stands at the real path $1, or to what was put in its way: a link, or a file in place of a folder.
find_intruder() {
  at= rest=${1#/}
  while [ -n "$rest" ]; do
    at=$at/${rest%%/*}
    case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
    if [ -h "$at" ] || { [ -e "$at" ] && ! [ -d "$at" ]; }; then return 0; fi
  done
  [ -e "$at" ]
}

# Places whose content would run later, outside the sandbox, and that were absent before: moved out of the workspace. We
# move from within the folder, once sure that it is the one meant: a link must not lead us to a file of somebody else's.
count=0
while IFS= read -r path; do
  find_intruder "$path" || continue
  count=$((count + 1))
  (cd -P -- "${at%/*}/" && [ "$PWD" = "${at%/*}" ] && mv -- "./${at##*/}" "$folder/removed.$count") &&
    echo "holdfast: moved $at out of the workspace: what it holds would run later, outside the sandbox" >>"$folder/output"
done <<PATHS
$absent
PATHS

# One write; a record without its last word counts as none. On a full disk the end of the output makes room for it.
printf '%s end\n' "$end" >"$folder/exit" ||
  { truncate -s -8192 "$folder/output" && printf '%s end\n' "$end" >"$folder/exit"; }
kill -s TERM -- "-$timer" 2>/dev/null
[ -z "$keeper" ] || kill -s TERM "$keeper" 2>/dev/null

# What left the group and holds no pipe is found by its mark. The starter does that faster, if it still lives.
trap '' PIPE
printf 'ended\n' >&3 2>/dev/null || [ "$confined" = yes ] || kill_all
exit 0
