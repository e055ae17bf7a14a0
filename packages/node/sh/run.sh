# The wrapper of one command, started for it alone. See wrap.sh, which also has the arguments.
#
#   bash --posix run.sh NUMBER FOLDER MARK ...
. "${0%/*}/inherited.sh"
close_inherited 3
. "${0%/*}/wrap.sh"
wrap "$@"
