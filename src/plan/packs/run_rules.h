// The rules on runs: on packs, workspaces and the caller's integers, which no graph holds. docs/spec.md lists them.
#pragma once

#include "core/findings.h"

namespace cudnn_frontend::plan::run_rules {

using core::Rule;
using enum error_code_t;

inline constexpr Rule kLengths{"run.r01", "A length is within its dim, and cumulative lengths do not decrease.",
                               INVALID_VALUE};
inline constexpr Rule kOffsets{
    "run.r02",
    "Ragged offsets start at 0 or later, do not decrease, leave room for each sequence and end where memory may.",
    INVALID_VALUE};
inline constexpr Rule kTotals{
    "run.r03",
    "No sequence ends beyond the bound of `max_total_seq_len_q` or `max_total_seq_len_kv`, where that is used.",
    INVALID_VALUE};
inline constexpr Rule kPages{"run.r04", "A page table names pages that the container has.", INVALID_VALUE};
inline constexpr Rule kFactors{"run.r05", "An FP8 scale or descale is finite and greater than 0.",
                               INVALID_VARIANT_PACK};
inline constexpr Rule kEntries{
    "run.r06",
    "The pack has memory for each tensor of the caller's, once, and for no virtual result of a node; tensors as keys "
    "are of this graph. A number that equals a result's automatic uid is ignored.",
    INVALID_VARIANT_PACK};
inline constexpr Rule kAlignment{
    "run.r07", "Pointers are multiples of their elements' size; on a GPU of the alignment that the tensor states.",
    INVALID_VARIANT_PACK};
inline constexpr Rule kOverlap{
    "run.r08",
    "No output shares memory with another tensor, and the workspace lies in the range of none, as far as can be seen "
    "without reading ragged offsets on a GPU.",
    INVALID_VARIANT_PACK};
inline constexpr Rule kWorkspace{
    "run.r09",
    "The workspace, where its size is passed, is as large as `get_workspace_size` says; it starts at a multiple of 16 "
    "bytes.",
    INVALID_VARIANT_PACK};

}  // namespace cudnn_frontend::plan::run_rules
