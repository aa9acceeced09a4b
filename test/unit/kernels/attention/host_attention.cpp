#include "host_attention.h"
#include "api/graph/graph_impl.h"
#include "nodes/validation/validate.h"
#include "support/host_tensor.h"

#include "unit/kernels/host/cuda_words.h"
#include "unit/kernels/host/host_additions.h"
#include "unit/kernels/host/host_async.h"
#include "unit/kernels/host/host_boxes.h"
#include "unit/kernels/host/host_threads.h"

#include <attention/attention_tiles.cuh>
#include <attention/dropout.cuh>
#include <hopper/block_order.cuh>
#include <hopper/greatest_scores.cuh>
#include <hopper/launch_registers.cuh>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace {

constexpr std::size_t kSharedBytes = std::size_t{227} << 10;

// The named modifier that the codes for them run: its number among kModifierTexts.
int host_modifier = 0;
// How often they computed terms of a distance.
std::int64_t computed_distances = 0;

[[noreturn]] void no_modifier() { throw std::logic_error("the test has no code of this modifier"); }

}  // namespace

#include "attention_codes.inc"

namespace sdpa_test {
namespace {

namespace kernels = cudnn_frontend::kernels;
namespace attention = cudnn_frontend::attention;
using kernels::AttentionKernelProblem;
constexpr kernels::DeviceFacts kHopper{90, 2};

// A kernel's code, and the shared memory that it finds by its name.
template <class Arguments>
struct HostCode {
    void (*thread)(Arguments const&);
    unsigned char* shared_memory;
};

enum class Options {
    None,
    Terms,
    FloatBias,
    Region,
    Documents,
    DocumentsAndBias,
    Dropout,
    BiasGradient,
    Named,
    NamedAndBias,
    Maxima,
    BiasSums,
    BlockMask
};

// The number of the problem's modifier among the named ones, or their count.
std::size_t number_of_modifier(AttentionKernelProblem const& problem) {
    auto const& texts = forward_64_named::kModifierTexts;
    return static_cast<std::size_t>(std::ranges::find(texts, problem.modifier.text) - std::begin(texts));
}

// With more columns, or next to a bias, there is code of named modifiers that leave out no blocks.
bool has_named_code(AttentionKernelProblem const& problem) {
    if (number_of_modifier(problem) == std::size(forward_64_named::kModifierTexts)) return false;
    return (kernels::class_of(problem)->columns == 64 && !problem.has(attention::Bias)) || !problem.hides_blocks();
}

Options options_of(AttentionKernelProblem const& problem) {
    if (problem.has(attention::BlockMask)) return Options::BlockMask;
    if (problem.has(attention::Max) || problem.has(attention::SumExp)) return Options::Maxima;
    if (problem.sums_bias_gradient()) return Options::BiasSums;
    if (problem.dropout) return Options::Dropout;
    if (has_named_code(problem)) return problem.has(attention::Bias) ? Options::NamedAndBias : Options::Named;
    if (problem.hides_blocks()) return problem.has(attention::Bias) ? Options::DocumentsAndBias : Options::Documents;
    if (problem.is_backward && problem.has(attention::DBias)) return Options::BiasGradient;
    if (problem.has_modifier()) return Options::Region;
    if (!problem.has_terms()) return Options::None;
    bool const is_float =
        problem.has(attention::Bias) && problem.operand(attention::Bias).type == cudnn_frontend::DataType_t::FLOAT;
    return is_float ? Options::FloatBias : Options::Terms;
}

[[noreturn]] void no_code() { throw std::logic_error("the test has no code of these columns and options"); }

template <class Element>
HostCode<AttentionArguments> dropout_code(int columns) {
    switch (columns) {
        case 64: return {forward_64_dropout::forward<Element>, forward_64_dropout::shared_memory};
        case 128: return {forward_128_dropout::forward<Element>, forward_128_dropout::shared_memory};
        case 192: return {forward_192_dropout::forward<Element>, forward_192_dropout::shared_memory};
        case 256: return {forward_256_dropout::forward<Element>, forward_256_dropout::shared_memory};
        default: no_code();
    }
}

template <class Element>
HostCode<AttentionArguments> wide_block_mask_code(AttentionKernelProblem const& problem) {
    if (problem.has(attention::Bias))
        return {forward_128_block_mask_bias::forward<Element>, forward_128_block_mask_bias::shared_memory};
    if (problem.dropout)
        return {forward_128_block_mask_dropout::forward<Element>, forward_128_block_mask_dropout::shared_memory};
    return {forward_128_block_mask::forward<Element>, forward_128_block_mask::shared_memory};
}

template <class Element>
HostCode<AttentionArguments> block_mask_code(int columns, AttentionKernelProblem const& problem) {
    if (columns == 192) return {forward_192_block_mask::forward<Element>, forward_192_block_mask::shared_memory};
    if (columns == 128) return wide_block_mask_code<Element>(problem);
    if (!problem.finds_blocks()) return {forward_64_block_mask::forward<Element>, forward_64_block_mask::shared_memory};
    return {forward_64_documents_block_mask::forward<Element>, forward_64_documents_block_mask::shared_memory};
}

template <class Element>
HostCode<AttentionArguments> named_code(int columns, bool hides_blocks) {
    if (columns == 128) return {forward_128_named::forward<Element>, forward_128_named::shared_memory};
    if (columns == 192) return {forward_192_named::forward<Element>, forward_192_named::shared_memory};
    if (columns == 256) return {forward_256_named::forward<Element>, forward_256_named::shared_memory};
    if (!hides_blocks) return {forward_64_named::forward<Element>, forward_64_named::shared_memory};
    return {forward_64_named_hiding::forward<Element>, forward_64_named_hiding::shared_memory};
}

template <class Element>
HostCode<AttentionArguments> modified_code_for_pages(AttentionKernelProblem const& problem) {
    if (problem.hides_blocks())
        return {forward_64_documents_pages::forward<Element>, forward_64_documents_pages::shared_memory};
    if (problem.modifier.text_of_short_score.empty())
        return {forward_64_region_pages::forward<Element>, forward_64_region_pages::shared_memory};
    return {forward_64_short_region_pages::forward<Element>, forward_64_short_region_pages::shared_memory};
}

template <class Element>
HostCode<AttentionArguments> code_for_pages(int columns, AttentionKernelProblem const& problem) {
    Options const options = options_of(problem);
    if (options == Options::Terms && columns == 64)
        return {forward_64_terms_pages::forward<Element>, forward_64_terms_pages::shared_memory};
    if (options == Options::FloatBias && columns == 128)
        return {forward_128_bias_pages::forward<Element>, forward_128_bias_pages::shared_memory};
    if ((options == Options::Region || options == Options::Documents) && columns == 64)
        return modified_code_for_pages<Element>(problem);
    if (options != Options::None) no_code();
    switch (columns) {
        case 64: return {forward_64_pages::forward<Element>, forward_64_pages::shared_memory};
        case 128: return {forward_128_pages::forward<Element>, forward_128_pages::shared_memory};
        case 192: return {forward_192_pages::forward<Element>, forward_192_pages::shared_memory};
        case 256: return {forward_256_pages::forward<Element>, forward_256_pages::shared_memory};
        default: no_code();
    }
}

template <class Element>
HostCode<AttentionArguments> forward_code(AttentionKernelProblem const& problem) {
    int const columns = kernels::class_of(problem)->columns;
    if (problem.keys_in_pages) return code_for_pages<Element>(columns, problem);
    switch (options_of(problem)) {
        case Options::Named: return named_code<Element>(columns, problem.hides_blocks());
        case Options::NamedAndBias:
            return {forward_64_named_bias::forward<Element>, forward_64_named_bias::shared_memory};
        case Options::Terms: return {forward_64_terms::forward<Element>, forward_64_terms::shared_memory};
        case Options::FloatBias:
            if (columns == 192) return {forward_192_bias::forward<Element>, forward_192_bias::shared_memory};
            if (columns == 256) return {forward_256_bias::forward<Element>, forward_256_bias::shared_memory};
            return {forward_128_bias::forward<Element>, forward_128_bias::shared_memory};
        case Options::Region:
            if (columns == 192) return {forward_192_region::forward<Element>, forward_192_region::shared_memory};
            if (columns == 256) return {forward_256_region::forward<Element>, forward_256_region::shared_memory};
            if (problem.modifier.text_of_short_score.empty())
                return {forward_64_region::forward<Element>, forward_64_region::shared_memory};
            return {forward_64_short_region::forward<Element>, forward_64_short_region::shared_memory};
        case Options::Documents:
            if (columns == 256) return {forward_256_documents::forward<Element>, forward_256_documents::shared_memory};
            return {forward_64_documents::forward<Element>, forward_64_documents::shared_memory};
        case Options::DocumentsAndBias:
            return {forward_64_documents_bias::forward<Element>, forward_64_documents_bias::shared_memory};
        case Options::Dropout: return dropout_code<Element>(columns);
        case Options::BlockMask: return block_mask_code<Element>(columns, problem);
        case Options::Maxima: return {forward_64_maxima::forward<Element>, forward_64_maxima::shared_memory};
        case Options::BiasGradient:
        case Options::BiasSums:  // of backward
        case Options::None: break;
    }
    switch (columns) {
        case 64: return {forward_64::forward<Element>, forward_64::shared_memory};
        case 128: return {forward_128::forward<Element>, forward_128::shared_memory};
        case 192: return {forward_192::forward<Element>, forward_192::shared_memory};
        case 256: return {forward_256::forward<Element>, forward_256::shared_memory};
        default: no_code();
    }
}

// The three kernels of gradients, which share their memory's name.
struct GradientCodes {
    void (*start)(GradientStartArguments const&);
    void (*gradients)(GradientArguments const&);
    void (*end)(GradientEndArguments const&);
    void (*bias_end)(BiasGradientEndArguments const&);
    unsigned char* shared_memory;
};
#define SDPA_TEST_GRADIENTS(code)                                                                               \
    GradientCodes {                                                                                             \
        code::start<Element>, code::gradients<Element>, code::end<Element>, code::bias_end, code::shared_memory \
    }

template <class Element>
GradientCodes ordered_gradient_codes(AttentionKernelProblem const& problem) {
    int const columns = kernels::class_of(problem)->columns;
    Options const options = options_of(problem);
    if (options == Options::Named && problem.hides_blocks())
        return SDPA_TEST_GRADIENTS(gradients_64_ordered_named_hiding);
    if (options == Options::BiasSums) return SDPA_TEST_GRADIENTS(gradients_64_ordered_bias_sums);
    if (options != Options::None) no_code();
    if (columns == 64) return SDPA_TEST_GRADIENTS(gradients_64_ordered);
    if (columns == 128) return SDPA_TEST_GRADIENTS(gradients_128_ordered);
    if (columns == 192) return SDPA_TEST_GRADIENTS(gradients_192_ordered);
    if (columns == 256) return SDPA_TEST_GRADIENTS(gradients_256_ordered);
    no_code();
}

template <class Element>
GradientCodes gradient_codes(AttentionKernelProblem const& problem) {
    if (problem.is_deterministic) return ordered_gradient_codes<Element>(problem);
    int const columns = kernels::class_of(problem)->columns;
    switch (options_of(problem)) {
        case Options::Named: {
            if (columns == 128) return SDPA_TEST_GRADIENTS(gradients_128_named);
            if (columns == 192) return SDPA_TEST_GRADIENTS(gradients_192_named);
            if (columns == 256) return SDPA_TEST_GRADIENTS(gradients_256_named);
            if (problem.hides_blocks()) return SDPA_TEST_GRADIENTS(gradients_64_named_hiding);
            return SDPA_TEST_GRADIENTS(gradients_64_named);
        }
        case Options::NamedAndBias: return SDPA_TEST_GRADIENTS(gradients_64_named_bias);
        case Options::Terms: return SDPA_TEST_GRADIENTS(gradients_64_terms);
        case Options::FloatBias: {
            if (columns == 192) return SDPA_TEST_GRADIENTS(gradients_192_bias);
            if (columns == 256) return SDPA_TEST_GRADIENTS(gradients_256_bias);
            return SDPA_TEST_GRADIENTS(gradients_128_bias);
        }
        case Options::Region: {
            if (columns == 192) return SDPA_TEST_GRADIENTS(gradients_192_region);
            if (columns == 256) return SDPA_TEST_GRADIENTS(gradients_256_region);
            return SDPA_TEST_GRADIENTS(gradients_64_region);
        }
        case Options::Documents: {
            if (columns == 256) return SDPA_TEST_GRADIENTS(gradients_256_documents);
            return SDPA_TEST_GRADIENTS(gradients_64_documents);
        }
        case Options::DocumentsAndBias: return SDPA_TEST_GRADIENTS(gradients_64_documents_bias);
        case Options::BiasGradient: return SDPA_TEST_GRADIENTS(gradients_64_bias_gradient);
        case Options::BiasSums: {
            if (columns == 64) return SDPA_TEST_GRADIENTS(gradients_64_bias_sums);
            if (columns == 192) return SDPA_TEST_GRADIENTS(gradients_192_bias_sums);
            if (columns == 256) return SDPA_TEST_GRADIENTS(gradients_256_bias_sums);
            return SDPA_TEST_GRADIENTS(gradients_128_bias_sums);
        }
        case Options::Dropout: {
            if (columns == 64) return SDPA_TEST_GRADIENTS(gradients_64_dropout);
            if (columns == 192) return SDPA_TEST_GRADIENTS(gradients_192_dropout);
            if (columns == 256) return SDPA_TEST_GRADIENTS(gradients_256_dropout);
            return SDPA_TEST_GRADIENTS(gradients_128_dropout);
        }
        case Options::Maxima:  // of forward
        case Options::BlockMask:
        case Options::None: break;
    }
    if (columns == 64) return SDPA_TEST_GRADIENTS(gradients_64);
    if (columns == 128) return SDPA_TEST_GRADIENTS(gradients_128);
    if (columns == 192) return SDPA_TEST_GRADIENTS(gradients_192);
    if (columns == 256) return SDPA_TEST_GRADIENTS(gradients_256);
    no_code();
}

cudnn_frontend::Result<kernels::TensorMap> encode(cudnn_frontend::cuda::BoxedTensor const& tensor, void* start) {
    HostTensorMap map{static_cast<unsigned char*>(start),
                      {},
                      {},
                      static_cast<int>(tensor.box_rows),
                      static_cast<int>(tensor.box_heads)};
    for (std::size_t i = 0; i < map.dims.size(); ++i) map.dims[i] = static_cast<std::int64_t>(tensor.dims[i]);
    for (std::size_t i = 0; i < map.strides.size(); ++i) map.strides[i] = static_cast<std::int64_t>(tensor.strides[i]);
    kernels::TensorMap bytes{};
    std::memcpy(bytes.bytes, &map, sizeof(map));
    return bytes;
}

template <class Arguments>
void run(AttentionKernelProblem const& problem, kernels::AttentionLaunch<Arguments> launch, kernels::Pointers pointers,
         HostCode<Arguments> const& code) {
    if (launch.shared_bytes > kSharedBytes) throw std::logic_error("too much shared memory");
    auto const bound = kernels::bind(problem, {pointers, encode}, launch.arguments);
    if (bound.is_bad()) throw std::logic_error(bound.err_msg);
    blockDim.x = launch.threads;
    gridDim.x = launch.blocks;
    for (blockIdx.x = 0; blockIdx.x < launch.blocks; ++blockIdx.x) {
        std::memset(code.shared_memory, 0xff, kSharedBytes);  // NaN: what no copy wrote must not count
        begin_async_block(launch.threads, blockIdx.x, code.shared_memory, launch.shared_bytes);
        begin_box_block(launch.threads);
        run_block(launch.threads, blockIdx.x, [&] { code.thread(launch.arguments); });
        finish_box_block();
    }
    finish_additions();
}

HostCode<BlockBitsArguments> block_bits_code(bool is_named) {
    if (is_named)
        return {[](BlockBitsArguments const& arguments) { named_bounds::named_block_bits(arguments); },
                named_bounds::shared_memory};
    return {[](BlockBitsArguments const& arguments) { document_bounds::attention_block_bits(arguments); },
            document_bounds::shared_memory};
}

}  // namespace

// Only named modifiers are among those whose blocks are looked at score by score.
void find_hidden_blocks(AttentionKernelProblem const& problem, kernels::Pointers pointers) {
    run(problem, kernels::block_bits_launch(problem), pointers, block_bits_code(options_of(problem) == Options::Named));
    if (!kernels::looks_at_scores(problem)) return;
    run(problem, kernels::block_scores_launch(problem), pointers,
        {[](BlockBitsArguments const& arguments) { named_bounds::named_block_scores(arguments); },
         named_bounds::shared_memory});
}

namespace {

// Memory may hold the count of a run before: of more tiles than there are.
void leave_old_count(AttentionKernelProblem const& problem, kernels::Pointers pointers) {
    constexpr int kManyTiles = 1 << 20;
    if (!problem.hands_out_tiles()) return;
    auto* const workspace = static_cast<std::byte*>(pointers[*problem.workspace_pointer]);
    std::memcpy(workspace + kernels::workspace_of(problem).places_taken, &kManyTiles, sizeof(kManyTiles));
}

template <class Element>
void run_all(AttentionKernelProblem const& problem, int multiprocessors, kernels::Pointers pointers) {
    leave_old_count(problem, pointers);
    forget_stored_maps();
    if (problem.needs_entries()) {
        HostCode<EntryArguments> const code{
            [](EntryArguments const& arguments) { entries::attention_entries(arguments); }, entries::shared_memory};
        run(problem, kernels::entry_launch(problem), pointers, code);
    }
    if (problem.finds_blocks()) find_hidden_blocks(problem, pointers);
    if (problem.has(attention::BlockMask)) {
        run(problem, kernels::block_mask_launch(problem), pointers,
            {[](BlockMaskArguments const& arguments) { attention_block_mask(arguments); },
             forward_64_block_mask::shared_memory});
    }
    if (problem.has(attention::RngDump)) {
        HostCode<DropoutMaskArguments> const code{
            [](DropoutMaskArguments const& arguments) { attention_dropout_mask(arguments); },
            forward_64_dropout::shared_memory};
        run(problem, kernels::dropout_mask_launch(problem), pointers, code);
    }
    if (!problem.is_backward) {
        return run(problem, kernels::forward_launch(problem, multiprocessors), pointers,
                   forward_code<Element>(problem));
    }
    GradientCodes const codes = gradient_codes<Element>(problem);
    run(problem, kernels::gradient_start_launch(problem), pointers, {codes.start, codes.shared_memory});
    run(problem, kernels::gradient_launch(problem, multiprocessors), pointers, {codes.gradients, codes.shared_memory});
    run(problem, kernels::gradient_end_launch(problem), pointers, {codes.end, codes.shared_memory});
    if (!problem.sums_bias_gradient()) return;
    run(problem, kernels::bias_gradient_end_launch(problem), pointers, {codes.bias_end, codes.shared_memory});
}

}  // namespace

void run_on_host(AttentionKernelProblem const& problem, int multiprocessors, kernels::Pointers pointers) {
    host_modifier = static_cast<int>(number_of_modifier(problem));
    bool const is_half = problem.operand(attention::Q).type == cudnn_frontend::DataType_t::HALF;
    if (is_half) run_all<half>(problem, multiprocessors, pointers);
    else run_all<bfloat16>(problem, multiprocessors, pointers);
}

cudnn_frontend::error_t visit_problem(
    cudnn_frontend::graph::Graph& graph, kernels::AttentionOffer offer,
    std::function<void*(std::int64_t)> const& address,
    std::function<void(AttentionKernelProblem const&, kernels::Pointers)> const& visit) {
    if (auto const error = graph.validate(); error.is_bad()) return error;
    auto const valid =
        cudnn_frontend::nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(graph).spec).graph;
    auto const read = kernels::read_attention(*valid, kHopper, offer);
    if (read.is_bad()) return read.error();
    HostMemory const workspace(kernels::workspace_of(read.value().problem).bytes);
    std::vector<void*> pointers;
    for (kernels::KernelPlace const& place : read.value().places) {
        pointers.push_back(place.is_in_workspace ? workspace.data() : address(place.uid));
    }
    host_modifier = static_cast<int>(number_of_modifier(read.value().problem));
    visit(read.value().problem, pointers);
    return {};
}

cudnn_frontend::error_t run_on_host(cudnn_frontend::graph::Graph& graph, kernels::AttentionOffer offer,
                                    std::function<void*(std::int64_t)> const& address) {
    return visit_problem(graph, offer, address, [](AttentionKernelProblem const& problem, kernels::Pointers pointers) {
        run_on_host(problem, kHopper.multiprocessors, pointers);
    });
}

std::int64_t distances_until_now() { return computed_distances; }

std::string text_of_blocks(AttentionKernelProblem const& problem, kernels::Pointers pointers) {
    kernels::HiddenBlocks const blocks = kernels::hidden_blocks(problem);
    auto const* words =
        reinterpret_cast<unsigned const*>(static_cast<std::byte const*>(pointers[*problem.workspace_pointer]) +
                                          kernels::workspace_of(problem).block_bits);
    std::string text;
    for (std::int64_t tile = 0; tile < blocks.tiles; ++tile, words += 2 * blocks.words_of_tile) {
        for (std::int64_t block = 0; block < blocks.blocks_of_tile; ++block) {
            auto const has = [&](std::int64_t kind) {
                return (words[kind * blocks.words_of_tile + block / 32] >> (block % 32) & 1) != 0;
            };
            text += !has(0) ? '.' : has(1) ? '#' : '+';
        }
        text += '\n';
    }
    return text;
}

}  // namespace sdpa_test
