// Score modifiers inside fused attention, Target::cpu(), compared with the reference, which runs them operation by
// operation.
#include "support/catch.h"

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/score_modifiers.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace fe = cudnn_frontend;

namespace {

using fe::graph::Pointwise_attributes;
using fe::graph::Tensor_attributes;
using Graph_ptr = std::shared_ptr<fe::graph::Graph>;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;
using Modifier = std::function<Tensor_ptr(Graph_ptr, Tensor_ptr)>;
using Mode = fe::PointwiseMode_t;

constexpr std::int64_t kBatches = 2, kHeads = 4, kKeyHeads = 2, kWidth = 16;

enum Uid : std::int64_t { Q = 1, K, V, O, Stats, DO, DQ, DK, DV, First, Second };

struct Lengths {
    std::int64_t queries = 70, keys = 150;
};

// Tensors by uid, FLOAT except those of the modifier, which may be INT32.
struct Memory {
    std::map<std::int64_t, std::vector<float>> floats;
    std::map<std::int64_t, std::vector<std::int32_t>> integers;

    std::map<std::int64_t, void*> pack() {
        std::map<std::int64_t, void*> pointers;
        for (auto& [uid, numbers] : floats) pointers[uid] = numbers.data();
        for (auto& [uid, numbers] : integers) pointers[uid] = numbers.data();
        return pointers;
    }
};

Tensor_attributes rows(std::int64_t uid, std::int64_t heads, std::int64_t count, std::int64_t width) {
    return Tensor_attributes()
        .set_uid(uid)
        .set_dim({kBatches, heads, count, width})
        .set_stride({heads * count * width, count * width, width, 1});
}

Memory random_memory(Lengths const& lengths) {
    std::mt19937 random(11);
    std::normal_distribution<float> normal;
    Memory memory;
    auto const fill = [&](Uid uid, std::int64_t heads, std::int64_t count, std::int64_t width) {
        auto& numbers = memory.floats[uid];
        numbers.resize(static_cast<std::size_t>(kBatches * heads * count * width));
        for (float& number : numbers) number = normal(random);
    };
    for (Uid const uid : {Q, O, DO, DQ}) fill(uid, kHeads, lengths.queries, kWidth);
    for (Uid const uid : {K, V, DK, DV}) fill(uid, kKeyHeads, lengths.keys, kWidth);
    fill(Stats, kHeads, lengths.queries, 1);
    return memory;
}

fe::graph::Graph empty_graph() {
    fe::graph::Graph graph;
    graph.set_io_data_type(fe::DataType_t::FLOAT)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    return graph;
}

void run(fe::graph::Graph& graph, fe::Target const& target, Memory& memory) {
    auto error = graph.build(target);
    INFO(error.get_message());
    REQUIRE(error.is_good());
    std::vector<char> workspace(static_cast<std::size_t>(graph.get_workspace_size()) + 1);
    auto const pack = memory.pack();
    error = graph.execute(pack, workspace.data());
    INFO(error.get_message());
    REQUIRE(error.is_good());
}

// A modifier, with its gradient where it needs one.
struct ModifierCase {
    Modifier forward, backward;
    Lengths lengths = {};
};

void run_forward(ModifierCase const& test, fe::Target const& target, Memory& memory) {
    fe::graph::Graph graph = empty_graph();
    auto const q = graph.tensor(rows(Q, kHeads, test.lengths.queries, kWidth));
    auto const k = graph.tensor(rows(K, kKeyHeads, test.lengths.keys, kWidth));
    auto const v = graph.tensor(rows(V, kKeyHeads, test.lengths.keys, kWidth));
    auto options = fe::graph::SDPA_attributes().set_generate_stats(true).set_attn_scale(0.25f);
    options.set_score_mod(test.forward);
    auto const [o, stats] = graph.sdpa(q, k, v, options);
    o->set_output(true).set_uid(O);
    stats->set_output(true).set_uid(Stats).set_data_type(fe::DataType_t::FLOAT);
    run(graph, target, memory);
}

void run_backward(ModifierCase const& test, fe::Target const& target, Memory& memory) {
    fe::graph::Graph graph = empty_graph();
    auto const q = graph.tensor(rows(Q, kHeads, test.lengths.queries, kWidth));
    auto const k = graph.tensor(rows(K, kKeyHeads, test.lengths.keys, kWidth));
    auto const v = graph.tensor(rows(V, kKeyHeads, test.lengths.keys, kWidth));
    auto const o = graph.tensor(rows(O, kHeads, test.lengths.queries, kWidth));
    auto const d_o = graph.tensor(rows(DO, kHeads, test.lengths.queries, kWidth));
    auto const stats = graph.tensor(rows(Stats, kHeads, test.lengths.queries, 1));
    auto options = fe::graph::SDPA_backward_attributes().set_attn_scale(0.25f);
    options.set_score_mod(test.forward);
    if (test.backward) options.set_score_mod_bprop(test.backward);
    auto const [d_q, d_k, d_v] = graph.sdpa_backward(q, k, v, o, d_o, stats, options);
    d_q->set_output(true).set_uid(DQ);
    d_k->set_output(true).set_uid(DK);
    d_v->set_output(true).set_uid(DV);
    run(graph, target, memory);
}

void check_equal(std::vector<float> const& got, std::vector<float> const& expected) {
    REQUIRE(got.size() == expected.size());
    double square = 0.0;
    for (float const number : expected) square += std::isfinite(number) ? double{number} * number : 0.0;
    double const scale = std::sqrt(square / static_cast<double>(expected.size()));
    double worst = 0.0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        bool const is_same = got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]));
        double const error = std::abs(double{got[i]} - expected[i]) / (scale + std::abs(expected[i]));
        if (!is_same) worst = std::isfinite(error) ? std::max(worst, error) : 1e30;
    }
    CHECK(worst < 2e-5);
}

// Forward, and backward with forward's results.
void check_against_reference(ModifierCase const& test, Memory const& inputs, bool has_backward = true) {
    Memory fused = inputs, reference = inputs;
    run_forward(test, fe::Target::cpu(1), fused);
    run_forward(test, fe::Target::reference(), reference);
    for (Uid const uid : {O, Stats}) check_equal(fused.floats[uid], reference.floats[uid]);
    if (!has_backward) return;
    fused.floats[O] = reference.floats[O];
    fused.floats[Stats] = reference.floats[Stats];
    run_backward(test, fe::Target::cpu(1), fused);
    run_backward(test, fe::Target::reference(), reference);
    for (Uid const uid : {DQ, DK, DV}) check_equal(fused.floats[uid], reference.floats[uid]);
}

Tensor_ptr apply(Graph_ptr const& graph, Mode mode, Tensor_ptr const& a) {
    return graph->pointwise(a, Pointwise_attributes().set_mode(mode));
}
Tensor_ptr apply(Graph_ptr const& graph, Mode mode, Tensor_ptr const& a, Tensor_ptr const& b,
                 fe::DataType_t type = fe::DataType_t::FLOAT) {
    auto result = graph->pointwise(a, b, Pointwise_attributes().set_mode(mode).set_compute_data_type(type));
    result->set_data_type(type);
    return result;
}
Tensor_ptr index(Graph_ptr const& graph, Tensor_ptr const& score, std::int64_t axis) {
    auto result = graph->pointwise(score, Pointwise_attributes().set_mode(Mode::GEN_INDEX).set_axis(axis));
    result->set_data_type(fe::DataType_t::INT32);
    return result;
}
Tensor_ptr keep_where(Graph_ptr const& graph, Tensor_ptr const& score, Tensor_ptr const& predicate) {
    predicate->set_data_type(fe::DataType_t::BOOLEAN);
    return graph->pointwise(score, graph->tensor(-INFINITY), predicate,
                            Pointwise_attributes().set_mode(Mode::BINARY_SELECT));
}

Tensor_ptr integers(Graph_ptr const& graph, Uid uid, std::int64_t batches, std::int64_t queries, std::int64_t keys) {
    return graph->tensor(Tensor_attributes()
                             .set_uid(uid)
                             .set_data_type(fe::DataType_t::INT32)
                             .set_dim({batches, 1, queries, keys})
                             .set_stride({queries * keys, queries * keys, keys, 1}));
}

// Documents of some tokens each, from a number on.
Memory with_documents(Lengths const& lengths, std::int32_t first) {
    Memory memory = random_memory(lengths);
    auto const fill = [&](Uid uid, std::int64_t count) {
        for (std::int64_t b = 0; b < kBatches; ++b) {
            for (std::int64_t i = 0; i < count; ++i)
                memory.integers[uid].push_back(first + static_cast<std::int32_t>(i * (3 + b) / count));
        }
    };
    fill(First, lengths.queries);
    fill(Second, lengths.keys);
    return memory;
}

Modifier same_document(Lengths const& lengths) {
    return [lengths](Graph_ptr const& graph, Tensor_ptr const& score) {
        auto const of_queries = integers(graph, First, kBatches, lengths.queries, 1);
        auto const of_keys = integers(graph, Second, kBatches, 1, lengths.keys);
        return keep_where(graph, score, apply(graph, Mode::CMP_EQ, of_queries, of_keys, fe::DataType_t::INT32));
    };
}

}  // namespace

TEST_CASE("score regions: each function of one operand is that of the reference", "[regions]") {
    Memory const inputs = random_memory({});
    for (Mode const mode : {Mode::IDENTITY, Mode::NEG, Mode::ABS, Mode::FLOOR, Mode::CEIL, Mode::EXP, Mode::TANH_FWD,
                            Mode::SIGMOID_FWD, Mode::SIN, Mode::COS, Mode::ERF, Mode::RELU_FWD, Mode::ELU_FWD,
                            Mode::GELU_FWD, Mode::SOFTPLUS_FWD, Mode::SWISH_FWD, Mode::GELU_APPROX_TANH_FWD}) {
        CAPTURE(static_cast<int>(mode));
        check_against_reference(
            {[mode](Graph_ptr const& graph, Tensor_ptr const& score) { return apply(graph, mode, score); }, {}}, inputs,
            false);
    }
}

TEST_CASE("score regions: each function of two operands is that of the reference", "[regions]") {
    Memory const inputs = random_memory({});
    for (Mode const mode : {Mode::ADD, Mode::SUB, Mode::MUL, Mode::DIV, Mode::MAX, Mode::MIN, Mode::ADD_SQUARE,
                            Mode::POW, Mode::MOD, Mode::CMP_EQ, Mode::CMP_NEQ, Mode::CMP_GT, Mode::CMP_GE, Mode::CMP_LT,
                            Mode::CMP_LE, Mode::LOGICAL_AND, Mode::LOGICAL_OR}) {
        CAPTURE(static_cast<int>(mode));
        // The operands are floor(|score|) and the head's number, so that comparisons give both results.
        Modifier const modifier = [mode](Graph_ptr const& graph, Tensor_ptr const& score) {
            auto const number = apply(graph, Mode::ADD, index(graph, score, 1), graph->tensor(0.0f));
            if (mode != Mode::LOGICAL_AND && mode != Mode::LOGICAL_OR) {
                auto const whole = apply(graph, Mode::FLOOR, apply(graph, Mode::ABS, score));
                return apply(graph, Mode::ADD, apply(graph, mode, whole, number), score);
            }
            auto const is_positive = apply(graph, Mode::CMP_GT, score, graph->tensor(0.0f));
            auto const is_in_head = apply(graph, Mode::CMP_GT, number, graph->tensor(1.0f));
            for (auto const& predicate : {is_positive, is_in_head}) predicate->set_data_type(fe::DataType_t::BOOLEAN);
            return keep_where(graph, score, apply(graph, mode, is_positive, is_in_head));
        };
        bool const divides = mode == Mode::DIV || mode == Mode::MOD;  // by 0 in the first head
        Modifier const shifted = [modifier](Graph_ptr const& graph, Tensor_ptr const& score) {
            auto const number = apply(graph, Mode::ADD, index(graph, score, 1), graph->tensor(1.5f));
            return apply(graph, Mode::DIV, score, number);
        };
        check_against_reference({divides ? shifted : modifier, {}}, inputs, false);
    }
}

TEST_CASE("score regions: ready modifiers and chains of them, forward and backward", "[regions]") {
    namespace ready = fe::graph::attn::score_modifiers;
    Memory const inputs = random_memory({});
    auto const cap = ready::softcap(2.0f);
    check_against_reference({ready::causal_mask, {}}, inputs);
    check_against_reference({ready::relative_bias(0.1f), {}}, inputs);
    check_against_reference({ready::dilated_window(40, 3), {}}, inputs);
    check_against_reference({cap.forward, cap.backward}, inputs);
    check_against_reference({ready::chain(cap.forward, ready::causal_mask), cap.backward}, inputs);
    check_against_reference({ready::chain(ready::relative_bias(0.1f), ready::dilated_window(20, 1)), {}}, inputs);
}

TEST_CASE("score regions: documents, whose tiles are skipped", "[regions]") {
    Lengths const lengths{300, 700};
    check_against_reference({same_document(lengths), {}, lengths}, with_documents(lengths, 0));
}

TEST_CASE("score regions: integers that float cannot tell apart are told apart", "[regions]") {
    Lengths const lengths;
    check_against_reference({same_document(lengths), {}, lengths}, with_documents(lengths, (1 << 24) + 1));
    Modifier const computed = [lengths](Graph_ptr const& graph, Tensor_ptr const& score) {
        auto const beyond = [&](Tensor_ptr const& documents) {
            return apply(graph, Mode::ADD, documents, graph->tensor(std::int32_t{1 << 24}), fe::DataType_t::INT32);
        };
        auto const of_queries = beyond(integers(graph, First, kBatches, lengths.queries, 1));
        auto const of_keys = beyond(integers(graph, Second, kBatches, 1, lengths.keys));
        return keep_where(graph, score, apply(graph, Mode::CMP_EQ, of_queries, of_keys, fe::DataType_t::INT32));
    };
    check_against_reference({computed, {}, lengths}, with_documents(lengths, 1));
    // 20,000,001 i + j is even for half of the pairs.
    Modifier const checkered = [](Graph_ptr const& graph, Tensor_ptr const& score) {
        auto const number = [&](std::int32_t value) { return graph->tensor(value); };
        auto const int32 = fe::DataType_t::INT32;
        auto const row = apply(graph, Mode::MUL, index(graph, score, 2), number(20'000'001), int32);
        auto const sum = apply(graph, Mode::ADD, row, index(graph, score, 3), int32);
        auto const rest = apply(graph, Mode::MOD, sum, number(2), int32);
        return keep_where(graph, score, apply(graph, Mode::CMP_EQ, rest, number(0), int32));
    };
    check_against_reference({checkered, {}}, random_memory(lengths));
}

TEST_CASE("score regions: scores that are also an output are computed as before", "[regions]") {
    Memory memory = random_memory({});
    Lengths const lengths;
    memory.floats[First].resize(static_cast<std::size_t>(kBatches * kHeads * lengths.queries * lengths.keys));
    Modifier const shown = [](Graph_ptr const& graph, Tensor_ptr const& score) {
        auto const doubled = apply(graph, Mode::ADD, score, score);
        doubled->set_output(true).set_uid(First);
        return doubled;
    };
    Memory fused = memory, reference = memory;
    run_forward({shown, {}}, fe::Target::cpu(1), fused);
    run_forward({shown, {}}, fe::Target::reference(), reference);
    for (std::int64_t const uid : {std::int64_t{O}, std::int64_t{First}})
        check_equal(fused.floats[uid], reference.floats[uid]);
}

TEST_CASE("score regions: a document mask of long sequences needs no memory for scores", "[regions]") {
    Lengths const lengths{16384, 16384};
    fe::graph::Graph graph = empty_graph();
    auto const q = graph.tensor(rows(Q, kHeads, lengths.queries, kWidth));
    auto const k = graph.tensor(rows(K, kKeyHeads, lengths.keys, kWidth));
    auto const v = graph.tensor(rows(V, kKeyHeads, lengths.keys, kWidth));
    auto options = fe::graph::SDPA_attributes().set_generate_stats(false);
    options.set_score_mod(same_document(lengths));
    graph.sdpa(q, k, v, options)[0]->set_output(true).set_uid(O);
    REQUIRE(graph.build(fe::Target::cpu(1)).is_good());
    CHECK(graph.get_workspace_size() < 1 << 20);
}

TEST_CASE("score regions: a masked score has no gradient, whatever is made of it", "[regions]") {
    Lengths const lengths;
    ModifierCase const test{same_document(lengths),
                            [](Graph_ptr const& graph, Tensor_ptr const& gradient) {
                                return apply(graph, Mode::ADD, gradient, graph->tensor(1.0f));
                            },
                            lengths};
    Memory memory = with_documents(lengths, 0);
    std::fill(memory.integers[Second].begin(), memory.integers[Second].end(), 100);  // a document without queries
    run_forward(test, fe::Target::cpu(1), memory);
    run_backward(test, fe::Target::cpu(1), memory);
    for (Uid const uid : {DQ, DK, DV}) {
        CHECK(std::ranges::all_of(memory.floats[uid], [](float number) { return number == 0.0f; }));
    }
}
