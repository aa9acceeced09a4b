// The most common mistakes, made through the public API.
#include "support/catch.h"
#include "support/small_graph.h"

#include <string>

using namespace test;
using cudnn_frontend::error_code_t;
using cudnn_frontend::Finding;
using cudnn_frontend::PointwiseMode_t;
using cudnn_frontend::Report;
using cudnn_frontend::graph::Pointwise_attributes;
using cudnn_frontend::graph::SDPA_backward_attributes;
using enum cudnn_frontend::error_code_t;

namespace {

SDPA_attributes attention() { return SDPA_attributes().set_name("attention"); }

// The only finding, which validate() returns too.
Finding only_finding(Graph& graph) {
    Report const report = graph.check();
    INFO(report);
    REQUIRE(report.findings().size() == 1);
    Finding const& finding = report.findings().front();
    cudnn_frontend::error_t const error = graph.validate();
    CHECK(error.code == finding.code);
    CHECK(error.where.rule == finding.where.rule);
    for (std::string const* words : {&finding.where.rule, &finding.found, &finding.needed, &finding.fix}) {
        CHECK_FALSE(words->empty());
        CHECK(error.err_msg.find(*words) != std::string::npos);
    }
    return finding;
}

void expect(Graph& graph, std::string const& rule, error_code_t code, std::string const& tensor,
            std::string const& found) {
    INFO(rule);
    Finding const finding = only_finding(graph);
    CHECK(finding.where.rule == rule);
    CHECK(finding.code == code);
    CHECK(finding.where.tensor == tensor);
    CHECK(finding.found == found);
}

void expect_of_options(SDPA_attributes const& options, std::string const& rule, error_code_t code,
                       std::string const& tensor, std::string const& found) {
    SmallGraph small = small_graph(options);
    expect(small.graph, rule, code, tensor, found);
}

// A tensor that no graph has registered, row-major.
Tensor_ptr loose_tensor(std::vector<std::int64_t> const& dim, DataType_t type) {
    std::vector<std::int64_t> stride(dim.size(), 1);
    for (std::size_t i = dim.size() - 1; i-- > 0;) stride[i] = stride[i + 1] * dim[i + 1];
    return std::make_shared<Tensor_attributes>(Tensor_attributes().set_dim(dim).set_stride(stride).set_data_type(type));
}

}  // namespace

TEST_CASE("API graph.c01: a null tensor") {
    SmallGraph small = small_graph();
    auto const outputs = small.graph.sdpa(small.q, nullptr, small.v, attention().set_name("second"));
    outputs[0]->set_output(true).set_dim({2, 4, 6, 8}).set_stride({192, 48, 8, 1});
    expect(small.graph, "graph.c01", ATTRIBUTE_NOT_SET, "K", "no tensor (null)");
}

TEST_CASE("API graph.c02: a tensor of another graph") {
    SmallGraph other = small_graph();
    SmallGraph small = small_graph();
    small.graph.sdpa(other.q, small.k, small.v, attention())[0]->set_output(true);
    expect(small.graph, "graph.c02", INVALID_VALUE, "Q", "a tensor that another graph registered");
}

TEST_CASE("API graph.c02: a result of another graph, which has no dims and type yet") {
    SmallGraph other = small_graph();
    Tensor_ptr const result = other.graph.sdpa(other.q, other.k, other.v, attention().set_name("other"))[0];
    SmallGraph small = small_graph();
    small.graph.set_intermediate_data_type(DataType_t::NOT_SET);
    auto const outputs = small.graph.sdpa(result, small.k, small.v, attention());
    outputs[0]->set_output(true).set_data_type(DataType_t::FLOAT);
    expect(small.graph, "graph.c02", INVALID_VALUE, "other::O", "a tensor that another graph registered");
}

TEST_CASE("API graph.c03: no io data type") {
    SmallGraph small = small_graph();
    for (auto const& tensor : {small.q, small.k, small.v}) tensor->set_data_type(DataType_t::HALF);
    small.graph.set_io_data_type(DataType_t::NOT_SET);
    expect(small.graph, "graph.c03", ATTRIBUTE_NOT_SET, "attention::O", "no data type on a real tensor");
}

TEST_CASE("API graph.c05: an input without strides") {
    SmallGraph small = small_graph();
    small.q->set_stride(std::vector<std::int64_t>());
    expect(small.graph, "graph.c05", ATTRIBUTE_NOT_SET, "Q",
           "dims [2, 4, 6, 8] without strides on a tensor that a node reads");
}

TEST_CASE("API graph.c08: an empty batch") {
    SmallGraph small = small_graph();
    small.v->set_dim({0, 2, 10, 8});
    expect(small.graph, "graph.c08", INVALID_VALUE, "V", "dims [0, 2, 10, 8]");
}

TEST_CASE("API graph.c09: a negative stride") {
    SmallGraph small = small_graph();
    small.q->set_stride({192, -48, 8, 1});
    expect(small.graph, "graph.c09", INVALID_VALUE, "Q", "strides [192, -48, 8, 1]");
}

TEST_CASE("API graph.c10: a size that passes int64") {
    SmallGraph small = small_graph();
    auto const large = std::int64_t{1} << 32;
    small.graph.tensor(Tensor_attributes().set_name("vast").set_dim({large, large}).set_stride({large, 1}));
    expect(small.graph, "graph.c10", INVALID_VALUE, "vast",
           "dims [4294967296, 4294967296] and strides [4294967296, 1] of type FLOAT");
}

TEST_CASE("API graph.c14: a ragged offset") {
    SmallGraph small = small_graph();
    small.q->set_ragged_offset(small.graph.tensor(packed_tensor("offsets", 1, 1, 1).set_data_type(DataType_t::INT32)));
    std::string const report = small.graph.check().to_text();
    CHECK(report.find("[graph.c14] tensor 'Q': found the ragged offset 'offsets' with dims [2, 1, 1, 1]") !=
          report.npos);
    CHECK(report.find("[graph.c27]") == report.npos);  // the heads of an input may have a stride with gaps
    CHECK(report.find("[sdpa_fwd.c42] node 'attention', tensor 'Q': found a ragged offset without a padding mask") !=
          report.npos);
}

TEST_CASE("API graph.c15 graph.c16: uids") {
    SmallGraph small = small_graph();
    small.q->set_uid(0);
    small.o->set_uid(0);
    expect(small.graph, "graph.c16", INVALID_VALUE, "attention::O", "uid 0, which 'Q' has too");
    small.o->set_uid(-2);
    expect(small.graph, "graph.c15", INVALID_VALUE, "attention::O", "uid -2");
}

TEST_CASE("API graph.c22: an output that overlaps itself") {
    SmallGraph small = small_graph();
    small.o->set_dim({2, 4, 6, 8}).set_stride({192, 8, 8, 1});
    expect(small.graph, "graph.c22", INVALID_VALUE, "attention::O",
           "dims [2, 4, 6, 8] with strides [192, 8, 8, 1] on a tensor that is written");
}

TEST_CASE("API graph.c24: a forgotten set_output") {
    SmallGraph small = small_graph();
    small.o->set_output(false);
    expect(small.graph, "graph.c24", ATTRIBUTE_NOT_SET, "attention::O",
           "a node without a result that is an output or that another node reads");
}

TEST_CASE("API graph.c25: a bias that its own graph computes") {
    SmallGraph small = small_graph();
    Tensor_ptr const bias = loose_tensor({2, 4, 6, 10}, DataType_t::FLOAT);
    bias->set_name("bias");
    auto const outputs = small.graph.sdpa(small.q, small.k, small.v, attention().set_name("first").set_bias(bias));
    outputs[0]->set_output(true);
    Tensor_ptr const first_bias = loose_tensor({2, 4, 6, 10}, DataType_t::FLOAT);
    Tensor_ptr const stats = loose_tensor({2, 4, 6, 1}, DataType_t::FLOAT);
    auto const gradients =
        small.graph.sdpa_backward(small.q, small.k, small.v, outputs[0], outputs[0], stats,
                                  SDPA_backward_attributes().set_name("back").set_bias(first_bias).set_dbias(bias));
    for (auto const& gradient : gradients) gradient->set_output(true);
    expect(small.graph, "graph.c25", INVALID_VALUE, "", "nodes that read each other's results: first <- back <- first");
}

TEST_CASE("API graph.c31: Stats that were not asked for are asked for as an output") {
    SmallGraph small = small_graph();
    REQUIRE(small.stats == nullptr);
    small.graph.output(small.stats)->set_uid(7).set_dim({2, 4, 6, 1});
    expect(small.graph, "graph.c31", ATTRIBUTE_NOT_SET, "", "output() of a null pointer");
    CHECK(small.graph.check().to_text().find("call set_generate_stats(true) on the attributes of the attention") !=
          std::string::npos);
    Graph const copy = small.graph;
    CHECK(copy.check().findings().size() == 1);
}

TEST_CASE("output() asks for a result and returns it") {
    SmallGraph small = small_graph(attention().set_generate_stats(true));
    small.stats->set_output(false);
    CHECK(small.graph.output(small.stats) == small.stats);
    CHECK_FALSE(small.stats->get_is_virtual());
    CHECK(small.graph.check().ok());
}

TEST_CASE("API sdpa_fwd.c02: K passed transposed") {
    SmallGraph small = small_graph();
    small.k->set_stride({160, 80, 1, 10});
    expect(small.graph, "sdpa_fwd.c02", GRAPH_NOT_SUPPORTED, "K", "K with strides [160, 80, 1, 10]");
}

TEST_CASE("API sdpa_fwd.c04: heads that do not divide") {
    SmallGraph small = small_graph();
    small.k->set_dim({2, 3, 10, 8}).set_stride({240, 80, 8, 1});
    expect(small.graph, "sdpa_fwd.c04", GRAPH_NOT_SUPPORTED, "K", "3 heads in K for 4 heads in Q");
}

TEST_CASE("API sdpa_fwd.c16: a scale given twice") {
    expect_of_options(attention().set_attn_scale(0.5f).set_attn_scale(loose_tensor({1, 1, 1, 1}, DataType_t::FLOAT)),
                      "sdpa_fwd.c16", ATTRIBUTE_NOT_SET, "attn_scale", "a scale tensor and the scale 0.5");
}

TEST_CASE("API sdpa_fwd.c20: a boolean bias") {
    expect_of_options(attention().set_bias(loose_tensor({1, 1, 6, 10}, DataType_t::BOOLEAN)), "sdpa_fwd.c20",
                      GRAPH_NOT_SUPPORTED, "bias", "bias of type BOOLEAN");
}

TEST_CASE("API sdpa_fwd.c21: padding without lengths") {
    Tensor_ptr const lengths = loose_tensor({2, 1, 1, 1}, DataType_t::INT32);
    expect_of_options(attention().set_padding_mask(true).set_seq_len_q(lengths), "sdpa_fwd.c21", ATTRIBUTE_NOT_SET,
                      "seq_len_kv", "a padding mask without seq_len_kv");
}

TEST_CASE("API sdpa_fwd.c62 graph.c30: lengths told twice, and a multiplier without an offset") {
    Tensor_ptr const lengths = loose_tensor({2, 1, 1, 1}, DataType_t::INT32);
    Tensor_ptr const sums = loose_tensor({3, 1, 1, 1}, DataType_t::INT32);
    auto options = attention().set_padding_mask(true).set_seq_len_q(lengths).set_seq_len_kv(lengths);
    expect_of_options(options.set_cu_seq_len_kv(sums), "sdpa_fwd.c62", INVALID_VALUE, "cu_seq_len_kv",
                      "cu_seq_len_kv together with seq_len_kv");
    SmallGraph small = small_graph();
    small.q->set_ragged_offset_multiplier(4);
    CHECK(small.q->get_ragged_offset_multiplier() == 4);
    CHECK(small.graph.check().to_text().find("[graph.c30] tensor 'Q'") != std::string::npos);
}

TEST_CASE("API sdpa_fwd.c25 sdpa_fwd.c26: bounds of the band") {
    expect_of_options(attention().set_diagonal_band_right_bound(-1), "sdpa_fwd.c25", INVALID_VALUE, "",
                      "the right bound -1");
    expect_of_options(attention().set_sliding_window_length(0), "sdpa_fwd.c26", INVALID_VALUE, "", "the left bound 0");
}

TEST_CASE("API sdpa_fwd.c27 sdpa_fwd.c28 sdpa_fwd.c29: dropout") {
    Tensor_ptr const number = loose_tensor({1, 1, 1, 1}, DataType_t::INT64);
    Tensor_ptr const mask = loose_tensor({2, 4, 6, 10}, DataType_t::FLOAT);
    Tensor_ptr const scale = loose_tensor({1, 1, 1, 1}, DataType_t::FLOAT);
    expect_of_options(attention().set_dropout(1.0f, number, number), "sdpa_fwd.c27", ATTRIBUTE_NOT_SET, "",
                      "the dropout probability 1");
    expect_of_options(attention().set_dropout(0.5f, number, number).set_dropout(mask, scale), "sdpa_fwd.c28",
                      ATTRIBUTE_NOT_SET, "dropout_mask", "a dropout mask and the probability 0.5");
    expect_of_options(attention().set_dropout(0.5f, number, nullptr), "sdpa_fwd.c29", ATTRIBUTE_NOT_SET, "offset",
                      "dropout with probability 0.5 and no offset");
}

TEST_CASE(
    "API sdpa_fwd.c56 sdpa_fwd.c57 sdpa_fwd.c58: a sink with a wrong head count or type, a maximum of wrong dims") {
    expect_of_options(attention().set_sink_token(loose_tensor({1, 2, 1, 1}, DataType_t::FLOAT)), "sdpa_fwd.c56",
                      INVALID_VALUE, "sink_token", "sink_token with dims [1, 2, 1, 1]");
    expect_of_options(attention().set_sink_token(loose_tensor({1, 4, 1, 1}, DataType_t::INT32)), "sdpa_fwd.c57",
                      GRAPH_NOT_SUPPORTED, "sink_token", "sink_token of type INT32");
    expect_of_options(attention().set_logit_max(loose_tensor({2, 4, 1, 1}, DataType_t::FLOAT)), "sdpa_fwd.c58",
                      INVALID_VALUE, "Max", "Max with dims [2, 4, 1, 1]");
}

TEST_CASE("API sdpa_bwd.c53: the gradient of a sink that was not set") {
    Graph graph;
    graph.set_io_data_type(DataType_t::FLOAT).set_intermediate_data_type(DataType_t::FLOAT);
    auto const rows = [&](char const* name, std::int64_t columns) {
        return graph.tensor(packed_tensor(name, 4, 6, columns));
    };
    auto const gradients =
        graph.sdpa_backward(rows("Q", 8), rows("K", 8), rows("V", 8), rows("O", 8), rows("dO", 8), rows("Stats", 1),
                            SDPA_backward_attributes()
                                .set_name("attention")
                                .set_dsink_token(loose_tensor({1, 4, 1, 1}, DataType_t::FLOAT)));
    for (Tensor_ptr const& gradient : gradients) gradient->set_output(true);
    expect(graph, "sdpa_bwd.c53", ATTRIBUTE_NOT_SET, "dSink_token", "dSink_token without a sink token");
}

TEST_CASE("API pointwise.c02: a missing operand") {
    SmallGraph small = small_graph();
    auto const sum =
        small.graph.pointwise(small.q, Pointwise_attributes().set_name("sum").set_mode(PointwiseMode_t::ADD));
    sum->set_output(true);
    expect(small.graph, "pointwise.c02", ATTRIBUTE_NOT_SET, "IN_1", "no operand IN_1 for ADD");
}

TEST_CASE("API: five mistakes are reported together") {
    SmallGraph small = small_graph(attention().set_padding_mask(true).set_diagonal_band_left_bound(0));
    small.q->set_alignment(3);
    small.k->set_stride({160, 80, 1, 10});
    small.o->set_output(false);
    Report const report = small.graph.check();
    std::string rules;
    for (Finding const& finding : report.findings()) rules += finding.where.rule + " ";
    CHECK(rules == "graph.c12 graph.c24 sdpa_fwd.c02 sdpa_fwd.c21 sdpa_fwd.c26 ");
}
