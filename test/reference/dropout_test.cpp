// Generated dropout: replayed by seed and offset, independent between positions, kept at the right rate.
#include "reference/checks/training_step.h"
#include "support/catch.h"

#include <cmath>
#include <functional>

namespace {

using namespace sdpa_test;

AttentionCase dropout_case(float probability) {
    AttentionCase c;
    c.seed = 9;
    c.b = 2, c.h_q = 3, c.h_k = c.h_v = 1, c.s_q = 61, c.s_kv = 67, c.d_qk = c.d_v = 8;
    c.scale = Scale::Number, c.scale_value = 0.35f;
    c.dropout = Dropout::Probability, c.dropout_probability = probability, c.rng_seed = 123456789, c.rng_offset = 3;
    c.rng_dump = true;
    return c;
}

template <class Check>
void on_both_targets(Check check) {
    for (Target const& target : {Target::reference(), Target::cpu()}) {
        INFO("target: " << cudnn_frontend::to_string(target.kind()));
        check(target);
    }
}

HostTensor dumped_mask(AttentionCase const& c, Target const& target) {
    ForwardOutputs const out = make_forward_outputs(c);
    REQUIRE(Session(c, make_inputs(c), out).run(target).get_message() == "");
    return out.rng_dump;
}

// Counts elements for which the predicate holds and compares with a binomial distribution, within six standard
// deviations.
void check_rate(HostTensor const& like, double rate, std::function<bool(Index4 const&)> holds) {
    std::int64_t count = 0;
    for_each_index(like.dim, [&](Index4 const& at) { count += holds(at); });
    double const n = static_cast<double>(like.volume());
    CHECK(std::abs(static_cast<double>(count) - n * rate) <= 6.0 * std::sqrt(n * rate * (1.0 - rate)));
}

double agreement(float probability) {
    double const kept = 1.0 - static_cast<double>(probability);
    return kept * kept + (1.0 - kept) * (1.0 - kept);
}

}  // namespace

TEST_CASE("dropout keeps its share of the probabilities") {
    on_both_targets([](Target const& target) {
        for (float probability : {1e-30f, 0.05f, 0.3f, 0.5f, 0.9f, 0.99999994f}) {
            HostTensor const mask = dumped_mask(dropout_case(probability), target);
            check_rate(mask, 1.0 - static_cast<double>(probability),
                       [&](Index4 const& at) { return mask.get(at) == 1.0; });
        }
    });
}

TEST_CASE("dropout masks of different places are independent") {
    on_both_targets([](Target const& target) {
        HostTensor const mask = dumped_mask(dropout_case(0.3f), target);
        for (std::size_t axis = 0; axis < 4; ++axis) {
            check_rate(mask, agreement(0.3f), [&](Index4 at) {
                double const here = mask.get(at);
                at[axis] = (at[axis] + 1) % mask.dim[axis];
                return mask.get(at) == here;
            });
        }
    });
}

TEST_CASE("dropout with another seed or offset drops others") {
    on_both_targets([](Target const& target) {
        HostTensor const mask = dumped_mask(dropout_case(0.3f), target);
        auto const check_other = [&](std::function<void(AttentionCase&)> change) {
            AttentionCase c = dropout_case(0.3f);
            change(c);
            HostTensor const other = dumped_mask(c, target);
            check_rate(mask, agreement(0.3f), [&](Index4 const& at) { return mask.get(at) == other.get(at); });
        };
        check_other([](AttentionCase& c) { c.rng_seed += 1; });
        check_other([](AttentionCase& c) { c.rng_seed = -c.rng_seed; });
        check_other([](AttentionCase& c) { c.rng_offset += 1; });
        check_other([](AttentionCase& c) { c.rng_seed += std::int64_t{1} << 40; });
    });
}

TEST_CASE("dropout replays bit by bit from the same seed and offset in both directions") {
    on_both_targets([](Target const& target) {
        TrainingStep const first = training_step(dropout_case(0.3f), target);
        TrainingStep const second = training_step(dropout_case(0.3f), target);
        REQUIRE(first.error == "");
        REQUIRE(second.error == "");
        CHECK(same_bits(first, second));
        CHECK(same_bits(first.forward.rng_dump, first.backward.rng_dump));
    });
}

TEST_CASE("dropout drops the same on every target whatever else masks the scores") {
    AttentionCase masked = dropout_case(0.3f);
    masked.right = 0, masked.len_q = {30, 61}, masked.len_kv = {67, 5};
    HostTensor const mask = dumped_mask(dropout_case(0.3f), Target::reference());
    CHECK(same_bits(mask, dumped_mask(dropout_case(0.3f), Target::cpu())));
    CHECK(same_bits(mask, dumped_mask(masked, Target::reference())));
    CHECK(same_bits(mask, dumped_mask(masked, Target::cpu())));
}

TEST_CASE("dropout of probability 0 is no dropout and needs neither seed nor offset") {
    AttentionCase none = dropout_case(0.0f);
    none.dropout = Dropout::None;
    AttentionCase zero = dropout_case(0.0f);
    none.rng_dump = zero.rng_dump = false;
    on_both_targets([&](Target const& target) {
        ForwardOutputs const plain = make_forward_outputs(none), out = make_forward_outputs(zero);
        Inputs const in = make_inputs(zero);
        REQUIRE(Session(none, make_inputs(none), plain).run(target).get_message() == "");
        Session session(zero, in, out);
        REQUIRE(session.build(target).get_message() == "");
        auto pack = session.pack_by_uid();
        CHECK(pack.erase(session.tensor_of(in.seed)->get_uid()) == 1);
        CHECK(pack.erase(session.tensor_of(in.offset)->get_uid()) == 1);
        HostMemory const workspace(session.graph().get_workspace_size());
        CHECK(session.graph().execute(pack, workspace.data()).get_message() == "");
        CHECK(same_bits(plain.o, out.o));
        CHECK(same_bits(plain.stats, out.stats));
    });
}
