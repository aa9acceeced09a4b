// The form in which a call becomes a graph, and the properties of the call on which the plan of that graph depends.
#pragma once

#include "core/result.h"
#include "functions/attention/call.h"

#include <cudnn_frontend/resized_plan.h>

#include <cstddef>

namespace sdpa_graph::attention {

// A graph has either the layout of the caller's padded tensors or slots. Tables give each slot's start and length, so
// that packed tensors in slots do not depend on where sequences lie. In a class of shapes all tensors of rows are
// packed ones, so that a graph with room for more and longer sequences serves too.
struct Form {
    bool has_slots = false;
    bool is_class = false;  // sizes are rounded up
    // A slot for each query head: heads that lie outside of the rows are at distances that depend on lengths.
    bool has_slots_of_heads = false;
    // The bounds of queries and keys are multiplied by this, to find a larger class whose plan can run this call.
    std::int64_t growth = 1;
    fe::ShapePolicy_t policy = fe::ShapePolicy_t::EXACT;  // of the graph

    bool operator==(Form const&) const = default;
};

// The form for the shapes of the call alone.
Form exact_form(Call const& call);
// The form for a class of shapes; the exact one if the call has something whose strides depend on lengths.
Form class_form(Call const& call, Sizes const& sizes);

// A tensor of the graph.
struct Layout {
    DataType_t type = DataType_t::NOT_SET;  // that, if there is no such tensor
    std::array<std::int64_t, 4> dim{}, stride{};
    // The first argument whose slots start at the same places, of which there is a table; empty without slots.
    std::optional<Argument> starts;

    bool operator==(Layout const&) const = default;
};

struct Shapes {
    fe::ShapePolicy_t policy = fe::ShapePolicy_t::EXACT;
    bool is_backward = false, has_lengths = false, is_bottom_right = false, has_alibi = false, is_deterministic = false;
    std::int64_t slots = 0;
    std::optional<std::int64_t> left_bound, right_bound;
    float scale = 1.0f, softcap = 0.0f, dropout_p = 0.0f;
    std::int64_t longest_kv = 0;  // of keys in pages
    std::array<Layout, kArguments> layouts;

    // The target, as far as plans differ by it.
    fe::Target::Kind target = fe::Target::Kind::CPU;
    int threads = 0;
    std::int32_t device = 0;

    bool operator==(Shapes const&) const = default;
    Layout const& of(Argument argument) const { return layouts[static_cast<std::size_t>(argument)]; }
    Layout& of(Argument argument) { return layouts[static_cast<std::size_t>(argument)]; }
    bool has(Argument argument) const { return of(argument).type != DataType_t::NOT_SET; }
    // Whether sequences start where this argument's table says.
    bool has_table(Argument argument) const { return of(argument).starts == argument; }
};

Shapes shapes_of(Call const& call, Sizes const& sizes, Form const& form, fe::Target const& target);

std::size_t hash_of(Shapes const& shapes);
inline fe::ShapePolicy_t policy_of(Shapes const& shapes) { return shapes.policy; }

// The properties that calls have in common whose graphs one plan for all shapes may serve: batches, lengths and strides
// are left out.
Shapes kind_of(Shapes shapes);
// The plan of a graph of the kind for these shapes.
fe::Result<fe::graph::Resized_plan> resized(fe::graph::Graph const& graph, Shapes const& shapes);

// The tensors that a graph has in addition to the arguments. The tables of starts follow, each at the place of its
// argument.
enum class Extra { LengthsQ = static_cast<int>(kArguments), LengthsKv, FirstStarts };

// The graph, whose tensors have the numbers of their Argument or Extra as uids.
void describe(Shapes const& shapes, fe::graph::Graph& graph);

}  // namespace sdpa_graph::attention
