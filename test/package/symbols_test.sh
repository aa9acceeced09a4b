#!/usr/bin/env bash
# symbols_test.sh <shared library> <namespace> <namespace of the interfaces>: the library exports names of our public
# namespaces and nothing else, and those are the ones of the reviewed list, exported_symbols.txt.
set -euo pipefail
library=$1 namespace=$2 interfaces=$3

exported=$(nm -D --defined-only --demangle "$library" | cut -d' ' -f3-)
ours="^((vtable for |typeinfo for |typeinfo name for )?$namespace|$interfaces)::"
# Each layer has a namespace of its name; only graph is public.
layers=$(cd "$(dirname "$0")/../../src" && printf '%s\n' */ | sed 's|/$||' | grep -vx graph | paste -sd '|')
inner="$namespace::($layers)::"

if grep -vE "$ours" <<<"$exported"; then
    echo "the names above are not ours"
    exit 1
fi
if grep -E "^[^(]*$inner" <<<"$exported"; then
    echo "the names above belong to inner layers"
    exit 1
fi
for name in "$namespace::graph::Graph::"{'Graph()','validate()'} "$namespace::Target::cpu(int)" \
    "$interfaces::flash::mha_"{,varlen_}{fwd,bwd}'(' "$interfaces::neighborhood::na_"{,qk_,av_}{forward,backward}'<'{1,2,3}ul'>('; do
    grep -qF "$name" <<<"$exported" || {
        echo "$name is not exported"
        exit 1
    }
done

# The names on which a program that is linked with the library may rely: docs/releases.md. Instances for lambdas of the library come and go
# with the level of optimization, and no program can name them.
list=$(dirname "$0")/exported_symbols.txt found=$(dirname "$library")/exported_symbols.txt
if [[ $namespace == cudnn_frontend ]]; then
    grep -vF '{lambda(' <<<"$exported" |
        sed 's/std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >/std::string/g' |
        LC_ALL=C sort -u >"$found"
    if ! diff -U 0 "$list" "$found"; then
        echo "- is no longer exported, + is new. A program that uses a name that is gone does not start any more: docs/releases.md"
        echo "says when that is allowed. Where it is meant: cp $found $list"
        exit 1
    fi
fi
echo "$(wc -l <<<"$exported") exported names"
