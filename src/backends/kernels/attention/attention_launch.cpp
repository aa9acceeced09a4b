#include "kernels/attention/attention_launch.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace cudnn_frontend::kernels {
namespace {

constexpr std::int64_t kElementBytes = 2;
constexpr float kLog2OfE = 1.4426950408889634f;

// The part of the L2 cache for the keys and values that blocks read at the same time.
constexpr std::int64_t kSectionBytes = std::int64_t{24} << 20;

// A bound without a number. Sums with places of rows fit 32 bits.
constexpr std::int64_t kNoBound = std::int64_t{1} << 30;

int bound_of(std::optional<std::int64_t> bound) {
    return static_cast<int>(std::clamp(bound.value_or(kNoBound), -kNoBound, kNoBound));
}

// A stride of a dim of 1 means nothing, but the copy engine needs one that is legal.
cuda::BoxedTensor boxed(Operand const& operand, int box_rows) {
    core::Dims const &dims = operand.dims, &strides = operand.strides;
    auto const stride = [&](std::size_t dim) {
        return static_cast<std::uint64_t>(kElementBytes * (dims[dim] > 1 ? strides[dim] : dims[3]));
    };
    auto const size = [&](std::size_t dim) { return static_cast<std::uint64_t>(dims[dim]); };
    return {operand.type,
            {size(3), size(2), size(1), size(0)},
            {stride(2), stride(1), stride(0)},
            static_cast<std::uint32_t>(box_rows)};
}

// A power of two: the query heads whose keys and values fit the cache.
std::int64_t heads_of_section(AttentionKernelProblem const& problem) {
    std::int64_t const bytes_of_key_head =
        problem.keys.dims[2] * (problem.keys.dims[3] + problem.values.dims[3]) * kElementBytes;
    std::int64_t const key_heads = std::max<std::int64_t>(1, kSectionBytes / bytes_of_key_head);
    std::int64_t const group = problem.heads() / problem.keys.dims[1];
    std::int64_t const heads = std::min(key_heads * group, problem.batches() * problem.heads());
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
}

TileOrder order_of(AttentionKernelProblem const& problem, int rows_of_tile) {
    std::int64_t const tiles = (problem.queries.dims[2] + rows_of_tile - 1) / rows_of_tile;
    TileOrder order{};
    order.tiles = static_cast<int>(tiles);
    order.heads_of_section = static_cast<int>(heads_of_section(problem));
    order.count = static_cast<int>(tiles * problem.batches() * problem.heads());
    order.is_backwards = problem.right && !problem.left;
    return order;
}

}  // namespace

std::optional<AttentionClass> class_of(AttentionKernelProblem const& problem) {
    auto const holds = [&](AttentionClass const& candidate) {
        return problem.queries.dims[3] <= candidate.columns && problem.values.dims[3] <= candidate.value_columns;
    };
    auto const found = std::ranges::find_if(kAttentionClasses, holds);
    return found == kAttentionClasses.end() ? std::nullopt : std::optional(*found);
}

AttentionLaunch attention_launch(AttentionKernelProblem const& problem, int multiprocessors) {
    constexpr int kStoredRows = 16;  // a warp's
    auto const [columns, value_columns] = *class_of(problem);
    AttentionLaunch launch;
    AttentionArguments& arguments = launch.arguments;
    arguments.batches = static_cast<int>(problem.batches());
    arguments.heads = static_cast<int>(problem.heads());
    arguments.heads_of_key_head = static_cast<int>(problem.heads() / problem.keys.dims[1]);
    arguments.query_rows = static_cast<int>(problem.queries.dims[2]);
    arguments.key_rows = static_cast<int>(problem.keys.dims[2]);
    arguments.band = {bound_of(problem.left), bound_of(problem.right), problem.is_bottom_right};
    arguments.scale = problem.scale * kLog2OfE;
    arguments.order = order_of(problem, tile_queries(columns));
    launch.blocks = static_cast<unsigned>(std::min(multiprocessors, arguments.order.count));
    launch.threads = static_cast<unsigned>(attention_threads(columns));
    launch.shared_bytes = static_cast<unsigned>(attention_shared_bytes(columns, value_columns));
    launch.queries = boxed(problem.queries, tile_queries(columns));
    launch.keys = boxed(problem.keys, tile_keys(columns));
    launch.values = boxed(problem.values, tile_keys(columns));
    launch.output = boxed(problem.output, kStoredRows);
    return launch;
}

void bind(AttentionKernelProblem const& problem, AttentionArguments& arguments, Pointers pointers) {
    constexpr std::size_t kBoxedTensors = 4;
    std::size_t next = kBoxedTensors;
    if (problem.stats) {
        core::Dims const& strides = problem.stats->strides;
        arguments.stats = {static_cast<float*>(pointers[next++]), strides[0], strides[1], strides[2]};
    }
    if (problem.has_query_lengths) arguments.query_lengths = static_cast<int const*>(pointers[next++]);
    if (problem.has_key_lengths) arguments.key_lengths = static_cast<int const*>(pointers[next++]);
}

CodeName attention_code(AttentionKernelProblem const& problem) {
    auto const [columns, value_columns] = *class_of(problem);
    return {"attention_forward",
            {"attention_forward"},
            {std::string("X=") + element_name(problem.queries.type), "COLUMNS_OF_KEYS=" + std::to_string(columns),
             "COLUMNS_OF_VALUES=" + std::to_string(value_columns)},
            {90, true}};
}

}  // namespace cudnn_frontend::kernels
