// A case's graphs for planning without a GPU: nothing runs.
#pragma once

#include "reference/session.h"

#include <cudnn_frontend/runtime.h>

#include "support/skip.h"
#include "support/small_graph.h"

namespace sdpa_test {

// Asks after planning offline once: asking for the library first would load the driver of a machine that has one.
inline bool has_cudnn() {
    static bool const is_found = [] {
        static_cast<void>(test::small_graph().graph.build(Target::offline("h200")));
        return cudnn_frontend::runtime::cudnn_version() > 0;
    }();
    if (!is_found) SDPA_TEST_SKIP("there is no cuDNN library here");
    return is_found;
}

// The graphs of a case; backward's O and Stats come from zeros, since nothing runs.
struct Graphs {
    explicit Graphs(AttentionCase const& c)
        : in(make_inputs(c)),
          out(make_forward_outputs(c)),
          more(make_backward_inputs(c, zeros(c))),
          gradients(make_backward_outputs(c)),
          forward(c, in, out),
          backward(c, in, more, gradients) {}

    static oracle::Forward zeros(AttentionCase const& c) {
        return {oracle::Array(c.b, c.h_q, c.s_q, c.d_v), oracle::Array(c.b, c.h_q, c.s_q, 1)};
    }

    Inputs in;
    ForwardOutputs out;
    BackwardInputs more;
    BackwardOutputs gradients;
    Session forward, backward;
};

}  // namespace sdpa_test
