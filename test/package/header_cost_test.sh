#!/usr/bin/env bash
# header_cost_test.sh <compiler> <include folder> <source>: a file that builds an attention graph compiles within the
# budget. Other work on the machine only ever adds time, so the best of several tries counts.
set -euo pipefail
compiler=$1 include=$2 source=$3
max_milliseconds=500 max_lines=40000 tries=20

flags=(-std=c++17 -O2 -I "$include")
lines=$("$compiler" "${flags[@]}" -E "$source" | wc -l)

# Processor time, which is the wall time of this single-threaded program on an idle machine.
compile_milliseconds() {
    local TIMEFORMAT='%3U %3S' user system
    read -r user system < <({ time "$compiler" "${flags[@]}" -c "$source" -o /dev/null; } 2>&1)
    echo $((10#${user/./} + 10#${system/./}))
}

best=1000000
for ((try = 0; try < tries && best > max_milliseconds * 9 / 10; try++)); do
    elapsed=$(compile_milliseconds)
    if ((elapsed < best)); then best=$elapsed; fi
done

echo "best of $try: $best ms (at most $max_milliseconds), $lines preprocessed lines (at most $max_lines)"
((best <= max_milliseconds && lines <= max_lines))
