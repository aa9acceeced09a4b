#!/usr/bin/env bash
# no_destructors_test.sh <list of object files>: none registers a destructor to run when the program or a thread ends, except
# that of <iostream>, which counts its users.
set -euo pipefail

mapfile -t objects <"$1"
registering=$(nm -A --undefined-only "${objects[@]}" | grep -E ' __cxa_(thread_)?atexit$' | grep -v '/logging\.cpp\.o:' || true)
if [[ -n $registering ]]; then
    echo "$registering"
    echo "static objects there have destructors; core::Immortal holds one that has not"
    exit 1
fi
echo "${#objects[@]} object files"
