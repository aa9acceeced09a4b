// What is masked or dropped contributes nothing, whatever the tensors hold there; what is not stays what it is.
#include "reference/session.h"
#include "support/catch.h"

namespace {

using namespace sdpa_test;

template <class Check>
void on_both_targets(Check check) {
    for (Target const& target : {Target::reference(), Target::cpu(1), Target::cpu(3)}) {
        INFO("target: " << cudnn_frontend::to_string(target.kind()));
        check(target);
    }
}

ForwardOutputs run_forward(AttentionCase const& c, Inputs const& in, Target const& target) {
    ForwardOutputs out = make_forward_outputs(c);
    REQUIRE(Session(c, in, out).run(target).get_message() == "");
    return out;
}

// One query of one element over two keys.
AttentionCase two_keys() {
    AttentionCase c;
    c.s_kv = 2;
    return c;
}

Inputs inputs_of_two_keys(AttentionCase const& c, double q) {
    Inputs const in = make_inputs(c);
    in.q.set({}, q);
    in.k.set({0, 0, 0, 0}, 1.1), in.k.set({0, 0, 1, 0}, 0.0);
    in.v.set({0, 0, 0, 0}, 7.0), in.v.set({0, 0, 1, 0}, 5.0);
    return in;
}

}  // namespace

TEST_CASE("asking for Max and Sum_exp changes no other result, however large the scores are") {
    on_both_targets([](Target const& target) {
        for (double const q : {1.0, 1e6, 1e11, 3e18}) {
            CAPTURE(q);
            AttentionCase with = two_keys();
            with.logit_max = with.score_sum_exp = true;
            ForwardOutputs const plain = run_forward(two_keys(), inputs_of_two_keys(two_keys(), q), target);
            ForwardOutputs const asked = run_forward(with, inputs_of_two_keys(with, q), target);
            CHECK(same_bits(plain.o, asked.o));
            CHECK(same_bits(plain.stats, asked.stats));
            if (q == 1.0) continue;
            CHECK(asked.o.get({}) == 7.0);
            CHECK(asked.sum_exp.get({}) == 1.0);
            CHECK(asked.max.get({}) == Approx(1.1 * q));
            CHECK(asked.stats.get({}) == asked.max.get({}));
        }
    });
}
