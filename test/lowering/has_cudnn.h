// Whether plans can be made without a GPU here.
#pragma once

#include <cudnn_frontend/runtime.h>

#include "support/skip.h"
#include "support/small_graph.h"

namespace sdpa_test {

// Asks after planning offline once: asking for the library first would load the driver of a machine that has one.
inline bool has_cudnn() {
    static bool const is_found = [] {
        static_cast<void>(test::small_graph().graph.build(cudnn_frontend::Target::offline("h200")));
        return cudnn_frontend::runtime::cudnn_version() > 0;
    }();
    if (!is_found) sdpa_test::skip("there is no cuDNN library here");
    return is_found;
}

}  // namespace sdpa_test
