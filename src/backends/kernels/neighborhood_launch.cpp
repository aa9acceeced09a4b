#include "kernels/neighborhood_launch.h"

#include "core/data_type.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace cudnn_frontend::kernels {
namespace {

using neighborhood::Axis;

constexpr std::int64_t kVectorBytes = 16;
constexpr int kTileBits = std::countr_zero(static_cast<unsigned>(kTileTokens));
constexpr unsigned kLanes = 32, kTokenWarps = 4;  // as in the kernels

bool is_rows(int tensor) {
    return tensor != kBias && tensor != kSlots && tensor != kStats && tensor != kDelta && tensor != kBiasGradient;
}

std::int64_t columns_of(NeighborhoodProblem const& problem) {
    return problem.operands[kQueries] ? problem.operand(kQueries).dims.back() : 0;
}

DataType_t type_of(NeighborhoodProblem const& problem) {
    return problem.operand(problem.operands[kSlots] ? kSlots : kQueries).type;
}

// The first axes have length 1 where space has fewer than the kernels.
std::array<Axis, kMostAxes> axes_of(NeighborhoodProblem const& problem) {
    std::array<Axis, kMostAxes> axes;
    std::ranges::copy_backward(problem.axes, axes.end());
    return axes;
}

// Whether all rows have their columns in turn, and begin at a multiple of 16 bytes where the first one does.
bool has_aligned_rows(NeighborhoodProblem const& problem) {
    std::int64_t const element = core::size_of(type_of(problem));
    if (columns_of(problem) * element % kVectorBytes != 0) return false;
    for (int tensor = 0; tensor < kNeighborhoodTensors; ++tensor) {
        auto const& operand = problem.operands[static_cast<std::size_t>(tensor)];
        if (!operand || !is_rows(tensor)) continue;
        if (operand->strides.back() != 1) return false;
        for (std::size_t i = 0; i + 1 < operand->dims.size(); ++i) {
            if (operand->dims[i] > 1 && operand->strides[i] * element % kVectorBytes != 0) return false;
        }
    }
    return true;
}

NeighborhoodAccess access_of(Operand const& operand, std::array<Axis, kMostAxes> const& axes, std::size_t rank,
                             bool is_bias) {
    NeighborhoodAccess access{};
    core::Dims const& strides = operand.strides;
    std::size_t next = 0;
    if (!is_bias) access.batch = strides[next++];
    access.head = strides[next++];
    for (std::size_t axis = kMostAxes - rank; axis < kMostAxes; ++axis) access.space[axis] = strides[next++];
    if (!is_bias) access.column = strides[next];
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) access.steps[axis] = access.space[axis] * axes[axis].dilation;
    return access;
}

NeighborhoodArguments arguments_of(NeighborhoodProblem const& problem) {
    NeighborhoodArguments arguments{};
    std::ranges::copy(axes_of(problem), arguments.axes);
    core::Dims const& example = problem.operand(problem.operands[kSlots] ? kSlots : kQueries).dims;
    arguments.batches = example[0];
    arguments.heads = example[1];
    arguments.columns = static_cast<int>(columns_of(problem));
    arguments.by_vectors = has_aligned_rows(problem);
    arguments.scale = problem.scale;
    arguments.without_key = problem.without_key;
    for (int tensor = 0; tensor < kNeighborhoodTensors; ++tensor) {
        auto const& operand = problem.operands[static_cast<std::size_t>(tensor)];
        bool const is_bias = tensor == kBias || tensor == kBiasGradient;
        if (operand) arguments.tensors[tensor] = access_of(*operand, axes_of(problem), problem.axes.size(), is_bias);
    }
    return arguments;
}

// --- Tiles

std::int64_t longest_group(Axis const& axis) { return (axis.length + axis.dilation - 1) / axis.dilation; }

std::int64_t tiles_along(Axis const& axis, int bits) {
    return (longest_group(axis) + (std::int64_t{1} << bits) - 1) >> bits;
}

// Stages of rows that all tiles go through, and one for what each does before and after.
double cost_of_tiles(std::array<Axis, kMostAxes> const& axes, std::array<int, kMostAxes> const& bits) {
    double tiles = 1, met = 1;
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) {
        std::int64_t const reach = (std::int64_t{1} << bits[axis]) + axes[axis].kernel - 1;
        tiles *= static_cast<double>(tiles_along(axes[axis], bits[axis]) * axes[axis].dilation);
        met *= static_cast<double>(std::min(reach, longest_group(axes[axis])));
    }
    return tiles * (met / kTileTokens + 1);
}

std::array<int, kMostAxes> bits_of_tiles(std::array<Axis, kMostAxes> const& axes) {
    std::array<int, kMostAxes> best{0, 0, kTileBits};
    for (int first = 0; first <= kTileBits; ++first) {
        for (int second = 0; first + second <= kTileBits; ++second) {
            std::array<int, kMostAxes> const bits{first, second, kTileBits - first - second};
            if (cost_of_tiles(axes, bits) < cost_of_tiles(axes, best)) best = bits;
        }
    }
    return best;
}

// Of a place in a group, and of one past its end.
int place_bits(Axis const& axis) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(longest_group(axis))));
}

NeighborhoodTiles tiles_of(std::array<Axis, kMostAxes> const& axes) {
    NeighborhoodTiles tiles{};
    std::ranges::copy(bits_of_tiles(axes), tiles.bits);
    int shift = 0;
    for (std::size_t axis = kMostAxes; axis-- > 0;) {
        int const bits = place_bits(axes[axis]);
        tiles.tiles[axis] = static_cast<int>(tiles_along(axes[axis], tiles.bits[axis]));
        tiles.shifts[axis] = shift;
        tiles.guards |= 1u << (shift + bits);
        tiles.nowhere = ((1u << bits) - 1) << shift;
        shift += bits + 1;
    }
    return tiles;
}

std::int64_t tile_count(NeighborhoodProblem const& problem) {
    auto const axes = axes_of(problem);
    NeighborhoodTiles const tiles = tiles_of(axes);
    core::Dims const& dims = problem.operand(kQueries).dims;
    std::int64_t count = dims[0] * dims[1];
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) count *= tiles.tiles[axis] * axes[axis].dilation;
    return count;
}

int tile_columns(NeighborhoodProblem const& problem) {
    return static_cast<int>((columns_of(problem) + kTileColumns - 1) / kTileColumns * kTileColumns);
}

NeighborhoodLaunch launch_by_tiles(NeighborhoodProblem const& problem) {
    NeighborhoodLaunch launch;
    launch.arguments = arguments_of(problem);
    launch.arguments.tiles = tiles_of(axes_of(problem));
    launch.blocks = static_cast<unsigned>(tile_count(problem));
    launch.threads = kLanes * kTileWarps;
    launch.shared_bytes =
        static_cast<unsigned>(shared_bytes(tile_columns(problem), problem.work == NeighborhoodWork::KeyGradients));
    return launch;
}

// --- Tokens

// A warp for each.
std::int64_t warps_of(NeighborhoodProblem const& problem) {
    if (problem.operands[kBiasGradient]) return *core::volume(problem.operand(kBiasGradient).dims);
    core::Dims const& dims = problem.operand(kQueries).dims;
    return *core::volume(core::Dims(dims.begin(), dims.end() - 1));
}

NeighborhoodLaunch launch_by_tokens(NeighborhoodProblem const& problem) {
    NeighborhoodLaunch launch;
    launch.arguments = arguments_of(problem);
    launch.threads = kLanes * kTokenWarps;
    launch.blocks = static_cast<unsigned>((warps_of(problem) + kTokenWarps - 1) / kTokenWarps);
    return launch;
}

// A power of 2: how many columns of a row each lane sums at a time.
std::int64_t lane_columns(NeighborhoodProblem const& problem) {
    constexpr std::int64_t kMost = 8;
    std::int64_t const needed = (columns_of(problem) + kLanes - 1) / kLanes;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(needed))), 1,
                                    kMost);
}

struct Source {
    char const* file;
    std::vector<std::string> functions;
};

Source source_of(NeighborhoodWork work, NeighborhoodForm form, bool has_bias) {
    bool const by_tiles = form == NeighborhoodForm::Tiles;
    switch (work) {
        case NeighborhoodWork::Forward: {
            char const* const name = by_tiles ? "neighborhood_forward_tiles" : "neighborhood_forward";
            return {name, {name}};
        }
        case NeighborhoodWork::QueryGradients:
        case NeighborhoodWork::KeyGradients:
        case NeighborhoodWork::BiasGradient:
            if (!by_tiles) {
                Source source{"neighborhood_backward", {"neighborhood_query_gradients", "neighborhood_key_gradients"}};
                if (has_bias) source.functions.push_back("neighborhood_bias_gradients");
                return source;
            }
            return {"neighborhood_backward_tiles",
                    {"neighborhood_query_gradient_tiles", "neighborhood_key_gradient_tiles"}};
        case NeighborhoodWork::WindowBias: return {"neighborhood_bias", {"neighborhood_bias"}};
        default:
            return {"neighborhood_windows",
                    {"neighborhood_window_slots", "neighborhood_window_queries", "neighborhood_window_keys"}};
    }
}

}  // namespace

std::string reason_against_tiles(NeighborhoodProblem const& problem) {
    if (problem.work > NeighborhoodWork::BiasGradient) return "functions that are not fused have no matrix products";
    if (problem.work != NeighborhoodWork::Forward && problem.operands[kBias])
        return "tiles compute no gradients beside a bias";
    if (type_of(problem) == DataType_t::FLOAT) return "tiles need BFLOAT16 or HALF";
    if (columns_of(problem) > kMostTileColumns || !has_aligned_rows(problem)) {
        return "tiles need rows of a multiple of 8 columns, at most " + std::to_string(kMostTileColumns) +
               ", which begin at multiples of 16 bytes";
    }
    int bits = 0;
    double met = 1;
    for (Axis const& axis : axes_of(problem)) {
        bits += place_bits(axis) + 1;
        met *= static_cast<double>(std::min<std::int64_t>(axis.kernel + 2 * kTileTokens, longest_group(axis)));
    }
    constexpr double kMost = std::numeric_limits<std::int32_t>::max();
    double const bias_span =
        problem.operands[kBias]
            ? static_cast<double>(*core::span_of(problem.operand(kBias).dims, problem.operand(kBias).strides))
            : 0;
    if (bits > 32 || met > kMost || bias_span > kMost)
        return "tiles need axes, windows and a bias that are counted in 32 bits";
    return tile_count(problem) <= std::numeric_limits<std::int32_t>::max() ? "" : "there are more than 2^31 tiles";
}

std::vector<std::size_t> alignments_of(NeighborhoodProblem const& problem, NeighborhoodForm form) {
    std::vector<std::size_t> alignments;
    for (int tensor = 0; tensor < kNeighborhoodTensors; ++tensor) {
        auto const& operand = problem.operands[static_cast<std::size_t>(tensor)];
        if (!operand) continue;
        bool const needs_vectors = form == NeighborhoodForm::Tiles && is_rows(tensor);
        alignments.push_back(static_cast<std::size_t>(needs_vectors ? kVectorBytes : core::size_of(operand->type)));
    }
    return alignments;
}

NeighborhoodLaunch neighborhood_launch(NeighborhoodProblem const& problem, NeighborhoodForm form) {
    return form == NeighborhoodForm::Tiles ? launch_by_tiles(problem) : launch_by_tokens(problem);
}

void bind(NeighborhoodProblem const& problem, NeighborhoodArguments& arguments, Pointers pointers) {
    std::size_t next = 0;
    for (int tensor = 0; tensor < kNeighborhoodTensors; ++tensor) {
        if (!problem.operands[static_cast<std::size_t>(tensor)]) continue;
        void* const pointer = pointers[next++];
        arguments.tensors[tensor].start = pointer;
        if (is_rows(tensor) && std::bit_cast<std::uintptr_t>(pointer) % kVectorBytes != 0) arguments.by_vectors = 0;
    }
}

CodeName neighborhood_code(NeighborhoodProblem const& problem, NeighborhoodForm form, int compute_capability) {
    Source source = source_of(problem.work, form, problem.operands[kBias].has_value());
    std::vector<std::string> defines{std::string("X=") + element_name(type_of(problem))};
    if (form == NeighborhoodForm::Tokens) {
        defines.push_back("LANE_COLUMNS=" + std::to_string(lane_columns(problem)));
    } else {
        defines.push_back("TILE_COLUMNS=" + std::to_string(tile_columns(problem)));
    }
    bool const is_forward = problem.work == NeighborhoodWork::Forward;
    bool const is_fused = problem.work <= NeighborhoodWork::BiasGradient;
    // Forward by tokens asks for the bias at run time, and backward by tiles takes none.
    bool const is_compiled_for_bias = form == (is_forward ? NeighborhoodForm::Tiles : NeighborhoodForm::Tokens);
    if (is_fused && is_compiled_for_bias) {
        defines.push_back(std::string("HAS_BIAS=") + (problem.operands[kBias] ? "true" : "false"));
    }
    return {source.file, std::move(source.functions), std::move(defines), {compute_capability}};
}

std::size_t neighborhood_function(NeighborhoodWork work) {
    switch (work) {
        case NeighborhoodWork::KeyGradients:
        case NeighborhoodWork::WindowQueries: return 1;
        case NeighborhoodWork::BiasGradient:
        case NeighborhoodWork::WindowKeys: return 2;
        default: return 0;
    }
}

}  // namespace cudnn_frontend::kernels
