// The flash-attention functions: attention of sequences one after the other, forward and backward, without a graph.
//   ./run sample 28_flash_attention [--target cpu|reference]
#include <sdpa_graph/flash.h>

#include "support.h"

#include <deque>

namespace fe = cudnn_frontend;
namespace flash = sdpa_graph::flash;
using samples::Index;
using sdpa_graph::Tensor_view;

namespace {

constexpr Index kHeads = 4, kDepth = 16, kRow = kHeads * kDepth;
constexpr int kNoWindow = -1;
constexpr float kScale = 0.25f;

template <class T>
Tensor_view view_of(std::vector<T>& memory, std::vector<Index> const& dim, fe::DataType_t type) {
    Tensor_view view;
    view.data = memory.data();
    view.dim = dim;
    view.stride = sdpa_graph::row_major(dim);
    view.type = type;
    view.device = sdpa_graph::Device_kind::CPU;
    return view;
}

Tensor_view tokens(std::vector<fe::bfloat16>& memory) {
    return view_of(memory, {static_cast<Index>(memory.size()) / kRow, kHeads, kDepth}, fe::DataType_t::BFLOAT16);
}

// Memory for the results of the functions; it lives as long as this object.
struct Memory {
    std::deque<std::vector<char>> blocks;

    static void* allocate(void* self, char const*, Tensor_view const& wanted) {
        Index elements = 1;
        for (Index const size : wanted.dim) elements *= size;
        static_cast<Memory*>(self)->blocks.emplace_back(static_cast<std::size_t>(elements) * sizeof(double));
        return static_cast<Memory*>(self)->blocks.back().data();
    }
};

// Sequences of 5 and 9 tokens.
std::vector<std::int32_t> const kStarts = {0, 5, 14};
constexpr int kLongest = 9;

// The rows of one sequence in the order batch, head, row, column.
samples::View<fe::bfloat16> sequence(void const* data, std::size_t n) {
    return {samples::bshd(1, kHeads, kStarts[n + 1] - kStarts[n], kDepth),
            static_cast<fe::bfloat16 const*>(data) + kStarts[n] * kRow};
}

std::vector<double> sums_of_columns(samples::View<fe::bfloat16> const& x) {
    std::vector<double> sums;
    for (Index h = 0; h < kHeads; ++h)
        for (Index d = 0; d < kDepth; ++d) {
            sums.push_back(0.0);
            for (Index i = 0; i < x.layout.dim[2]; ++i) sums.back() += x(0, h, i, d);
        }
    return sums;
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("28_flash_attention: sequences of 5 and 9 tokens, h=%d d=%d, causal, bfloat16, on target %s\n",
                int(kHeads), int(kDepth), fe::to_string(target.kind()));
    auto const count = static_cast<std::size_t>(kStarts.back() * kRow);
    auto q = samples::random<fe::bfloat16>(count, 1), k = samples::random<fe::bfloat16>(count, 2);
    auto v = samples::random<fe::bfloat16>(count, 3), dout = samples::random<fe::bfloat16>(count, 4);
    std::vector<std::int32_t> starts = kStarts;
    Tensor_view const totals = view_of(starts, {static_cast<Index>(starts.size())}, fe::DataType_t::INT32);

    Memory memory;
    flash::Place place;
    place.target = target;
    place.allocator = {Memory::allocate, &memory};
    flash::Forward_results forward;
    samples::require(flash::mha_varlen_fwd(tokens(q), tokens(k), tokens(v), {}, totals, totals, {}, {}, {}, kLongest,
                                           kLongest, 0.0f, kScale, false, true, kNoWindow, kNoWindow, 0.0f, false, {},
                                           place, forward));
    flash::Backward_results backward;
    samples::require(flash::mha_varlen_bwd(
        tokens(dout), tokens(q), tokens(k), tokens(v), forward.out, forward.softmax_lse, {}, {}, {}, totals, totals, {},
        kLongest, kLongest, 0.0f, kScale, false, true, kNoWindow, kNoWindow, 0.0f, false, {}, {}, place, backward));

    samples::Checks checks;
    for (std::size_t n : {0, 1}) {
        auto const exact = samples::attention(sequence(q.data(), n), sequence(k.data(), n), sequence(v.data(), n),
                                              kScale, samples::causal);
        checks.compare(n == 0 ? "O of the first" : "O of the second", dense(sequence(forward.out.data, n)), exact.o,
                       samples::tolerance<fe::bfloat16>(kLongest + kDepth));
        // Each query's probabilities sum to 1, so that dV has the sums of dO.
        checks.compare("sums of dV", sums_of_columns(sequence(backward.dv.data, n)),
                       sums_of_columns(sequence(dout.data(), n)), kLongest * samples::tolerance<fe::bfloat16>(1));
    }
    return checks.exit_code();
}
