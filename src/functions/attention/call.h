// A call of one of the functions as a value: its arguments, under one name for both of them.
#pragma once

#include <sdpa_graph/attention.h>

#include "calls/argument_checks.h"
#include "core/short_list.h"

#include <array>
#include <cstdint>
#include <span>

namespace sdpa_graph::attention {

namespace fe = cudnn_frontend;
using fe::DataType_t;
using fe::error_t;

enum class Argument {
    Q,
    K,
    V,
    O,
    Stats,
    GradO,
    DQ,
    DK,
    DV,
    Bias,
    DBias,
    Sink,
    DSink,
    SeqLenQ,
    SeqLenKv,
    CuSeqlensQ,
    CuSeqlensKv,
    PageTable,
    Seed,
};
inline constexpr std::size_t kArguments = static_cast<std::size_t>(Argument::Seed) + 1;

// The argument's name in the header.
char const* name_of(Argument argument);

// The tensors that have a row for each query or key, and heads.
inline constexpr std::array kRowTensors = {Argument::Q,     Argument::K,  Argument::V,  Argument::O, Argument::Stats,
                                           Argument::GradO, Argument::DQ, Argument::DK, Argument::DV};
bool is_of_keys(Argument argument);

using Few_dims = fe::core::ShortList<std::int64_t, 4>;

// How the rows of a tensor lie in memory.
struct RowLayout {
    std::int64_t by_sequence, by_head, by_row;  // strides; the first one is 0 in packed tensors
    std::int64_t heads, width;
};

struct Call : calls::Arguments<Argument, kArguments> {
    char const* function;
    bool is_backward, wants_stats;
    Options const& options;
    Place const& place;

    bool is_on_gpu() const { return at(Argument::Q)->device == Device_kind::CUDA; }
    bool has_pages() const { return has(Argument::PageTable); }
    bool has_dropout() const { return options.dropout_p > 0.0f; }
    bool is_packed(Argument argument) const {
        return has(is_of_keys(argument) ? Argument::CuSeqlensKv : Argument::CuSeqlensQ);
    }
    bool has_packed() const { return has(Argument::CuSeqlensQ) || has(Argument::CuSeqlensKv); }
    // Whether sequences may be shorter than the tensors say.
    bool has_lengths() const { return has_packed() || has(Argument::SeqLenQ) || has(Argument::SeqLenKv); }

    // The tensor has the rank that the checks need, and is not one of keys in pages.
    RowLayout rows_of(Argument argument) const;
};

// The sizes that follow from the tensors and the lengths.
struct Sizes {
    std::int64_t batches, queries, keys;  // queries and keys: the longest of a sequence
    std::int64_t heads, key_heads, value_heads, width, value_width;
    std::int64_t total_q, total_kv;  // rows of packed tensors, or of all padded sequences
};

// q, k, v and the lengths have the ranks that the checks need.
Sizes sizes_of(Call const& call);

// The dims that a row tensor needs.
Few_dims wanted_dims(Call const& call, Sizes const& sizes, Argument argument);

}  // namespace sdpa_graph::attention
