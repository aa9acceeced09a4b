// Attention, forward or backward, as the kernels of device/attention compute it, and these kernels.
#pragma once

#include "attention/attention_operands.h"
#include "kernels/launch/kernel.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::kernels {

// An operand, with the number of its pointer.
struct PlacedOperand : Operand {
    std::size_t pointer = 0;

    friend bool operator==(PlacedOperand const&, PlacedOperand const&) = default;
};

// Where the sequences of a tensor begin that are packed one behind the other.
struct PackedOffsets {
    std::size_t pointer = 0;
    std::int64_t elements_of_offset = 1;
    bool is_wide = false;        // offsets have 64 bits
    std::int64_t most_rows = 0;  // of all sequences; 0 if the graph does not say it

    friend bool operator==(PackedOffsets const&, PackedOffsets const&) = default;
};

// The lengths of sequences, or their sums, which are one more.
struct SequenceLengths {
    std::size_t pointer = 0;
    bool is_wide = false, are_sums = false;

    friend bool operator==(SequenceLengths const&, SequenceLengths const&) = default;
};

// A number that the graph holds, or to which each run has a pointer: in the GPU's memory or in the host's.
struct PlacedInteger {
    std::optional<std::size_t> pointer;
    bool is_wide = false, is_on_host = false;
    std::int64_t number = 0;

    friend bool operator==(PlacedInteger const&, PlacedInteger const&) = default;
};

// Dropout by the library's generator (docs/spec.md).
struct GeneratedDropout {
    double probability = 0;
    PlacedInteger seed, offset;

    friend bool operator==(GeneratedDropout const&, GeneratedDropout const&) = default;
};

// A score modifier as CUDA C++ with which kernels are compiled; score_code() writes it.
struct ModifierCode {
    // Defines modified_score(), modified_gradient(), distance_terms(), kChangesGradients and kDistanceTerms. Numbers
    // and sizes are no part of it, so that graphs that differ in them alone have one text.
    std::string text;
    // Defines short_score() and has_short_score() for forward: the form of scores near 0. Empty where the modifier has
    // none, and for batch-invariant code, since the choice of the form depends on other and hidden scores.
    std::string text_of_short_score;
    // The first two functions of bounds (device/attention/score_bounds.cuh); empty where the modifier neither hides nor
    // leaves scores.
    std::string text_of_bounds;
    bool hides_scores = false;     // whether it may hide scores
    bool scatters_hidden = false;  // whether bounds say little of which scores it hides
    bool leaves_scores = false;    // whether it may leave all scores of a block, and their gradients, as they are
    bool hides_by_batch = false, hides_by_head = false;  // whether it may hide other blocks in each
    bool has_sigmoid = false;                            // whether a step is a sigmoid, or its gradient

    friend bool operator==(ModifierCode const&, ModifierCode const&) = default;
};

struct AttentionKernelProblem {
    bool is_backward = false;
    bool is_deterministic = false;  // gradients have the same bits in each run; forward always has
    attention::OfOperation<std::optional<PlacedOperand>> operands;
    attention::OfOperation<std::optional<PackedOffsets>> packed;
    std::optional<SequenceLengths> query_lengths, key_lengths;
    std::optional<std::int64_t> left, right;  // keys next to the diagonal on either side; all, where there is no number
    bool is_bottom_right = false;
    bool has_alibi = false;
    float scale = 1;  // of products of queries and keys
    ModifierCode modifier;
    std::vector<PlacedOperand> score_tensors;  // what the modifier reads
    std::vector<std::uint32_t> score_numbers;
    std::optional<GeneratedDropout> dropout;
    std::optional<std::int64_t> keys_in_pages;     // of a sequence, at most, where keys or values are in pages
    std::optional<std::size_t> workspace_pointer;  // the last one, where there is a workspace

    friend bool operator==(AttentionKernelProblem const&, AttentionKernelProblem const&) = default;

    bool has(attention::Port port) const { return operands[port].has_value(); }
    PlacedOperand const& operand(attention::Port port) const { return *operands[port]; }
    bool is_packed() const { return packed[attention::Q].has_value(); }
    bool has_modifier() const { return !modifier.text.empty(); }
    bool has_terms() const { return has(attention::Bias) || has_alibi || has_modifier(); }
    // Whether code needs registers beyond those for scores alone, which are fewer with larger tiles.
    bool needs_registers() const { return has_terms() || dropout; }
    // Whether scores share the bias whose gradient is wanted, so that the gradient is a sum.
    bool sums_bias_gradient() const;
    // Whether several blocks add to that sum, in any order.
    bool shares_bias_sums() const;
    // Whether a kernel finds the blocks of scores that the modifier hides or leaves as they are, before the others.
    bool finds_blocks() const { return !modifier.text_of_bounds.empty(); }
    // Whether blocks of scores are left out: those that the modifier or a block mask hides. They may be others in each
    // batch and head.
    bool hides_blocks() const { return finds_blocks() || has(attention::BlockMask); }
    bool hides_by_batch() const { return modifier.hides_by_batch || has(attention::BlockMask); }
    bool hides_by_head() const { return modifier.hides_by_head || has(attention::BlockMask); }
    // Whether attention_entries runs first: it converts lengths and offsets to one form, and makes the tensor maps of
    // each packed sequence.
    bool needs_entries() const;
    // Whether blocks of forward take tiles from a count when they are free: where tiles may have any numbers of keys,
    // and a kernel comes before, which sets the count to 0.
    bool hands_out_tiles() const { return !is_backward && (hides_blocks() || (key_lengths && needs_entries())); }

    std::int64_t batches() const { return operand(attention::Q).dims[0]; }
    std::int64_t heads() const { return operand(attention::Q).dims[1]; }
    std::int64_t queries() const { return operand(attention::Q).dims[2]; }
    std::int64_t key_heads() const { return operand(attention::K).dims[1]; }
    std::int64_t keys() const { return keys_in_pages.value_or(operand(attention::K).dims[2]); }
    // The table of the pages that K or V, of that port, is in; null where it is in none.
    PlacedOperand const* page_table(attention::Port port) const;
    // Heads of all entries of the batch.
    std::int64_t all_heads() const { return batches() * heads(); }
    std::int64_t all_key_heads() const { return batches() * key_heads(); }
    std::int64_t heads_of_key_head() const { return heads() / key_heads(); }
};

// The columns that code is compiled for: those of queries and keys, and those of values. Tensors may have fewer, in
// whose place the copy engine puts zeros.
struct AttentionClass {
    int columns, value_columns;
};
inline constexpr std::array kAttentionClasses = {AttentionClass{64, 64}, AttentionClass{128, 128},
                                                 AttentionClass{192, 128}, AttentionClass{256, 256}};

// The kernels of a problem, in the order in which they run. All need all pointers.
enum class AttentionWork {
    Entries,
    BlockBits,
    BlockScores,
    BlockMask,
    DropoutMask,
    Forward,
    GradientStart,
    Gradients,
    GradientEnd,
    BiasGradientEnd
};
std::vector<AttentionWork> works_of(AttentionKernelProblem const& problem);

// The smallest class; nothing for more columns than any has.
std::optional<AttentionClass> class_of(AttentionKernelProblem const& problem);

// The matrices of a pass, most of which the copy engine moves. It needs 1 as the stride of the last dim, and other
// strides that are multiples of 16 bytes and at least one row long.
std::span<attention::Port const> matrix_ports(AttentionKernelProblem const& problem);
bool has_legal_strides(Operand const& matrix);
inline constexpr std::int64_t kVectorElements = 8;  // of 16 bytes

// Why the kernels are faster for it than other backends, provided that it fills() the device; empty where they are not
// known to be. For such problems, the engine comes before those of other backends.
std::string advantage_of(AttentionKernelProblem const& problem);
// Whether they are known to be faster for a problem without options, or with a causal mask alone. Gradients may have to
// be deterministic.
bool is_fast_and_plain(AttentionKernelProblem const& problem);

// Whether its tiles give the multiprocessors enough to do: a tile goes through its keys alone, however many there are.
bool fills(AttentionKernelProblem const& problem, DeviceFacts const& device);

std::int64_t tiles_of(std::int64_t rows, std::int64_t rows_of_tile);

// How many heads, which share keys, have queries in one tile of forward. Where there are few queries, several do: the
// tile then reads keys and values once for all of them.
int heads_of_tile(AttentionKernelProblem const& problem);
int queries_of_tile(AttentionKernelProblem const& problem);  // of each of these heads

// How many warpgroups of a block of forward have queries, and how many keys and queries a tile of gradients has.
int forward_warpgroups(AttentionKernelProblem const& problem);
int gradient_tile_keys(AttentionKernelProblem const& problem);
int gradient_tile_queries(AttentionKernelProblem const& problem);

// The copy engine's order of places in shared memory repeats after as many rows, at which boxes of pages begin.
inline constexpr std::int64_t kLeastPageRows = 8;

// The rows that are in tiles, queries in forward and keys for gradients; and those of one tile, and of each of the
// blocks of keys or queries that it goes through.
std::int64_t rows_of_tiles(AttentionKernelProblem const& problem);
struct TileSizes {
    int rows, rows_of_block;
};
TileSizes tile_sizes(AttentionKernelProblem const& problem);

// Whether kernels have memory for tiles of bias, and whether the copy engine can move such a tile of a tensor of
// [batch, head, query, key], the bias or its gradient, if its address is a multiple of attention::kMatrixAlignment.
bool has_bias_memory(AttentionKernelProblem const& problem);
bool moves_in_boxes(AttentionKernelProblem const& problem, attention::Port port);

// The shared memory of a block of forward, or of the gradients.
int shared_bytes_of(AttentionKernelProblem const& problem);

// The tiles of rows in which a kernel leaves out hidden blocks, and these blocks: the tiles are of queries in forward,
// and of keys for gradients.
struct HiddenBlocks {
    int tile_rows, block_rows;
    std::int64_t tiles, blocks_of_tile;
    std::int64_t words_of_tile;  // of 32 bits
    std::int64_t heads;          // of a batch, with bits of their own
    std::int64_t heads_of_all;   // of all batches
};
HiddenBlocks hidden_blocks(AttentionKernelProblem const& problem);
// Whether blocks of which bounds say little are looked at score by score.
bool looks_at_scores(AttentionKernelProblem const& problem);

// The tiles of the gradient of a bias that scores share, along each of its dims: 1 where they share it.
std::array<std::int64_t, 4> bias_sum_tiles(AttentionKernelProblem const& problem);

// Byte offsets in the workspace of buffers that one kernel writes and a later one reads.
struct AttentionWorkspace {
    std::int64_t query_lengths = 0, key_lengths = 0;  // INT32
    std::int64_t maps = 0, offsets = 0;               // of entries
    std::int64_t block_bits = 0;
    std::int64_t places_taken = 0;          // a number of INT32
    std::int64_t statistics = 0, sums = 0;  // of tiles of queries; the sums' order is behind them
    std::int64_t bias_sums = 0;
    std::int64_t bytes = 0;
};
AttentionWorkspace workspace_of(AttentionKernelProblem const& problem);

// The tensors that have maps, in the order of ForwardMap or GradientMap, and after them those that are packed without.
std::span<attention::Port const> mapped_ports(AttentionKernelProblem const& problem);
std::vector<attention::Port> packed_ports(AttentionKernelProblem const& problem);
// The tensors with a number for each row, which may be packed.
inline constexpr std::array kRowNumbers = {attention::Stats, attention::Max, attention::SumExp};

using AttentionProblemPointer = std::shared_ptr<AttentionKernelProblem const>;

// Compiles a kernel of a problem without a reason against it, or loads it where the result of Kernel::serialize() is
// given, which is that of a problem of the same types, columns and options.
Result<KernelPointer> make_kernel(AttentionProblemPointer const& problem, AttentionWork work, DeviceFacts const& device,
                                  std::optional<std::string_view> stored);
// The kernel with code that is there: that of a problem which differs in sizes and strides alone.
KernelPointer make_kernel(AttentionProblemPointer const& problem, AttentionWork work, DeviceFacts const& device,
                          std::shared_ptr<Code const> code);

}  // namespace cudnn_frontend::kernels
