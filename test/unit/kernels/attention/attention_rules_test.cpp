// The rules of the attention engine: each by a graph that breaks it alone.
#include "api/graph/graph_impl.h"
#include "kernels/attention/attention_graph.h"
#include "nodes/validation/validate.h"
#include "support/catch.h"

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/score_modifiers.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace cudnn_frontend;
using graph::Graph;
using graph::Pointwise_attributes;
using graph::SDPA_attributes;
using graph::SDPA_backward_attributes;
using graph::Tensor_attributes;
using kernels::AttentionOffer;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

namespace {

using Dims = std::vector<std::int64_t>;

Dims packed_strides(Dims const& dims) {
    Dims strides(dims.size(), 1);
    for (std::size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
    return strides;
}

// A tensor in memory. Without a type it has that of the graph.
Tensor_ptr input(Graph& graph, char const* name, Dims const& dims, DataType_t type = DataType_t::NOT_SET,
                 Dims const& strides = {}) {
    auto attributes = Tensor_attributes().set_name(name).set_dim(dims).set_data_type(type);
    return graph.tensor(attributes.set_stride(strides.empty() ? packed_strides(dims) : strides));
}

struct Tensors {
    Dims q{2, 4, 96, 64}, k{2, 2, 80, 64}, v{2, 2, 80, 64}, q_strides{};
    DataType_t type = DataType_t::BFLOAT16, k_type = DataType_t::NOT_SET;
    Dims outputs() const { return {q[0], q[1], q[2], v[3]}; }
};

Graph empty_graph(Tensors const& tensors) {
    Graph graph;
    graph.set_io_data_type(tensors.type).set_intermediate_data_type(DataType_t::FLOAT);
    graph.set_compute_data_type(DataType_t::FLOAT);
    return graph;
}

using Change = std::function<void(Graph& graph, SDPA_attributes& options)>;
void nothing(Graph&, SDPA_attributes&) {}

Graph forward(Change const& change = nothing, Tensors const& tensors = {}) {
    Graph graph = empty_graph(tensors);
    auto options = SDPA_attributes().set_name("sdpa").set_generate_stats(true).set_attn_scale(0.1f);
    change(graph, options);
    auto const results =
        graph.sdpa(input(graph, "Q", tensors.q, DataType_t::NOT_SET, tensors.q_strides),
                   input(graph, "K", tensors.k, tensors.k_type), input(graph, "V", tensors.v), options);
    results[0]->set_output(true);
    if (results[1]) results[1]->set_output(true);
    return graph;
}

using BackwardChange = std::function<void(Graph& graph, SDPA_backward_attributes& options)>;

Graph backward(BackwardChange const& change, Tensors const& tensors = {}) {
    Graph graph = empty_graph(tensors);
    auto options = SDPA_backward_attributes().set_name("sdpa").set_attn_scale(0.1f);
    change(graph, options);
    Dims const rows{tensors.q[0], tensors.q[1], tensors.q[2], 1};
    for (auto const& result :
         graph.sdpa_backward(input(graph, "Q", tensors.q), input(graph, "K", tensors.k), input(graph, "V", tensors.v),
                             input(graph, "O", tensors.outputs()), input(graph, "dO", tensors.outputs()),
                             input(graph, "Stats", rows, DataType_t::FLOAT), options)) {
        result->set_output(true);
    }
    return graph;
}

// The engine's refusal of a graph; empty where it runs it.
std::string refusal_of(Graph graph, AttentionOffer offer = AttentionOffer::Alone, int capability = 90) {
    if (auto const error = graph.validate(); error.is_bad()) return "invalid: " + error.get_message();
    auto const valid = nodes::validate(detail::Graph_access::snapshot(graph).spec).graph;
    return kernels::read_attention(*valid, {capability, 132}, offer).error().get_message();
}
std::string refusal_of(Change const& change, AttentionOffer offer = AttentionOffer::Alone) {
    return refusal_of(forward(change), offer);
}

// The refusal by one rule alone.
std::string by(std::string const& rule, std::string const& text) {
    return "the engine 'attention' cannot run this graph:\n  [" + rule + "] node 'sdpa'" + text;
}

void drop(Graph& graph, SDPA_attributes& options) {
    options.set_dropout(0.1f, input(graph, "seed", {1, 1, 1, 1}, DataType_t::INT64),
                        input(graph, "offset", {1, 1, 1, 1}, DataType_t::INT64));
}

// Lengths of queries and keys.
void pad(Graph& graph, SDPA_attributes& options, DataType_t type, Dims const& strides = {}) {
    options.set_padding_mask(true);
    options.set_seq_len_q(input(graph, "queries", {2, 1, 1, 1}, type, strides));
    options.set_seq_len_kv(input(graph, "keys", {2, 1, 1, 1}, type, strides));
}

Pointwise_attributes mode(PointwiseMode_t each) { return Pointwise_attributes().set_mode(each); }

}  // namespace

TEST_CASE("the attention engine has rules with ids, and a graph that breaks none is run") {
    CHECK(refusal_of(nothing) == "");
    CHECK(refusal_of(backward([](Graph&, SDPA_backward_attributes&) {})) == "");
    Tensors tensors;
    tensors.q = {2, 4, 96, 100};
    tensors.k = {2, 2, 80, 100};
    tensors.type = DataType_t::FLOAT;
    std::string const several = refusal_of(forward(nothing, tensors), AttentionOffer::Alone, 80);
    for (char const* const id : {"kernels.c03", "kernels.c04", "kernels.c05"}) {
        CHECK(several.find("\n  [" + std::string(id) + "]") != several.npos);
    }
}

TEST_CASE("kernels.c01: attention that is no operation of its own") {
    CHECK(refusal_of([](Graph&, SDPA_attributes& options) {
              options.set_implementation(AttentionImplementation_t::COMPOSITE);
          }) == by("kernels.c01",
                   ": found the implementation COMPOSITE; expected attention as one operation. Try: "
                   "set_implementation(AttentionImplementation_t::AUTO)."));
    CHECK(refusal_of([](Graph&, SDPA_attributes& options) {
              options.set_score_mod([](std::shared_ptr<Graph> graph, Tensor_ptr score) {
                  auto const rows =
                      graph->reduction(score, graph::Reduction_attributes().set_mode(ReductionMode_t::MAX));
                  rows->set_dim({2, 4, 96, 1});
                  return graph->pointwise(score, rows, mode(PointwiseMode_t::SUB));
              });
          }) == by("kernels.c01",
                   ": found a score modifier that needs operations of its own; expected attention as one "
                   "operation. Try: pointwise nodes whose operands broadcast to the scores, and whose "
                   "results nothing else reads."));
}

TEST_CASE("kernels.c02: a step of a modifier that has fewer dims than the scores in each operand") {
    CHECK(refusal_of([](Graph& all, SDPA_attributes& options) {
              Tensor_ptr const slopes = input(all, "slopes", {1, 4, 1, 1}, DataType_t::FLOAT);
              options.set_score_mod([slopes](std::shared_ptr<Graph> graph, Tensor_ptr score) {
                  auto const doubled = graph->pointwise(slopes, slopes, mode(PointwiseMode_t::ADD).set_name("double"));
                  return graph->pointwise(score, doubled, mode(PointwiseMode_t::MUL));
              });
          }) ==
          by("kernels.c02",
             ": found the operation 'double' next to attention; expected attention alone, with steps of a modifier "
             "that have scores or GEN_INDEX of rows and columns among their operands. Try: pass the operation's "
             "result as a tensor, or apply the step to scores."));
}

TEST_CASE("kernels.c03: another GPU") {
    for (auto const& [capability, name] : {std::pair(80, "8.0"), std::pair(100, "10.0")}) {
        CHECK(refusal_of(forward(), AttentionOffer::Alone, capability) ==
              by("kernels.c03", ": found compute capability " + std::string(name) +
                                    "; expected 9.0. Try: a GPU of the Hopper generation, or engines of other "
                                    "backends."));
    }
}

TEST_CASE("kernels.c04: types other than BFLOAT16 and HALF, or both") {
    Tensors tensors;
    tensors.type = DataType_t::FLOAT;
    CHECK(refusal_of(forward(nothing, tensors)) ==
          by("kernels.c04",
             ", tensors 'Q', 'K', 'V', 'sdpa::O': found FLOAT; expected Q, K, V, O and their gradients of "
             "one type, BFLOAT16 or HALF. Try: give them one of these types."));
}

TEST_CASE("kernels.c05: head dims") {
    Tensors tensors;
    tensors.q = {2, 4, 96, 264};
    tensors.k = {2, 2, 80, 264};
    CHECK(refusal_of(forward(nothing, tensors)) ==
          by("kernels.c05",
             ": found head dims of 264 for Q and K, and of 64 for V; expected multiples of 8, up to 256. "
             "Try: pad the rows with zeros, up to 256 columns."));
}

// Where there are other engines, some rules ask whether this one is faster.
TEST_CASE("kernels.c05: head dims of gradients of sequences with lengths, next to other engines") {
    Tensors tensors;
    tensors.q = {2, 4, 2048, 264};
    tensors.k = {2, 2, 2048, 264};
    tensors.v = {2, 2, 2048, 264};
    Graph const graph = backward(
        [](Graph& all, SDPA_backward_attributes& options) {
            options.set_padding_mask(true);
            options.set_seq_len_q(input(all, "queries", {2, 1, 1, 1}, DataType_t::INT32));
            options.set_seq_len_kv(input(all, "keys", {2, 1, 1, 1}, DataType_t::INT32));
            options.set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT).set_diagonal_band_right_bound(0);
        },
        tensors);
    CHECK(refusal_of(graph, AttentionOffer::NextToOthers) ==
          by("kernels.c05",
             ": found head dims of 264 for Q and K, and of 264 for V; expected multiples of 8, up to 256. Try: pad "
             "the rows with zeros, up to 256 columns."));
}

TEST_CASE("kernels.c06: strides") {
    Tensors tensors;
    tensors.q_strides = {4 * 96 * 68, 96 * 68, 68, 1};
    CHECK(refusal_of(forward(nothing, tensors)) ==
          by("kernels.c06",
             ", tensor 'Q': found strides [26112, 6528, 68, 1]; expected 1 as the stride of the last dim, and other "
             "strides that are multiples of 16 bytes and at least one row long. Try: lay it out with rows of a "
             "multiple of 8 elements."));
}

TEST_CASE("kernels.c07: other heads in V than in K") {
    Tensors tensors;
    tensors.v = {2, 4, 80, 64};
    CHECK(refusal_of(forward(nothing, tensors)) ==
          by("kernels.c07",
             ", tensor 'V': found 4 heads; expected the 2 of K. Try: repeat the heads of the tensor that "
             "has fewer."));
}

TEST_CASE("kernels.c08: too many rows") {
    Tensors tensors;
    tensors.q = {1, 256, std::int64_t{1} << 28, 8};
    tensors.k = tensors.v = {1, 1, 80, 8};
    CHECK(refusal_of(forward(nothing, tensors)) ==
          by("kernels.c08",
             ": found 1073742080 blocks of 64 rows in all heads; expected at most 2^30. Try: compute the "
             "attention in parts."));
}

TEST_CASE("kernels.c09: a scale that is negative, or a tensor") {
    std::string const rest = "; expected a number of the graph above 0. Try: set_attn_scale(float), and the sign in Q.";
    CHECK(refusal_of([](Graph&, SDPA_attributes& options) { options.set_attn_scale(-0.5f); }) ==
          by("kernels.c09", ": found attn_scale -0.5" + rest));
    CHECK(refusal_of([](Graph& graph, SDPA_attributes& options) {
              options = SDPA_attributes().set_name("sdpa").set_generate_stats(true);
              options.set_attn_scale(input(graph, "scale", {1, 1, 1, 1}, DataType_t::FLOAT));
          }) == by("kernels.c09", ": found attn_scale as a tensor" + rest));
}

TEST_CASE("kernels.c10: dropout by a mask") {
    CHECK(refusal_of([](Graph& graph, SDPA_attributes& options) {
              options.set_dropout(input(graph, "mask", {1, 1, 96, 80}),
                                  input(graph, "scale", {1, 1, 1, 1}, DataType_t::FLOAT));
          }) == by("kernels.c10",
                   ", tensor 'mask': found dropout by a mask of the caller's; expected dropout by a "
                   "probability. Try: set_dropout(probability, seed, offset)."));
}

// Keys in pages of so many rows, and values in pages of 32.
Graph paged(std::int64_t rows, Change const& change = nothing) {
    Tensors tensors;
    std::int64_t const pages = (80 + rows - 1) / rows;
    tensors.k = {2 * pages, 2, rows, 64};
    tensors.v = {6, 2, 32, 64};
    return forward(
        [=](Graph& all, SDPA_attributes& options) {
            pad(all, options, DataType_t::INT32);
            options.set_paged_attention_k_table(input(all, "k_pages", {2, 1, pages, 1}, DataType_t::INT32));
            options.set_paged_attention_v_table(input(all, "v_pages", {2, 1, 3, 1}, DataType_t::INT32));
            options.set_paged_attention_max_seq_len_kv(80);
            change(all, options);
        },
        tensors);
}

TEST_CASE("kernels.c11: small pages") {
    CHECK(refusal_of(paged(8)) == "");
    CHECK(refusal_of(paged(4)) ==
          by("kernels.c11",
             ", tensor 'K': found pages of 4 rows; expected at least 8. Try: larger pages, or engines of other "
             "backends."));
}

TEST_CASE("kernels.c12: a block mask, and head dims of 256") {
    auto const refusal_with = [](Tensors const& tensors) {
        return refusal_of(forward(
            [](Graph& graph, SDPA_attributes& options) {
                options.set_block_mask(input(graph, "blocks", {2, 4, 1, 1}, DataType_t::UINT8));
            },
            tensors));
    };
    CHECK(refusal_with({}) == "");
    CHECK(refusal_with({{2, 4, 96, 256}, {2, 2, 80, 256}, {2, 2, 80, 256}}) ==
          by("kernels.c12",
             ", tensor 'blocks': found a block mask with head dims of 256 and 256; expected head dims of at most 192 "
             "for Q and K, and 128 for V. Try: a score modifier that chooses between the score and -inf hides blocks, "
             "too."));
}

TEST_CASE("kernels.c13: a sink of another type") {
    CHECK(refusal_of([](Graph& graph, SDPA_attributes& options) {
              options.set_sink_token(input(graph, "sink", {1, 4, 1, 1}, DataType_t::HALF));
          }) == by("kernels.c13",
                   ", tensor 'sink': found HALF; expected a sink token of FLOAT. Try: "
                   "set_data_type(DataType_t::FLOAT)."));
}

TEST_CASE("kernels.c14: a gradient without memory") {
    Graph graph = empty_graph({});
    Tensors const tensors;
    auto const results =
        graph.sdpa_backward(input(graph, "Q", tensors.q), input(graph, "K", tensors.k), input(graph, "V", tensors.v),
                            input(graph, "O", tensors.outputs()), input(graph, "dO", tensors.outputs()),
                            input(graph, "Stats", {2, 4, 96, 1}, DataType_t::FLOAT),
                            SDPA_backward_attributes().set_name("sdpa").set_attn_scale(0.1f));
    for (auto const& result : {results[0], results[2]}) result->set_output(true);
    CHECK(refusal_of(graph) == by("kernels.c14",
                                  ", tensor 'sdpa::dK': found a result without memory; expected the results "
                                  "as outputs. Try: set_output(true)."));
}

TEST_CASE("kernels.c15: Stats of base 2") {
    CHECK(refusal_of([](Graph&, SDPA_attributes& options) { options.set_stats_use_log2(true); }) ==
          by("kernels.c15",
             ", tensor 'sdpa::Stats': found logarithms of base 2; expected natural logarithms of FLOAT. "
             "Try: leave set_stats_use_log2() out."));
}

TEST_CASE("gradients have up to 256 columns") {
    Tensors tensors;
    tensors.q = {2, 4, 96, 256};
    tensors.k = {2, 2, 80, 256};
    tensors.v[3] = 256;
    CHECK(refusal_of(forward(nothing, tensors)) == "");
    CHECK(refusal_of(backward([](Graph&, SDPA_backward_attributes&) {}, tensors)) == "");
}

TEST_CASE("kernels.c17: deterministic gradients of a bias that several tiles of keys add to") {
    auto const refusal_with = [](Dims const& dims, Tensors const& tensors = {}) {
        return refusal_of(backward(
            [&](Graph& graph, SDPA_backward_attributes& options) {
                auto const gradient = input(graph, "dBias", dims);
                gradient->set_output(true);
                options.set_bias(input(graph, "bias", dims)).set_dbias(gradient).set_deterministic_algorithm(true);
            },
            tensors));
    };
    CHECK(refusal_of(backward(
              [](Graph&, SDPA_backward_attributes& options) { options.set_deterministic_algorithm(true); })) == "");
    CHECK(refusal_with({2, 4, 96, 80}) == "");
    CHECK(refusal_with({2, 4, 1, 80}) == "");
    for (Dims const& dims : {Dims{1, 4, 96, 80}, Dims{2, 1, 96, 80}, Dims{2, 4, 96, 1}}) {
        std::string const refusal = refusal_with(dims);
        CHECK(refusal.find("[kernels.c17] node 'sdpa', tensor 'dBias': found set_deterministic_algorithm(true) and a "
                           "gradient of the bias of ") != refusal.npos);
        CHECK(refusal.find("[kernels.", refusal.find("[kernels.") + 1) == refusal.npos);
    }
    Tensors one_key_head;
    one_key_head.k[1] = one_key_head.v[1] = 1;
    CHECK(refusal_with({2, 1, 96, 80}, one_key_head) == "");
}

TEST_CASE("kernels.c18: a modifier without a form in the kernels") {
    std::string const refusal = refusal_of([](Graph&, SDPA_attributes& options) {
        options.set_score_mod([](std::shared_ptr<Graph> graph, Tensor_ptr score) {
            return graph->pointwise(score, mode(PointwiseMode_t::GELU_FWD));
        });
    });
    CHECK(refusal == by("kernels.c18",
                        ": found a score modifier that computes GELU_FWD; expected a modifier that has a "
                        "form in the kernels. Try: other operations or types in the modifier."));
    std::string const rest =
        "; expected a modifier that has a form in the kernels. Try: other operations or types in the modifier.";
    auto const added = [](Dims const& dims, bool is_by_value) {
        return refusal_of([&](Graph&, SDPA_attributes& options) {
            options.set_score_mod([&](std::shared_ptr<Graph> graph, Tensor_ptr score) {
                Tensor_ptr const term = input(*graph, "term", dims, DataType_t::FLOAT);
                term->set_is_pass_by_value(is_by_value);
                return graph->pointwise(score, term, mode(PointwiseMode_t::ADD));
            });
        });
    };
    CHECK(added({1, 1, 1, 1}, true) ==
          by("kernels.c18", ": found a score modifier that reads 'term', a number given at each run" + rest));
    CHECK(added({96, 80}, false) ==
          by("kernels.c18",
             ": found a score modifier that reads 'term', a tensor of dims [96, 80] instead of four" + rest));
}

TEST_CASE("kernels.c19: matrices that are packed next to others") {
    auto const packed = [](std::vector<char const*> const& names) {
        Graph graph = empty_graph({});
        auto options = SDPA_attributes().set_name("sdpa").set_generate_stats(true).set_attn_scale(0.1f);
        pad(graph, options, DataType_t::INT32);
        auto const tensor = [&](char const* name, Dims const& dims) {
            Tensor_ptr const made =
                input(graph, name, dims, DataType_t::NOT_SET, {dims[1] * dims[2] * 64, 64, dims[1] * 64, 1});
            if (std::ranges::find(names, std::string_view(name)) != names.end())
                made->set_ragged_offset(input(graph, "offsets", {3, 1, 1, 1}, DataType_t::INT32));
            return made;
        };
        auto const results =
            graph.sdpa(tensor("Q", {2, 4, 96, 64}), tensor("K", {2, 2, 80, 64}), tensor("V", {2, 2, 80, 64}), options);
        results[0]->set_output(true).set_stride({4 * 96 * 64, 64, 4 * 64, 1});
        if (names.size() > 2)
            results[0]->set_ragged_offset(input(graph, "offsets_of_o", {3, 1, 1, 1}, DataType_t::INT32));
        results[1]->set_output(true);
        return graph;
    };
    std::string const rest =
        "; expected all matrices that are not in pages packed or none, and with them Stats, Max and Sum_exp alone. "
        "Try: "
        "lay the matrices out alike.";
    CHECK(refusal_of(packed({"Q", "K", "V"})) == "");
    CHECK(refusal_of(packed({"K", "V"})) == by("kernels.c19", ", tensors 'K', 'V': found packed sequences" + rest));
    CHECK(refusal_of(packed({"Q"})) ==
          by("kernels.c19", ", tensors 'K', 'V', 'sdpa::O': found padded sequences next to packed ones" + rest));
    std::string const refusal = refusal_of(packed({"Q", "K", "V"}), AttentionOffer::NextToOthers);
    CHECK(refusal ==
          by("kernels.c21",
             ": found packed sequences; expected none where other engines run them. Try: a stream as target."));
}

TEST_CASE("kernels.c20: lengths that are not contiguous") {
    Change const apart = [](Graph& graph, SDPA_attributes& options) {
        pad(graph, options, DataType_t::INT32, {2, 1, 1, 1});
    };
    CHECK(refusal_of(apart) ==
          by("kernels.c20",
             ", tensors 'queries', 'keys': found a stride of 2; expected contiguous numbers in the caller's memory. "
             "Try: lay out lengths and ragged offsets with a stride of 1."));
}

TEST_CASE("kernels.c21 to kernels.c25: what the engine leaves to others, and runs alone or before them") {
    auto const check = [](std::string const& id, std::string const& found, Change const& change) {
        INFO(id);
        CHECK(refusal_of(change) == "");
        std::string const refusal = refusal_of(change, AttentionOffer::NextToOthers);
        CHECK(refusal.starts_with(by(id, "")));
        CHECK(refusal.find(": found " + found + "; expected ") != refusal.npos);
        CHECK(refusal.ends_with("a stream as target."));
    };
    check("kernels.c22", "an ALiBi mask or a sink",
          [](Graph&, SDPA_attributes& options) { options.set_alibi_mask(true).set_causal_mask(true); });
    check("kernels.c23", "a bias of [2, 4, 96, 1]", [](Graph& graph, SDPA_attributes& options) {
        options.set_bias(input(graph, "bias", {2, 4, 96, 1}));
    });
    check("kernels.c24", "sums of lengths, or lengths of INT64",
          [](Graph& graph, SDPA_attributes& options) { pad(graph, options, DataType_t::INT64); });
    check("kernels.c25",
          "dropout by a probability, whose numbers are others than those of engines that may run the other pass", drop);
    CHECK(refusal_of(drop, AttentionOffer::BeforeOthers).starts_with(by("kernels.c25", "")));
}

TEST_CASE("kernels.c29: pages, which other engines read") {
    CHECK(refusal_of(paged(16), AttentionOffer::InAnyBatch) == "");
    for (AttentionOffer const offer : {AttentionOffer::NextToOthers, AttentionOffer::BeforeOthers}) {
        CHECK(refusal_of(paged(16), offer) ==
              by("kernels.c29",
                 ": found pages, and scores without a modifier; expected a modifier or a block mask where there are "
                 "other engines. Try: a stream as target."));
        Change const cap = [](Graph&, SDPA_attributes& options) {
            options.set_score_mod(graph::attn::score_modifiers::softcap(30.0f).forward);
        };
        CHECK(refusal_of(paged(16, cap), offer) == "");
        Change const mask = [](Graph& graph, SDPA_attributes& options) {
            options.set_block_mask(input(graph, "blocks", {2, 4, 1, 1}, DataType_t::UINT8));
        };
        CHECK(refusal_of(paged(16, mask), offer) == "");
    }
}

TEST_CASE("kernels.c26 to kernels.c28: what depends on the batch") {
    CHECK(refusal_of(backward([](Graph&, SDPA_backward_attributes&) {}), AttentionOffer::InAnyBatch) ==
          by("kernels.c26",
             ": found backward; expected forward. Try: "
             "set_batch_invariant(true) in forward alone."));
    CHECK(refusal_of(drop, AttentionOffer::InAnyBatch) ==
          by("kernels.c27",
             ": found dropout, whose numbers depend on a sequence's place in the batch; expected none. "
             "Try: leave dropout or set_batch_invariant(true) out."));
    Change const hide = [](Graph& graph, SDPA_attributes& options) {
        options.set_score_mod(
            graph::attn::score_modifiers::document_mask(input(graph, "of_queries", {2, 1, 96, 1}, DataType_t::INT32),
                                                        input(graph, "of_keys", {2, 1, 1, 80}, DataType_t::INT32)));
    };
    CHECK(refusal_of(hide, AttentionOffer::InAnyBatch) ==
          by("kernels.c28",
             ": found a modifier that leaves scores as they are, such as a mask of documents; expected a "
             "modifier that changes all scores, or none. Try: leave the modifier or "
             "set_batch_invariant(true) out."));
}
