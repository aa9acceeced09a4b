#include "flash/shapes.h"

#include "attention/shape_classes.h"
#include "calls/class_plan.h"
#include "core/dims.h"
#include "core/hash.h"
#include "flash/lengths.h"

#include <algorithm>
#include <array>
#include <bit>

namespace sdpa_graph::flash {
namespace {

using enum Argument;
using fe::core::saturating_multiply;

std::optional<std::int64_t> bound_of(std::int64_t window, std::int64_t keys) {
    // A window as long as all keys counts as none, as in the original, also where it would mask keys of some row.
    if (window < 0 || window >= keys) return std::nullopt;
    return window;
}

// The bound of a length where plans may be many: greater by at most an eighth, or by less than 64.
std::int64_t rounded_up_a_little(std::int64_t length) {
    auto const eighth = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(length)) / 8);
    std::int64_t const step = std::max<std::int64_t>(eighth, 64);
    return (length + step - 1) / step * step;
}

Alibi alibi_of(Call const& call, Band const& band) {
    if (!call.has(AlibiSlopes)) return Alibi::None;
    return band.is_causal() ? Alibi::ByKey : Alibi::ByDistance;
}

// The stride of a dim. That of a dim of 1 does not matter: it is computed as if more of them followed the inner dims.
std::int64_t step_of(Tensor_view const& view, std::size_t dim) {
    if (view.dim[dim] > 1) return view.stride[dim];
    std::int64_t step = 1;
    for (std::size_t inner = view.dim.size(); inner-- > dim + 1;) {
        std::int64_t const own = view.dim[inner] > 1 ? view.stride[inner] : step;
        step = std::max(step, saturating_multiply(view.dim[inner], own));
    }
    return step;
}

std::int64_t rounded_up(std::int64_t length, Rounding rounding) {
    return rounding == Rounding::ToClass ? fe::attention::bound_of_class(length) : rounded_up_a_little(length);
}

// Slopes of each sequence and a dropout mask have room for the sequences alone.
std::int64_t slots_of(Call const& call, std::int64_t batches, std::int64_t queries, Rounding rounding) {
    bool const has_slopes_by_sequence = call.has(AlibiSlopes) && call.at(AlibiSlopes)->dim.size() == 2;
    if (rounding == Rounding::Little || has_slopes_by_sequence || call.return_softmax) return batches;
    return fe::attention::slots_of_class(batches, queries);
}

// Whether a row of the padded tensor holds all heads.
bool has_heads_in_rows(Call const& call, Argument argument) {
    if (!call.has(argument)) return true;
    Tensor_view const& view = *call.at(argument);
    return step_of(view, 2) * (view.dim[2] - 1) + view.dim[3] <= step_of(view, 1);
}

// The distance between the starts of sequences, or of rows if there is a list of totals.
std::int64_t step_of_starts(Call const& call, Argument argument) { return step_of(*call.at(argument), 0); }

Argument first_with_starts_of(Call const& call, Argument argument) {
    for (Argument const other : {Q, K, V, DOut, Out, DQ, DK, DV}) {
        bool const fits = call.has(other) && has_keys(other) == has_keys(argument) &&
                          step_of_starts(call, other) == step_of_starts(call, argument);
        if (fits) return other;
    }
    return argument;
}

Strides strides_of(Call const& call, Shapes const& shapes, Argument argument) {
    Tensor_view const& view = *call.at(argument);
    bool const is_of_keys = has_keys(argument);
    if (is_of_keys && shapes.has_pages) {
        PageParts const pages = pages_of(call);
        return {pages.parts == 1 ? step_of(view, 0) : pages.rows * view.stride[1], step_of(view, 1), step_of(view, 2)};
    }
    if (!shapes.is_packed) return {step_of(view, 0), step_of(view, 1), step_of(view, 2)};
    if (shapes.gathers_queries) return {shapes.heads * shapes.width, shapes.heads * shapes.width, shapes.width};
    std::size_t const dim = call.is_packed ? 0 : 1;
    std::int64_t const rows = is_of_keys ? shapes.keys : shapes.queries, row = step_of(view, dim);
    return {saturating_multiply(rows, row), row, step_of(view, dim + 1), first_with_starts_of(call, argument)};
}

// Whether rows can be copied in chunks of 16 bytes.
bool has_whole_chunks(Tensor_view const& packed) {
    constexpr std::int64_t kElements = 8;
    return reinterpret_cast<std::uintptr_t>(packed.data) % (2 * kElements) == 0 && packed.stride[0] % kElements == 0 &&
           packed.stride[1] % kElements == 0;
}

// The host does not read lengths of packed sequences, but knows whether q and k have the same ones.
bool is_square(Call const& call, Sizes const& sizes) {
    if (sizes.queries != sizes.keys || call.has_pages() || call.has(SequsedK)) return false;
    return !call.is_packed || call.at(CuSeqlensQ)->data == call.at(CuSeqlensK)->data;
}

void set_pages(Shapes& shapes, Call const& call) {
    PageParts const pages = pages_of(call);
    shapes.has_pages = true;
    shapes.pages = pages.count;
    shapes.page_rows = pages.rows;
    shapes.keys = std::min(shapes.keys, saturating_multiply(pages.columns, pages.parts * pages.rows));
    // One query over pages is not right with changes of scores by heads (cudnn.s89).
    shapes.gathers_queries = call.max_seqlen_q == 1 && !call.has(AlibiSlopes) && call.is_on_gpu() &&
                             has_whole_chunks(*call.at(Q)) && has_whole_chunks(*call.at(Out));
    if (shapes.gathers_queries) shapes.queries = 1;
}

// Whether square sequences pay for a plan of their own: a second run of an engine must cost less than it saves.
bool has_squares_apart(Call const& call, Sizes const& sizes, Shapes const& shapes) {
    constexpr std::int64_t kLeastLength = 512;
    bool const is_of_packed_backward = call.is_backward && call.is_packed && call.is_on_gpu();
    return is_of_packed_backward && !shapes.is_square && shapes.band.right == 0 && sizes.queries == sizes.keys &&
           sizes.queries >= kLeastLength;
}

void set_options(Shapes& shapes, Call const& call, Sizes const& sizes) {
    shapes.band = band_of(call, sizes);
    shapes.alibi = alibi_of(call, shapes.band);
    if (shapes.alibi != Alibi::None) {
        Tensor_view const& slopes = *call.at(AlibiSlopes);
        shapes.slope_stride = slopes.dim.size() == 2 && slopes.dim[0] > 1 ? slopes.stride[0] : 0;
    }
    shapes.scale = call.softmax_scale;
    shapes.softcap = call.has_softcap() ? call.softcap : 0.0f;
    shapes.p_dropout = call.p_dropout;
    shapes.is_deterministic = call.is_deterministic;
    shapes.dumps_dropout = call.return_softmax;
}

}  // namespace

bool has_keys(Argument argument) { return argument == K || argument == V || argument == DK || argument == DV; }

// The order of the steps is the original's, and differs by function. It decides the effect of a right window together
// with a causal mask, and the form of ALiBi.
Band band_of(Call const& call, Sizes const& sizes) {
    bool const is_single_query = sizes.queries == 1 && !call.has(Argument::AlibiSlopes) && !call.is_backward;
    bool const is_causal = call.is_causal && !is_single_query;
    bool const is_padded_forward = !call.is_packed && !call.is_backward;
    Band band{bound_of(call.window_left, sizes.keys), bound_of(call.window_right, sizes.keys)};
    if (is_causal) band.right = is_padded_forward ? 0 : bound_of(0, sizes.keys);
    // A left window alone also ends on the right, that many keys from the diagonal. Only with more queries than keys is
    // that end reached.
    if (band.left && !band.right && sizes.queries > sizes.keys) band.right = sizes.keys;
    return band;
}

Rounding rounding_of(Call const& call) {
    return calls::wants_classes(*call.place, *call.at(Q)) ? Rounding::ToClass : Rounding::Little;
}

// Rows of packed results hold all heads. With dropout it depends on nothing that one pass has alone: both have to drop
// the same probabilities.
bool becomes_packed(Call const& call, Rounding rounding) {
    if (call.is_packed || rounding == Rounding::Little) return false;
    auto const is_written_in_rows = [&](Argument argument) {
        return (call.is_backward && argument == Out) || has_heads_in_rows(call, argument);
    };
    return call.has_dropout() || std::ranges::all_of(std::array{Out, DQ, DK, DV}, is_written_in_rows);
}

Shapes shapes_of(Call const& call, Sizes const& sizes, Rounding rounding, fe::Target const& target) {
    Shapes shapes;
    shapes.is_backward = call.is_backward;
    shapes.type = call.at(Q)->type;
    shapes.policy = calls::policy_of_graph(*call.place);
    shapes.is_packed = call.is_packed || becomes_packed(call, rounding);
    shapes.has_log_sums_by_row = !shapes.is_packed && call.has_log_sums_by_row();
    shapes.is_square = is_square(call, sizes);
    shapes.heads = sizes.heads;
    shapes.key_heads = sizes.key_heads;
    shapes.width = sizes.width;
    shapes.queries = shapes.is_packed ? rounded_up(sizes.queries, rounding) : sizes.queries;
    shapes.keys = shapes.is_packed ? rounded_up(sizes.keys, rounding) : sizes.keys;
    shapes.slots = shapes.is_packed ? slots_of(call, sizes.batches, shapes.queries, rounding) : sizes.batches;
    if (call.has_pages()) set_pages(shapes, call);
    set_options(shapes, call, sizes);
    shapes.has_squares_apart = has_squares_apart(call, sizes, shapes);
    for (Argument const argument : {Q, K, V, DOut, Out, DQ, DK, DV}) {
        if (call.has(argument)) shapes.of(argument) = strides_of(call, shapes, argument);
    }
    shapes.target = target.kind();
    shapes.threads = target.threads();
    shapes.device = call.at(Q)->device_index;
    return shapes;
}

std::optional<StartTable> starts_of(Shapes const& shapes, Argument argument) {
    bool const is_ragged = shapes.is_packed && !(has_keys(argument) ? shapes.has_pages : shapes.gathers_queries);
    if (!is_ragged) return std::nullopt;
    if (argument == SoftmaxLse) return StartTable{SoftmaxLse, false, shapes.heads};
    return StartTable{shapes.of(argument).starts, has_keys(argument), shapes.of(argument).row};
}

fe::core::ShortList<StartTable, fe::rows::kMostOffsets> starts_of(Shapes const& shapes) {
    fe::core::ShortList<StartTable, fe::rows::kMostOffsets> all;
    for (Argument const argument : {Q, K, V, Out, SoftmaxLse, DOut, DQ, DK, DV}) {
        bool const is_of_backward = argument == DOut || argument == DQ || argument == DK || argument == DV;
        if (is_of_backward && !shapes.is_backward) continue;
        auto const starts = starts_of(shapes, argument);
        if (starts && std::find(all.begin(), all.end(), *starts) == all.end()) all.push_back(*starts);
    }
    return all;
}

Shapes squares_of(Shapes const& shapes) {
    Shapes squares = shapes;
    squares.is_square = true;
    squares.has_squares_apart = false;
    return squares;
}

Shapes kind_of(Shapes shapes) {
    shapes.slots = shapes.queries = shapes.keys = 0;
    shapes.strides = {};
    shapes.has_log_sums_by_row = false;  // which says no more than their strides
    if (!shapes.band.left && !shapes.band.right) shapes.is_square = false;
    return shapes;
}

fe::Result<fe::graph::Resized_plan> resized(fe::graph::Graph const& graph, Shapes const& shapes) {
    fe::core::ShortList<ShapeInGraph, kArguments> of_tensors;
    fe::core::ShortList<fe::graph::Tensor_shape, kArguments> all;
    auto const add = [&](Argument argument) {
        of_tensors.push_back(shape_in_graph(shapes, argument));
        auto const& [dim, stride] = of_tensors[of_tensors.size() - 1];
        all.push_back({static_cast<std::int64_t>(argument), dim.data(), stride.data(), dim.size()});
    };
    for (Argument const argument : {Q, K, V, Out, SoftmaxLse}) add(argument);
    if (shapes.is_backward)
        for (Argument const argument : {DOut, DQ, DK, DV}) add(argument);
    fe::graph::Resized_plan plan;
    SDPA_GRAPH_TRY(fe::graph::Resized_plan::make(graph, all.data(), all.size(), plan));
    return plan;
}

// The sizes distinguish most classes; the rest is compared.
std::size_t hash_of(Shapes const& shapes) {
    std::size_t hash = shapes.is_backward ? 1 : 0;
    for (std::int64_t const size : {shapes.slots, shapes.queries, shapes.keys, shapes.heads, shapes.key_heads,
                                    shapes.width, shapes.band.left.value_or(-1), shapes.band.right.value_or(-1)})
        fe::core::add_size(hash, size);
    return hash;
}

}  // namespace sdpa_graph::flash
