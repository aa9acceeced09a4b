#include "host_neighborhood.h"

#include "unit/kernels/host/cuda_words.h"
#include "unit/kernels/host/host_async.h"
#include "unit/kernels/host/host_threads.h"

// No function is called of those that the options define here: tests need all types.
#define X half
#define LANE_COLUMNS 1
#define TILE_COLUMNS 16
#define WARPGROUP_COLUMNS 64
#define HAS_BIAS false
#include "kernels/device/neighborhood/neighborhood_backward.cu"
#include "kernels/device/neighborhood/neighborhood_bias.cu"
#include "kernels/device/neighborhood/neighborhood_forward.cu"
#include "kernels/device/neighborhood/neighborhood_windows.cu"
// The sources of all forms can be in one program here, since their names differ.
#include "kernels/device/neighborhood/neighborhood_backward_tiles.cu"
#include "kernels/device/neighborhood/neighborhood_backward_warpgroups.cu"
#include "kernels/device/neighborhood/neighborhood_forward_tiles.cu"
#include "kernels/device/neighborhood/neighborhood_forward_warpgroups.cu"
#undef X
#undef LANE_COLUMNS
#undef TILE_COLUMNS
#undef WARPGROUP_COLUMNS
#undef HAS_BIAS

#include <stdexcept>

alignas(kPanelAlignment) unsigned char shared_memory[227 << 10];

namespace sdpa_test {
namespace {

namespace kernels = cudnn_frontend::kernels;
using kernels::CodeName;
using kernels::NeighborhoodForm;
using kernels::NeighborhoodWork;
using Thread = void (*)(NeighborhoodArguments const&);

template <class Element, int COLUMNS>
Thread token_thread(NeighborhoodWork work, bool has_bias) {
    switch (work) {
        case NeighborhoodWork::Forward: return neighborhood_forward<Element, COLUMNS>;
        case NeighborhoodWork::QueryGradients:
            return has_bias ? query_gradients<Element, COLUMNS, true> : query_gradients<Element, COLUMNS, false>;
        case NeighborhoodWork::KeyGradients:
            return has_bias ? key_gradients<Element, COLUMNS, true> : key_gradients<Element, COLUMNS, false>;
        case NeighborhoodWork::BiasGradient: return bias_gradients<Element>;
        case NeighborhoodWork::WindowSlots: return window_slots<Element>;
        case NeighborhoodWork::WindowQueries: return window_queries<Element, COLUMNS>;
        case NeighborhoodWork::WindowKeys: return window_keys<Element, COLUMNS>;
        case NeighborhoodWork::WindowBias: return neighborhood_bias<Element>;
        default: break;
    }
    throw std::logic_error("no such kernel");
}

template <class Element, int COLUMNS>
Thread tile_thread(NeighborhoodWork work, bool has_bias) {
    switch (work) {
        case NeighborhoodWork::Forward:
            return has_bias ? neighborhood_forward_tiles<Element, COLUMNS, true>
                            : neighborhood_forward_tiles<Element, COLUMNS, false>;
        case NeighborhoodWork::QueryGradients: return query_gradient_tiles<Element, COLUMNS>;
        case NeighborhoodWork::KeyGradients: return key_gradient_tiles<Element, COLUMNS>;
        default: throw std::logic_error("no such kernel");
    }
}

template <class Element, int COLUMNS>
Thread group_thread(NeighborhoodWork work) {
    switch (work) {
        case NeighborhoodWork::Forward: return neighborhood_forward_warpgroups<Element, COLUMNS>;
        case NeighborhoodWork::GradientStart: return gradient_start<Element, COLUMNS>;
        case NeighborhoodWork::Gradients: return gradients<Element, COLUMNS>;
        case NeighborhoodWork::GradientEnd: return gradient_end<Element, COLUMNS>;
        default: throw std::logic_error("no such kernel");
    }
}

// The columns that the kernel is compiled for.
int columns_of(CodeName const& name) { return std::stoi(name.defines[1].substr(name.defines[1].find('=') + 1)); }

template <class Element>
Thread token_thread(NeighborhoodWork work, bool has_bias, int columns) {
    switch (columns) {
        case 1: return token_thread<Element, 1>(work, has_bias);
        case 2: return token_thread<Element, 2>(work, has_bias);
        case 4: return token_thread<Element, 4>(work, has_bias);
        case 8: return token_thread<Element, 8>(work, has_bias);
        default: throw std::logic_error("lanes have no such number of columns");
    }
}

template <class Element>
Thread tile_thread(NeighborhoodWork work, bool has_bias, int columns) {
    switch (columns) {
        case 16: return tile_thread<Element, 16>(work, has_bias);
        case 48: return tile_thread<Element, 48>(work, has_bias);
        case 64: return tile_thread<Element, 64>(work, has_bias);
        case 128: return tile_thread<Element, 128>(work, has_bias);
        default: throw std::logic_error("tiles of that many columns are not compiled for the host");
    }
}

template <class Element>
Thread group_thread(NeighborhoodWork work, int columns) {
    return columns == 64 ? group_thread<Element, 64>(work) : group_thread<Element, 128>(work);
}

Thread thread_of(kernels::NeighborhoodKernelProblem const& problem, NeighborhoodForm form) {
    CodeName const name = kernels::neighborhood_code(problem, form, 90);
    int const columns = columns_of(name);
    bool const is_half = name.defines[0] == "X=half";
    bool const has_bias = problem.operands[kernels::Bias].has_value();
    if (form == NeighborhoodForm::Tiles) {
        return is_half ? tile_thread<half>(problem.work, has_bias, columns)
                       : tile_thread<bfloat16>(problem.work, has_bias, columns);
    }
    if (form == NeighborhoodForm::Warpgroups) {
        return is_half ? group_thread<half>(problem.work, columns) : group_thread<bfloat16>(problem.work, columns);
    }
    if (name.defines[0] == "X=float") return token_thread<float>(problem.work, has_bias, columns);
    return is_half ? token_thread<half>(problem.work, has_bias, columns)
                   : token_thread<bfloat16>(problem.work, has_bias, columns);
}

}  // namespace

void run_on_host(kernels::NeighborhoodKernelProblem const& problem, NeighborhoodForm form,
                 kernels::NeighborhoodLaunch const& launch) {
    Thread const thread = thread_of(problem, form);
    if (launch.shared_bytes > sizeof(shared_memory)) throw std::logic_error("too much shared memory");
    blockDim.x = launch.threads;
    for (blockIdx.x = 0; blockIdx.x < launch.blocks; ++blockIdx.x) {
        std::memset(shared_memory, 0xff, sizeof(shared_memory));  // NaN: what no copy wrote must not count
        begin_async_block(launch.threads, blockIdx.x, shared_memory, launch.shared_bytes);
        run_block(launch.threads, blockIdx.x, [&] { thread(launch.arguments); });
    }
}

}  // namespace sdpa_test
