// A case's graphs for planning without a GPU: nothing runs.
#pragma once

#include "lowering/has_cudnn.h"
#include "reference/checks/session.h"

namespace sdpa_test {

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
