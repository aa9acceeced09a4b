#include "kernels/launch/strided_kernel.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace cudnn_frontend::kernels {
namespace {

static_assert(kMostLoops == kMaxDims);

constexpr std::int64_t kLoopVectorBytes = 16;
constexpr unsigned kMostThreads = 256;  // as the kernels' launch bounds
constexpr unsigned kFewestThreads = 32;
constexpr std::int64_t kThreadsOfMultiprocessor = 2048;
constexpr std::int64_t kNarrow = std::int64_t{1} << 31;

struct Loop {
    std::int64_t size;
    std::vector<std::int64_t> strides;  // by operand
    bool is_columns;
};
using Loops = std::vector<Loop>;  // the innermost first

Loops loops_of(Problem const& problem) {
    Loops loops;
    std::size_t const rank = problem.dims().size();
    for (std::size_t dim = 0; dim < rank; ++dim) {
        bool const is_columns = problem.has_columns && dim + 1 == rank;
        Loop loop{problem.dims()[dim], {}, is_columns};
        for (NamedOperand const& named : problem.operands) {
            loop.strides.push_back(is_columns && problem.has_rows(named) ? 0 : named.stride(dim));
        }
        if (loop.size > 1) loops.push_back(std::move(loop));
    }
    // Repeated elements come last, so that neighboring threads read neighboring elements.
    std::ranges::stable_sort(loops, {}, [](Loop const& loop) {
        std::int64_t const stride = loop.strides.front();
        return stride == 0 ? std::numeric_limits<std::int64_t>::max() : stride;
    });
    return loops;
}

// Whether the outer loop goes on where the inner one ends, in every operand.
bool continues(Loop const& outer, Loop const& inner) {
    if (outer.is_columns || inner.is_columns) return false;
    for (std::size_t i = 0; i < inner.strides.size(); ++i) {
        if (outer.strides[i] != inner.strides[i] * inner.size) return false;
    }
    return true;
}

Loops merged(Loops const& loops) {
    Loops few;
    for (Loop const& loop : loops) {
        if (!few.empty() && continues(loop, few.back())) {
            few.back().size *= loop.size;
        } else {
            few.push_back(loop);
        }
    }
    return few;
}

std::int64_t vector_count(Problem const& problem) {
    return kLoopVectorBytes / problem.operands.front().element_bytes();
}

// The alignment in bytes that vectors need. Repeated elements need that of one element.
std::int64_t vector_alignment(Problem const& problem, NamedOperand const& named) {
    if (problem.has_rows(named)) return named.element_bytes();
    return std::min(kLoopVectorBytes, vector_count(problem) * named.element_bytes());
}

bool allows_vectors(Problem const& problem, Loops const& loops) {
    if (!problem.has_vectors || loops.empty() || loops.front().size % vector_count(problem) != 0) return false;
    for (std::size_t i = 0; i < problem.operands.size(); ++i) {
        NamedOperand const& named = problem.operands[i];
        if (loops.front().strides[i] != (problem.has_rows(named) ? 0 : 1)) return false;
        auto const is_aligned = [&](std::int64_t stride) {
            return stride * named.element_bytes() % vector_alignment(problem, named) == 0;
        };
        auto const has_aligned_steps = [&](Loop const& loop) { return is_aligned(loop.strides[i]); };
        if (!is_aligned(named.part_stride())) return false;
        if (!std::all_of(loops.begin() + 1, loops.end(), has_aligned_steps)) return false;
    }
    return true;
}

Loops by_vectors(Loops loops, std::int64_t count) {
    loops.front().size /= count;
    for (std::int64_t& stride : loops.front().strides) stride *= count;
    return loops;
}

std::int64_t steps_of(Loops const& loops) {
    std::int64_t steps = 1;
    for (Loop const& loop : loops) steps *= loop.size;
    return steps;
}

// A pair needs fewer instructions for each vector, and leaves fewer threads to hide the latency of memory.
bool allows_pairs(Loops const& vectors, int multiprocessors) {
    return vectors.front().size % 2 == 0 && steps_of(vectors) / 2 >= multiprocessors * kThreadsOfMultiprocessor;
}

// Whether 32 bits count threads, parts, and the elements of each operand; of a block past the last step, too.
bool is_narrow(Problem const& problem, Loops const& loops) {
    if (steps_of(loops) > kNarrow - kMostThreads) return false;
    return std::ranges::all_of(problem.operands, [&](NamedOperand const& named) {
        std::int64_t last = 0;
        for (std::size_t dim = 0; dim < named.operand->dims.size() - named.has_parts; ++dim) {
            last += (named.operand->dims[dim + named.has_parts] - 1) * named.stride(dim);
        }
        return last < kNarrow && named.parts() < kNarrow;
    });
}

// Multiplying by 2^32 / size, rounded up, where 2^shift is the next power of two: exact for numbers below 2^31.
Divisor divisor_of(std::int64_t size) {
    auto const divisor = static_cast<std::uint64_t>(size);
    auto const shift = static_cast<unsigned>(std::bit_width(divisor - 1));
    if (shift > 31) return {};  // threads are counted in 64 bits, which are divided as they are
    std::uint64_t const multiplier = (((std::uint64_t{1} << shift) - divisor) << 32) / divisor + 1;
    return {static_cast<unsigned>(multiplier), shift};
}

KernelArguments arguments_of(Problem const& problem, Loops const& loops) {
    KernelArguments arguments{};
    arguments.steps = steps_of(loops);
    arguments.parts = problem.operands.front().parts();
    arguments.loops = static_cast<int>(loops.size());
    arguments.column_loop = -1;
    std::ranges::copy(problem.numbers, arguments.numbers);
    for (std::size_t i = 0; i < loops.size(); ++i) {
        arguments.sizes[i] = loops[i].size;
        arguments.divisors[i] = divisor_of(loops[i].size);
        if (loops[i].is_columns) arguments.column_loop = static_cast<int>(i);
    }
    for (std::size_t operand = 0; operand < problem.operands.size(); ++operand) {
        OperandAccess& access = arguments.operands[problem.operands[operand].slot];
        access.part_stride = problem.operands[operand].part_stride();
        for (std::size_t i = 0; i < loops.size(); ++i) access.strides[i] = loops[i].strides[operand];
    }
    return arguments;
}

LaunchForm form_of(Problem const& problem, Loops const& loops, Share share, int multiprocessors) {
    LaunchForm form;
    form.share = share;
    form.arguments = arguments_of(problem, loops);
    auto const blocks = [&] { return (form.arguments.steps + form.threads - 1) / form.threads; };
    form.threads = kMostThreads;
    while (form.threads > kFewestThreads && blocks() < multiprocessors) form.threads /= 2;
    form.blocks = static_cast<unsigned>(blocks());
    return form;
}

// The pair's vectors are half of the innermost loop apart, so that neighboring threads have neighboring vectors.
LaunchForm vectors_form(Problem const& problem, Loops const& loops, int multiprocessors) {
    Loops vectors = by_vectors(loops, vector_count(problem));
    if (!allows_pairs(vectors, multiprocessors)) return form_of(problem, vectors, Share::Vector, multiprocessors);
    vectors.front().size /= 2;
    LaunchForm form = form_of(problem, vectors, Share::PairOfVectors, multiprocessors);
    form.arguments.pair_distance = vectors.front().size * vector_count(problem);
    return form;
}

}  // namespace

LaunchForms launch_forms(Problem const& problem, int multiprocessors) {
    Loops const loops = merged(loops_of(problem));
    LaunchForms forms;
    forms.elements = form_of(problem, loops, Share::Element, multiprocessors);
    forms.is_wide = !is_narrow(problem, loops);
    if (!allows_vectors(problem, loops)) return forms;
    forms.vectors = vectors_form(problem, loops, multiprocessors);
    for (NamedOperand const& named : problem.operands) {
        forms.vector_alignments.push_back(static_cast<std::uintptr_t>(vector_alignment(problem, named)));
    }
    return forms;
}

}  // namespace cudnn_frontend::kernels
