#!/usr/bin/env bash
# headers_test.sh <compiler> <standard> <include folder> <stamp> <alone|together>: each public header compiles twice in one
# file, by itself or with all others, and includes nothing but the standard library. Headers for PyTorch are left out:
# torch_test.sh compiles them. A success leaves the stamp, and compiles nothing again until a header, the compiler or this
# script is newer.
set -euo pipefail
compiler=$1 standard=$2 include=$3 stamp=$4 how=$5

if [[ -e $stamp && -z $(find -L "$include" "$0" "$(command -v "$compiler")" -newer "$stamp" -print -quit) ]]; then
    echo "nothing has changed since the headers compiled as $standard with $compiler"
    exit 0
fi
touch "$stamp.begun"  # headers that change during the test are newer

compile() { "$compiler" "-std=$standard" -Wall -Wextra -Werror -I "$include" -x c++ "$@" -; }

mapfile -t headers < <(cd "$include" && find . -name '*.h' ! -name '*_torch.h' | sed 's,^\./,,' | sort)

# compile_twice <header...>: all in one file
compile_twice() {
    printf '#include <%s>\n' "$@" "$@" | compile -fsyntax-only || {
        echo "these do not compile $how as $standard: $*"
        exit 1
    }
}

if [[ $how == alone ]]; then
    for header in "${headers[@]}"; do compile_twice "$header"; done
else
    compile_twice "${headers[@]}"
fi

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
echo "${#headers[@]} headers compile $how and twice as $standard with $compiler"
