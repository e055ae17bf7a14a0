# Runs a server for as long as its starter lives. Plain POSIX sh, started as the leader of a process group of its own.
#
#   sh serve.sh COMMAND ARGUMENT...
#
# Standard input and output are the server's. Descriptor 3 is a pipe whose other end only the starter holds and never writes
# to: it ends when the starter does, however that comes, and then the whole group is ended, politely and after a second by
# force. Ends as the server does; what the server left running is the starter's to end.
command -v "$1" >/dev/null || {
  echo "there is no program $1, or it may not be run" >&2
  exit 127
}
exec 4<&0 </dev/null
"$@" <&4 3<&- 4<&- &
server=$!
exec 4<&- >/dev/null

(
  trap '' TERM
  read -r _ <&3
  kill -s TERM -- "-$$"
  sleep 1
  kill -s KILL -- "-$$"
) 2>/dev/null &
exec 3<&-

# Asked to end, the server alone decides when.
trap : TERM
while :; do
  wait "$server"
  status=$?
  kill -0 "$server" 2>/dev/null || exit "$status"
done
