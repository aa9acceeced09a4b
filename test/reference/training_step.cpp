#include "reference/training_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sdpa_test {

std::vector<HostTensor> TrainingStep::results() const {
    std::vector<HostTensor> all{forward.o, forward.stats, backward.d_q, backward.d_k, backward.d_v};
    if (backward.d_bias) all.push_back(backward.d_bias);
    return all;
}

TrainingStep training_step(AttentionCase const& c, Inputs const& inputs, Target const& target) {
    TrainingStep step{{}, make_forward_outputs(c), make_backward_outputs(c)};
    step.error = Session(c, inputs, step.forward).run(target).get_message();
    if (!step.error.empty()) return step;
    BackwardInputs more =
        make_backward_inputs(c, oracle::Forward{to_array(step.forward.o), to_array(step.forward.stats)});
    step.error = Session(c, inputs, more, step.backward).run(target).get_message();
    return step;
}

TrainingStep training_step(AttentionCase const& c, Target const& target) {
    return training_step(c, make_inputs(c), target);
}

bool same_bits(TrainingStep const& a, TrainingStep const& b) {
    auto const x = a.results(), y = b.results();
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](HostTensor const& p, HostTensor const& q) { return same_bits(p, q); });
}

double largest_difference(HostTensor const& a, HostTensor const& b) {
    double worst = 0.0;
    for_each_index(a.dim, [&](Index4 const& at) {
        double const x = a.get(at), y = b.get(at);
        if (x == y) return;
        bool const comparable = std::isfinite(x) && std::isfinite(y);
        worst = std::max(worst, comparable ? std::abs(x - y) : std::numeric_limits<double>::infinity());
    });
    return worst;
}

}  // namespace sdpa_test
