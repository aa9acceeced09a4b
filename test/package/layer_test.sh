#!/usr/bin/env bash
# layer_test.sh <compiler> <src folder> <include folders, by ;> <layer> [seen layer...]: the layer's sources reach the
# headers of the layers it names and of no other.
set -euo pipefail
compiler=$1 src=$2 layer=$4
IFS=';' read -ra folders <<<"$3"
seen=" ${*:4} "

for folder in $(find "$src" -name CMakeLists.txt -printf '%h\n' | sort); do
    other=${folder#"$src"} other=${other#/} other=${other#backends/}
    header=$(find "$folder" -name '*.h' -printf '%P\n' | sort | sed -n 1p)
    if [[ -z $other || -z $header ]]; then continue; fi
    reached=no
    if output=$(printf '#include "%s/%s"\n' "$other" "$header" |
        "$compiler" -std=c++20 -E -x c++ "${folders[@]/#/-I}" - -o /dev/null 2>&1); then
        reached=yes
    elif ! grep -q "$other/$header.*\(No such file\|not found\)" <<<"$output"; then
        # A header that is found may itself include what this layer does not see; that is its own layer's business.
        reached=yes
    fi
    expected=no
    if [[ $seen == *" $other "* ]]; then expected=yes; fi
    if [[ $reached != "$expected" ]]; then
        echo "layer $layer, \"$other/$header\": reached is $reached, expected $expected"
        printf '%s\n' "$output"
        exit 1
    fi
done
echo "layer $layer reaches$seen"
