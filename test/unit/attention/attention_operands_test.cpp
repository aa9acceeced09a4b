#include "attention/attention_operands.h"

#include "support/catch.h"

#include <string>

using namespace cudnn_frontend::attention;
namespace core = cudnn_frontend::core;

namespace {

template <class Ports>
std::string names(Ports const& ports) {
    std::string text;
    for (int const port : ports) text += (text.empty() ? "" : " ") + std::string(operand(port).name);
    return text;
}

constexpr bool is_gradient(Operand const& row) { return row.gradient_of != PortCount; }
constexpr bool is_of_blocks(Operand const& row) { return row.part == Part::Blocks; }

}  // namespace

TEST_CASE("a port finds its row") {
    for (int port = 0; port < PortCount; ++port) CHECK(operand(port).port == port);
    CHECK(std::string(operand(SinkToken).label) == "sink");
    CHECK(operand(CuSeqLenQ).label == nullptr);
    CHECK(std::string(operand(Stats).summary) != operand(Stats).summary_in_backward());
    CHECK(std::string(operand(Bias).summary) == operand(Bias).summary_in_backward());
}

TEST_CASE("shapes tell whose rows a tensor has, and what may be packed") {
    CHECK(names(kPortsWhere<has_query_rows>) == "Q O dO Stats dQ Max Sum_exp Q_T dO_T dO_f16");
    CHECK(names(kPortsWhere<has_key_rows>) == "K V dK dV K_T");
    CHECK(names(kPortsWhere<has_vectors>) == "Q K V O dO dQ dK dV Q_T K_T dO_T dO_f16");
    CHECK(names(kPortsWhere<may_be_ragged>) == "Q K V O dO Stats dQ dK dV page_table_k page_table_v Max Sum_exp");
    CHECK(names(kPortsWhere<has_own_sizes>) == "Q K V dQ dK dV Q_T K_T");
    CHECK(names(kPortsWhere<is_length>) == "seq_len_q seq_len_kv cu_seq_len_q cu_seq_len_kv");
}

TEST_CASE("gradients, and what block-scaled attention alone has") {
    CHECK(names(kPortsWhere<is_gradient>) == "dO dQ dK dV dBias dSink_token");
    CHECK(names(kPortsWhere<is_of_blocks>) == "Q_T K_T dO_T dO_f16 descale_q_T descale_k_T descale_dO_T");
}

TEST_CASE("the dims of a shape follow from sizes") {
    Sizes const sizes{.batches = 2, .heads = 6, .queries = 129, .keys = 1025, .value_width = 64};
    CHECK(dims_of(shapes::kOutputs, sizes) == core::Dims{2, 6, 129, 64});
    CHECK(dims_of(shapes::kRows, sizes) == core::Dims{2, 6, 129, 1});
    CHECK(dims_of(shapes::kScores, sizes) == core::Dims{2, 6, 129, 1025});
    CHECK(dims_of(shapes::kHeads, sizes) == core::Dims{1, 6, 1, 1});
    CHECK(dims_of(shapes::kEnds, sizes) == core::Dims{3, 1, 1, 1});
    CHECK(dims_of(shapes::kTiles, sizes) == core::Dims{2, 6, 2, 2});
    CHECK(dims_of(shapes::kNumber, {}) == core::Dims{1, 1, 1, 1});
}

TEST_CASE("sizes that no tensor may have are known all the same") {
    CHECK(dims_of(shapes::kRows, {.batches = 0, .heads = -6, .queries = 5}) == core::Dims{0, -6, 5, 1});
    CHECK(dims_of(shapes::kEnds, {.batches = -1}) == core::Dims{0, 1, 1, 1});
}

TEST_CASE("the dims of a shape are empty where a size is unknown") {
    CHECK(dims_of(shapes::kScores, {.batches = 2, .heads = 6, .queries = 5}).empty());
    CHECK(dims_of(shapes::kTiles, {.batches = 2, .heads = 6, .queries = 5}).empty());
    CHECK(dims_of(shapes::kEnds, {}).empty());
    CHECK(dims_of(shapes::kEnds, {.batches = INT64_MAX}).empty());
    CHECK(dims_of(shapes::kQueries, {.batches = 2, .heads = 6, .queries = 5, .keys = 7, .value_width = 8}).empty());
}
