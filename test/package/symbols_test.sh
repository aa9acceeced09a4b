#!/usr/bin/env bash
# symbols_test.sh <shared library> <namespace> <namespace of the interfaces>: the library exports names of our public
# namespaces and nothing else.
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
echo "$(wc -l <<<"$exported") exported names"
