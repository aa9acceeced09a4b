// The gradients of biases that scores share, which are sums.
#include "kernel_cases.h"
#include "support/catch.h"

#include <string>

using namespace sdpa_test;

namespace {

// The dims of the scores, or 1 for those with a bit.
Index4 dims_without(AttentionCase const& c, unsigned shared) {
    Index4 dims{c.b, c.h_q, c.s_q, c.s_kv};
    for (std::size_t dim = 0; dim < dims.size(); ++dim) {
        if ((shared >> dim & 1u) != 0) dims[dim] = 1;
    }
    return dims;
}

// Several tiles of queries and of keys, the last ones not whole. Half of the biases have the dims of the scores.
AttentionCase case_with_shared_gradient(unsigned shared, Columns const& columns) {
    AttentionCase c = plain_case(DataType_t::BFLOAT16, columns);
    c.seed = shared;
    c.b = 2;
    c.h_q = 4;
    c.h_k = c.h_v = 2;
    c.s_q = 150;
    c.s_kv = 200;
    c.right = 20;
    if (columns.d_qk <= 64) {
        c.alibi = true;
        c.bias_type = DataType_t::BFLOAT16;
    }
    c.d_bias = true;
    c.d_bias_dim = dims_without(c, shared);
    c.bias = shared % 2 == 0 ? *c.d_bias_dim : dims_without(c, 0);
    return c;
}

std::string faults_of(AttentionCase const& c) { return check_case(c, rig_of_kernel()).faults(); }

}  // namespace

TEST_CASE("the gradient of a bias is the sum over the scores that share it, whatever dims they share") {
    constexpr unsigned kAllDims = 16;
    for (unsigned shared = 1; shared < kAllDims; ++shared) {
        AttentionCase const c =
            case_with_shared_gradient(shared, shared % 3 == 0 ? Columns{128, 128} : Columns{64, 64});
        INFO(describe(c));
        CHECK(faults_of(c) == "");
    }
}

TEST_CASE("sums of gradients of a bias leave out rows behind sequences, and packed sequences have them") {
    AttentionCase c = case_with_shared_gradient(3, {64, 64});
    c.len_q = {150, 70};
    c.len_kv = {130, 200};
    CHECK(faults_of(c) == "");
    c.input_layout = c.output_layout = Layout::Ragged;
    CHECK(faults_of(c) == "");
}
