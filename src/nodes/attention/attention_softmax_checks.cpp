// The sink token, its gradient, and what softmax leaves besides the log-sum-exp.
#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_checks.h"

namespace cudnn_frontend::nodes::attention_checks {
namespace {

using namespace attention;

void expect_one_for_each_head(RuleScope const& scope, int port) {
    TensorSpec const* const q = scope.tensor_4d(Q);
    if (q != nullptr) expect_dims(scope, port, {1, q->dim[1], 1, 1}, "one number for each head of Q");
}

}  // namespace

void sink_has_dims(RuleScope const& scope) { expect_one_for_each_head(scope, Sink_token); }

void sink_type_fits(RuleScope const& scope) { expect_wide_type(scope, Sink_token); }

void dsink_has_sink(RuleScope const& scope) {
    if (scope.tensor(dSink_token) == nullptr || scope.tensor(Sink_token) != nullptr) return;
    scope.report_port(dSink_token, "dSink_token without a sink token", "the sink token that it is the gradient of",
                      "call set_sink_token() as in the forward graph, or leave out set_dsink_token()");
}

void dsink_has_dims(RuleScope const& scope) { expect_one_for_each_head(scope, dSink_token); }

void dsink_is_float(RuleScope const& scope) { expect_type(scope, dSink_token, DataType_t::FLOAT); }

void softmax_results_have_dims(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor_4d(Q);
    if (q == nullptr) return;
    for (int const port : {Max, Sum_exp}) {
        expect_dims(scope, port, {q->dim[0], q->dim[1], q->dim[2], 1}, "{B, Hq, Sq, 1} of Q");
    }
}

void softmax_results_are_float(RuleScope const& scope) {
    for (int const port : {Max, Sum_exp}) expect_type(scope, port, DataType_t::FLOAT);
}

}  // namespace cudnn_frontend::nodes::attention_checks
