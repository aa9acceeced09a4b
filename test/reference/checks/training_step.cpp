#include "reference/checks/training_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sdpa_test {

std::vector<HostTensor> TrainingStep::results() const {
    std::vector<HostTensor> all{forward.o, forward.stats, backward.d_q, backward.d_k, backward.d_v};
    for (HostTensor const& tensor : {forward.max, forward.sum_exp, backward.d_bias, backward.d_sink}) {
        if (tensor) all.push_back(tensor);
    }
    return all;
}

using Run = error_t (Session::*)(Target const&);

static TrainingStep training_step(AttentionCase const& c, Inputs const& inputs, Target const& target, Run run) {
    TrainingStep step{{}, make_forward_outputs(c), make_backward_outputs(c)};
    Session forward(c, inputs, step.forward);
    step.error = (forward.*run)(target).get_message();
    if (!step.error.empty()) return step;
    oracle::Array stats = to_array(step.forward.stats);
    for (double& value : stats.values) value /= factor_of_stats(c);
    BackwardInputs more = make_backward_inputs(c, oracle::Forward{to_array(step.forward.o), std::move(stats)});
    if (is_fp8(c.type)) more.o.fill([&](Index4 const& at) { return step.forward.o.get(at); });
    Session backward(c, inputs, more, step.backward);
    step.error = (backward.*run)(target).get_message();
    return step;
}

TrainingStep training_step(AttentionCase const& c, Inputs const& inputs, Target const& target) {
    return training_step(c, inputs, target, &Session::run);
}

TrainingStep training_step(AttentionCase const& c, Target const& target) {
    return training_step(c, make_inputs(c), target);
}

TrainingStep restored_training_step(AttentionCase const& c, Target const& target) {
    return training_step(c, make_inputs(c), target, &Session::run_restored);
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
