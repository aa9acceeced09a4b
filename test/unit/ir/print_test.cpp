#include "support/skip.h"
#include "unit/ir/values.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>

using namespace cudnn_frontend;
using namespace cudnn_frontend::test;

namespace {

// Scores of Q and K, scaled, with a row maximum that is an output.
ir::OpGraph sample() {
    ir::Builder builder;
    ir::Value q_value = input("Q", {2, 4, 8, 16}, 1);
    q_value.type = DataType_t::HALF;
    q_value.stride = {512, 16, 64, 1};
    auto const q = builder.add(q_value);
    auto const k = builder.add(input("K", {2, 2, 5, 16}, 2));
    auto const kt = builder.transposed(k, 2, 3);
    auto const len = builder.add(lengths("len", 2, 3));
    auto const scale = builder.constant("scale", detail::make_scalar(0.125f));
    auto const scores = builder.add(temporary("scores", {2, 4, 8, 5}));
    auto const scaled = builder.add(temporary("", {2, 4, 8, 5}));
    auto const most = builder.add(output("max \"of\" row", {2, 4, 8, 1}, 4));
    builder.add(op(ir::MatmulOp{.a = q, .b = kt, .c = scores, .n_override = len, .padding = -1.5}, "attn.scores"));
    ir::PointwiseOp multiply{{.mode = PointwiseMode_t::MUL}, {scores, scale, ir::kNoValue}, scaled};
    multiply.swish_beta = 0.1f;
    multiply.masked_by = ir::MaskedBy::Second;
    builder.add(op(multiply));
    builder.add(op(ir::ReductionOp{.mode = ReductionMode_t::MAX, .x = scaled, .y = most, .is_deterministic = true}));
    auto graph = std::move(builder).finish();
    REQUIRE(graph.error().get_message() == "");
    return std::move(graph).value();
}

}  // namespace

TEST_CASE("text has one line for each value that no operation makes, then one for each operation") {
    CHECK(ir::to_text(sample()) ==
          "%0 Q: input uid 1 HALF [2, 4, 8, 16] strides [512, 16, 64, 1]\n"
          "%1 K: input uid 2 FLOAT [2, 2, 5, 16]\n"
          "%2 K^T: view of %1 K FLOAT [2, 2, 16, 5] strides [160, 80, 1, 16]\n"
          "%3 len: input uid 3 INT32 [2, 1, 1, 1]\n"
          "%4 scale: constant 0.125 FLOAT [1, 1, 1, 1]\n"
          "%5 scores = MATMUL(a: %0 Q, b: %2 K^T, n_override: %3 len, padding=-1.5) -> FLOAT [2, 4, 8, 5]  # "
          "attn.scores\n"
          "%6 = MUL(in_0: %5 scores, in_1: %4 scale, swish_beta=0.1, masked_by=in_1) -> FLOAT [2, 4, 8, 5]\n"
          "%7 max \"of\" row = REDUCE_MAX(x: %6, deterministic) -> FLOAT [2, 4, 8, 1] output uid 4\n");
}

TEST_CASE("text shows what operations that move elements are told") {
    ir::Builder builder;
    auto const x = builder.add(input("x", {4, 6}, 1));
    auto const part = builder.add(temporary("part", {2, 3})), turned = builder.add(temporary("turned", {3, 2}));
    auto const row = builder.add(output("row", {6}, 2));
    builder.add(op(ir::SliceOp{.x = x, .y = part, .start = {2, 1}, .step = {1, 2}}));
    builder.add(op(ir::TransposeOp{.x = part, .y = turned, .permutation = {1, 0}}));
    builder.add(op(ir::ReshapeOp{.x = turned, .y = row, .mode = ReshapeMode_t::LOGICAL}));
    CHECK(ir::to_text(std::move(builder).finish().value()) ==
          "%0 x: input uid 1 FLOAT [4, 6]\n"
          "%1 part = SLICE(x: %0 x, start=[2, 1], step=[1, 2]) -> FLOAT [2, 3]\n"
          "%2 turned = TRANSPOSE(x: %1 part, permutation=[1, 0]) -> FLOAT [3, 2]\n"
          "%3 row = RESHAPE(x: %2 turned, logical) -> FLOAT [6] output uid 2\n");
}

TEST_CASE("text shows the windows of neighborhood attention") {
    ir::Builder builder;
    auto const q = builder.add(input("q", {1, 2, 6, 9, 4}, 1)), k = builder.add(input("k", {1, 2, 6, 9, 4}, 2));
    auto const slots = builder.add(temporary("slots", {1, 2, 6, 9, 15}));
    auto const bias = builder.add(output("bias", {2, 5, 9}, 3)), dk = builder.add(output("dk", {1, 2, 6, 9, 4}, 4));
    neighborhood::Options const plain{{3, 5}, {}, {}}, other{{3, 5}, {1, 1}, {true, false}};
    double const infinity = std::numeric_limits<double>::infinity();
    builder.add(op(ir::WindowProductOp{plain, ir::WindowPart::Slots, q, k, slots, -infinity}));
    builder.add(op(ir::WindowProductOp{other, ir::WindowPart::Keys, slots, q, dk}));
    builder.add(op(ir::WindowBiasSumOp{plain, slots, bias}));
    CHECK(ir::to_text(std::move(builder).finish().value()) ==
          "%0 q: input uid 1 FLOAT [1, 2, 6, 9, 4]\n"
          "%1 k: input uid 2 FLOAT [1, 2, 6, 9, 4]\n"
          "%2 slots = WINDOW_SLOTS(a: %0 q, b: %1 k, kernel_size=[3, 5], without_key=-inf) -> FLOAT [1, 2, 6, 9, 15]\n"
          "%4 dk = WINDOW_KEYS(a: %2 slots, b: %0 q, kernel_size=[3, 5], dilation=[1, 1], is_causal=[true, false]) -> "
          "FLOAT [1, 2, 6, 9, 4] output uid 4\n"
          "%3 bias = WINDOW_BIAS_SUM(x: %2 slots, kernel_size=[3, 5]) -> FLOAT [2, 5, 9] output uid 3\n");
}

TEST_CASE("text shows neighborhood attention as one operation, with the operands of its function") {
    ir::Builder builder;
    auto const attn = builder.add(input("attn", {1, 2, 9, 3}, 1)), v = builder.add(input("v", {1, 2, 9, 4}, 2));
    auto const o = builder.add(output("o", {1, 2, 9, 4}, 3));
    ir::NeighborhoodOp body{neighborhood::Function::Av, {{3}, {2}, {}}};
    body.operands[neighborhood::Attn] = attn;
    body.operands[neighborhood::V] = v;
    body.operands[neighborhood::O] = o;
    builder.add(op(body));
    std::string const text = ir::to_text(std::move(builder).finish().value());
    CHECK(text.substr(text.find("%2")) ==
          "%2 o = NEIGHBORHOOD_AV(V: %1 v, Attn: %0 attn, kernel_size=[3], dilation=[2]) -> FLOAT [1, 2, 9, 4] output "
          "uid 3\n");
}

TEST_CASE("text shows the first numbers of a table and how many there are") {
    auto const text_of = [](std::size_t size) {
        ir::Builder builder;
        ir::Value value = make_value(ir::Role::Constant, "table", {1, 1, 1, static_cast<std::int64_t>(size)});
        value.table.assign(size, 2.0);
        builder.add(value);
        return ir::to_text(std::move(builder).finish().value());
    };
    std::string const sixteen = "{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2";
    CHECK(text_of(16).find(sixteen + "}") != std::string::npos);
    CHECK(text_of(5000).find(sixteen + ", ... 5000 numbers}") != std::string::npos);
}

TEST_CASE("text shows loads of pages, and how many keys fused attention finds in them") {
    ir::Builder builder;
    auto const q = builder.add(input("Q", {2, 1, 4, 8}, 1)), pages = builder.add(input("pages", {5, 1, 2, 8}, 2));
    ir::Value integers = lengths("lengths", 2, 3);
    auto const length = builder.add(integers);
    integers = make_value(ir::Role::Input, "table", {2, 1, 2, 1}, 4);
    integers.type = DataType_t::INT32;
    auto const table = builder.add(integers), rows = builder.add(temporary("rows", {2, 1, 3, 8}));
    builder.add(op(ir::PagedLoadOp{.container = pages, .table = table, .length = length, .y = rows}));
    auto const o = builder.add(output("O", {2, 1, 4, 8}, 5));
    ir::SdpaForwardOp body{.keys = 3};
    body.operands[Port::Q] = q;
    body.operands[Port::K] = body.operands[Port::V] = pages;
    body.operands[Port::PageTableK] = body.operands[Port::PageTableV] = table;
    body.operands[Port::SeqLenKv] = length;
    body.operands[Port::O] = o;
    builder.add(op(body));
    std::string const text = ir::to_text(std::move(builder).finish().value());
    CHECK(text.substr(text.find("%4")) ==
          "%4 rows = PAGED_LOAD(container: %1 pages, table: %3 table, length: %2 lengths) -> FLOAT [2, 1, 3, 8]\n"
          "%5 O = SDPA_FORWARD(q: %0 Q, k: %1 pages, v: %1 pages, seq_len_kv: %2 lengths, page_table_k: %3 table, "
          "page_table_v: %3 table, keys=3) -> FLOAT [2, 1, 4, 8] output uid 5\n");
}

TEST_CASE("text names the options of fused attention and all its results") {
    ir::Builder builder;
    auto const q = builder.add(input("Q", {1, 1, 4, 8}, 1));
    auto const o = builder.add(output("O", {1, 1, 4, 8}, 2));
    auto const stats = builder.add(output("Stats", {1, 1, 4, 1}, 3));
    auto const seed = builder.constant("seed", detail::make_scalar(std::int64_t{9007199254740993}));
    ir::SdpaForwardOp body;
    for (Port const port : {Port::Q, Port::K, Port::V}) body.operands[port] = q;
    body.operands[Port::Seed] = body.operands[Port::Offset] = seed;
    body.operands[Port::O] = o;
    body.operands[Port::Stats] = stats;
    body.options.alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    body.options.right_bound = 0;
    body.options.dropout_probability = 0.25;
    builder.add(op(body, "sdpa"));
    std::string const text = ir::to_text(std::move(builder).finish().value());
    CHECK(text ==
          "%0 Q: input uid 1 FLOAT [1, 1, 4, 8]\n"
          "%3 seed: constant 9007199254740993 INT64 [1, 1, 1, 1]\n"
          "%1 O, %2 Stats = SDPA_FORWARD(q: %0 Q, k: %0 Q, v: %0 Q, seed: %3 seed, offset: %3 seed, "
          "alignment=BOTTOM_RIGHT, right_bound=0, dropout_probability=0.25) -> FLOAT [1, 1, 4, 8] output uid 2, "
          "FLOAT [1, 1, 4, 1] output uid 3  # sdpa\n");
}

TEST_CASE("DOT has boxes for operations, ellipses for values outside of them, and edges between") {
    CHECK(ir::to_dot(sample()) ==
          "digraph op_graph {\n"
          "  node [fontname=\"Helvetica\"];\n"
          "  value_0 [shape=ellipse, label=\"%0 Q\\nHALF [2, 4, 8, 16]\"];\n"
          "  value_1 [shape=ellipse, label=\"%1 K\\nFLOAT [2, 2, 5, 16]\"];\n"
          "  value_3 [shape=ellipse, label=\"%3 len\\nINT32 [2, 1, 1, 1]\"];\n"
          "  value_4 [shape=ellipse, label=\"%4 scale\\nFLOAT [1, 1, 1, 1]\"];\n"
          "  value_7 [shape=ellipse, label=\"%7 max \\\"of\\\" row\\nFLOAT [2, 4, 8, 1]\"];\n"
          "  op_0 [shape=box, label=\"MATMUL\\nattn.scores\"];\n"
          "  op_1 [shape=box, label=\"MUL\"];\n"
          "  op_2 [shape=box, label=\"REDUCE_MAX\"];\n"
          "  value_0 -> op_0 [label=\"a: %0 [2, 4, 8, 16]\"];\n"
          "  value_1 -> op_0 [label=\"b: %2 [2, 2, 16, 5]\"];\n"
          "  value_3 -> op_0 [label=\"n_override: %3 [2, 1, 1, 1]\"];\n"
          "  op_0 -> op_1 [label=\"in_0: %5 [2, 4, 8, 5]\"];\n"
          "  value_4 -> op_1 [label=\"in_1: %4 [1, 1, 1, 1]\"];\n"
          "  op_1 -> op_2 [label=\"x: %6 [2, 4, 8, 5]\"];\n"
          "  op_2 -> value_7 [label=\"y: %7 [2, 4, 8, 1]\"];\n"
          "}\n");
}

TEST_CASE("Graphviz reads the DOT text, where it is installed") {
    if (std::system("dot -V >/dev/null 2>&1") != 0) {
        sdpa_test::skip("there is no Graphviz here");
        return;
    }
    std::string const path = "print_test_graph.dot";
    std::ofstream(path) << ir::to_dot(sample());
    CHECK(std::system(("dot -Tsvg " + path + " >/dev/null").c_str()) == 0);
    std::remove(path.c_str());
}
