#!/usr/bin/env bash
# torch_test.sh <compiler> <include folder> <library> <source> <work folder>: a program for PyTorch compiles against the headers
# of functions on its tensors, links and runs. SDPA_GRAPH_PYTHON_SITE is a folder of Python packages that has torch.
set -euo pipefail
compiler=$1 include=$2 library=$3 source=$4 work=$5
torch=${SDPA_GRAPH_PYTHON_SITE:-}/torch program=$work/$(basename "$source" .cpp)

if [[ ! -f $torch/include/ATen/core/Tensor.h ]]; then
    echo "this test is skipped: SDPA_GRAPH_PYTHON_SITE names no folder of packages with torch"
    exit 0
fi
"$compiler" -std=c++20 -Wall -Wextra -Werror -I "$include" -isystem "$torch/include" "$source" "$library" \
    -L "$torch/lib" -Wl,-rpath,"$torch/lib" -lc10 -ltorch_cpu -pthread -ldl -o "$program"
"$program"
echo "a program for PyTorch runs with the functions of this library"
