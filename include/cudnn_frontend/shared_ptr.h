// std::shared_ptr and std::unique_ptr alone. <memory> also declares the parallel algorithms in C++17: a seventh of the
// time that a file which includes the graph API takes to compile with GCC.
#pragma once

#include <cstddef>  // whose library this is, is known after its first header

#if defined(__GLIBCXX__) || defined(_GLIBCXX_RELEASE)
#if defined(__has_include)
#if __has_include(<bits/shared_ptr.h>)
#include <bits/shared_ptr.h>
#define SDPA_GRAPH_HAVE_SHARED_PTR
#endif
#endif
#endif

#if !defined(SDPA_GRAPH_HAVE_SHARED_PTR)
#include <memory>
#endif
