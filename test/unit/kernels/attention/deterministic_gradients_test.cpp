// Graph::set_deterministic_algorithm() by the kernels of attention, on the host.
#include "kernel_cases.h"
#include "support/catch.h"

#include <string>
#include <vector>

using namespace sdpa_test;

namespace {

// Several tiles of queries and of keys, the last ones not whole, and heads that share keys.
AttentionCase deterministic_case(Columns const& columns) {
    AttentionCase c = plain_case(DataType_t::BFLOAT16, columns);
    c.b = 1;
    c.h_q = 2;
    c.s_q = 150;
    c.s_kv = 400;
    c.deterministic = true;
    return c;
}

void check_order(AttentionCase const& c) {
    INFO(describe(c));
    ShuffledRuns const runs = shuffled_runs(c);
    CHECK(runs.faults == "");
    CHECK(runs.sums.size() == 1);
}

// Two sequences with lengths, padded and packed.
void check_order_of_sequences(AttentionCase c) {
    c.b = 2;
    c.len_q = {150, 70};
    c.len_kv = {130, 400};
    check_order(c);
    c.input_layout = c.output_layout = Layout::Ragged;
    check_order(c);
}

}  // namespace

TEST_CASE("deterministic gradients have the same bits in whatever order blocks add, and others do not") {
    for (Columns const& columns : {Columns{64, 64}, Columns{128, 128}, Columns{192, 128}, Columns{256, 256}}) {
        AttentionCase c = deterministic_case(columns);
        check_order(c);
        c.deterministic = false;
        CHECK(shuffled_runs(c).sums.size() > 1);
    }
}

// Where heads do not share keys, and tiles are many for the two multiprocessors, the last tiles of keys come first.
TEST_CASE("deterministic gradients have the same bits where the last tiles of keys add first") {
    AttentionCase c = deterministic_case({64, 64});
    c.h_k = c.h_v = c.h_q;
    check_order(c);
    c.right = 0;
    check_order(c);
    c.alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    c.left = 100;
    check_order(c);
    c.left = {};
    check_order_of_sequences(c);
}

TEST_CASE("deterministic gradients have the same bits where tiles of shared keys begin in runs") {
    AttentionCase c = deterministic_case({64, 64});
    c.h_q = 4;
    c.s_kv = 2048;  // runs of two of 16 tiles
    c.right = 0;
    c.alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    check_order(c);
}

TEST_CASE("deterministic gradients wait for the tiles of keys that a mask shows to their queries") {
    struct Band {
        std::optional<int> left, right;
    };
    for (DiagonalAlignment_t const alignment : {DiagonalAlignment_t::TOP_LEFT, DiagonalAlignment_t::BOTTOM_RIGHT}) {
        for (Band const& band : {Band{{}, 0}, Band{100, 0}, Band{30, {}}, Band{1, 200}}) {
            AttentionCase c = deterministic_case({64, 64});
            c.alignment = alignment;
            c.left = band.left;
            c.right = band.right;
            check_order(c);
        }
    }
}

TEST_CASE("deterministic gradients know lengths, packed sequences and sinks") {
    AttentionCase c = deterministic_case({64, 64});
    c.sink = DataType_t::FLOAT;
    c.d_sink = true;
    check_order(c);
    c.right = 0;
    check_order_of_sequences(c);
}

TEST_CASE("deterministic gradients leave out blocks that documents hide, and no tile waits for one of them") {
    AttentionCase c = deterministic_case({64, 64});
    c.seed = 1;  // documents that follow each other
    c.h_q = 1;
    c.s_q = 2200;  // more blocks than a word has bits
    c.s_kv = 1000;
    c.modifier = oracle::Modify::Documents;
    check_order(c);
    c.h_q = 2;  // with a causal mask and shared keys, the first tile of keys adds first
    c.right = 0;
    check_order(c);
}

TEST_CASE("deterministic gradients of a bias that queries share are those of one block") {
    AttentionCase c = deterministic_case({64, 64});
    c.b = 2;
    c.alibi = true;
    c.bias_type = DataType_t::BFLOAT16;
    c.bias = Index4{c.b, c.h_q, 1, c.s_kv};
    c.d_bias = true;
    c.d_bias_dim = c.bias;
    check_order(c);
    c.bias = c.d_bias_dim = Index4{c.b, 1, 1, c.s_kv};
    check_order(c);
}
