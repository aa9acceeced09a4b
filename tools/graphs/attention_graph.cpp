#include "attention_graph.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace corpus {
namespace {

void require(fe::error_t const& error) {
    if (error.is_good()) return;
    std::fprintf(stderr, "make_graphs: %s\n", error.get_message().c_str());
    std::exit(1);
}

std::vector<std::int64_t> row_major(std::vector<std::int64_t> const& dim) {
    std::vector<std::int64_t> stride(dim.size(), 1);
    for (std::size_t i = dim.size() - 1; i > 0; --i) stride[i - 1] = stride[i] * dim[i];
    return stride;
}

}  // namespace

Attention::Attention(std::string const& name, Layer const& layer) : layer_(layer) {
    graph_.set_name(name)
        .set_io_data_type(layer.type)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    float const scale = layer.scale != 0.0F ? layer.scale : 1.0F / std::sqrt(static_cast<float>(layer.depth));
    with([&](auto& options) { options.set_name("attention").set_attn_scale(scale); });
}

fe::graph::Tensor_attributes Attention::tokens(char const* name, std::int64_t heads, std::int64_t rows,
                                               std::int64_t columns) const {
    auto tensor = fe::graph::Tensor_attributes().set_name(name);
    tensor.set_dim({layer_.batches, heads, rows, columns});
    tensor.set_stride({rows * heads * columns, columns, heads * columns, 1});
    bool const is_key = name[0] == 'K' || name[0] == 'V';
    if (is_key && pages_ > 0) {
        tensor.set_dim({pages_, heads, tokens_of_page_, columns});
        tensor.set_stride(row_major(tensor.get_dim()));
    }
    if (auto const& offsets = is_key ? offsets_of_keys_ : offsets_of_queries_)
        tensor.set_ragged_offset(offsets).set_ragged_offset_multiplier(counts_tokens_ ? heads * columns : 1);
    return tensor;
}

Attention::Tensor Attention::integers(char const* name, std::vector<std::int64_t> const& dim, fe::DataType_t type) {
    return graph_.tensor(
        fe::graph::Tensor_attributes().set_name(name).set_dim(dim).set_stride(row_major(dim)).set_data_type(type));
}

Attention& Attention::causal() {
    return with([](auto& options) { options.set_causal_mask(true); });
}

Attention& Attention::causal_bottom_right() {
    return with([](auto& options) { options.set_causal_mask_bottom_right(true); });
}

Attention& Attention::lengths() {
    auto const q = integers("seq_len_q", {layer_.batches, 1, 1, 1}, fe::DataType_t::INT32);
    auto const kv = integers("seq_len_kv", {layer_.batches, 1, 1, 1}, fe::DataType_t::INT32);
    return with([&](auto& options) { options.set_padding_mask(true).set_seq_len_q(q).set_seq_len_kv(kv); });
}

Attention& Attention::packed(bool counts_tokens) {
    counts_tokens_ = counts_tokens;
    offsets_of_queries_ = integers("offset_q", {layer_.batches + 1, 1, 1, 1}, fe::DataType_t::INT32);
    offsets_of_keys_ = integers("offset_kv", {layer_.batches + 1, 1, 1, 1}, fe::DataType_t::INT32);
    return lengths();
}

Attention& Attention::pages(std::int64_t count, std::int64_t tokens) {
    pages_ = count;
    tokens_of_page_ = tokens;
    std::vector<std::int64_t> const dim = {layer_.batches, 1, (layer_.keys + tokens - 1) / tokens, 1};
    forward.set_paged_attention_k_table(integers("page_table_k", dim, fe::DataType_t::INT32));
    forward.set_paged_attention_v_table(integers("page_table_v", dim, fe::DataType_t::INT32));
    forward.set_paged_attention_max_seq_len_kv(static_cast<int>(layer_.keys));
    return lengths();
}

Attention& Attention::sink() {
    std::vector<std::int64_t> const dim = {1, layer_.heads, 1, 1};
    auto const tensor = integers("sink", dim, fe::DataType_t::FLOAT);
    return with([&](auto& options) { options.set_sink_token(tensor); });
}

Attention& Attention::bias(std::vector<std::int64_t> const& dim) {
    auto const tensor = integers("bias", dim, layer_.type);
    return with([&](auto& options) { options.set_bias(tensor); });
}

Attention& Attention::dropout(float probability) {
    auto const seed = integers("seed", {1, 1, 1, 1}, fe::DataType_t::INT64);
    auto const offset = integers("offset", {1, 1, 1, 1}, fe::DataType_t::INT64);
    return with([&](auto& options) { options.set_dropout(probability, seed, offset); });
}

std::string Attention::json() const {
    std::string text;
    require(graph_.check().to_error());
    require(graph_.serialize(text));
    return text;
}

std::string Attention::forward_json(bool has_stats) {
    auto const q = graph_.tensor(tokens("Q", layer_.heads, layer_.queries, layer_.depth));
    auto const k = graph_.tensor(tokens("K", layer_.key_heads, layer_.keys, layer_.depth));
    auto const v = graph_.tensor(tokens("V", layer_.key_heads, layer_.keys, layer_.value_depth));
    auto const results = graph_.sdpa(q, k, v, forward.set_generate_stats(has_stats));
    auto const like = tokens("like", layer_.heads, layer_.queries, layer_.value_depth);
    results[0]->set_output(true).set_name("O").set_dim(like.get_dim()).set_stride(like.get_stride());
    if (like.get_ragged_offset())
        results[0]
            ->set_ragged_offset(like.get_ragged_offset())
            .set_ragged_offset_multiplier(like.get_ragged_offset_multiplier());
    if (has_stats) results[1]->set_output(true).set_name("Stats");
    return json();
}

std::string Attention::backward_json() {
    auto const q = graph_.tensor(tokens("Q", layer_.heads, layer_.queries, layer_.depth));
    auto const k = graph_.tensor(tokens("K", layer_.key_heads, layer_.keys, layer_.depth));
    auto const v = graph_.tensor(tokens("V", layer_.key_heads, layer_.keys, layer_.value_depth));
    auto const o = graph_.tensor(tokens("O", layer_.heads, layer_.queries, layer_.value_depth));
    auto const d_o = graph_.tensor(tokens("dO", layer_.heads, layer_.queries, layer_.value_depth));
    auto const stats = graph_.tensor(fe::graph::Tensor_attributes()
                                         .set_name("Stats")
                                         .set_dim({layer_.batches, layer_.heads, layer_.queries, 1})
                                         .set_stride(row_major({layer_.batches, layer_.heads, layer_.queries, 1}))
                                         .set_data_type(fe::DataType_t::FLOAT));
    auto const gradients = graph_.sdpa_backward(q, k, v, o, d_o, stats, backward);
    auto const finish = [](Tensor const& gradient, Tensor const& like, char const* name) {
        gradient->set_output(true).set_name(name).set_dim(like->get_dim()).set_stride(like->get_stride());
        if (like->get_ragged_offset())
            gradient->set_ragged_offset(like->get_ragged_offset())
                .set_ragged_offset_multiplier(like->get_ragged_offset_multiplier());
    };
    finish(gradients[0], q, "dQ");
    finish(gradients[1], k, "dK");
    finish(gradients[2], v, "dV");
    return json();
}

}  // namespace corpus
