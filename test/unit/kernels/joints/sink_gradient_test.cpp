// The kernel of a sink's gradient, run on the host, and the refusal of arguments that it does not support.
#include "host_sink_gradient.h"
#include "support/catch.h"
#include "support/kernels/sink_gradient_cases.h"

#include <cmath>
#include <limits>

using namespace sdpa_test;
using cudnn_frontend::DataType_t;
using kernels::Operand;
using kernels::SinkGradientProblem;

namespace {

void run(KernelCase& c, unsigned seed) {
    KernelStep const& step = c.steps.front();
    std::vector<void*> pointers;
    for (std::size_t const tensor : step.tensors) pointers.push_back(c.tensors[tensor].data());
    run_on_host(step.sink_gradient(), pointers, seed);
}

std::string refusal(SinkGradientProblem const& problem) {
    return kernels::compile_sink_gradient(problem, {90, 132}).error().err_msg;
}

}  // namespace

TEST_CASE("the gradient of a sink is what the formula says, and the same bits whichever warps are slower") {
    int ragged = 0;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        KernelCase c = random_sink_case(seed);
        INFO(seed << ": " << c.text());
        ragged += is_ragged(c);
        KernelTensors const before = c.tensors;
        run(c, 1);
        CHECK(fault_of_sink_gradient(c) == "");
        for (std::size_t const input : {SinkTensor::O, SinkTensor::GradO, SinkTensor::Stats, SinkTensor::Sink})
            CHECK(c.tensors[input].bytes == before[input].bytes);
        std::vector<std::byte> const first = c.tensors[SinkTensor::Gradient].bytes;
        run(c, 1000);
        CHECK(c.tensors[SinkTensor::Gradient].bytes == first);
    }
    CHECK(ragged >= 5);
}

TEST_CASE("a gradient of a sink that lacks a row is found") {
    KernelCase c = random_sink_case(3);
    REQUIRE(length_of(c, 0) > 0);
    KernelCase changed = c;
    changed.tensors[SinkTensor::Stats].set(row_of(c, SinkTensor::Stats, 0, 0, 0), 0.5);
    for (std::int64_t d = 0; d < c.tensors[SinkTensor::O].operand.dims[3]; ++d) {
        changed.tensors[SinkTensor::O].set(row_of(c, SinkTensor::O, 0, 0, 0) + d, 1.0);
        changed.tensors[SinkTensor::GradO].set(row_of(c, SinkTensor::GradO, 0, 0, 0) + d, 1.0);
    }
    run(c, 1);
    changed.tensors[SinkTensor::Gradient] = c.tensors[SinkTensor::Gradient];
    CHECK(fault_of_sink_gradient(changed).starts_with("head 0: found "));
}

TEST_CASE("NaN in a row that counts shows in its head's gradient alone") {
    KernelCase c = random_sink_case(3);
    REQUIRE(c.tensors[SinkTensor::O].operand.dims[1] > 1);
    REQUIRE(length_of(c, 0) > 0);
    c.tensors[SinkTensor::Stats].set(row_of(c, SinkTensor::Stats, 0, 0, 0), 1.0);
    c.tensors[SinkTensor::O].set(row_of(c, SinkTensor::O, 0, 0, 0), std::numeric_limits<double>::quiet_NaN());
    run(c, 1);
    CHECK(std::isnan(c.tensors[SinkTensor::Gradient].get(0)));
    CHECK_FALSE(std::isnan(c.tensors[SinkTensor::Gradient].get(1)));
}

TEST_CASE("operands of a sink's gradient that do not fit are refused by name") {
    SinkGradientProblem const good = random_sink_case(0).steps.front().sink_gradient();
    auto const changed = [&](auto const& change) {
        SinkGradientProblem problem = good;
        change(problem);
        return refusal(problem);
    };
    CHECK(changed([](auto& p) {
              p.o.operand.dims = {1, 2};
          }) == "sink_gradient: O: found dims [1, 2]; expected batches, heads, rows and columns.");
    CHECK(changed([](auto& p) { p.d_o.operand.type = DataType_t::INT32; }) ==
          "sink_gradient: dO: found type INT32; expected BFLOAT16, HALF or FLOAT.");
    CHECK(changed([](auto& p) { p.stats.operand.type = DataType_t::HALF; }) ==
          "sink_gradient: Stats: found type HALF; expected FLOAT.");
    CHECK(changed([](auto& p) {
              p.lengths = Operand{DataType_t::INT64, {1, 1, 1, 1}, {1, 1, 1, 1}};
          }) == "sink_gradient: lengths: found type INT64; expected INT32.");
    CHECK(changed([](auto& p) {
              p.sink.dims = {1, 9, 1, 1};
          }).starts_with("sink_gradient: the sink: found dims [1, 9, 1, 1]; expected [1, "));
    CHECK(changed([](auto& p) {
              p.gradient.strides.pop_back();
          }).starts_with("sink_gradient: the gradient: found strides ["));
    CHECK(changed([](auto& p) {
              p.o.offsets = SinkGradientProblem::RaggedOffsets{DataType_t::FLOAT, 1};
          }) == "sink_gradient: a ragged offset: found type FLOAT; expected INT32 or INT64.");
    CHECK(kernels::compile_sink_gradient(good, {75, 40})
              .error()
              .err_msg.starts_with("sink_gradient: found compute capability 7.5"));
}
