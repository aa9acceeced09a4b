#include "neighborhood/rules.h"

namespace sdpa_graph::neighborhood {
namespace {

using enum fe::error_code_t;

constexpr Rule kRules[] = {
    {"na.c01", "Every tensor that has elements has memory.", ATTRIBUTE_NOT_SET, checks::tensors_have_memory},
    {"na.c02",
     "Tensors have as many dims as the function needs, a stride for each, and at most 2^48 elements between the first "
     "and the last.",
     INVALID_VALUE, checks::tensors_have_ranks},
    {"na.c03", "All tensors are on one device, a CPU or a GPU.", INVALID_VALUE, checks::one_device},
    {"na.c04", "The target runs where the tensors are.", INVALID_VALUE, checks::target_fits},
    {"na.c05", "query, or value where there is none, is HALF, BFLOAT16 or FLOAT.", GRAPH_NOT_SUPPORTED,
     checks::leading_type_is_wide},
    {"na.c06", "All other tensors but logsumexp have that type.", INVALID_VALUE, checks::one_type},
    {"na.c07", "logsumexp is FLOAT.", INVALID_VALUE, checks::logsumexp_is_float},
    {"na.c08", "Tensors have the dims that follow from query, or from value, and from kernel_size.", INVALID_VALUE,
     checks::dims_fit},
    {"na.c09", "Tensors are contiguous, except attn and d_attn.", GRAPH_NOT_SUPPORTED, checks::tensors_are_contiguous},
    {"na.c10", "Results are not read-only.", INVALID_VALUE, checks::results_are_writable},
    {"na.c11", "The entries of kernel_size are at least 2.", INVALID_VALUE, checks::windows_have_keys},
    {"na.c12", "The entries of dilation are at least 1.", INVALID_VALUE, checks::dilation_is_positive},
    {"na.c13", "Along each axis kernel_size times dilation is at most the length.", INVALID_VALUE, checks::windows_fit},
    {"na.c14", "The head dim of fused functions is a multiple of 16 bytes, and not 0.", GRAPH_NOT_SUPPORTED,
     checks::vectors_are_whole},
    {"na.c15", "A relative position bias comes without causal axes.", INVALID_VALUE, checks::bias_excludes_causal_axes},
    {"na.c16", "Beside a relative position bias the entries of kernel_size are odd.", INVALID_VALUE,
     checks::bias_needs_odd_kernels},
    {"na.c17", "The entries of kernel_size of the qk and av functions are odd.", INVALID_VALUE,
     checks::products_need_odd_kernels},
    {"na.c18", "attn_scale is finite.", INVALID_VALUE, checks::scale_is_finite},
    {"na.c19", "The entries of tile sizes and of num_splits_key are at least 1.", INVALID_VALUE,
     checks::hints_are_positive},
};

constexpr fe::core::Rule kMemoryRule = {"na.c20", "The allocator gives scratch memory on a GPU.",
                                        GRAPH_EXECUTION_FAILED};

}  // namespace

std::span<Rule const> rules() { return kRules; }
fe::core::Rule const& memory_rule() { return kMemoryRule; }

error_t check(Call const& call) { return calls::check(call.function_name().c_str(), call, sizes_of(call), rules()); }

}  // namespace sdpa_graph::neighborhood
