// The form of backward attention's operations that passes give it for cuDNN.
#include "unit/cudnn/legal_forms.h"

#include "core/data_type.h"

#include "support/catch.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace test;
using Lines = std::vector<std::string>;

namespace {

AttentionGraph with_keys(AttentionGraph attention, std::int64_t keys) {
    resize(attention, {Port::K, Port::V, Port::DK, Port::DV}, 2, keys);
    return attention;
}

bool has(Lines const& lines, std::string const& line) { return std::ranges::count(lines, line) == 1; }

nodes::AttentionFields& bounds(AttentionGraph& attention) { return attention.fields(); }

}  // namespace

TEST_CASE("Plain backward attention in the form that engines know", "[passes]") {
    CHECK(steps(legal(with_keys(AttentionGraph::backward().scale(0.5f), 128))) ==
          Lines{
              "gradient_times_output = MUL(dO, O)",
              "row_dot = REDUCE_ADD(gradient_times_output)",
              "scaled_row_dot = MUL(row_dot, row_dot_factor)",
              "scores = MATMUL(Q, K^T)",
              "scaled_scores = MUL(scores, scale)",
              "shifted_scores = SUB(scaled_scores, Stats)",
              "probabilities = EXP(shifted_scores)",
              "transposed_probabilities:HALF = RESHAPE(probabilities)",
              "dV:HALF = MATMUL(transposed_probabilities, dO)",
              "probability_gradients = MATMUL(dO, V^T)",
              "centered_gradients = SUB(probability_gradients, scaled_row_dot)",
              "score_gradients = MUL(centered_gradients, probabilities)",
              "scaled_score_gradients = MUL(score_gradients, scale)",
              "transposed_score_gradients:HALF = RESHAPE(scaled_score_gradients)",
              "dK:HALF = MATMUL(transposed_score_gradients, Q)",
              "keys:HALF = RESHAPE(K^T)",
              "dQ_accumulator = MATMUL(scaled_score_gradients, keys)",
              "dQ:HALF = IDENTITY(dQ_accumulator)",
          });
}

TEST_CASE("The gradient of queries is one product where it has one order, and beside that of a bias", "[passes]") {
    auto const last_step = [](AttentionGraph const& attention) {
        return steps(legal(with_keys(attention, 128))).back();
    };
    CHECK(last_step(AttentionGraph::backward()) == "dQ:HALF = IDENTITY(dQ_accumulator)");
    CHECK(last_step(AttentionGraph::backward().deterministic()) == "dQ:HALF = MATMUL(score_gradients, keys)");
    auto const with_bias = with_keys(AttentionGraph::backward(), 128).bias({1, 4, 6, 128});
    CHECK(steps(legal(with_bias)).back() == "dQ:HALF = IDENTITY(dQ_accumulator)");
    CHECK(steps(legal(AttentionGraph(with_bias).bias_gradient())).back() == "dQ:HALF = MATMUL(score_gradients, keys)");
}

TEST_CASE("Drawn dropout scales gradients after the row's sum is subtracted, the user's mask before", "[passes]") {
    ir::OpGraph const drawn = legal(AttentionGraph::backward().dropout(0.25f));
    auto const factor = [](ir::OpGraph const& graph) {
        return core::to_double(find_value(graph, "row_dot_factor").constant);
    };
    Lines const of_drawn = steps(drawn), of_given = steps(legal(AttentionGraph::backward().dropout_mask()));
    CHECK(has(of_drawn, "centered_gradients = SUB(kept_probability_gradients, scaled_row_dot)"));
    CHECK(has(of_drawn, "dropped_score_gradients = MUL(score_gradients, dropout_scale)"));
    CHECK(factor(drawn) == 0.75);
    CHECK(has(of_given, "dropped_probability_gradients = MUL(kept_probability_gradients, dropout_scale)"));
    CHECK(has(of_given, "centered_gradients = SUB(dropped_probability_gradients, scaled_row_dot)"));
    CHECK(factor(legal(AttentionGraph::backward().dropout_mask())) == 1.0);
}

TEST_CASE("The row's sum is multiplied behind the gradient of a sink, whose sign engines change unasked", "[passes]") {
    auto attention = AttentionGraph::backward();
    attention.connect(Port::SinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
    attention.connect(Port::DSinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
    Lines const lines = steps(legal(attention));
    CHECK(lines[6] == "dSink_token = NEG(sink_weight)");
    CHECK(lines[7] == "scaled_row_dot = MUL(row_dot, row_dot_factor)");
    CHECK(names_of_implied(legalized(attention)) == "sink_weight -> dSink_token, ");
    CHECK(names_of_implied(legalized(AttentionGraph::backward())) == "");
}

// Engines add it up in any order, add rows past the lengths of ragged tensors, and multiply it by what dropout keeps.
TEST_CASE("The gradient of a sink is separated where engines get it wrong, with its operands", "[passes]") {
    auto const with_gradient = [](AttentionGraph attention) {
        attention.connect(Port::SinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
        attention.connect(Port::DSinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
        return attention;
    };
    auto const taken_out = [&](AttentionGraph attention) {
        cudnn::LegalGraph const legal = legalized(with_gradient(std::move(attention)));
        if (!legal.sink_gradient) return std::string("engines");
        cudnn::SinkGradient const& parts = *legal.sink_gradient;
        std::string text;
        for (ir::ValueId const id : {parts.o, parts.d_o, parts.stats, parts.sink, parts.gradient, parts.lengths}) {
            if (id != ir::kNoValue) text += legal.graph.value(id).name + " ";
        }
        CHECK(parts.steps.size() == 5);
        CHECK(names_of_implied(legal) == "");
        return text;
    };
    std::string const parts = "O dO Stats sink_token dSink_token ";
    CHECK(taken_out(AttentionGraph::backward()) == "engines");
    CHECK(taken_out(AttentionGraph::backward().dropout_mask()) == "engines");
    CHECK(taken_out(AttentionGraph::backward().padding()) == "engines");
    CHECK(taken_out(AttentionGraph::backward().deterministic()) == parts);
    CHECK(taken_out(AttentionGraph::backward().deterministic().padding()) == parts + "seq_len_q ");
    CHECK(taken_out(AttentionGraph::backward().dropout(0.5f)) == parts);
    CHECK(taken_out(packed_backward()) == parts + "seq_len_q ");
    auto mixed = AttentionGraph::backward().padding();
    pack_rows(mixed, {Port::K, Port::V});
    CHECK(taken_out(std::move(mixed)) == parts + "seq_len_q ");
    CHECK_FALSE(legalized(AttentionGraph::backward().deterministic()).sink_gradient);
}

TEST_CASE("The sums that engines want in memory are scratch", "[passes]") {
    CHECK(names_of_scratch(legalized(AttentionGraph::backward())) == "dQ_accumulator scaled_row_dot ");
    CHECK(names_of_scratch(legalized(AttentionGraph::backward().deterministic())) == "scaled_row_dot ");
    CHECK(names_of_scratch(legalized(AttentionGraph::backward().fp8())) == "");
}

TEST_CASE("Sums of packed sequences are packed like the results, where the user bounds their rows", "[passes]") {
    cudnn::LegalGraph const legal = legalized(packed_backward());
    ir::OpGraph const& graph = legal.graph;
    auto const packed_like = [&](char const* name) {
        auto const place = std::ranges::find_if(legal.scratch, [&](auto const& known) {
            return graph.value(known.first).name == "sdpa::" + std::string(name);
        });
        REQUIRE(place != legal.scratch.end());
        REQUIRE(place->second.packed_like != ir::kNoValue);
        return graph.value(place->second.packed_like);
    };
    CHECK(packed_like("scaled_row_dot").name == "Stats");
    CHECK(packed_like("dQ_accumulator").name == "dQ");
    CHECK(packed_like("dQ_accumulator").ragged.most_rows == 8);
    CHECK(packed_like("dK_of_query_heads").name == "dK");
    CHECK(packed_like("dV_of_query_heads").ragged.most_rows == 7);
    // Rows of 4 heads where dK has 2; the first stride is the interpreter's.
    CHECK(find_value(graph, "dK_of_query_heads").stride == core::Dims{320, 16, 64, 1});
    CHECK(find_value(graph, "dQ_accumulator").stride == core::Dims{384, 16, 64, 1});
}

TEST_CASE("Sums have room for the longest sequence in each batch entry where packed ones are wrong, or no less",
          "[passes]") {
    AttentionGraph attention = packed_backward();
    CHECK(names_of_packed(legalized(attention)) ==
          "dK_of_query_heads dQ_accumulator dV_of_query_heads scaled_row_dot ");
    SECTION("without bounds") {
        bounds(attention).max_total_seq_len_q.reset();
        CHECK(names_of_packed(legalized(attention)) == "dK_of_query_heads dV_of_query_heads ");
        bounds(attention).max_total_seq_len_kv.reset();
        CHECK(names_of_packed(legalized(attention)).empty());
    }
    SECTION("with bounds that save nothing") {
        bounds(attention).max_total_seq_len_q = 12;
        bounds(attention).max_total_seq_len_kv = std::int64_t{1} << 62;
        CHECK(names_of_packed(legalized(attention)).empty());
    }
    SECTION("of heads that are no multiple of 16") {
        AttentionGraph narrow = AttentionGraph::backward().heads(2, 2).padding();
        pack_rows(narrow, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::Stats, Port::DQ, Port::DK, Port::DV});
        bounds(narrow) = bounds(attention);
        CHECK(names_of_packed(legalized(narrow)).empty());
    }
    SECTION("where dQ lies otherwise than Q") {
        attention.tensor(Port::DQ).ragged_offset = attention.add_tensor("other", DataType_t::INT32, {3, 1, 1, 1});
        CHECK(names_of_packed(legalized(attention)) == "dK_of_query_heads dV_of_query_heads scaled_row_dot ");
    }
    SECTION("where the heads of Stats lie apart") {
        attention.tensor(Port::Stats).stride = {24, 6, 1, 1};
        CHECK(names_of_packed(legalized(attention)) == "dK_of_query_heads dQ_accumulator dV_of_query_heads ");
    }
    SECTION("for targets that do not take it") {
        CHECK(names_of_packed(legalized(attention, {.cudnn_version = 91900, .sm = 80})).empty());
    }
    SECTION("where nothing is added up") {
        CHECK(names_of_packed(legalized(attention.deterministic())) ==
              "dK_of_query_heads dV_of_query_heads scaled_row_dot ");
    }
}

TEST_CASE("Sums have that room where rows of the results leave none for more heads, or are no rows", "[passes]") {
    AttentionGraph attention = packed_backward();
    SECTION("of one row in each batch entry, whose stride says nothing") {
        for (int const port :
             {Port::Q, Port::O, Port::DO, Port::Stats, Port::DQ, Port::K, Port::V, Port::DK, Port::DV}) {
            attention.tensor(port).dim[2] = 1;
            attention.tensor(port).stride[2] = 0;
        }
        bounds(attention).max_total_seq_len_q = bounds(attention).max_total_seq_len_kv = 1;
        CHECK(names_of_packed(legalized(attention)).empty());
    }
    std::initializer_list<int> const of_keys = {Port::K, Port::V, Port::DK, Port::DV};
    SECTION("with rows of more elements than sums of more heads could count") {
        for (int const port : of_keys) {
            attention.tensor(port).dim[2] = 2;
            attention.tensor(port).stride[2] = std::int64_t{1} << 59;
        }
        CHECK(names_of_packed(legalized(attention)) == "dQ_accumulator scaled_row_dot ");
    }
    SECTION("with gaps between heads into which those of more heads do not fit") {
        for (int const port : of_keys) attention.tensor(port).stride = {240, 32, 48, 1};
        bounds(attention).max_total_seq_len_kv = 5;
        CHECK(names_of_packed(legalized(attention)) == "dQ_accumulator scaled_row_dot ");
    }
    SECTION("with offsets of INT32 that would have to count more") {
        for (int const port : of_keys) {
            attention.tensor(port).dim[2] = 1 << 26;
            attention.tensor(port).stride[0] = std::int64_t{32} << 26;
        }
        bounds(attention).max_total_seq_len_kv = 1 << 26;
        CHECK(names_of_packed(legalized(attention)) == "dQ_accumulator scaled_row_dot ");
        for (nodes::TensorSpec& tensor : attention.spec.tensors) {
            if (tensor.name == "offset_32") tensor.data_type = DataType_t::INT64;
        }
        CHECK(names_of_packed(legalized(attention)) ==
              "dK_of_query_heads dQ_accumulator dV_of_query_heads scaled_row_dot ");
    }
}
