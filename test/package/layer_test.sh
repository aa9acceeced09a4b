#!/usr/bin/env bash
# layer_test.sh <compiler> <src folder> <include folders, by ;> <layer> [seen layer...]: the layer's sources reach the
# headers of the layers it names and of no other.
set -euo pipefail
compiler=$1 src=$2 layer=$4
IFS=';' read -ra folders <<<"$3"
seen=" ${*:4} "

# The preprocessor answers for all layers at once, with a line for each whose header it finds. Such a header may itself
# include what this layer does not see; that is its own layer's business.
others=() source=''
for folder in $(find "$src" -name CMakeLists.txt -printf '%h\n' | sort); do
    other=${folder#"$src"} other=${other#/} other=${other#backends/}
    header=$(find "$folder" -name '*.h' -printf '%P\n' | sort | sed -n 1p)
    if [[ -z $other || -z $header ]]; then continue; fi
    others+=("$other")
    source+="#if __has_include(\"$other/$header\")"$'\n'"\"$other\""$'\n#endif\n'
done
found=$'\n'$("$compiler" -std=c++20 -E -P -x c++ "${folders[@]/#/-I}" - <<<"$source")$'\n'

for other in "${others[@]}"; do
    reached=no expected=no
    if [[ $found == *$'\n'"\"$other\""$'\n'* ]]; then reached=yes; fi
    if [[ $seen == *" $other "* ]]; then expected=yes; fi
    if [[ $reached != "$expected" ]]; then
        echo "layer $layer, the headers of $other: reached is $reached, expected $expected"
        exit 1
    fi
done
echo "layer $layer reaches$seen"
