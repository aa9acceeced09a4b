// The class of a call, the properties on which a plan depends, and the graph of a class.
#pragma once

#include "core/result.h"
#include "flash/call.h"

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/resized_plan.h>
#include <cudnn_frontend/score_modifiers.h>

#include <array>
#include <cstddef>
#include <optional>

namespace sdpa_graph::flash {

// Which keys are visible to a query: with shift = keys - queries of a sequence, those with i + shift - left <= j and
// j <= i + shift + right.
struct Band {
    std::optional<std::int64_t> left, right;

    bool is_causal() const { return !left && right == 0; }
    bool operator==(Band const&) const = default;
};

// The band of the causal flag and the windows.
Band band_of(Call const& call, Sizes const& sizes);

// The term added to the score of query i and key j, for a head's slope s: nothing, s * j, or -s * |i + shift - j|.
enum class Alibi { None, ByKey, ByDistance };

struct Strides {
    std::int64_t batch = 0, row = 0, head = 0;
    // The first argument whose sequences start at the same places, where these are in a table.
    Argument starts = Argument::Q;

    bool operator==(Strides const&) const = default;
};

// The table of where the sequences of a tensor start.
struct StartTable {
    Argument argument;  // the first one whose sequences start there
    bool is_of_keys = false;
    std::int64_t row = 0;

    bool operator==(StartTable const&) const = default;
};

struct Shapes {
    DataType_t type = DataType_t::NOT_SET;
    fe::ShapePolicy_t policy = fe::ShapePolicy_t::EXACT;  // of the graph
    // Whether the graph has packed sequences; a class has them for padded calls too.
    bool is_packed = false;
    bool is_backward = false, has_pages = false, is_deterministic = false, dumps_dropout = false;
    // Every sequence has as many queries as keys, so that both corners have one diagonal.
    bool is_square = false;
    // Some sequences may be square, which only the GPU knows, since it reads the lengths. A second plan runs those:
    // backward of cuDNN skips masked scores of a causal mask if the diagonal starts at the upper corner.
    bool has_squares_apart = false;
    // One query of each sequence over pages: the graph has the queries side by side, as engines for one query need
    // them.
    bool gathers_queries = false;
    bool has_log_sums_by_row = false;  // of padded sequences; those of packed ones always are
    std::int64_t slots = 0, queries = 0, keys = 0, heads = 0, key_heads = 0, width = 0;
    std::int64_t pages = 0, page_rows = 0;
    Band band;
    Alibi alibi = Alibi::None;
    std::int64_t slope_stride = 0;  // from one batch entry to the next
    float scale = 1.0f, softcap = 0.0f, p_dropout = 0.0f;
    std::array<Strides, static_cast<std::size_t>(Argument::DV) + 1> strides;

    // The properties of the target by which plans differ.
    fe::Target::Kind target = fe::Target::Kind::CPU;
    int threads = 0;
    std::int32_t device = 0;

    bool operator==(Shapes const&) const = default;
    Strides const& of(Argument argument) const { return strides[static_cast<std::size_t>(argument)]; }
    Strides& of(Argument argument) { return strides[static_cast<std::size_t>(argument)]; }
    std::int64_t page_columns() const { return has_pages ? (keys + page_rows - 1) / page_rows : 0; }
};

// Whether the rows of the argument are those of keys.
bool has_keys(Argument argument);

// How far the longest lengths of sequences are rounded up. Packed calls with the same results share a plan, whatever
// their totals.
enum class Rounding {
    Little,   // by an eighth, or to 64; padded calls keep their exact shapes
    ToClass,  // to a class of shapes: padded sequences become packed ones, and their number is rounded up too
};

// The rounding that the shape policy asks for: to classes with CLASSES, and on a GPU with AUTO.
Rounding rounding_of(Call const& call);

// Whether the graph has packed sequences in place of padded ones.
bool becomes_packed(Call const& call, Rounding rounding);

Shapes shapes_of(Call const& call, Sizes const& sizes, Rounding rounding, fe::Target const& target);

// The starts for the tensor; empty if its sequences are at equal distances from each other.
std::optional<StartTable> starts_of(Shapes const& shapes, Argument argument);
// The starts for all tensors of the graph, each once.
fe::core::ShortList<StartTable, fe::rows::kMostOffsets> starts_of(Shapes const& shapes);

// The class of the square sequences, which a second plan runs.
Shapes squares_of(Shapes const& shapes);

std::size_t hash_of(Shapes const& shapes);
inline fe::ShapePolicy_t policy_of(Shapes const& shapes) { return shapes.policy; }

// The tensors that a graph binds in addition to the arguments. From FirstStarts on, there is a number for each of
// starts_of() the shapes.
enum class Extra { LengthsQ = static_cast<int>(kArguments), LengthsK, Dropped, FirstStarts };

// Tensors have the numbers of their Argument or Extra as uids.
void describe(Shapes const& shapes, fe::graph::Graph& graph);

struct ShapeInGraph {
    Few_dims dim, stride;
};
// Dims and strides of rows or log-sum-exps in the graph.
ShapeInGraph shape_in_graph(Shapes const& shapes, Argument argument);

// The properties that padded calls without slopes have in common whose graphs one plan for all shapes may serve:
// batches, lengths and strides are left out.
Shapes kind_of(Shapes shapes);
// The plan of a graph of the kind for these shapes.
fe::Result<fe::graph::Resized_plan> resized(fe::graph::Graph const& graph, Shapes const& shapes);

using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

struct Score_terms {
    fe::detail::Score_modifier forward;
    fe::detail::Score_modifier backward;  // empty if the gradient passes unchanged
};

// Slopes and lengths are tensors of the graph; those that the shapes do not need may be null.
Score_terms score_terms(Shapes const& shapes, Tensor const& slopes, Tensor const& lengths_q, Tensor const& lengths_k);

}  // namespace sdpa_graph::flash
