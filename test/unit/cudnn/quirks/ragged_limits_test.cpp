// Limits on ragged tensors.
#include "support/catch.h"
#include "unit/cudnn/quirks/limit_graphs.h"

namespace quirks = cudnn_frontend::quirks;
using cudnn_frontend::DataType_t;
using test::AttentionGraph;
using test::resize;
using test::with_head_dims;
using Port = cudnn_frontend::nodes::attention::Port;

namespace {

quirks::Capabilities version(std::size_t number) { return {.cudnn_version = number, .sm = 90}; }

std::string ids(AttentionGraph const& graph, quirks::Capabilities const& here = version(91900)) {
    return test::limit_ids(graph, here);
}

}  // namespace

TEST_CASE("cudnn.s21 and s22: ragged offsets", "[support]") {
    auto graph = AttentionGraph::forward().padding();
    pack_rows(graph, {Port::Q});
    CHECK(ids(graph, {.cudnn_version = 91801, .sm = 90}) == "cudnn.s22");  // O's heads lie apart
    pack_rows(graph, {Port::K, Port::V, Port::O});
    CHECK(ids(graph, {.cudnn_version = 91800, .sm = 89}) == "cudnn.s21");
    CHECK(ids(graph, {.cudnn_version = 91801, .sm = 89}) == "");
    CHECK(ids(graph, {.cudnn_version = 91400, .sm = 90}) == "");
    CHECK(ids(graph, {.cudnn_version = 91400, .sm = 120}) == "");
    auto backward = AttentionGraph::backward().padding();
    pack_rows(backward, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::DQ, Port::DK, Port::DV});
    CHECK(ids(backward, {.cudnn_version = 91800, .sm = 100}) == "");
    CHECK(ids(backward, {.cudnn_version = 91800, .sm = 120}) == "cudnn.s21");
    CHECK(ids(backward, {.cudnn_version = 91900, .sm = 120}) == "");
}

namespace {

// Forward with a packed Q, whose dense O holds all heads in a row.
AttentionGraph partly_ragged() {
    auto graph = AttentionGraph::forward().padding();
    pack_rows(graph, {Port::Q});
    graph.tensor(Port::O).stride = {6 * 64, 16, 64, 1};
    return graph;
}

std::string fault_of(AttentionGraph const& graph) {
    auto const report = cudnn_frontend::quirks::check(test::validated(graph.spec), version(91900), {});
    return report.findings().size() == 1 ? report.findings().front().found : "not one finding";
}

}  // namespace

TEST_CASE("cudnn.s22: dense tensors beside ragged ones that can be given no offsets", "[support]") {
    CHECK(ids(partly_ragged()) == "");

    auto heads_apart = partly_ragged();
    heads_apart.tensor(Port::O).stride = {4 * 6 * 16, 6 * 16, 16, 1};
    CHECK(ids(heads_apart) == "cudnn.s22");
    CHECK(fault_of(heads_apart)
              .starts_with("rows that do not hold all heads and no ragged offset, where other tensors have one"));

    auto gaps = partly_ragged();
    gaps.tensor(Port::O).stride = {6 * 80, 16, 80, 1};
    CHECK(ids(gaps) == "cudnn.s22");
    CHECK(fault_of(gaps).starts_with("rows with gaps and no ragged offset"));

    auto shared = partly_ragged();
    shared.tensor(Port::K).stride[0] = 0;
    CHECK(ids(shared) == "cudnn.s22");
    CHECK(fault_of(shared).starts_with("shared batch entries and no ragged offset"));

    auto far = partly_ragged();
    far.tensor(Port::V).stride[0] = std::int64_t{1} << 30;
    CHECK(ids(far) == "cudnn.s22");
    CHECK(fault_of(far).starts_with("batch entries beyond INT32 offsets and no ragged offset"));
    auto const offset = static_cast<std::size_t>(far.tensor(Port::Q).ragged_offset);
    far.spec.tensors[offset].data_type = DataType_t::INT64;
    CHECK(ids(far) == "");
}

TEST_CASE("cudnn.s22: no offsets are given in FP8 attention", "[support]") {
    auto graph = AttentionGraph::forward().padding().fp8();
    pack_rows(graph, {Port::Q, Port::O});
    quirks::Capabilities const datacenter{.cudnn_version = 91900, .sm = 100};
    CHECK(ids(graph, datacenter).find("cudnn.s22") != std::string::npos);
    pack_rows(graph, {Port::K, Port::V});
    CHECK(ids(graph, datacenter).find("cudnn.s22") == std::string::npos);
}

TEST_CASE("cudnn.s22: pages are neither ragged nor dense", "[support]") {
    auto graph = AttentionGraph::forward().padding().pages(2, 2);
    CHECK(ids(graph) == "");
    pack_rows(graph, {Port::Q, Port::O});
    CHECK(ids(graph) == "");
    graph.tensor(Port::O).ragged_offset = cudnn_frontend::nodes::kNoTensor;
    CHECK(ids(graph) == "");
    graph.tensor(Port::O).stride = {4 * 6 * 16, 6 * 16, 16, 1};
    CHECK(ids(graph) == "cudnn.s22");
}

TEST_CASE("cudnn.s23: ragged Stats of one query", "[support]") {
    auto graph = AttentionGraph::forward().padding().heads(2, 2).stats();
    resize(graph, {Port::Q, Port::O, Port::Stats}, 2, 1);
    pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O, Port::Stats});
    CHECK(ids(graph) == "cudnn.s23");
    graph.tensor(Port::Stats).ragged_offset = cudnn_frontend::nodes::kNoTensor;
    CHECK(ids(graph) == "");
}

TEST_CASE("cudnn.s24: ragged gradients that need dQ in one product", "[support]") {
    auto graph = AttentionGraph::backward().padding();
    pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::DQ, Port::DK, Port::DV});
    quirks::Capabilities const datacenter{.cudnn_version = 91900, .sm = 100};
    CHECK(ids(graph, datacenter) == "");
    graph.deterministic();
    CHECK(ids(graph, datacenter) == "cudnn.s24");
    CHECK(ids(graph) == "");
}

TEST_CASE("cudnn.s25 and s26: ragged gradients before 9.19", "[support]") {
    auto graph = with_head_dims(AttentionGraph::backward().padding(), 128, 64);
    std::initializer_list<int> const rows = {Port::Q,  Port::K,  Port::V,  Port::O,
                                             Port::DO, Port::DQ, Port::DK, Port::DV};
    pack_rows(graph, rows);
    CHECK(ids(graph, version(91400)) == "");
    graph.tensor(Port::DK).ragged_offset = graph.add_tensor("other", DataType_t::INT32, {3, 1, 1, 1});
    CHECK(ids(graph, version(91400)) == "cudnn.s26");
    CHECK(ids(graph) == "");
    auto given = with_head_dims(AttentionGraph::backward().padding(), 128, 64);
    pack_rows(given, {Port::K, Port::V, Port::O, Port::DO, Port::DK, Port::DV});
    for (int const port : {Port::Q, Port::DQ}) given.tensor(port).stride = {6 * 4 * 128, 128, 4 * 128, 1};
    CHECK(ids(given, version(91400)) == "");
    given.tensor(Port::Q).stride[0] *= 2;
    CHECK(ids(given, version(91400)) == "cudnn.s26");
    CHECK(ids(given) == "");
    auto large = with_head_dims(AttentionGraph::backward().padding(), 192, 64);
    pack_rows(large, rows);
    CHECK(ids(large, version(91400)) == "cudnn.s25");
    CHECK(ids(large) == "");
}

TEST_CASE("cudnn.s80: wide heads of Q and narrow ones of V, ragged", "[support]") {
    auto const ragged = [](std::int64_t qk, std::int64_t v) {
        auto graph = with_head_dims(AttentionGraph::backward().padding(), qk, v);
        pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::DQ, Port::DK, Port::DV});
        return graph;
    };
    CHECK(ids(ragged(200, 128)) == "cudnn.s80");
    for (std::int64_t const v : {136, 200}) CHECK(ids(ragged(200, v)) == "");
    CHECK(ids(ragged(192, 128)) == "");
    CHECK(ids(with_head_dims(AttentionGraph::backward().padding(), 200, 128)) == "");
}

TEST_CASE("cudnn.s81: K and V with other numbers of heads, ragged", "[support]") {
    auto const on = [](int sm) { return quirks::Capabilities{.cudnn_version = 91900, .sm = sm}; };
    auto graph = AttentionGraph::backward().heads(2, 1).padding();
    CHECK(ids(graph, on(80)) == "");
    pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::DQ, Port::DK, Port::DV});
    for (int const sm : {80, 89, 120}) CHECK(ids(graph, on(sm)) == "cudnn.s81");
    for (int const sm : {90, 100, 103}) CHECK(ids(graph, on(sm)) == "");
    auto forward = AttentionGraph::forward().heads(2, 1).padding();
    pack_rows(forward, {Port::Q, Port::K, Port::V, Port::O});
    CHECK(ids(forward, on(80)) == "");
}

TEST_CASE("cudnn.s66: rows of packed tensors that lie apart") {
    for (int const port : {Port::Q, Port::DO, Port::K, Port::DQ}) {
        auto graph = AttentionGraph::backward().padding();
        pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::DQ, Port::DK, Port::DV, Port::Stats});
        CHECK(ids(graph, {.cudnn_version = 91900, .sm = 120}) == "");
        for (std::size_t const axis : {0, 2}) graph.tensor(port).stride[axis] *= 2;
        graph.tensor(port).ragged_offset =
            graph.add_tensor("offset", DataType_t::INT32, {graph.tensor(Port::Q).dim[0] + 1, 1, 1, 1});
        bool const is_limited = port == Port::Q || port == Port::DO;
        CHECK(ids(graph, {.cudnn_version = 91900, .sm = 120}) == (is_limited ? "cudnn.s66" : ""));
        CHECK(ids(graph, {.cudnn_version = 91900, .sm = 100}) == "");
        graph.tensor(port).ragged_offset = cudnn_frontend::nodes::kNoTensor;
        if (is_limited) CHECK(ids(graph, {.cudnn_version = 91900, .sm = 120}) == "cudnn.s66");
    }
}
