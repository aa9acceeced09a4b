// Limits on how tensors lie in memory.
#include "support/catch.h"
#include "unit/cudnn/quirks/limit_graphs.h"

using test::AttentionGraph;
using Port = cudnn_frontend::nodes::attention::Port;
namespace core = cudnn_frontend::core;
namespace quirks = cudnn_frontend::quirks;

namespace {

constexpr quirks::Capabilities kH200{.cudnn_version = 91900, .sm = 90};

std::string ids(AttentionGraph const& graph) { return test::limit_ids(graph, kH200); }

AttentionGraph with_strides(AttentionGraph graph, int port, core::Dims const& stride) {
    graph.tensor(port).stride = stride;
    return graph;
}

}  // namespace

TEST_CASE("cudnn.s06: strides that are no multiples of 16 bytes", "[support]") {
    auto const plain = AttentionGraph::forward();  // of 4 heads with 6 queries of 16 halves
    CHECK(ids(plain) == "");
    CHECK(ids(with_strides(plain, Port::Q, {480, 120, 20, 1})) == "cudnn.s06");
    CHECK(ids(with_strides(plain, Port::Q, {576, 144, 24, 1})) == "");
    auto graph = with_strides(with_strides(plain, Port::Q, {480, 120, 20, 1}), Port::O, {400, 100, 16, 1});
    auto const finding = cudnn_frontend::quirks::check(test::validated(graph.spec), kH200).findings().at(0);
    CHECK(finding.others == std::vector<std::string>{"O"});
    CHECK(finding.found ==
          "a stride of 40 bytes in dim 2 and a stride of 200 bytes in dim 1 on compute capability 9.0 with cuDNN "
          "9.19.0");
}

TEST_CASE("cudnn.s06: rows without gaps, whose head dim is at fault, are not", "[support]") {
    auto const narrow = test::with_head_dims(AttentionGraph::forward(), 20, 16);
    CHECK(ids(narrow) == "cudnn.s04");
    CHECK(ids(with_strides(narrow, Port::Q, {600, 150, 25, 1})) == "cudnn.s04 cudnn.s06");
    CHECK(ids(with_strides(narrow, Port::Q, {576, 144, 24, 1})) == "cudnn.s04");
}

TEST_CASE("cudnn.s85: rng_dump and dBias with gaps, or in another order", "[support]") {
    auto const dump = AttentionGraph::forward().dropout(0.5f).dump();
    auto const gradient = AttentionGraph::backward().bias({2, 4, 6, 5}).bias_gradient();
    CHECK(ids(dump) == "");
    CHECK(ids(gradient) == "");
    for (core::Dims const& stride :
         {core::Dims{192, 48, 8, 1}, {150, 30, 5, 1}, {120, 5, 20, 1}, {30, 60, 5, 1}, {120, 30, 1, 6}}) {
        CAPTURE(stride);
        CHECK(ids(with_strides(dump, Port::RngDump, stride)) == "cudnn.s85");
        CHECK(ids(with_strides(gradient, Port::DBias, stride)) == "cudnn.s85");
    }
    auto const shared = AttentionGraph::backward().bias({1, 1, 6, 5}).bias_gradient();
    CHECK(ids(with_strides(shared, Port::DBias, {7, 3, 5, 1})) == "");  // of one element
}

TEST_CASE("cudnn.s86: the stride of the last dim of a bias or a dropout mask is not 1", "[support]") {
    for (auto const& plain : {AttentionGraph::forward(), AttentionGraph::backward()}) {
        AttentionGraph graph = plain;
        graph.bias({2, 4, 6, 5});
        CHECK(ids(with_strides(graph, Port::Bias, {192, 48, 8, 1})) == "");
        CHECK(ids(with_strides(graph, Port::Bias, {120, 30, 1, 6})) == "cudnn.s86");
        graph.tensor(Port::Bias).dim[3] = 1;
        CHECK(ids(with_strides(graph, Port::Bias, {120, 30, 1, 6})) == "");
        AttentionGraph masked = plain;
        masked.dropout_mask();
        masked.tensor(Port::DropoutMask).dim = {1, 1, 6, 5};
        CHECK(ids(with_strides(masked, Port::DropoutMask, {30, 30, 5, 1})) == "");
        CHECK(ids(with_strides(masked, Port::DropoutMask, {30, 30, 1, 6})) == "cudnn.s86");
    }
}

TEST_CASE("cudnn.s86: the text says what is expected of the tensor that it names", "[support]") {
    auto const graph = with_strides(AttentionGraph::forward().bias({2, 4, 6, 5}), Port::Bias, {120, 30, 1, 6});
    CHECK(quirks::check(test::validated(graph.spec), kH200).to_text() ==
          "[cudnn.s86] node 'sdpa', tensor 'bias': found 6 as the stride of the last dim on compute capability 9.0 "
          "with cuDNN 9.19.0; expected 1 as the stride of the last dim. Try: copy the tensor, so that the stride of "
          "the last dim is 1. This limit holds in every release of cuDNN, on every GPU: docs/cudnn-quirks.md.\n");
}

TEST_CASE("cudnn.s87: lengths, offsets, sinks and numbers for heads apart", "[support]") {
    for (auto const& plain : {AttentionGraph::forward(), AttentionGraph::backward()}) {
        AttentionGraph padded = plain;
        bool const is_backward = padded.node().kind() == cudnn_frontend::nodes::NodeKind::SdpaBackward;
        padded.padding();
        CHECK(ids(padded) == "");
        CHECK(ids(with_strides(padded, Port::SeqLenKv, {2, 1, 1, 1})) == "cudnn.s87");
        CHECK(ids(with_strides(padded, Port::SeqLenQ, {0, 1, 1, 1})) == "cudnn.s87");
        AttentionGraph summed = plain;
        for (int const port : {Port::CuSeqLenQ, Port::CuSeqLenKv})
            summed.connect(port, cudnn_frontend::DataType_t::INT32, {3, 1, 1, 1});
        summed.fields().padding_mask = true;
        CHECK(ids(summed) == "cudnn.s69");
        CHECK(ids(with_strides(summed, Port::CuSeqLenQ, {2, 1, 1, 1})) == "cudnn.s69 cudnn.s87");
        CHECK(ids(with_strides(summed, Port::CuSeqLenKv, {2, 1, 1, 1})) == "cudnn.s69 cudnn.s87");
        AttentionGraph sunk = plain;
        sunk.connect(Port::SinkToken, cudnn_frontend::DataType_t::FLOAT, {1, 4, 1, 1});
        CHECK(ids(with_strides(sunk, Port::SinkToken, {8, 2, 1, 1})) == (is_backward ? "" : "cudnn.s87"));
        AttentionGraph biased = plain;
        biased.bias({1, 4, 1, 1});
        CHECK(ids(with_strides(biased, Port::Bias, {9, 1, 7, 7})) == "");
        CHECK(ids(with_strides(biased, Port::Bias, {8, 2, 1, 1})) == "cudnn.s87");
        AttentionGraph of_batches = plain;
        CHECK(ids(with_strides(of_batches.bias({2, 4, 1, 1}), Port::Bias, {16, 4, 1, 1})) == "");
    }
    auto stats = AttentionGraph::backward();
    resize(stats, {Port::Q, Port::O, Port::DO, Port::DQ, Port::Stats}, 2, 1);
    CHECK(ids(with_strides(stats, Port::Stats, {8, 2, 1, 1})) == "");
    for (int const port : {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::DQ, Port::DK, Port::DV, Port::Stats})
        resize(stats, {port}, 0, 1);
    CHECK(ids(stats) == "");
    CHECK(ids(with_strides(stats, Port::Stats, {8, 2, 1, 1})) == "cudnn.s87");
}

TEST_CASE("cudnn.s87: what a modifier reads, and ragged offsets", "[support]") {
    auto modified = test::with_modifier({1, 4, 1, 1});
    CHECK(ids(modified) == "");
    for (auto& tensor : modified.spec.tensors) {
        if (tensor.dim == core::Dims{1, 4, 1, 1}) tensor.stride = {12, 3, 1, 1};
    }
    CHECK(ids(modified) == "cudnn.s87");
    auto packed = test::packed_backward();
    CHECK(ids(packed) == "");
    packed.spec.tensors[static_cast<std::size_t>(packed.tensor(Port::K).ragged_offset)].stride = {2, 1, 1, 1};
    CHECK(ids(packed) == "cudnn.s87");
}
