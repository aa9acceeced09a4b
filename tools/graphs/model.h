// The attention of published models, as data.
#pragma once

#include <cudnn_frontend/types.h>

#include <array>
#include <cstdint>
#include <span>

namespace corpus {

namespace fe = cudnn_frontend;
using fe::DataType_t;

// {batches, heads, key heads, queries, keys, head dim} or, where V has another one, {..., head dim of V}. Tensors are
// {batch, heads, tokens, head dim}, in memory {batch, tokens, heads, head dim}, as projections write them.
struct Shape {
    std::int64_t batches = 1, heads = 1, key_heads = 1, queries = 1, keys = 1, depth = 1, value_depth = depth;
};

enum class Pass { Inference, Training, Backward };  // training: forward with Stats
enum class Causal { No, TopLeft, BottomRight };
enum class Packed { No, ByElements, ByTokens };  // what the offsets of packed sequences count
enum class Mask { Options, Data };               // Data: a tensor has the mask, such as a bias
struct Pages {
    std::int64_t count = 0, tokens = 0;  // pages of K and of V, and the tokens of each
};

// A model names the options that it has; the others are off.
struct Options {
    Pass pass = Pass::Inference;
    DataType_t type = DataType_t::BFLOAT16;  // 8-bit types have a scale for each tensor
    float scale = 0.0F;                      // 0: 1 / sqrt(head dim)
    Causal causal = Causal::No;
    int left = 0;              // visible keys up to the diagonal, 0 for all of them
    int right = 0;             // visible keys behind it, in place of causal
    bool has_lengths = false;  // a padding mask with a length for each sequence
    bool has_alibi = false, has_sink = false;
    bool has_block_mask = false;
    bool has_documents = false, has_prefix = false;  // masks by score modifiers
    float softcap = 0.0F;
    float dropout = 0.0F;
    std::array<std::int64_t, 4> bias{};  // the tensor's dims
    bool has_bias_gradient = false;
    Packed packed = Packed::No;  // sequences one after the other, with lengths
    int total = 0;               // the most tokens of all packed sequences
    Pages pages{};               // K and V in pages, with lengths
    Mask mask = Mask::Options;
    char const* on_h100 = "plan";  // or the rule of cuDNN 9.19 where no engine runs it
};

struct Model {
    char const* file;    // without its ending
    char const* title;   // the graph's name
    char const* what;    // the model and the situation
    char const* source;  // where the shape is published: the number of an article on arXiv, or in words
    Shape shape;
    Options options = {};
};

// Attention in which a window around each query is visible to it. Tensors are {batch, space, heads, head dim}.
struct Window {
    std::int64_t batches = 1;
    std::array<std::int64_t, 3> space{};  // 0 for axes that it lacks
    std::int64_t heads = 1, depth = 1;
    std::array<std::int64_t, 3> size{};
    std::int64_t dilation = 1;  // along each axis
    Pass pass = Pass::Inference;
    DataType_t type = DataType_t::BFLOAT16;
    bool has_bias = false;  // a bias for each head and distance
    char const* on_h100 = "plan";
};

struct Window_model {
    char const *file, *title, *what, *source;
    Window window;
};

std::span<Model const> language_models();
std::span<Model const> serving_models();
std::span<Model const> picture_models();
std::span<Model const> other_models();
std::span<Window_model const> window_models();

}  // namespace corpus
