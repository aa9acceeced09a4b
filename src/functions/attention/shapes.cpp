#include "functions/attention/shapes.h"

#include "attention/shape_classes.h"
#include "calls/class_plan.h"
#include "core/dims.h"
#include "core/hash.h"

#include <algorithm>
#include <cmath>

namespace sdpa_graph::attention {
namespace {

using enum Argument;
namespace classes = fe::attention;
using fe::core::saturating_multiply;

// The sizes of a graph in slots.
struct Slots {
    Form form;
    std::int64_t count, queries, keys;
};

// Graphs have no dims of 0: the lengths say that nothing is there. And cuDNN leaves some packed stats of one query
// unwritten where heads are shared (cudnn.s23). What is dropped depends on the bound, and not on wanting stats.
std::int64_t least_queries(Call const& call, Sizes const& n, Form const& form) {
    bool const has_groups = n.heads != n.key_heads || n.heads != n.value_heads;
    bool const may_have_stats = call.wants_stats || call.has_dropout();
    return may_have_stats && has_groups && !form.has_slots_of_heads ? 2 : 1;
}

Slots slots_of(Call const& call, Sizes const& n, Form const& form) {
    std::int64_t const heads = form.has_slots_of_heads ? n.heads : 1;
    std::int64_t const least = std::max(n.queries, least_queries(call, n, form));
    if (form.is_class) {
        std::int64_t const queries = classes::bound_of_queries(least);
        std::int64_t const grown =
            queries < classes::bound_of_class(1) ? queries : saturating_multiply(queries, form.growth);
        return {form, saturating_multiply(classes::slots_of_class(n.batches, queries), heads), grown,
                saturating_multiply(classes::bound_of_class(n.keys), form.growth)};
    }
    return {form, saturating_multiply(n.batches, heads), least, std::max<std::int64_t>(n.keys, 1)};
}

Layout layout_as_given(Tensor_view const& view) {
    Layout layout{view.type, {1, 1, 1, 1}, {1, 1, 1, 1}, {}};
    std::ranges::copy(view.dim, layout.dim.begin());
    std::ranges::copy(view.stride, layout.stride.begin());
    return layout;
}

// Whether the slots of two tensors start at the same places.
bool has_same_starts(Call const& call, Slots const& slots, Argument a, Argument b) {
    if (is_of_keys(a) != is_of_keys(b)) return false;
    RowLayout const x = call.rows_of(a), y = call.rows_of(b);
    bool const has_same_heads = !slots.form.has_slots_of_heads || (x.by_head == y.by_head && x.heads == y.heads);
    return has_same_heads && x.by_row == y.by_row && x.by_sequence == y.by_sequence;
}

Layout layout_in_slots(Call const& call, Slots const& slots, Argument argument) {
    RowLayout const rows = call.rows_of(argument);
    std::int64_t const heads = slots.form.has_slots_of_heads ? 1 : rows.heads;
    std::int64_t const bound = is_of_keys(argument) ? slots.keys : slots.queries;
    std::int64_t const whole = saturating_multiply(bound, rows.by_row);
    Layout layout{call.at(argument)->type, {slots.count, heads, bound, rows.width}, {whole, whole, rows.by_row, 1}, {}};
    if (heads > 1) layout.stride[1] = rows.by_head;
    for (Argument const other : kRowTensors) {
        if (!call.has(other) || !has_same_starts(call, slots, argument, other)) continue;
        layout.starts = other;
        break;
    }
    return layout;
}

// Both corners have one diagonal if every sequence has as many queries as keys; from the top left engines skip more.
bool is_bottom_right(Call const& call, Sizes const& n) {
    bool const has_one_list =
        call.has(CuSeqlensQ) && call.has(CuSeqlensKv) && call.at(CuSeqlensQ)->data == call.at(CuSeqlensKv)->data;
    bool const is_square = n.queries == n.keys && (has_one_list || !call.has_lengths()) && !call.has_pages();
    return call.options.is_bottom_right && !is_square;
}

void set_options(Shapes& shapes, Call const& call, Sizes const& n) {
    Options const& options = call.options;
    shapes.is_bottom_right = is_bottom_right(call, n);
    shapes.has_alibi = options.has_alibi;
    shapes.is_deterministic = options.is_deterministic;
    shapes.left_bound = options.left_bound;
    shapes.right_bound = options.right_bound;
    double const width = static_cast<double>(std::max<std::int64_t>(n.width, 1));
    shapes.scale = options.scale.value_or(static_cast<float>(1.0 / std::sqrt(width)));
    shapes.softcap = options.softcap.value_or(0.0f);
    shapes.dropout_p = options.dropout_p;
    shapes.longest_kv = call.has_pages() ? n.keys : 0;
}

}  // namespace

Shapes shapes_of(Call const& call, Sizes const& sizes, Form const& form, fe::Target const& target) {
    Shapes shapes;
    shapes.policy = form.policy;
    shapes.is_backward = call.is_backward;
    shapes.has_lengths = form.has_slots || call.has_lengths();
    Slots const slots = slots_of(call, sizes, form);
    shapes.slots = form.has_slots ? slots.count : sizes.batches;
    set_options(shapes, call, sizes);
    for (Argument const argument : kRowTensors) {
        if (!call.has(argument)) continue;
        bool const is_in_slots =
            (form.is_class || call.is_packed(argument)) && !(is_of_keys(argument) && call.has_pages());
        shapes.of(argument) =
            is_in_slots ? layout_in_slots(call, slots, argument) : layout_as_given(*call.at(argument));
    }
    for (Argument const argument : {Bias, DBias, Sink, DSink}) {
        if (call.has(argument)) shapes.of(argument) = layout_as_given(*call.at(argument));
    }
    if (call.has_pages()) {
        std::int64_t const columns = call.at(PageTable)->dim[1];
        shapes.of(PageTable) = {DataType_t::INT32, {sizes.batches, 1, columns, 1}, {columns, columns, 1, 1}, {}};
    }
    shapes.target = target.kind();
    shapes.threads = target.threads();
    shapes.device = call.at(Q)->device_index;
    return shapes;
}

Shapes kind_of(Shapes shapes) {
    shapes.slots = shapes.longest_kv = 0;
    for (Layout& layout : shapes.layouts) layout.stride = {};
    for (Argument const argument : kRowTensors) shapes.of(argument).dim[0] = shapes.of(argument).dim[2] = 0;
    for (Argument const argument : {Bias, DBias, Sink, DSink, PageTable}) {
        for (std::int64_t& size : shapes.of(argument).dim) size = std::min<std::int64_t>(size, 2);  // 1 is for all
    }
    return shapes;
}

fe::Result<fe::graph::Resized_plan> resized(fe::graph::Graph const& graph, Shapes const& shapes) {
    fe::core::ShortList<fe::graph::Tensor_shape, kArguments + 2> all;
    for (std::size_t i = 0; i < kArguments; ++i) {
        auto const argument = static_cast<Argument>(i);
        Layout const& layout = shapes.of(argument);
        if (shapes.has(argument))
            all.push_back({static_cast<std::int64_t>(i), layout.dim.data(), layout.stride.data(), layout.dim.size()});
    }
    std::array<std::int64_t, 4> const lengths{shapes.slots, 1, 1, 1}, in_turn{1, 1, 1, 1};
    if (shapes.has_lengths) {
        for (Extra const extra : {Extra::LengthsQ, Extra::LengthsKv})
            all.push_back({static_cast<std::int64_t>(extra), lengths.data(), in_turn.data(), lengths.size()});
    }
    fe::graph::Resized_plan plan;
    SDPA_GRAPH_TRY(fe::graph::Resized_plan::make(graph, all.data(), all.size(), plan));
    return plan;
}

// The sizes distinguish most classes; the rest is compared.
std::size_t hash_of(Shapes const& shapes) {
    std::size_t hash = shapes.is_backward ? 1 : 0;
    for (Argument const argument : {Q, K}) {
        for (std::int64_t const size : shapes.of(argument).dim) fe::core::add_size(hash, size);
    }
    return hash;
}

}  // namespace sdpa_graph::attention
