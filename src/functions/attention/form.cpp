#include "functions/attention/shapes.h"

#include <algorithm>
#include <array>

namespace sdpa_graph::attention {
namespace {

using enum Argument;

// Whether the distance between heads does not depend on how many rows there are.
bool has_heads_in_rows(Call const& call, Argument argument) {
    if (!call.has(argument)) return true;
    RowLayout const rows = call.rows_of(argument);
    return rows.heads == 1 || rows.by_head * (rows.heads - 1) + rows.width <= rows.by_row;
}

// Whether the slots of heads start one after the other, as the offsets of packed sequences do.
bool has_ascending_heads(Call const& call, Argument argument) {
    if (!call.has(argument)) return true;
    RowLayout const rows = call.rows_of(argument);
    return !call.is_packed(argument) && rows.by_head >= 0 && rows.by_head * (rows.heads - 1) <= rows.by_sequence;
}

// A slot of a head knows neither which head it is nor, in backward, the other heads that share its keys.
bool can_have_slots_of_heads(Call const& call, Sizes const& n, bool is_of_both_passes) {
    bool const depends_on_head = call.options.has_alibi || call.has(Sink);
    bool const has_groups = n.heads != n.key_heads || n.heads != n.value_heads;
    return !depends_on_head && n.key_heads == n.value_heads && n.key_heads > 0 && n.heads % n.key_heads == 0 &&
           !((call.is_backward || is_of_both_passes) && has_groups);
}

constexpr Form kClassBySequence{.has_slots = true, .is_class = true};
constexpr Form kClassByHead{.has_slots = true, .is_class = true, .has_slots_of_heads = true};

// Which probabilities are dropped depends on the form. Both passes need the same one, so that tensors which only one of
// them has do not count.
Form class_form_with_dropout(Call const& call, Sizes const& sizes) {
    bool const are_both_packed = call.is_packed(Q) && call.is_packed(K);
    if (are_both_packed) return kClassBySequence;
    bool const ascends = std::ranges::all_of(std::array{Q, K, V},
                                             [&](Argument argument) { return has_ascending_heads(call, argument); });
    if (call.has_packed() || !ascends) return exact_form(call);
    return can_have_slots_of_heads(call, sizes, true) ? kClassByHead : exact_form(call);
}

}  // namespace

Form exact_form(Call const& call) {
    Form form;
    form.has_slots = call.has_packed();
    return form;
}

Form class_form(Call const& call, Sizes const& sizes) {
    DataType_t const type = call.at(Q)->type;
    bool const has_16_bits = type == DataType_t::HALF || type == DataType_t::BFLOAT16;
    if (!has_16_bits || call.has(Bias) || call.has_pages()) return exact_form(call);
    if (call.has_dropout()) return class_form_with_dropout(call, sizes);
    auto const all = [&](bool (*has_property)(Call const&, Argument)) {
        return std::ranges::all_of(kRowTensors, [&](Argument argument) { return has_property(call, argument); });
    };
    if (all(has_heads_in_rows)) return kClassBySequence;
    bool const is_by_head = all(has_ascending_heads) && can_have_slots_of_heads(call, sizes, false);
    return is_by_head ? kClassByHead : exact_form(call);
}

}  // namespace sdpa_graph::attention
