#include "gpu/features/feature_checks.h"

#include "gpu/this_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sdpa_test {

static int failure_count = 0;

void expect(bool holds, std::string const& what) {
    std::printf("%-64s %s\n", what.c_str(), holds ? "ok" : "FAILED");
    failure_count += holds ? 0 : 1;
}

void expect_good(Error const& error, std::string const& what) {
    expect(error.is_good(), what + (error.is_good() ? "" : ": " + error.err_msg));
}

bool expect_plan(Error const& error, std::string const& what) {
    bool const is_limit = error.err_msg.find("[cudnn.s") != std::string::npos;
    if (is_limit && compute_capability() != 90) {
        std::printf("%-64s refused: %s\n", what.c_str(), error.err_msg.c_str());
        return false;
    }
    expect_good(error, what);
    return error.is_good();
}

void expect_bad(Error const& error, char const* part, std::string const& what) {
    expect(error.is_bad() && error.err_msg.find(part) != std::string::npos, what + ": " + error.err_msg);
}

void expect_near(HostTensor const& actual, HostTensor const& wanted, std::string const& name) {
    double const roundings = actual.type == DataType_t::HALF ? 0x1p-9 : 0x1p-6;  // four units
    double worst = 0.0, largest = 0.0;
    for_each_index(actual.dim, [&](Index4 const& at) {
        double const off = std::abs(actual.get(at) - wanted.get(at));
        if (!(off <= worst) && !std::isnan(worst)) worst = off;  // a difference that is no number stays
        largest = std::max(largest, std::abs(wanted.get(at)));
    });
    expect(worst < roundings * largest, name + " off by " + std::to_string(worst) + " of " + std::to_string(largest));
}

int failures() { return failure_count; }

AttentionCase feature_case() {
    AttentionCase c;
    c.type = c.result_type = c.bias_type = DataType_t::BFLOAT16;
    c.b = 2, c.h_q = 4, c.h_k = c.h_v = 2, c.s_q = 200, c.s_kv = 200, c.d_qk = c.d_v = 64;
    c.input_layout = c.output_layout = Layout::Bshd;
    c.scale = Scale::ByValue, c.scale_value = 0.125f;
    c.right = 0, c.alibi = true;
    return c;
}

}  // namespace sdpa_test
