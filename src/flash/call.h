// A call of one of the four functions as a value: its arguments, under one name for all of them.
#pragma once

#include <sdpa_graph/flash.h>

#include "calls/argument_checks.h"
#include "core/short_list.h"
#include "rows/worker.h"

#include <array>
#include <cstdint>

namespace sdpa_graph::flash {

namespace fe = cudnn_frontend;
using Few_dims = cudnn_frontend::core::ShortList<std::int64_t, 4>;
using fe::DataType_t;
using fe::error_code_t;
using fe::error_t;

enum class Argument {
    Q,
    K,
    V,
    DOut,
    Out,
    SoftmaxLse,
    DQ,
    DK,
    DV,
    SoftmaxD,
    P,
    CuSeqlensQ,
    CuSeqlensK,
    SequsedK,
    BlockTable,
    AlibiSlopes,
    Seed,
    Offset,
};
inline constexpr std::size_t kArguments = static_cast<std::size_t>(Argument::Offset) + 1;

// The argument's name in the functions' signatures.
char const* name_of(Argument argument);

// Tensors are null if none was passed; results are null if the call allocates them.
struct Call : calls::Arguments<Argument, kArguments> {
    char const* function;
    bool is_backward, is_packed;
    std::int64_t max_seqlen_q = 0, max_seqlen_k = 0;  // of packed sequences
    float p_dropout = 0.0f, softmax_scale = 1.0f, softcap = 0.0f;
    bool is_causal = false, zero_tensors = false, return_softmax = false, is_deterministic = false;
    int window_left = -1, window_right = -1;
    Place const* place;
    // Does the work around attention. Where it is null, the host or the GPU that has the tensors does.
    fe::rows::Worker const* worker = nullptr;

    bool is_on_gpu() const { return at(Argument::Q)->device == Device_kind::CUDA; }
    bool has_pages() const { return has(Argument::BlockTable); }
    bool has_dropout() const { return p_dropout > 0.0f; }
    bool has_softcap() const { return softcap > 0.0f; }
    // Whether log-sum-exps have the order that graphs of packed sequences give them, the heads of a row side by side.
    bool has_log_sums_by_row() const;
};

// The sizes that follow from q, k and the lengths.
struct Sizes {
    std::int64_t batches, queries, keys;  // queries and keys: the longest of a sequence
    std::int64_t heads, key_heads, width;
    std::int64_t total_q, total_k;  // rows of packed q and k; with pages, 0 if no key can be visible

    bool has_no_queries() const { return queries == 0 || total_q == 0; }
    bool has_no_keys() const { return keys == 0 || total_k == 0; }
    // The longest is 0 if no sequence has a row, whatever the call says.
    Sizes of_rows_there() const;
};

// The call's q, k and cu_seqlens have as many dims as they need.
Sizes sizes_of(Call const& call);

// The dims that the argument needs; those of q and k are among the sizes.
Few_dims wanted_dims(Call const& call, Sizes const& sizes, Argument argument);

}  // namespace sdpa_graph::flash
