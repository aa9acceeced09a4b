#include "kernels/neighborhood/neighborhood_launch.h"

#include "kernels/neighborhood/neighborhood_forms.h"
#include "kernels/neighborhood/neighborhood_tiling.h"

#include <algorithm>
#include <cstdint>

namespace cudnn_frontend::kernels {
namespace {

constexpr unsigned kLanes = 32, kTokenWarps = 4;  // as in the kernels

NeighborhoodAccess access_of(Operand const& operand, SpaceAxes const& axes, std::size_t rank, bool is_bias) {
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

NeighborhoodArguments arguments_of(NeighborhoodKernelProblem const& problem) {
    NeighborhoodArguments arguments{};
    std::ranges::copy(axes_of(problem), arguments.axes);
    core::Dims const& example = problem.example().dims;
    arguments.batches = example[0];
    arguments.heads = example[1];
    arguments.columns = static_cast<int>(problem.columns());
    arguments.by_vectors = has_aligned_rows(problem);
    arguments.scale = problem.scale;
    arguments.without_key = problem.without_key;
    for (int tensor = 0; tensor < NeighborhoodTensorCount; ++tensor) {
        auto const& operand = problem.operands[static_cast<std::size_t>(tensor)];
        bool const is_bias = tensor == Bias || tensor == BiasGradient;
        if (operand) arguments.tensors[tensor] = access_of(*operand, axes_of(problem), problem.axes.size(), is_bias);
    }
    return arguments;
}

// --- Tiles

int tile_columns(NeighborhoodKernelProblem const& problem) {
    return static_cast<int>((problem.columns() + kTileColumns - 1) / kTileColumns * kTileColumns);
}

NeighborhoodLaunch launch_by_tiles(NeighborhoodKernelProblem const& problem) {
    NeighborhoodLaunch launch;
    launch.arguments = arguments_of(problem);
    launch.arguments.tiles = tiles_of(problem, NeighborhoodForm::Tiles);
    launch.blocks = static_cast<unsigned>(tile_count(problem, NeighborhoodForm::Tiles));
    launch.threads = kLanes * kTileWarps;
    launch.shared_bytes =
        static_cast<unsigned>(shared_bytes(tile_columns(problem), problem.work == NeighborhoodWork::KeyGradients));
    return launch;
}

// --- Warpgroups

// A thread for some columns of a row.
unsigned blocks_of_rows(NeighborhoodKernelProblem const& problem) {
    constexpr int kColumns = 8;
    core::Dims const& dims = problem.example().dims;
    std::int64_t const rows = *core::volume(core::Dims(dims.begin(), dims.end() - 1));
    std::int64_t const threads = rows * (warpgroup_columns(problem) / kColumns);
    return static_cast<unsigned>((threads + kWarpgroupTileThreads - 1) / kWarpgroupTileThreads);
}

NeighborhoodLaunch launch_by_warpgroups(NeighborhoodKernelProblem const& problem) {
    constexpr auto kForm = NeighborhoodForm::Warpgroups;
    NeighborhoodLaunch launch;
    launch.arguments = arguments_of(problem);
    launch.threads = kWarpgroupTileThreads;
    if (is_of_rows(problem.work)) {
        launch.blocks = blocks_of_rows(problem);
        return launch;
    }
    int const columns = warpgroup_columns(problem);
    bool const of_gradients = problem.work == NeighborhoodWork::Gradients;
    if (of_gradients) launch.threads = gradient_threads(columns);
    launch.arguments.tiles = tiles_of(problem, kForm);
    launch.blocks = static_cast<unsigned>(tile_count(problem, kForm));
    launch.shared_bytes = static_cast<unsigned>(warpgroup_shared_bytes(columns, of_gradients));
    return launch;
}

// --- Tokens

// A warp for each token, or for each entry of the bias' gradient.
std::int64_t warps_of(NeighborhoodKernelProblem const& problem) {
    if (problem.operands[BiasGradient]) return *core::volume(problem.operand(BiasGradient).dims);
    core::Dims const& dims = problem.operand(Queries).dims;
    return *core::volume(core::Dims(dims.begin(), dims.end() - 1));
}

NeighborhoodLaunch launch_by_tokens(NeighborhoodKernelProblem const& problem) {
    NeighborhoodLaunch launch;
    launch.arguments = arguments_of(problem);
    launch.threads = kLanes * kTokenWarps;
    launch.blocks = static_cast<unsigned>((warps_of(problem) + kTokenWarps - 1) / kTokenWarps);
    return launch;
}

// A power of 2: how many columns of a row each lane sums at a time.
std::int64_t lane_columns(NeighborhoodKernelProblem const& problem) {
    constexpr std::int64_t kMost = 8;
    std::int64_t const needed = (problem.columns() + kLanes - 1) / kLanes;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(needed))), 1,
                                    kMost);
}

struct KernelSource {
    char const* file;
    std::vector<std::string> functions;
};

bool is_forward(NeighborhoodWork work) { return work == NeighborhoodWork::Forward; }

KernelSource source_by_tokens(NeighborhoodWork work, bool has_bias) {
    switch (work) {
        case NeighborhoodWork::Forward: return {"neighborhood_forward", {"neighborhood_forward"}};
        case NeighborhoodWork::WindowBias: return {"neighborhood_bias", {"neighborhood_bias"}};
        case NeighborhoodWork::WindowSlots:
        case NeighborhoodWork::WindowQueries:
        case NeighborhoodWork::WindowKeys:
            return {"neighborhood_windows",
                    {"neighborhood_window_slots", "neighborhood_window_queries", "neighborhood_window_keys"}};
        default: {
            KernelSource source{"neighborhood_backward",
                                {"neighborhood_query_gradients", "neighborhood_key_gradients"}};
            if (has_bias) source.functions.push_back("neighborhood_bias_gradients");
            return source;
        }
    }
}

KernelSource source_by_tiles(NeighborhoodWork work) {
    if (is_forward(work)) return {"neighborhood_forward_tiles", {"neighborhood_forward_tiles"}};
    return {"neighborhood_backward_tiles", {"neighborhood_query_gradient_tiles", "neighborhood_key_gradient_tiles"}};
}

KernelSource source_by_warpgroups(NeighborhoodWork work) {
    if (is_forward(work)) return {"neighborhood_forward_warpgroups", {"neighborhood_forward_warpgroups"}};
    return {"neighborhood_backward_warpgroups",
            {"neighborhood_gradient_start", "neighborhood_gradients", "neighborhood_gradient_end"}};
}

KernelSource source_of(NeighborhoodKernelProblem const& problem, NeighborhoodForm form) {
    switch (form) {
        case NeighborhoodForm::Tokens: return source_by_tokens(problem.work, problem.operands[Bias].has_value());
        case NeighborhoodForm::Tiles: return source_by_tiles(problem.work);
        default: return source_by_warpgroups(problem.work);
    }
}

std::string define_of_columns(NeighborhoodKernelProblem const& problem, NeighborhoodForm form) {
    switch (form) {
        case NeighborhoodForm::Tokens: return "LANE_COLUMNS=" + std::to_string(lane_columns(problem));
        case NeighborhoodForm::Tiles: return "TILE_COLUMNS=" + std::to_string(tile_columns(problem));
        default: return "WARPGROUP_COLUMNS=" + std::to_string(warpgroup_columns(problem));
    }
}

// Forward by tokens tests for the bias at run time, and backward by tiles has none.
bool is_compiled_for_bias(NeighborhoodWork work, NeighborhoodForm form) {
    if (is_forward(work)) return form == NeighborhoodForm::Tiles;
    return form == NeighborhoodForm::Tokens && work < NeighborhoodWork::WindowSlots;
}

}  // namespace

NeighborhoodLaunch neighborhood_launch(NeighborhoodKernelProblem const& problem, NeighborhoodForm form) {
    switch (form) {
        case NeighborhoodForm::Tokens: return launch_by_tokens(problem);
        case NeighborhoodForm::Tiles: return launch_by_tiles(problem);
        default: return launch_by_warpgroups(problem);
    }
}

void bind(NeighborhoodKernelProblem const& problem, NeighborhoodArguments& arguments, Pointers pointers) {
    std::size_t next = 0;
    for (int tensor = 0; tensor < NeighborhoodTensorCount; ++tensor) {
        if (!problem.operands[static_cast<std::size_t>(tensor)]) continue;
        void* const pointer = pointers[next++];
        arguments.tensors[tensor].start = pointer;
        if (is_rows(static_cast<NeighborhoodTensor>(tensor)) &&
            reinterpret_cast<std::uintptr_t>(pointer) % kVectorBytes != 0)
            arguments.by_vectors = 0;
    }
}

CodeName neighborhood_code(NeighborhoodKernelProblem const& problem, NeighborhoodForm form, int compute_capability) {
    KernelSource source = source_of(problem, form);
    std::vector<std::string> defines{std::string("X=") + element_name(problem.example().type),
                                     define_of_columns(problem, form)};
    if (is_compiled_for_bias(problem.work, form)) {
        defines.push_back(std::string("HAS_BIAS=") + (problem.operands[Bias] ? "true" : "false"));
    }
    bool const is_of_one_architecture = form == NeighborhoodForm::Warpgroups;
    return {source.file, std::move(source.functions), std::move(defines), {compute_capability, is_of_one_architecture}};
}

std::size_t neighborhood_function(NeighborhoodWork work) {
    switch (work) {
        case NeighborhoodWork::KeyGradients:
        case NeighborhoodWork::Gradients:
        case NeighborhoodWork::WindowQueries: return 1;
        case NeighborhoodWork::BiasGradient:
        case NeighborhoodWork::GradientEnd:
        case NeighborhoodWork::WindowKeys: return 2;
        default: return 0;
    }
}

}  // namespace cudnn_frontend::kernels
