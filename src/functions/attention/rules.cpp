#include "functions/attention/rules.h"

#include "calls/view_properties.h"
#include "core/result.h"

namespace sdpa_graph::attention {
namespace {

using enum fe::error_code_t;
using enum Argument;

constexpr Rule kArgumentRules[] = {
    {"attention.c01", "Every tensor that has elements has memory.", ATTRIBUTE_NOT_SET, checks::tensors_have_memory},
    {"attention.c02",
     "Tensors have the number of dims that the function needs, a stride for each, and at most 2^48 elements between "
     "the first and the last.",
     INVALID_VALUE, checks::tensors_have_ranks},
    {"attention.c03", "All tensors are on one device, a CPU or a GPU.", INVALID_VALUE, checks::one_device},
    {"attention.c04", "The target runs where the tensors are.", INVALID_VALUE, checks::target_fits},
    {"attention.c05",
     "The stride of the last dim of q, k, v, o and of their gradients is 1; a last dim of 1 may have any.",
     GRAPH_NOT_SUPPORTED, checks::last_stride_is_one},
    {"attention.c06",
     "q and the bias are HALF, BFLOAT16 or FLOAT, k, v and results have the types of their inputs, lengths, ends and "
     "page tables are INT32, the seed INT64, stats and the sink FLOAT.",
     INVALID_VALUE, checks::types_fit},
    {"attention.c07", "Tensors have the dims that follow from q, k, v and the lengths.", INVALID_VALUE,
     checks::dims_fit},
    {"attention.c08", "Lengths, ends, page tables, the seed, the sink and its gradient are contiguous.",
     GRAPH_NOT_SUPPORTED, checks::tables_are_contiguous},
    {"attention.c09", "Results are not read-only.", INVALID_VALUE, checks::results_are_writable},
    {"attention.c10", "The scale and the soft cap are finite, and the soft cap is above 0.", INVALID_VALUE,
     checks::numbers_are_finite},
    {"attention.c11", "dropout_p is at least 0 and less than 1.", INVALID_VALUE, checks::dropout_is_a_chance},
    {"attention.c12", "Dropout has a seed.", ATTRIBUTE_NOT_SET, checks::dropout_has_seed},
    {"attention.c13", "Bounds and longest lengths are numbers of 31 bits.", INVALID_VALUE, checks::bounds_have_32_bits},
    {"attention.c14", "Sequences have ends or lengths, not both; keys with ends are not in pages.", INVALID_VALUE,
     checks::lengths_are_given_once},
    {"attention.c15", "Backward has no keys in pages.", GRAPH_NOT_SUPPORTED, checks::pages_are_of_forward},
};

constexpr Rule kContentRules[] = {
    {"attention.c16", "Ends start at 0 or later, do not decrease, and are within the tensors.", INVALID_VALUE,
     checks::ends_ascend},
    {"attention.c17", "No packed sequence is longer than longest_q or longest_kv.", INVALID_VALUE,
     checks::sequences_are_bounded},
    {"attention.c18", "Lengths are at least 0, and sequences have as many rows.", INVALID_VALUE,
     checks::lengths_are_there},
};

constexpr fe::core::Rule kMemoryRule = {"attention.c19", "The allocator gives memory for what is not passed.",
                                        GRAPH_EXECUTION_FAILED};

bool has_sound_rank(Call const& call, Argument argument) {
    Tensor_view const* const view = call.at(argument);
    return view == nullptr || (view->dim.size() == checks::rank_of(call, argument) && calls::is_sound(*view));
}

std::optional<Sizes> known_sizes(Call const& call) {
    for (Argument const argument : {Q, K, V, CuSeqlensQ, CuSeqlensKv}) {
        if (!has_sound_rank(call, argument)) return std::nullopt;
    }
    return sizes_of(call);
}

error_t run(Call const& call, std::span<Rule const> rules) {
    return calls::check(call.function, call, known_sizes(call), rules);
}

}  // namespace

std::span<Rule const> argument_rules() { return kArgumentRules; }
std::span<Rule const> content_rules() { return kContentRules; }
fe::core::Rule const& memory_rule() { return kMemoryRule; }

error_t check(Call const& call) {
    SDPA_GRAPH_TRY(run(call, kArgumentRules));
    bool const is_readable = call.has_lengths() && !call.is_on_gpu();
    return is_readable ? run(call, kContentRules) : error_t();
}

}  // namespace sdpa_graph::attention
