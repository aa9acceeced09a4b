#include "flash/checks/rules.h"

#include "calls/view_properties.h"

namespace sdpa_graph::flash {
namespace {

using enum fe::error_code_t;

constexpr Rule kArgumentRules[] = {
    {"flash.c01", "Every tensor that has elements has memory.", ATTRIBUTE_NOT_SET, checks::tensors_have_memory},
    {"flash.c02",
     "Tensors have as many dims as the function needs, a stride for each, and at most 2^48 elements between the first "
     "and the last.",
     INVALID_VALUE, checks::tensors_have_ranks},
    {"flash.c03", "All tensors are on one device, a CPU or a GPU.", INVALID_VALUE, checks::one_device},
    {"flash.c04", "The target runs where the tensors are.", INVALID_VALUE, checks::target_fits},
    {"flash.c05", "q is HALF or BFLOAT16.", GRAPH_NOT_SUPPORTED, checks::q_has_16_bits},
    {"flash.c06", "k, v, out, dout, the gradients and p have the type of q.", INVALID_VALUE, checks::one_type},
    {"flash.c07", "cu_seqlens, seqused_k and the block table are INT32.", INVALID_VALUE, checks::integers_have_32_bits},
    {"flash.c08", "alibi_slopes, softmax_lse and softmax_d are FLOAT.", INVALID_VALUE, checks::numbers_are_floats},
    {"flash.c09", "The stride of the last dim is 1.", GRAPH_NOT_SUPPORTED, checks::last_stride_is_one},
    {"flash.c10", "Tensors have the dims that follow from q and k.", INVALID_VALUE, checks::dims_fit},
    {"flash.c11", "Packed tensors have at least one sequence.", INVALID_VALUE, checks::packed_has_sequences},
    {"flash.c12", "The head dim is at most 256.", GRAPH_NOT_SUPPORTED, checks::head_size_is_bounded},
    {"flash.c13", "The head dim is a multiple of 8.", GRAPH_NOT_SUPPORTED, checks::head_size_is_even},
    {"flash.c14", "The number of heads of k divides that of q.", GRAPH_NOT_SUPPORTED, checks::heads_divide},
    {"flash.c15", "cu_seqlens, seqused_k, softmax_lse, softmax_d and p are contiguous; softmax_lse may be by rows.",
     GRAPH_NOT_SUPPORTED, checks::whole_tensors_are_contiguous},
    {"flash.c16", "The rows of a page are a multiple of 256.", GRAPH_NOT_SUPPORTED, checks::pages_have_rows},
    {"flash.c17", "p_dropout is at least 0 and less than 1.", INVALID_VALUE, checks::dropout_is_a_chance},
    {"flash.c18", "return_softmax comes with dropout.", INVALID_VALUE, checks::softmax_needs_dropout},
    {"flash.c19", "A soft cap comes without dropout.", GRAPH_NOT_SUPPORTED, checks::softcap_excludes_dropout},
    {"flash.c20", "softmax_scale and softcap are finite.", INVALID_VALUE, checks::numbers_are_finite},
    {"flash.c21", "Dropout has a seed and an offset of INT64.", ATTRIBUTE_NOT_SET, checks::dropout_has_generator},
    {"flash.c22", "Keys in pages come without dropout.", GRAPH_NOT_SUPPORTED, checks::pages_exclude_dropout},
    {"flash.c23", "max_seqlen_q and max_seqlen_k are at least 0.", INVALID_VALUE, checks::lengths_are_counts},
    {"flash.c24", "A row of a packed tensor holds all heads.", GRAPH_NOT_SUPPORTED, checks::rows_hold_all_heads},
    {"flash.c25", "Results are not read-only.", INVALID_VALUE, checks::results_are_writable},
    {"flash.c26", "Pages whose rows are no power of two lie side by side, in k as in v.", GRAPH_NOT_SUPPORTED,
     checks::pages_have_whole_steps},
};

constexpr Rule kContentRules[] = {
    {"flash.c27", "cu_seqlens start at 0 or later, do not decrease, and end within the tensor.", INVALID_VALUE,
     checks::totals_ascend},
    {"flash.c28", "No sequence is longer than max_seqlen_q or max_seqlen_k.", INVALID_VALUE,
     checks::lengths_are_bounded},
    {"flash.c29", "seqused_k is at least 0 and within the sequence.", INVALID_VALUE, checks::used_keys_are_there},
    {"flash.c30", "The block table names blocks that k has, as many as the keys of each sequence need.", INVALID_VALUE,
     checks::blocks_are_there},
};

constexpr fe::core::Rule kMemoryRule = {"flash.c31", "The allocator gives memory for what is not passed.",
                                        GRAPH_EXECUTION_FAILED};

bool has_rank(Tensor_view const* view, std::size_t rank) {
    return view != nullptr && view->dim.size() == rank && calls::is_sound(*view);
}

std::optional<Sizes> known_sizes(Call const& call) {
    std::size_t const rank = call.is_packed ? 3 : 4;
    if (!has_rank(call.at(Argument::Q), rank)) return std::nullopt;
    if (!has_rank(call.at(Argument::K), call.has_pages() ? 4 : rank)) return std::nullopt;
    if (call.has_pages() && !has_rank(call.at(Argument::BlockTable), 2)) return std::nullopt;
    if (call.is_packed && !has_rank(call.at(Argument::CuSeqlensQ), 1)) return std::nullopt;
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
    error_t const faults = run(call, kArgumentRules);
    bool const is_readable = call.at(Argument::Q) != nullptr && call.at(Argument::Q)->device == Device_kind::CPU;
    return faults.is_bad() || !call.is_packed || !is_readable ? faults : run(call, kContentRules);
}

}  // namespace sdpa_graph::flash
