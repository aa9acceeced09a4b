#include "attention_graph.h"

#include "tensors.h"

#include <cudnn_frontend/score_modifiers.h>

#include <cmath>

namespace corpus {
namespace {

namespace modifiers = fe::graph::attn::score_modifiers;

// One node of attention: the options first, since the tensors of packed sequences and of pages depend on them.
class Attention {
   public:
    explicit Attention(Model const& model)
        : shape_(model.shape), options_(model.options), graph_(graph_of(model.title, options_.type)) {}

    std::string json() {
        bool const is_eight_bit = options_.type == DataType_t::FP8_E4M3;
        if (options_.pass == Pass::Backward) {
            fe::graph::SDPA_backward_attributes wide;
            fe::graph::SDPA_fp8_backward_attributes narrow;
            if (is_eight_bit) set_options(narrow), add_fp8_backward(narrow);
            else set_options(wide), set_gradients(wide), add_backward(wide);
        } else {
            fe::graph::SDPA_attributes forward;
            set_options(forward);
            set_pages_and_blocks(forward);
            forward.set_generate_stats(options_.pass == Pass::Training);
            if (is_eight_bit) add_fp8_forward(forward);
            else add_forward(forward);
        }
        return json_of(graph_);
    }

   private:
    template <class Attributes>
    void set_options(Attributes& to) {
        float const scale = options_.scale != 0.0F ? options_.scale : 1.0F / std::sqrt(float(shape_.depth));
        to.set_name("attention").set_attn_scale(scale);
        to.set_causal_mask(options_.causal == Causal::TopLeft);
        to.set_causal_mask_bottom_right(options_.causal == Causal::BottomRight);
        if (options_.left > 0) to.set_diagonal_band_left_bound(options_.left);
        if (options_.right > 0) to.set_diagonal_band_right_bound(options_.right);
        if (options_.has_alibi) to.set_alibi_mask(true);
        if (options_.has_sink) to.set_sink_token(tensor("sink", {1, shape_.heads, 1, 1}, DataType_t::FLOAT));
        if (options_.bias[0] > 0)
            to.set_bias(tensor("bias", {options_.bias.begin(), options_.bias.end()}, options_.type));
        if (options_.dropout > 0.0F) {
            auto const seed = tensor("seed", {1, 1, 1, 1}, DataType_t::INT64);
            to.set_dropout(options_.dropout, seed, tensor("offset", {1, 1, 1, 1}, DataType_t::INT64));
        }
        set_modifier(to);
        set_lengths(to);
    }

    template <class Attributes>
    void set_modifier(Attributes& to) {
        auto const integers = [&](char const* name, std::int64_t rows, std::int64_t columns) {
            return tensor(name, {shape_.batches, 1, rows, columns}, DataType_t::INT32);
        };
        if (options_.softcap > 0.0F) to.set_score_mod(modifiers::softcap(options_.softcap).forward);
        if (options_.has_documents)
            to.set_score_mod(modifiers::document_mask(integers("documents_of_queries", shape_.queries, 1),
                                                      integers("documents_of_keys", 1, shape_.keys)));
        if (options_.has_prefix) to.set_score_mod(modifiers::prefix_lm(integers("prefix_lengths", 1, 1)));
    }

    template <class Attributes>
    void set_lengths(Attributes& to) {
        if (options_.packed != Packed::No) {
            Sizes const dim = {shape_.batches + 1, 1, 1, 1};
            offsets_of_queries_ = tensor("offset_q", dim, DataType_t::INT32);
            offsets_of_keys_ = tensor("offset_kv", dim, DataType_t::INT32);
            to.set_max_total_seq_len_q(options_.total).set_max_total_seq_len_kv(options_.total);
        }
        if (!options_.has_lengths && options_.packed == Packed::No && options_.pages.count == 0) return;
        Sizes const dim = {shape_.batches, 1, 1, 1};
        to.set_padding_mask(true)
            .set_seq_len_q(tensor("seq_len_q", dim, DataType_t::INT32))
            .set_seq_len_kv(tensor("seq_len_kv", dim, DataType_t::INT32));
    }

    void set_pages_and_blocks(fe::graph::SDPA_attributes& to) {
        if (options_.pages.count > 0) {
            std::int64_t const tokens = options_.pages.tokens;
            Sizes const dim = {shape_.batches, 1, (shape_.keys + tokens - 1) / tokens, 1};
            to.set_paged_attention_k_table(tensor("page_table_k", dim, DataType_t::INT32));
            to.set_paged_attention_v_table(tensor("page_table_v", dim, DataType_t::INT32));
            to.set_paged_attention_max_seq_len_kv(static_cast<int>(shape_.keys));
        }
        if (options_.has_block_mask) {
            std::int64_t const rows = (shape_.queries + 127) / 128, bytes = (shape_.keys + 1023) / 1024;
            to.set_block_mask(tensor("block_mask", {shape_.batches, shape_.heads, rows, bytes}, DataType_t::UINT8));
        }
    }

    void set_gradients(fe::graph::SDPA_backward_attributes& to) {
        if (options_.softcap > 0.0F) {
            auto const cap = modifiers::softcap(options_.softcap);
            to.set_score_mod(cap.forward).set_score_mod_bprop(cap.backward);
        }
        if (!options_.has_bias_gradient) return;
        auto const gradient = tensor("dBias", {options_.bias.begin(), options_.bias.end()}, options_.type);
        to.set_dbias(gradient);
        gradient->set_output(true);
    }

    Tensor tensor(char const* name, Sizes const& dim, DataType_t type) { return dense(graph_, name, dim, type); }

    // {batch, heads, rows, columns} of queries or, where the name is K or V, of keys.
    fe::graph::Tensor_attributes tokens(char const* name, std::int64_t heads, std::int64_t rows,
                                        std::int64_t columns) const {
        auto described = fe::graph::Tensor_attributes().set_name(name);
        bool const is_key = name[0] == 'K' || name[0] == 'V';
        if (is_key && options_.pages.count > 0) {
            std::int64_t const page = options_.pages.tokens;
            described.set_dim({options_.pages.count, heads, page, columns});
            described.set_stride({heads * page * columns, page * columns, columns, 1});
            return described;
        }
        described.set_dim({shape_.batches, heads, rows, columns});
        described.set_stride({rows * heads * columns, columns, heads * columns, 1});
        if (auto const& offsets = is_key ? offsets_of_keys_ : offsets_of_queries_)
            described.set_ragged_offset(offsets).set_ragged_offset_multiplier(
                options_.packed == Packed::ByTokens ? heads * columns : 1);
        return described;
    }
    fe::graph::Tensor_attributes queries(char const* name) const {
        return tokens(name, shape_.heads, shape_.queries, shape_.depth);
    }
    fe::graph::Tensor_attributes results(char const* name) const {
        return tokens(name, shape_.heads, shape_.queries, shape_.value_depth);
    }
    Tensor k() { return graph_.tensor(tokens("K", shape_.key_heads, shape_.keys, shape_.depth)); }
    Tensor v() { return graph_.tensor(tokens("V", shape_.key_heads, shape_.keys, shape_.value_depth)); }
    Tensor stats() { return tensor("Stats", {shape_.batches, shape_.heads, shape_.queries, 1}, DataType_t::FLOAT); }
    Tensor factor(char const* name) { return tensor(name, {1, 1, 1, 1}, DataType_t::FLOAT); }
    static void keep_float(Tensor const& result, char const* name) {
        result->set_output(true).set_name(name).set_data_type(DataType_t::FLOAT);
    }

    void add_forward(fe::graph::SDPA_attributes const& options);
    void add_backward(fe::graph::SDPA_backward_attributes const& options);
    void add_fp8_forward(fe::graph::SDPA_attributes const& options);
    void add_fp8_backward(fe::graph::SDPA_fp8_backward_attributes const& options);

    Shape shape_;
    Options options_;
    fe::graph::Graph graph_;
    Tensor offsets_of_queries_, offsets_of_keys_;  // of packed sequences
};

void Attention::add_forward(fe::graph::SDPA_attributes const& options) {
    auto const q = graph_.tensor(queries("Q")), keys = k(), values = v();
    auto const [o, stats] = graph_.sdpa(q, keys, values, options);
    finish(o, "O", results("O"));
    if (stats) stats->set_output(true).set_name("Stats");
}

void Attention::add_backward(fe::graph::SDPA_backward_attributes const& options) {
    auto const q = graph_.tensor(queries("Q")), keys = k(), values = v();
    auto const o = graph_.tensor(results("O")), d_o = graph_.tensor(results("dO"));
    auto const [d_q, d_k, d_v] = graph_.sdpa_backward(q, keys, values, o, d_o, stats(), options);
    finish(d_q, "dQ", *q);
    finish(d_k, "dK", *keys);
    finish(d_v, "dV", *values);
}

void Attention::add_fp8_forward(fe::graph::SDPA_attributes const& options) {
    auto const q = graph_.tensor(queries("Q")), keys = k(), values = v();
    auto const descale_q = factor("descale_q"), descale_k = factor("descale_k"), descale_v = factor("descale_v");
    auto const descale_s = factor("descale_s"), scale_s = factor("scale_s"), scale_o = factor("scale_o");
    auto const [o, stats, amax_s, amax_o] =
        graph_.sdpa_fp8(q, keys, values, descale_q, descale_k, descale_v, descale_s, scale_s, scale_o, options);
    finish(o, "O", results("O"));
    if (stats) stats->set_output(true).set_name("Stats");
    keep_float(amax_s, "Amax_S");
    keep_float(amax_o, "Amax_O");
}

void Attention::add_fp8_backward(fe::graph::SDPA_fp8_backward_attributes const& options) {
    auto const q = graph_.tensor(queries("Q")), keys = k(), values = v();
    auto const o = graph_.tensor(results("O")), d_o = graph_.tensor(results("dO"));
    auto const gradients = graph_.sdpa_fp8_backward(
        q, keys, values, o, d_o, stats(), factor("descale_q"), factor("descale_k"), factor("descale_v"),
        factor("descale_o"), factor("descale_dO"), factor("descale_s"), factor("descale_dP"), factor("scale_s"),
        factor("scale_dQ"), factor("scale_dK"), factor("scale_dV"), factor("scale_dP"), options);
    finish(gradients[0], "dQ", *q);
    finish(gradients[1], "dK", *keys);
    finish(gradients[2], "dV", *values);
    char const* const names[] = {"Amax_dQ", "Amax_dK", "Amax_dV", "Amax_dP"};
    for (std::size_t i = 0; i < std::size(names); ++i) keep_float(gradients[3 + i], names[i]);
}

}  // namespace

std::string json_of(Model const& model) { return Attention(model).json(); }

}  // namespace corpus
