#!/usr/bin/env bash
# headers_test.sh <compiler> <standard> <include folder> <stamp>: each public header compiles by itself, twice in one file, and
# includes nothing but the standard library. Headers for PyTorch are left out: torch_test.sh compiles them. A success leaves
# the stamp, and compiles nothing again until a header, the compiler or this script is newer.
set -euo pipefail
compiler=$1 standard=$2 include=$3 stamp=$4

if [[ -e $stamp && -z $(find -L "$include" "$0" "$(command -v "$compiler")" -newer "$stamp" -print -quit) ]]; then
    echo "nothing has changed since the headers compiled as $standard with $compiler"
    exit 0
fi
touch "$stamp.begun"  # headers that change during the test are newer

compile() { "$compiler" "-std=$standard" -Wall -Wextra -Werror -I "$include" -x c++ "$@" -; }

count=0
for path in $(cd "$include" && find . -name '*.h' ! -name '*_torch.h' | sed 's,^\./,,' | sort); do
    printf '#include <%s>\n#include <%s>\n' "$path" "$path" | compile -fsyntax-only || {
        echo "<$path> does not compile alone as $standard"
        exit 1
    }
    count=$((count + 1))
done

# Existing programs include the umbrella a second time, inside a namespace.
printf '#include <cudnn_frontend.h>\nnamespace client {\n#include <cudnn_frontend.h>\n}\ncudnn_frontend::graph::Graph g;\n' |
    compile -fsyntax-only

# An ignored error is a warning.
if printf '#include <cudnn_frontend/graph.h>\nvoid f(cudnn_frontend::graph::Graph& g) { g.validate(); }\n' |
    compile -fsyntax-only 2>/dev/null; then
    echo "a discarded error_t compiles without a warning"
    exit 1
fi

foreign=$(printf '#include <cudnn_frontend/graph.h>\n#include <cudnn_frontend/pass_by_value.h>\n' | compile -M |
    grep -oiE '[^ ]*/(nlohmann|cudnn[^/ ]*\.h|cuda[^/ ]*\.h)[^ ]*' | grep -v "^$include/" || true)
if [[ -n $foreign ]]; then
    echo "<cudnn_frontend/graph.h> includes: $foreign"
    exit 1
fi
mv "$stamp.begun" "$stamp"
echo "$count headers compile alone and twice as $standard with $compiler"
