#include "kernels/attention/attention_launch.h"

#include "attention/philox.h"
#include "core/data_type.h"
#include "kernels/attention/tile_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

using attention::Port;

// A bound without a number. Sums with places of rows fit 32 bits.
constexpr std::int64_t kNoBound = std::int64_t{1} << 30;

int bound_of(std::optional<std::int64_t> bound) {
    return static_cast<int>(std::clamp(bound.value_or(kNoBound), -kNoBound, kNoBound));
}

// --- Code

CodeName code_of_tiles(AttentionKernelProblem const& problem, char const* source, std::vector<std::string> functions) {
    auto const [columns, value_columns] = *class_of(problem);
    CodeName name{source, std::move(functions), {}, {90, true}, problem.modifier.text};
    name.defines = {std::string("X=") + element_name(problem.operand(attention::Q).type),
                    "COLUMNS_OF_KEYS=" + std::to_string(columns), "COLUMNS_OF_VALUES=" + std::to_string(value_columns)};
    if (problem.has(attention::Bias)) {
        name.defines.push_back(std::string("BIAS=") + element_name(problem.operand(attention::Bias).type));
    }
    if (problem.is_backward && problem.has(attention::DBias)) {
        name.defines.push_back(std::string("BIAS_GRADIENT=") + element_name(problem.operand(attention::DBias).type));
    }
    if (problem.sums_bias_gradient()) name.defines.push_back("SUMS_BIAS_GRADIENT");
    if (problem.has_alibi) name.defines.push_back("HAS_ALIBI");
    if (problem.has_modifier()) name.defines.push_back("HAS_REGION");
    if (problem.dropout) name.defines.push_back("HAS_DROPOUT");
    if (problem.hides_blocks()) name.defines.push_back("HIDES_BLOCKS");
    if (problem.has(attention::BlockMask)) name.defines.push_back("HAS_BLOCK_MASK");
    if (problem.modifier.leaves_scores) name.defines.push_back("LEAVES_BLOCKS");
    if (problem.is_deterministic) name.defines.push_back("IS_DETERMINISTIC");
    if (problem.has(attention::Max) || problem.has(attention::SumExp)) name.defines.push_back("STORES_MAXIMA");
    return name;
}

// --- What several kernels have

Sequences sequences_of(AttentionKernelProblem const& problem) {
    Sequences sequences{};
    sequences.batches = static_cast<int>(problem.batches());
    sequences.heads = static_cast<int>(problem.heads());
    sequences.heads_of_key_head = static_cast<int>(problem.heads_of_key_head());
    sequences.query_rows = static_cast<int>(problem.queries());
    sequences.key_rows = static_cast<int>(problem.keys());
    sequences.band = {bound_of(problem.left), bound_of(problem.right), problem.is_bottom_right};
    return sequences;
}

// The tensor with that many entries of the batch. A stride of a dim of 1 means nothing, but the copy engine needs a
// legal one.
cuda::BoxedTensor boxed(PlacedOperand const& matrix, std::int64_t entries, int box_rows, int box_heads = 1) {
    core::Dims const &dims = matrix.dims, &strides = matrix.strides;
    std::int64_t const piece = attention::kMatrixAlignment / core::size_of(matrix.type);
    auto const stride = [&](std::size_t dim) {
        std::int64_t const elements = dims[dim] > 1 ? strides[dim] : tiles_of(dims[3], piece) * piece;
        return static_cast<std::uint64_t>(core::size_of(matrix.type) * elements);
    };
    auto const size = [&](std::size_t dim) { return static_cast<std::uint64_t>(dims[dim]); };
    return {matrix.type,
            {size(3), size(2), size(1), static_cast<std::uint64_t>(entries)},
            {stride(2), stride(1), stride(0)},
            static_cast<std::uint32_t>(box_rows),
            static_cast<std::uint32_t>(box_heads)};
}

// The rows of a tensor's boxes.
int box_rows(AttentionKernelProblem const& problem, Port port) {
    int const columns = class_of(problem)->columns;
    bool const has_keys = port == attention::K || port == attention::V;
    if (port == attention::O || port == attention::DK || port == attention::DV) return kRowsOfWarp;
    if (problem.is_backward) return has_keys ? gradient_tile_keys(problem) : gradient_tile_queries(problem);
    if (problem.page_table(port) != nullptr)
        return static_cast<int>(std::gcd<std::int64_t>(problem.operand(port).dims[2], tile_keys(columns)));
    return has_keys ? tile_keys(columns) : queries_of_tile(problem);
}
int box_heads(AttentionKernelProblem const& problem, Port port) {
    return port == attention::Q ? heads_of_tile(problem) : 1;
}

// A matrix, or one entry of it where sequences are packed.
cuda::BoxedTensor boxed(AttentionKernelProblem const& problem, Port port) {
    PlacedOperand const& matrix = problem.operand(port);
    return boxed(matrix, problem.packed[port] ? 1 : matrix.dims[0], box_rows(problem, port), box_heads(problem, port));
}

template <class Map, std::size_t COUNT>
error_t bind_maps(AttentionKernelProblem const& problem, AttentionPointers const& from, Map (&maps)[COUNT]) {
    std::size_t next = 0;
    for (Port const port : mapped_ports(problem)) {
        void* const start = from.at(problem.operand(port).pointer);
        SDPA_GRAPH_TRY(from.encode(boxed(problem, port), start).move_to(maps[next++]));
    }
    return {};
}

template <class T>
T* in_workspace(AttentionKernelProblem const& problem, AttentionPointers const& from, std::int64_t offset) {
    return reinterpret_cast<T*>(static_cast<std::byte*>(from.at(*problem.workspace_pointer)) + offset);
}

void bind(AttentionKernelProblem const& problem, AttentionPointers const& from, Sequences& to) {
    auto const bind_lengths = [&](std::optional<SequenceLengths> const& lengths, std::int64_t in_one_form,
                                  int const*& at) {
        if (!lengths) return;
        at = problem.needs_entries() ? in_workspace<int>(problem, from, in_one_form)
                                     : static_cast<int const*>(from.at(lengths->pointer));
    };
    AttentionWorkspace const workspace = workspace_of(problem);
    bind_lengths(problem.query_lengths, workspace.query_lengths, to.query_lengths);
    bind_lengths(problem.key_lengths, workspace.key_lengths, to.key_lengths);
}

EntryMaps entry_maps(AttentionKernelProblem const& problem, AttentionPointers const& from) {
    if (!problem.is_packed()) return {};
    return {in_workspace<TensorMap>(problem, from, workspace_of(problem).maps),
            static_cast<int>(mapped_ports(problem).size())};
}

EntryOffsets entry_offsets(AttentionKernelProblem const& problem, AttentionPointers const& from, Port port) {
    if (!problem.packed[port]) return {};
    std::vector<Port> const ports = packed_ports(problem);
    auto const number = std::ranges::find(ports, port) - ports.begin();
    return {in_workspace<long long>(problem, from, workspace_of(problem).offsets) + number,
            static_cast<int>(ports.size())};
}

Pages pages_of(AttentionKernelProblem const& problem, AttentionPointers const& from, Port port) {
    PlacedOperand const* const table = problem.page_table(port);
    if (table == nullptr) return {};
    auto const rows = static_cast<std::uint64_t>(problem.operand(port).dims[2]);
    return {static_cast<int const*>(from.at(table->pointer)), table->strides[0], table->strides[2],
            std::countr_zero(rows), box_rows(problem, port)};
}

Rows rows_of(AttentionKernelProblem const& problem, AttentionPointers const& from, Port port) {
    PlacedOperand const& matrix = problem.operand(port);
    return {from.at(matrix.pointer), matrix.strides[0], matrix.strides[1], matrix.strides[2],
            entry_offsets(problem, from, port)};
}

RowNumbers row_numbers(AttentionKernelProblem const& problem, AttentionPointers const& from, Port port) {
    if (!problem.has(port)) return {};
    PlacedOperand const& numbers = problem.operand(port);
    return {static_cast<float*>(from.at(numbers.pointer)), numbers.strides[0], numbers.strides[1], numbers.strides[2],
            entry_offsets(problem, from, port)};
}

template <class Number>
HeadNumbers<Number> head_numbers(AttentionKernelProblem const& problem, AttentionPointers const& from, Port port) {
    PlacedOperand const& numbers = problem.operand(port);
    return {static_cast<Number*>(from.at(numbers.pointer)), numbers.strides[1]};
}

// Dims of 1 are shared.
ScoreNumbers score_numbers_of(PlacedOperand const& operand, AttentionPointers const& from) {
    auto const stride = [&](std::size_t dim) { return operand.dims[dim] > 1 ? operand.strides[dim] : 0; };
    bool const are_pairs = stride(3) == 1 && stride(0) % 2 == 0 && stride(1) % 2 == 0 && stride(2) % 2 == 0;
    return {from.at(operand.pointer), stride(0), stride(1), stride(2), stride(3), are_pairs, false};
}

void bind(AttentionKernelProblem const& problem, AttentionPointers const& from, ScoreInputs& to) {
    for (std::size_t i = 0; i < problem.score_tensors.size(); ++i) {
        to.tensors[i] = score_numbers_of(problem.score_tensors[i], from);
    }
}

int* places_taken(AttentionKernelProblem const& problem, AttentionPointers const& from) {
    return problem.hands_out_tiles() ? in_workspace<int>(problem, from, workspace_of(problem).places_taken) : nullptr;
}

BlockBits block_bits(AttentionKernelProblem const& problem, AttentionPointers const& from) {
    if (!problem.hides_blocks()) return {};
    HiddenBlocks const blocks = hidden_blocks(problem);
    return {in_workspace<unsigned>(problem, from, workspace_of(problem).block_bits),
            static_cast<int>(blocks.words_of_tile), static_cast<int>(blocks.tiles),
            problem.hides_by_batch() ? static_cast<int>(blocks.heads) : 0, problem.hides_by_head() ? 1 : 0};
}

GivenInteger given_integer(PlacedInteger const& integer, AttentionPointers const& from) {
    if (!integer.pointer) return {nullptr, 0, integer.number};
    void const* const start = from.at(*integer.pointer);
    if (!integer.is_on_host) return {start, integer.is_wide, 0};
    return {nullptr, 0,
            integer.is_wide ? *static_cast<std::int64_t const*>(start) : *static_cast<std::int32_t const*>(start)};
}

// Without seed and offset.
Dropout dropout_of(AttentionKernelProblem const& problem) {
    if (!problem.dropout) return {};
    double const keep = 1.0 - problem.dropout->probability;
    return {{}, {}, attention::last_kept_word(keep), static_cast<float>(1.0 / keep)};
}

void bind_dropout(AttentionKernelProblem const& problem, AttentionPointers const& from, Dropout& to) {
    if (!problem.dropout) return;
    to.seed = given_integer(problem.dropout->seed, from);
    to.offset = given_integer(problem.dropout->offset, from);
}

ScoreResults score_results_of(PlacedOperand const& operand, AttentionPointers const& from) {
    core::Dims const& strides = operand.strides;
    return {from.at(operand.pointer), strides[0], strides[1], strides[2], strides[3], false};
}

ScoreResults bias_gradient_of(AttentionKernelProblem const& problem, AttentionPointers const& from) {
    return problem.has(attention::DBias) ? score_results_of(problem.operand(attention::DBias), from) : ScoreResults{};
}

// Sums of a dim that scores share lie in the same tile.
BiasSums bias_sums_of(AttentionKernelProblem const& problem, AttentionPointers const& from) {
    if (!problem.sums_bias_gradient()) return {};
    auto const tiles = bias_sum_tiles(problem);
    core::Dims const& dims = problem.operand(attention::DBias).dims;
    std::array<int, 4> steps{};
    std::int64_t count = 1;
    for (std::size_t dim = steps.size(); dim-- > 0; count *= tiles[dim]) {
        steps[dim] = dims[dim] > 1 ? static_cast<int>(count) : 0;
    }
    auto const [batch, head, query_tile, key_tile] = steps;
    return {in_workspace<float>(problem, from, workspace_of(problem).bias_sums),
            batch,
            head,
            key_tile,
            query_tile,
            static_cast<int>(count)};
}

// Makes the map of the bias, or of its gradient, if the copy engine can move it.
template <class Scores>
error_t bind_boxes(AttentionKernelProblem const& problem, AttentionPointers const& from, Port port, Scores& scores,
                   TensorMap& map) {
    void* const start = from.at(problem.operand(port).pointer);
    bool const is_aligned = reinterpret_cast<std::uintptr_t>(start) % attention::kMatrixAlignment == 0;
    if (!is_aligned || !moves_in_boxes(problem, port)) return {};
    scores.is_boxed = true;
    PlacedOperand const& operand = problem.operand(port);
    return from.encode(boxed(operand, operand.dims[0], kWarpgroupQueries), start).move_to(map);
}

template <class Arguments>
error_t bind_terms(AttentionKernelProblem const& problem, AttentionPointers const& from, Arguments& to) {
    if (problem.has(attention::Bias)) {
        to.bias = score_numbers_of(problem.operand(attention::Bias), from);
        SDPA_GRAPH_TRY(bind_boxes(problem, from, attention::Bias, to.bias, to.bias_map));
    }
    bind(problem, from, to.inputs);
    to.blocks = block_bits(problem, from);
    bind_dropout(problem, from, to.dropout);
    return {};
}

template <class Arguments>
void set_scores(AttentionKernelProblem const& problem, Arguments& arguments) {
    arguments.scale = problem.scale;
    arguments.scale_as_power = problem.scale * kLog2OfE;
    std::ranges::copy(problem.score_numbers, arguments.inputs.numbers);
    arguments.dropout = dropout_of(problem);
}

QueryTiles query_tiles(AttentionKernelProblem const& problem, AttentionPointers const& from) {
    AttentionWorkspace const workspace = workspace_of(problem);
    int const rows_of_tile = gradient_tile_queries(problem);
    return {in_workspace<float>(problem, from, workspace.statistics),
            in_workspace<float>(problem, from, workspace.sums),
            static_cast<int>(tiles_of(problem.queries(), rows_of_tile))};
}

// The start of a launch of one of the kernels of gradients, in their order.
template <class Arguments>
AttentionLaunch<Arguments> gradient_part(AttentionKernelProblem const& problem, std::size_t function) {
    AttentionLaunch<Arguments> launch;
    launch.function = function;
    if constexpr (requires { launch.arguments.sequences; }) launch.arguments.sequences = sequences_of(problem);
    return launch;
}

CodeName code_of_forward(AttentionKernelProblem const& problem) {
    CodeName name = code_of_tiles(problem, "attention_forward", {"attention_forward"});
    if (problem.keys_in_pages) name.defines.push_back("HAS_PAGES");
    if (problem.modifier.text_of_short_score.empty()) return name;
    name.defines.push_back("HAS_SHORT_SCORE");
    name.score_code += problem.modifier.text_of_short_score;
    return name;
}

CodeName code_of_gradients(AttentionKernelProblem const& problem) {
    std::vector<std::string> functions{"attention_gradient_start", "attention_gradients", "attention_gradient_end"};
    if (problem.sums_bias_gradient()) functions.push_back("attention_bias_gradient_end");
    return code_of_tiles(problem, "attention_gradients", std::move(functions));
}

CodeName code_of_blocks(AttentionKernelProblem const& problem) {
    return {"attention_block_bits",
            {"attention_block_bits", "attention_block_scores"},
            {},
            {90, true},
            problem.modifier.text_of_bounds};
}

}  // namespace

CodeName code_of(AttentionKernelProblem const& problem, AttentionWork work) {
    switch (work) {
        case AttentionWork::Entries: return {"attention_entries", {"attention_entries"}, {}, {90, true}, {}};
        case AttentionWork::BlockBits:
        case AttentionWork::BlockScores: return code_of_blocks(problem);
        case AttentionWork::BlockMask: return {"attention_block_mask", {"attention_block_mask"}, {}, {90, true}, {}};
        case AttentionWork::DropoutMask:
            return {"attention_dropout_mask", {"attention_dropout_mask"}, {}, {90, true}, {}};
        case AttentionWork::Forward: return code_of_forward(problem);
        case AttentionWork::GradientStart:
        case AttentionWork::Gradients:
        case AttentionWork::GradientEnd:
        case AttentionWork::BiasGradientEnd: break;
    }
    return code_of_gradients(problem);
}

// --- Entries

AttentionLaunch<EntryArguments> entry_launch(AttentionKernelProblem const& problem) {
    AttentionLaunch<EntryArguments> launch;
    launch.blocks = static_cast<unsigned>(tiles_of(problem.batches(), kEntriesOfBlock));
    launch.threads = kEntryThreads;
    launch.shared_bytes = kEntriesOfBlock * sizeof(TensorMap);
    launch.arguments.batches = static_cast<int>(problem.batches());
    return launch;
}

error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, EntryArguments& to) {
    AttentionWorkspace const workspace = workspace_of(problem);
    auto const lengths_of = [&](std::optional<SequenceLengths> const& lengths, std::int64_t result) -> LengthSource {
        if (!lengths) return {};
        return {from.at(lengths->pointer), lengths->is_wide, lengths->are_sums,
                in_workspace<int>(problem, from, result)};
    };
    to.query_lengths = lengths_of(problem.query_lengths, workspace.query_lengths);
    to.key_lengths = lengths_of(problem.key_lengths, workspace.key_lengths);
    to.places_taken = places_taken(problem, from);
    if (!problem.is_packed()) return {};
    to.map_count = static_cast<int>(mapped_ports(problem).size());
    to.maps = in_workspace<TensorMap>(problem, from, workspace.maps);
    to.offsets = in_workspace<long long>(problem, from, workspace.offsets);
    for (Port const port : packed_ports(problem)) {
        EntryTensor& tensor = to.tensors[to.tensor_count++];
        if (!problem.packed[port]) continue;
        PlacedOperand const& operand = problem.operand(port);
        PackedOffsets const& offsets = *problem.packed[port];
        tensor.start = static_cast<unsigned char*>(from.at(operand.pointer));
        tensor.offsets = from.at(offsets.pointer);
        tensor.elements_of_offset = offsets.elements_of_offset;
        tensor.is_wide = offsets.is_wide;
        tensor.element_bytes = static_cast<int>(core::size_of(operand.type));
        tensor.has_queries = attention::has_query_rows(attention::operand(port));
        if (to.tensor_count > to.map_count) continue;
        SDPA_GRAPH_TRY(from.encode(boxed(problem, port), tensor.start).move_to(tensor.map));
    }
    return {};
}

// --- Bits of blocks

namespace {

BlockBitsArguments block_bits_arguments(AttentionKernelProblem const& problem, HiddenBlocks const& blocks) {
    BlockBitsArguments arguments{};
    std::ranges::copy(problem.score_numbers, arguments.inputs.numbers);
    arguments.heads_of_all = static_cast<int>(blocks.heads_of_all);
    arguments.heads = static_cast<int>(blocks.heads);
    arguments.query_rows = static_cast<int>(problem.queries());
    arguments.key_rows = static_cast<int>(problem.keys());
    arguments.tile_rows = blocks.tile_rows;
    arguments.block_rows = blocks.block_rows;
    arguments.blocks = static_cast<int>(blocks.blocks_of_tile);
    arguments.are_tiles_of_keys = problem.is_backward;
    return arguments;
}

AttentionLaunch<BlockBitsArguments> block_launch(AttentionKernelProblem const& problem, HiddenBlocks const& blocks,
                                                 std::size_t function) {
    AttentionLaunch<BlockBitsArguments> launch;
    launch.function = function;
    launch.arguments = block_bits_arguments(problem, blocks);
    return launch;
}

}  // namespace

AttentionLaunch<BlockBitsArguments> block_bits_launch(AttentionKernelProblem const& problem) {
    constexpr int kWordsOfBlock = kBlockBitsThreads / 32;
    HiddenBlocks const blocks = hidden_blocks(problem);
    auto launch = block_launch(problem, blocks, 0);
    launch.blocks =
        static_cast<unsigned>(tiles_of(blocks.heads_of_all * blocks.tiles * blocks.words_of_tile, kWordsOfBlock));
    launch.threads = kBlockBitsThreads;
    return launch;
}

AttentionLaunch<BlockBitsArguments> block_scores_launch(AttentionKernelProblem const& problem) {
    HiddenBlocks const blocks = hidden_blocks(problem);
    auto launch = block_launch(problem, blocks, 1);
    launch.blocks = static_cast<unsigned>(blocks.heads_of_all * blocks.tiles * blocks.blocks_of_tile);
    launch.threads = kBlockScoresThreads;
    return launch;
}

error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, BlockBitsArguments& to) {
    bind(problem, from, to.inputs);
    to.bits = block_bits(problem, from);
    to.places_taken = places_taken(problem, from);
    return {};
}

AttentionLaunch<BlockMaskArguments> block_mask_launch(AttentionKernelProblem const& problem) {
    HiddenBlocks const blocks = hidden_blocks(problem);
    AttentionLaunch<BlockMaskArguments> launch;
    BlockMaskArguments& arguments = launch.arguments;
    arguments.heads_of_all = static_cast<int>(blocks.heads_of_all);
    arguments.heads = static_cast<int>(blocks.heads);
    arguments.bytes = static_cast<int>(problem.operand(attention::BlockMask).dims[3]);
    arguments.has_bits = problem.finds_blocks();
    std::int64_t const words = blocks.heads_of_all * blocks.tiles * blocks.words_of_tile;
    launch.blocks = static_cast<unsigned>(tiles_of(words, kBlockMaskThreads));
    launch.threads = kBlockMaskThreads;
    return launch;
}

error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, BlockMaskArguments& to) {
    to.mask = score_numbers_of(problem.operand(attention::BlockMask), from);
    to.bits = block_bits(problem, from);
    to.places_taken = places_taken(problem, from);
    return {};
}

// --- The mask of dropout

AttentionLaunch<DropoutMaskArguments> dropout_mask_launch(AttentionKernelProblem const& problem) {
    constexpr std::int64_t kKeysOfGroup = 4;
    AttentionLaunch<DropoutMaskArguments> launch;
    std::int64_t const groups = problem.all_heads() * problem.queries() * tiles_of(problem.keys(), kKeysOfGroup);
    launch.blocks = static_cast<unsigned>(tiles_of(groups, kDropoutMaskThreads));
    launch.threads = kDropoutMaskThreads;
    launch.arguments.sequences = sequences_of(problem);
    launch.arguments.dropout = dropout_of(problem);
    return launch;
}

error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, DropoutMaskArguments& to) {
    bind_dropout(problem, from, to.dropout);
    to.mask = score_results_of(problem.operand(attention::RngDump), from);
    return {};
}

// --- Forward

AttentionLaunch<AttentionArguments> forward_launch(AttentionKernelProblem const& problem, int multiprocessors) {
    int const warpgroups = forward_warpgroups(problem);
    AttentionLaunch<AttentionArguments> launch;
    AttentionArguments& arguments = launch.arguments;
    arguments.sequences = sequences_of(problem);
    QuerySchedule const schedule = query_schedule(problem, multiprocessors);
    arguments.order = schedule.order;
    arguments.heads_of_tile = heads_of_tile(problem);
    arguments.queries_of_tile = queries_of_tile(problem);
    set_scores(problem, arguments);
    launch.blocks = static_cast<unsigned>(schedule.blocks);
    launch.threads = static_cast<unsigned>(attention_threads(warpgroups));
    launch.shared_bytes = static_cast<unsigned>(shared_bytes_of(problem));
    return launch;
}

error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, AttentionArguments& to) {
    SDPA_GRAPH_TRY(bind_maps(problem, from, to.maps));
    to.entries = entry_maps(problem, from);
    to.key_pages = pages_of(problem, from, attention::K);
    to.value_pages = pages_of(problem, from, attention::V);
    bind(problem, from, to.sequences);
    to.places_taken = places_taken(problem, from);
    to.stats = row_numbers(problem, from, attention::Stats);
    to.maxima = row_numbers(problem, from, attention::Max);
    to.sums = row_numbers(problem, from, attention::SumExp);
    if (problem.has(attention::SinkToken)) to.sinks = head_numbers<float const>(problem, from, attention::SinkToken);
    return bind_terms(problem, from, to);
}

// --- Gradients

AttentionLaunch<GradientStartArguments> gradient_start_launch(AttentionKernelProblem const& problem) {
    constexpr int kRowsOfBlock = kStartThreads / 32;
    int const rows_of_tile = gradient_tile_queries(problem);
    auto launch = gradient_part<GradientStartArguments>(problem, 0);
    launch.arguments.columns = static_cast<int>(problem.operand(attention::V).dims[3]);
    std::int64_t const rows = tiles_of(problem.queries(), rows_of_tile) * rows_of_tile * problem.all_heads();
    launch.blocks = static_cast<unsigned>(tiles_of(rows, kRowsOfBlock));
    launch.threads = kStartThreads;
    return launch;
}

error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, GradientStartArguments& to) {
    bind(problem, from, to.sequences);
    to.tiles = query_tiles(problem, from);
    to.output = rows_of(problem, from, attention::O);
    to.output_gradient = rows_of(problem, from, attention::DO);
    to.stats = row_numbers(problem, from, attention::Stats);
    to.bias_gradient = bias_gradient_of(problem, from);
    to.bias_sums = bias_sums_of(problem, from);
    return {};
}

AttentionLaunch<GradientArguments> gradient_launch(AttentionKernelProblem const& problem, int multiprocessors) {
    auto launch = gradient_part<GradientArguments>(problem, 1);
    launch.arguments.order = key_order(problem, multiprocessors);
    set_scores(problem, launch.arguments);
    launch.blocks = static_cast<unsigned>(launch.arguments.order.places);
    launch.threads = kGradientThreads;
    launch.shared_bytes = static_cast<unsigned>(shared_bytes_of(problem));
    return launch;
}

error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, GradientArguments& to) {
    SDPA_GRAPH_TRY(bind_maps(problem, from, to.maps));
    to.entries = entry_maps(problem, from);
    bind(problem, from, to.sequences);
    to.tiles = query_tiles(problem, from);
    SDPA_GRAPH_TRY(bind_terms(problem, from, to));
    to.bias_sums = bias_sums_of(problem, from);
    if (!problem.has(attention::DBias)) return {};
    to.bias_gradient = score_results_of(problem.operand(attention::DBias), from);
    return bind_boxes(problem, from, attention::DBias, to.bias_gradient, to.bias_gradient_map);
}

AttentionLaunch<GradientEndArguments> gradient_end_launch(AttentionKernelProblem const& problem) {
    int const rows_of_tile = gradient_tile_queries(problem);
    auto launch = gradient_part<GradientEndArguments>(problem, 2);
    launch.arguments.columns = static_cast<int>(problem.operand(attention::Q).dims[3]);
    launch.arguments.scale = problem.scale;
    launch.blocks = static_cast<unsigned>(tiles_of(problem.queries(), rows_of_tile) * problem.all_heads());
    launch.threads = kEndThreads;
    if (problem.has(attention::DSinkToken)) launch.shared_bytes = kSinkSumBytes;
    return launch;
}

error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, GradientEndArguments& to) {
    bind(problem, from, to.sequences);
    to.tiles = query_tiles(problem, from);
    to.query_gradient = rows_of(problem, from, attention::DQ);
    if (!problem.has(attention::DSinkToken)) return {};
    to.sinks = head_numbers<float const>(problem, from, attention::SinkToken);
    to.sink_gradient = head_numbers<float>(problem, from, attention::DSinkToken);
    return {};
}

AttentionLaunch<BiasGradientEndArguments> bias_gradient_end_launch(AttentionKernelProblem const& problem) {
    auto launch = gradient_part<BiasGradientEndArguments>(problem, 3);
    core::Dims const& dims = problem.operand(attention::DBias).dims;
    BiasGradientEndArguments& arguments = launch.arguments;
    arguments.batches = static_cast<int>(dims[0]);
    arguments.heads = static_cast<int>(dims[1]);
    arguments.queries = static_cast<int>(dims[2]);
    arguments.keys = static_cast<int>(dims[3]);
    launch.blocks = static_cast<unsigned>(tiles_of(dims[0] * dims[1] * dims[2] * dims[3], kBiasEndThreads));
    launch.threads = kBiasEndThreads;
    return launch;
}

error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, BiasGradientEndArguments& to) {
    to.sums = bias_sums_of(problem, from);
    to.gradient = bias_gradient_of(problem, from);
    return {};
}

}  // namespace cudnn_frontend::kernels
