#include "functions/attention/form.h"

#include <algorithm>

namespace sdpa_graph::attention {
namespace {

using enum Argument;

// Whether the distance between heads does not depend on how many rows there are.
bool has_heads_in_rows(Call const& call, Argument argument) {
    if (!call.has(argument)) return true;
    Rows const rows = call.rows_of(argument);
    return rows.heads == 1 || rows.by_head * (rows.heads - 1) + rows.width <= rows.by_row;
}

// A slot of a head knows neither which head it is nor, in backward, the other heads that share its keys.
bool can_have_slots_of_heads(Call const& call, Sizes const& n) {
    bool const depends_on_head = call.options.has_alibi || call.has(SINK);
    bool const has_groups = n.heads != n.key_heads || n.heads != n.value_heads;
    return !depends_on_head && n.key_heads == n.value_heads && n.key_heads > 0 && n.heads % n.key_heads == 0 &&
           !(call.is_backward && has_groups);
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
    if (!has_16_bits || call.has(BIAS) || call.has_pages()) return exact_form(call);
    bool const has_heads_outside =
        std::ranges::any_of(kRowTensors, [&](Argument argument) { return !has_heads_in_rows(call, argument); });
    if (has_heads_outside && !can_have_slots_of_heads(call, sizes)) return exact_form(call);
    return {.has_slots = true, .is_class = true, .has_slots_of_heads = has_heads_outside};
}

}  // namespace sdpa_graph::attention
