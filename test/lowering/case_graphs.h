// A case's graphs for planning without a GPU: nothing runs.
#pragma once

#include "lowering/has_cudnn.h"
#include "reference/checks/session.h"

namespace sdpa_test {

// The graphs of a case, whose tensors have no data, since nothing runs.
struct Graphs {
    explicit Graphs(AttentionCase const& of)
        : c(without_data(of)),
          in(make_inputs(c)),
          out(make_forward_outputs(c)),
          more(make_backward_inputs(c, {})),
          gradients(make_backward_outputs(c)),
          forward(c, in, out),
          backward(c, in, more, gradients) {}

    static AttentionCase without_data(AttentionCase c) {
        c.has_data = false;
        return c;
    }

    AttentionCase c;
    Inputs in;
    ForwardOutputs out;
    BackwardInputs more;
    BackwardOutputs gradients;
    Session forward, backward;
};

}  // namespace sdpa_test
