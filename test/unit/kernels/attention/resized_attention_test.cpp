// Attention problems with other sizes are those of graphs with these sizes, or refused.
#include "api/graph/graph_impl.h"
#include "kernels/attention/attention_graph.h"
#include "kernels/attention/attention_resizing.h"
#include "nodes/validation/validate.h"
#include "support/catch.h"

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/score_modifiers.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace cudnn_frontend;
using graph::Graph;
using graph::SDPA_attributes;
using graph::SDPA_backward_attributes;
using graph::Tensor_attributes;
using kernels::AttentionOffer;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

namespace {

using Dims = std::vector<std::int64_t>;
using Random = std::mt19937;

std::int64_t number(Random& random, std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}
bool yes(Random& random) { return number(random, 0, 1) == 1; }

struct AttentionSizes {
    std::int64_t batches = 2, key_heads = 2, queries = 96, keys = 80, columns = 64, value_columns = 64;

    // Others with these head dims.
    AttentionSizes like(Random& random) const {
        return {number(random, 1, 5), number(random, 1, 4), number(random, 1, 300), number(random, 1, 300), columns,
                value_columns};
    }
    static AttentionSizes any(Random& random) {
        AttentionSizes sizes;
        sizes.columns = 8 * number(random, 1, 16);
        sizes.value_columns = 8 * number(random, 1, 16);
        return sizes.like(random);
    }
};

// Everything that graphs of one kind have in common.
struct AttentionKind {
    DataType_t type = DataType_t::BFLOAT16;
    std::int64_t heads_of_key_head = 2;
    bool is_backward = false, has_rows_first = false, is_causal = false, is_bottom_right = false, has_band = false;
    bool has_lengths = false, has_bias = false, has_bias_gradient = false, has_sink = false, has_softcap = false;
    bool has_alibi = false, has_dropout = false, is_deterministic = false, has_stats = true;
    std::array<bool, 4> is_bias_broadcast{};

    static AttentionKind any(Random& random) {
        AttentionKind kind;
        kind.type = yes(random) ? DataType_t::BFLOAT16 : DataType_t::HALF;
        kind.heads_of_key_head = number(random, 1, 3);
        for (bool* const option :
             {&kind.is_backward, &kind.has_rows_first, &kind.is_causal, &kind.is_bottom_right, &kind.has_band,
              &kind.has_lengths, &kind.has_bias, &kind.has_bias_gradient, &kind.has_sink, &kind.has_softcap,
              &kind.has_alibi, &kind.has_dropout, &kind.is_deterministic, &kind.has_stats}) {
            *option = yes(random);
        }
        for (bool& is_broadcast : kind.is_bias_broadcast) is_broadcast = yes(random);
        kind.is_causal |= kind.has_alibi || kind.is_bottom_right;
        kind.has_bias_gradient &= kind.has_bias && !kind.is_deterministic;
        return kind;
    }
};

Dims strides_of(Dims const& dims, bool has_rows_first) {
    if (has_rows_first) return {dims[2] * dims[1] * dims[3], dims[3], dims[1] * dims[3], 1};
    return {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
}

class Describer {
   public:
    Describer(AttentionKind const& kind, AttentionSizes const& n) : kind_(kind), n_(n) {
        graph_.set_io_data_type(kind.type).set_intermediate_data_type(DataType_t::FLOAT);
        graph_.set_compute_data_type(DataType_t::FLOAT);
    }

    Graph forward() {
        SDPA_attributes options;
        set(options);
        options.set_generate_stats(kind_.has_stats);
        if (kind_.has_softcap) options.set_score_mod(graph::attn::score_modifiers::softcap(20.0f).forward);
        auto const [o, stats] = graph_.sdpa(q(), k(), v(), options);
        result(o, rows(n_.value_columns));
        if (stats) stats->set_output(true).set_data_type(DataType_t::FLOAT);
        return std::move(graph_);
    }

    Graph backward() {
        SDPA_backward_attributes options;
        set(options);
        options.set_deterministic_algorithm(kind_.is_deterministic);
        if (kind_.has_softcap) {
            auto const cap = graph::attn::score_modifiers::softcap(20.0f);
            options.set_score_mod(cap.forward).set_score_mod_bprop(cap.backward);
        }
        if (kind_.has_bias_gradient) {
            auto const gradient = input("dBias", bias_dims());
            gradient->set_output(true);
            options.set_dbias(gradient);
        }
        if (kind_.has_sink) {
            auto const gradient = input("dSink", {1, heads(), 1, 1}, DataType_t::FLOAT);
            gradient->set_output(true);
            options.set_dsink_token(gradient);
        }
        Dims const output = rows(n_.value_columns);
        auto const [dq, dk, dv] = graph_.sdpa_backward(q(), k(), v(), input("O", output), input("dO", output),
                                                       input("Stats", rows(1), DataType_t::FLOAT), options);
        result(dq, rows(n_.columns));
        result(dk, keys(n_.columns));
        result(dv, keys(n_.value_columns));
        return std::move(graph_);
    }

   private:
    std::int64_t heads() const { return n_.key_heads * kind_.heads_of_key_head; }
    Dims rows(std::int64_t columns) const { return {n_.batches, heads(), n_.queries, columns}; }
    Dims keys(std::int64_t columns) const { return {n_.batches, n_.key_heads, n_.keys, columns}; }
    Dims bias_dims() const {
        Dims dims{n_.batches, heads(), n_.queries, n_.keys};
        for (std::size_t i = 0; i < dims.size(); ++i) {
            if (kind_.is_bias_broadcast[i]) dims[i] = 1;
        }
        return dims;
    }
    Tensor_ptr q() { return input("Q", rows(n_.columns)); }
    Tensor_ptr k() { return input("K", keys(n_.columns)); }
    Tensor_ptr v() { return input("V", keys(n_.value_columns)); }
    Tensor_ptr input(char const* name, Dims const& dims, DataType_t type = DataType_t::NOT_SET) {
        return graph_.tensor(Tensor_attributes()
                                 .set_name(name)
                                 .set_dim(dims)
                                 .set_stride(strides_of(dims, kind_.has_rows_first))
                                 .set_data_type(type));
    }
    void result(Tensor_ptr const& tensor, Dims const& dims) {
        tensor->set_output(true).set_dim(dims).set_stride(strides_of(dims, kind_.has_rows_first));
    }

    template <class Options>
    void set(Options& options) {
        options.set_name("sdpa").set_attn_scale(0.1f).set_alibi_mask(kind_.has_alibi);
        if (kind_.is_bottom_right) options.set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT);
        if (kind_.has_band) options.set_diagonal_band_left_bound(17);
        if (kind_.is_causal) options.set_diagonal_band_right_bound(0);
        if (kind_.has_lengths) {
            options.set_padding_mask(true)
                .set_seq_len_q(input("query lengths", {n_.batches, 1, 1, 1}, DataType_t::INT32))
                .set_seq_len_kv(input("key lengths", {n_.batches, 1, 1, 1}, DataType_t::INT32));
        }
        if (kind_.has_bias) options.set_bias(input("bias", bias_dims()));
        if (kind_.has_sink) options.set_sink_token(input("sink", {1, heads(), 1, 1}, DataType_t::FLOAT));
        if (kind_.has_dropout) {
            options.set_dropout(0.1f, input("seed", {1, 1, 1, 1}, DataType_t::INT64),
                                input("offset", {1, 1, 1, 1}, DataType_t::INT64));
        }
    }

    AttentionKind const& kind_;
    AttentionSizes const& n_;
    Graph graph_;
};

Graph described(AttentionKind const& kind, AttentionSizes const& n) {
    Describer describer(kind, n);
    return kind.is_backward ? describer.backward() : describer.forward();
}

// A graph as the engine reads it.
struct ReadAttention {
    std::optional<nodes::ValidatedGraph> valid;
    std::optional<kernels::AttentionGraph> read;
    std::string refusal;

    explicit ReadAttention(Graph graph) {
        refusal = graph.validate().get_message();
        if (!refusal.empty()) return;
        valid = nodes::validate(detail::Graph_access::snapshot(graph).spec).graph;
        auto result = kernels::read_attention(*valid, {90, 132}, AttentionOffer::Alone);
        refusal = result.error().get_message();
        if (result.is_good()) read = std::move(result).value();
    }

    // The shapes of all tensors with memory.
    std::vector<plan::TensorShape> shapes() const {
        std::vector<plan::TensorShape> all;
        for (nodes::TensorSpec const& tensor : valid->spec().tensors) {
            if (!tensor.is_virtual && !tensor.value) all.push_back({*tensor.uid, tensor.dim, tensor.stride});
        }
        return all;
    }
};

using Shapes = std::vector<plan::TensorShape>;

// Puts a list with another size in the place of a shape's.
void replace(std::span<std::int64_t const>& sizes, std::size_t at, std::int64_t size, std::vector<Dims>& lists) {
    lists.emplace_back(sizes.begin(), sizes.end()).at(at) = size;
    sizes = lists.back();
}

using ChangeOfShape = std::function<void(plan::TensorShape& shape, std::string const& name, std::vector<Dims>& lists)>;

// The refusal of the shapes of the graph itself, after a change of each.
std::string refusal_of(
    Graph described, ChangeOfShape const& change = [](auto&&...) {}) {
    ReadAttention const graph(std::move(described));
    REQUIRE(graph.refusal == "");
    Shapes shapes = graph.shapes();
    std::vector<Dims> lists;
    lists.reserve(16);
    for (nodes::TensorSpec const& tensor : graph.valid->spec().tensors) {
        auto const shape = std::ranges::find(shapes, *tensor.uid, &plan::TensorShape::uid);
        if (shape != shapes.end()) change(*shape, tensor.name, lists);
    }
    return kernels::resized(graph.read->problem, graph.read->places, shapes).error().get_message();
}

Tensor_ptr integers(Graph& graph, char const* name, Dims const& dims) {
    return graph.tensor(Tensor_attributes()
                            .set_name(name)
                            .set_dim(dims)
                            .set_stride(strides_of(dims, false))
                            .set_data_type(DataType_t::INT32));
}

// Forward without options, to which `change` adds some.
Graph plain_graph(std::function<void(Graph&, SDPA_attributes&, std::vector<Tensor_ptr> const& rows)> const& change) {
    Graph graph;
    graph.set_io_data_type(DataType_t::BFLOAT16).set_intermediate_data_type(DataType_t::FLOAT);
    graph.set_compute_data_type(DataType_t::FLOAT);
    Dims const dims{2, 4, 96, 64};
    std::vector<Tensor_ptr> rows;
    for (char const* const name : {"Q", "K", "V"}) {
        auto attributes = Tensor_attributes().set_name(name).set_dim(dims);
        rows.push_back(graph.tensor(attributes.set_stride(strides_of(dims, true))));
    }
    auto options = SDPA_attributes().set_name("sdpa").set_attn_scale(0.1f).set_generate_stats(false);
    change(graph, options, rows);
    auto const o = graph.sdpa(rows[0], rows[1], rows[2], options)[0];
    o->set_output(true)
        .set_dim(dims)
        .set_stride(strides_of(dims, true))
        .set_ragged_offset(rows[0]->get_ragged_offset());
    return graph;
}

Graph packed_graph() {
    return plain_graph([](Graph& graph, SDPA_attributes& options, std::vector<Tensor_ptr> const& rows) {
        auto const offsets = integers(graph, "offsets", {3, 1, 1, 1}),
                   lengths = integers(graph, "lengths", {2, 1, 1, 1});
        for (Tensor_ptr const& tensor : rows) tensor->set_ragged_offset(offsets);
        options.set_padding_mask(true).set_seq_len_q(lengths).set_seq_len_kv(lengths);
    });
}

Graph masked_graph() {
    return plain_graph([](Graph& graph, SDPA_attributes& options, std::vector<Tensor_ptr> const&) {
        options.set_score_mod(graph::attn::score_modifiers::document_mask(
            integers(graph, "query documents", {2, 1, 96, 1}), integers(graph, "key documents", {2, 1, 1, 96})));
    });
}

// Keys in pages of 16.
Graph paged_graph() {
    return plain_graph([](Graph& graph, SDPA_attributes& options, std::vector<Tensor_ptr> const& rows) {
        Dims const pages{12, 4, 16, 64};
        rows[1]->set_dim(pages).set_stride(strides_of(pages, true));
        auto const lengths = integers(graph, "lengths", {2, 1, 1, 1});
        options.set_padding_mask(true).set_seq_len_q(lengths).set_seq_len_kv(lengths);
        options.set_paged_attention_k_table(integers(graph, "table", {2, 1, 6, 1}));
    });
}

}  // namespace

TEST_CASE("an attention with other sizes is that of a graph with these sizes") {
    Random random(5);
    int compared = 0;
    for (int i = 0; i < 400; ++i) {
        AttentionKind const kind = AttentionKind::any(random);
        AttentionSizes const sizes = AttentionSizes::any(random);
        ReadAttention const first(described(kind, sizes)), second(described(kind, sizes.like(random)));
        INFO(i << "\n" << first.refusal << "\n" << second.refusal);
        if (!first.read || !second.read) continue;
        auto const sums = [](ReadAttention const& each) { return each.read->problem.sums_bias_gradient(); };
        if (sums(first) != sums(second)) continue;
        auto const shapes = second.shapes();
        auto const resized = kernels::resized(first.read->problem, first.read->places, shapes);
        INFO(resized.error().get_message());
        REQUIRE(resized.is_good());
        CHECK(resized.value() == second.read->problem);
        ++compared;
    }
    CHECK(compared > 200);
}

TEST_CASE("sizes that are not those of one attention are refused") {
    AttentionKind kind;
    kind.has_lengths = kind.has_bias = true;
    auto const with = [&](char const* changed, bool is_stride, std::size_t at, std::int64_t size) {
        return refusal_of(described(kind, {}),
                          [&](plan::TensorShape& shape, std::string const& name, std::vector<Dims>& lists) {
                              if (name == changed) replace(is_stride ? shape.stride : shape.dim, at, size, lists);
                          });
    };
    constexpr bool kStride = true, kDim = false;
    std::string const fix = " Try: build a graph of these shapes.";
    std::string const rule =
        "the matrices: found sizes or strides that a rule of the engine refuses; expected those of "
        "a graph that it runs." +
        fix;
    CHECK(with("K", kDim, 2, 80) == "");
    CHECK(with("bias", kDim, 3, 1) == "");
    CHECK(with("K", kDim, 2, 81) == "V: found dims [2, 2, 80, 64]; expected [2, 2, 81, 64]." + fix);
    CHECK(with("K", kDim, 1, 3) == "K: found 3 heads for 4 in Q; expected a divisor of these." + fix);
    CHECK(with("V", kDim, 3, 56) == "V: found a head dim of 56; expected 64." + fix);
    CHECK(with("Q", kDim, 2, (std::int64_t{1} << 28) + 1) ==
          "Q and K: found lengths of 268435457 and 80; expected at most 268435456." + fix);
    CHECK(with("bias", kDim, 3, 79) == "bias: found dims [2, 4, 96, 79]; expected [2, 4, 96, 80]." + fix);
    CHECK(with("query lengths", kDim, 0, 3) ==
          "the lengths of queries: found 3 numbers; expected 2, one after the other." + fix);
    CHECK(with("key lengths", kStride, 0, 2) ==
          "the lengths of keys: found 2 numbers; expected 2, one after the other." + fix);
    CHECK(with("sdpa::O", kStride, 1, 0) ==
          "O: found strides [24576, 0, 64, 1]; expected results whose elements do not overlap." + fix);
    CHECK(with("Q", kStride, 2, 60) == rule);
    CHECK(with("V", kStride, 3, 2) == rule);
}

TEST_CASE("packed sequences, pages and modifiers that read tensors keep the sizes of their graph") {
    CHECK(refusal_of(paged_graph()) ==
          "K and V: found pages; expected tensors without page tables. Try: build a graph of these shapes.");
    CHECK(refusal_of(packed_graph()) ==
          "Q: found packed sequences; expected tensors without ragged offsets. Try: build a graph of these shapes.");
    CHECK(refusal_of(masked_graph()) ==
          "the scores: found a score modifier that reads tensors or hides scores; expected another one, or none. Try: "
          "build a graph of these shapes.");
}
