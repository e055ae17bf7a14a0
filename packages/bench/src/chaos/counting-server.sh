# An MCP server that writes each call it gets into a file, as "TOOL MARK KEY", before it answers; every tenth or so it
# doesn't. Messages are lines of JSON; what it needs of them it finds without a parser, for it is started very often.
#
#   bash counting-server.sh FILE
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
# Sets value to the string that member $1 has in the line.
member() {
  case $line in
    *"\"$1\":\""*) value=${line#*"\"$1\":\""} value=${value%%\"*} ;;
    *) value= ;;
  esac
}
tool() { printf '{"name":"%s","description":"Counts.","inputSchema":{"type":"object"}}' "$1"; }

while IFS= read -r line; do
  case $line in *'"id":'*) id=${line##*'"id":'} id=${id%%[,\}]*} ;; *) continue ;; esac
  member method
  case $value in
    initialize) say '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shop","version":"1"}}' ;;
    tools/list) say "\"result\":{\"tools\":[$(tool charge),$(tool pay)]}" ;;
    tools/call)
      member name && tool=$value
      member mark && mark=$value
      member key && printf '%s %s %s\n' "$tool" "$mark" "$value" >>"$1"
      read -r -t "0.$((RANDOM % 3))$((RANDOM % 10))" _ <>/dev/null
      [ "$((RANDOM % 12))" -eq 0 ] || say '"result":{"content":[{"type":"text","text":"counted"}]}'
      ;;
    *) say '"error":{"code":-32601,"message":"no such method"}' ;;
  esac
done
