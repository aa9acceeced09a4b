#!/usr/bin/env bash
# symbols_test.sh <build folder>: the shared library exports names of our public namespaces and nothing else.
set -euo pipefail
library=$(find "$1" -name 'libsdpa_graph.so' | head -n 1)

exported=$(nm -D --defined-only --demangle "$library" | cut -d' ' -f3-)
ours='^(vtable for |typeinfo for |typeinfo name for )?cudnn_frontend::'
# Each layer has a namespace of its name; graph alone is a public one.
layers=$(cd "$(dirname "$0")/../../src" && printf '%s\n' */ | sed 's|/$||' | grep -vx graph | paste -sd '|')
inner="cudnn_frontend::($layers)::"

if grep -vE "$ours" <<<"$exported"; then
    echo "the names above are not ours"
    exit 1
fi
if grep -E "^[^(]*$inner" <<<"$exported"; then
    echo "the names above belong to inner layers"
    exit 1
fi
for name in 'graph::Graph::Graph()' 'graph::Graph::validate()' 'Target::cpu(int)'; do
    grep -qF "cudnn_frontend::$name" <<<"$exported" || {
        echo "cudnn_frontend::$name is not exported"
        exit 1
    }
done
echo "$(wc -l <<<"$exported") exported names"
