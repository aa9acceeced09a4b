// Checks of the programs in this folder, which link nothing but the library; main() returns whether there were
// failures.
#pragma once

#include <cstdio>

inline int failures = 0;

inline void expect(bool holds, char const* what) {
    if (!holds) std::fprintf(stderr, "not so: %s\n", what);
    failures += holds ? 0 : 1;
}
#define EXPECT(...) expect((__VA_ARGS__), #__VA_ARGS__)
