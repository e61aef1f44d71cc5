#!/bin/bash
# note
total() {
  local a=$1
  echo "x $a"
}
function other {
  cat <<EOF
text $a
EOF
}
total 1
