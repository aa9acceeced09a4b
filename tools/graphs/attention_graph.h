// Describes the attention of a model in a few lines.
#pragma once

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/score_modifiers.h>

#include <cstdint>
#include <string>
#include <vector>

namespace corpus {

namespace fe = cudnn_frontend;

// The sizes of a layer's attention. Tensors are {batch, heads, tokens, head dim}, in memory {batch, tokens, heads, head
// dim}, as projections write them.
struct Layer {
    std::int64_t batches, heads, key_heads, queries, keys, depth, value_depth = depth;
    fe::DataType_t type = fe::DataType_t::BFLOAT16;
    float scale = 0.0F;  // 0: 1 / sqrt(head dim)
};

// A graph with one node of attention. The options are those of the model; the functions with a tensor make it.
class Attention {
   public:
    Attention(std::string const& name, Layer const& layer);

    fe::graph::SDPA_attributes forward;
    fe::graph::SDPA_backward_attributes backward;

    template <class Change>
    Attention& with(Change const& change) {
        change(forward);
        change(backward);
        return *this;
    }
    Attention& causal();
    Attention& causal_bottom_right();
    Attention& lengths();  // the padding mask with a length for each sequence
    // Sequences one after the other, with a length for each. Offsets count elements, or tokens.
    Attention& packed(bool counts_tokens = false);
    Attention& pages(std::int64_t count, std::int64_t tokens);
    Attention& sink();
    Attention& bias(std::vector<std::int64_t> const& dim);
    Attention& dropout(float probability);

    std::string forward_json(bool has_stats = false);
    std::string backward_json();

   private:
    using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

    fe::graph::Tensor_attributes tokens(char const* name, std::int64_t heads, std::int64_t rows,
                                        std::int64_t columns) const;
    Tensor integers(char const* name, std::vector<std::int64_t> const& dim, fe::DataType_t type);
    std::string json() const;

    Layer layer_;
    fe::graph::Graph graph_;
    Tensor offsets_of_queries_, offsets_of_keys_;  // of packed sequences, in tokens
    bool counts_tokens_ = false;
    std::int64_t pages_ = 0, tokens_of_page_ = 0;
};

}  // namespace corpus
