// Which forms of kernels compute a problem of neighborhood attention, and how they are launched.
#include "kernels/neighborhood/neighborhood_forms.h"

#include "kernels/neighborhood/neighborhood_launch.h"
#include "support/catch.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using namespace cudnn_frontend;
using kernels::NeighborhoodForm;
using kernels::NeighborhoodKernelProblem;
using kernels::NeighborhoodTensor;
using kernels::NeighborhoodWork;
using kernels::Operand;
using neighborhood::Axis;

namespace {

constexpr kernels::DeviceFacts kH200{90, 132};
constexpr std::int64_t kBatches = 2, kHeads = 3;
std::vector<Axis> const kImage{{.length = 64, .kernel = 7}, {.length = 64, .kernel = 7}};

Operand packed(DataType_t type, core::Dims dims) {
    core::Dims strides = core::packed_strides(dims);
    return {type, std::move(dims), std::move(strides)};
}

struct Sizes {
    std::vector<Axis> axes = kImage;
    std::int64_t columns = 64;
    DataType_t type = DataType_t::BFLOAT16;
};

NeighborhoodKernelProblem problem_of(NeighborhoodWork work, std::vector<NeighborhoodTensor> const& tensors,
                                     Sizes const& sizes = {}) {
    NeighborhoodKernelProblem problem{.work = work, .axes = sizes.axes, .operands = {}};
    core::Dims tokens{kBatches, kHeads};
    for (Axis const& axis : sizes.axes) tokens.push_back(axis.length);
    for (NeighborhoodTensor const tensor : tensors) {
        bool const is_statistic = tensor == kernels::Stats || tensor == kernels::Delta;
        bool const is_pair = tensor == kernels::QueryStatistics;
        bool const is_float = is_statistic || is_pair || tensor == kernels::QuerySums;
        core::Dims dims = tokens;
        dims.push_back(is_statistic ? 1 : is_pair ? 2 : sizes.columns);
        problem.operands[tensor] = packed(is_float ? DataType_t::FLOAT : sizes.type, dims);
    }
    return problem;
}

NeighborhoodKernelProblem forward(Sizes const& sizes = {}) {
    return problem_of(NeighborhoodWork::Forward,
                      {kernels::Queries, kernels::Keys, kernels::Values, kernels::Output, kernels::Stats}, sizes);
}

NeighborhoodKernelProblem gradient_start(Sizes const& sizes = {}) {
    return problem_of(
        NeighborhoodWork::GradientStart,
        {kernels::Output, kernels::Stats, kernels::OutputGradient, kernels::QueryStatistics, kernels::QuerySums},
        sizes);
}

NeighborhoodKernelProblem gradients(Sizes const& sizes = {}) {
    return problem_of(NeighborhoodWork::Gradients,
                      {kernels::Queries, kernels::Keys, kernels::Values, kernels::OutputGradient,
                       kernels::QueryStatistics, kernels::QuerySums, kernels::KeyGradient, kernels::ValueGradient},
                      sizes);
}

NeighborhoodKernelProblem gradient_end(Sizes const& sizes = {}) {
    return problem_of(NeighborhoodWork::GradientEnd, {kernels::QuerySums, kernels::QueryGradient}, sizes);
}

NeighborhoodKernelProblem query_gradients() {
    return problem_of(NeighborhoodWork::QueryGradients,
                      {kernels::Queries, kernels::Keys, kernels::Values, kernels::Output, kernels::Stats,
                       kernels::OutputGradient, kernels::Delta, kernels::QueryGradient});
}

NeighborhoodKernelProblem with_bias(NeighborhoodKernelProblem problem) {
    problem.operands[kernels::Bias] = packed(problem.example().type, {kHeads, 13, 13});
    return problem;
}

std::string reason(NeighborhoodKernelProblem const& problem, NeighborhoodForm form,
                   kernels::DeviceFacts device = kH200) {
    REQUIRE(kernels::check(problem).err_msg == "");
    return kernels::reason_against(problem, form, device);
}

kernels::NeighborhoodLaunch launch_of(NeighborhoodKernelProblem const& problem) {
    REQUIRE(reason(problem, NeighborhoodForm::Warpgroups) == "");
    return kernels::neighborhood_launch(problem, NeighborhoodForm::Warpgroups);
}

using Bits = std::array<int, kernels::kMostAxes>;

Bits bits_of(NeighborhoodKernelProblem const& problem, NeighborhoodForm form = NeighborhoodForm::Warpgroups) {
    Bits bits{};
    std::ranges::copy(kernels::neighborhood_launch(problem, form).arguments.tiles.bits, bits.begin());
    return bits;
}

std::string code_of(NeighborhoodKernelProblem const& problem) {
    std::string const text = kernels::neighborhood_code(problem, NeighborhoodForm::Warpgroups, 90).text();
    return text.substr(0, text.rfind(' '));  // without the digest
}

}  // namespace

TEST_CASE("warpgroups compute fused attention on 9.0 alone") {
    constexpr auto kForm = NeighborhoodForm::Warpgroups;
    CHECK(reason(forward(), kForm) == "");
    CHECK(reason(forward({.columns = 64, .type = DataType_t::HALF}), kForm) == "");
    CHECK(reason(forward({.columns = 128}), kForm) == "");
    CHECK(reason(gradients({.columns = 128}), kForm) == "");
    for (NeighborhoodKernelProblem const& problem : {gradient_start(), gradients(), gradient_end()}) {
        CHECK(reason(problem, kForm) == "");
        for (NeighborhoodForm const other : {NeighborhoodForm::Tokens, NeighborhoodForm::Tiles}) {
            CHECK(reason(problem, other) == "gradients in one pass are computed by warpgroups");
        }
    }
    for (int const capability : {80, 89, 100, 120}) {
        CHECK(reason(forward(), kForm, {capability, 132}) == "warpgroups need compute capability 9.0");
        CHECK(reason(forward(), NeighborhoodForm::Tiles, {capability, 132}) == "");
    }
}

TEST_CASE("what warpgroups do not compute is told") {
    constexpr auto kForm = NeighborhoodForm::Warpgroups;
    CHECK(reason(with_bias(forward()), kForm) == "warpgroups support no bias");
    CHECK(reason(with_bias(query_gradients()), kForm) == "warpgroups support no bias");
    CHECK(reason(query_gradients(), kForm) == "warpgroups compute all gradients in one pass");
    CHECK(reason(forward({.type = DataType_t::FLOAT}), kForm) == "warpgroups need BFLOAT16 or HALF");
    std::string const rows =
        "warpgroups need rows of a multiple of 8 columns, at most 128, which begin at multiples of 16 bytes";
    CHECK(reason(forward({.columns = 136}), kForm) == rows);
    CHECK(reason(gradient_end({.columns = 12}), kForm) == rows);
    NeighborhoodKernelProblem scattered = gradients();
    scattered.operands[kernels::KeyGradient]->strides[1] += 4;
    scattered.operands[kernels::KeyGradient]->strides[0] += 12;
    CHECK(reason(scattered, kForm) == rows);
    NeighborhoodKernelProblem product = problem_of(NeighborhoodWork::WindowQueries, {kernels::Queries, kernels::Keys});
    core::Dims slots = product.operand(kernels::Queries).dims;
    slots.back() = 49;
    product.operands[kernels::Slots] = packed(DataType_t::BFLOAT16, slots);
    CHECK(reason(product, kForm) == "functions that are not fused have no matrix products");
    // Places along such axes do not fit one word, which warpgroups do not need.
    std::vector<Axis> const wide{{.length = 1 << 15, .kernel = 3}, {.length = 1 << 11, .kernel = 3}, {.length = 2}};
    CHECK(reason(forward({.axes = wide}), kForm) == "");
    CHECK(reason(forward({.axes = wide}), NeighborhoodForm::Tiles) ==
          "tiles need axes, windows and a bias that are counted in 32 bits");
    // check() allows one head that many.
    NeighborhoodKernelProblem line = forward({.axes = {{.length = 8, .kernel = 3}}});
    for (long long const length : {1ll << 30, (1ll << 30) + 1}) {
        line.axes.front().length = length;
        std::string const expected = length > 1 << 30 ? "warpgroups need axes and windows of at most 2^30 tokens" : "";
        CHECK(kernels::reason_against(line, kForm, kH200) == expected);
    }
}

TEST_CASE("sums for the queries are FLOAT, with the dims of the queries and the order of their statistics") {
    NeighborhoodKernelProblem problem = gradients();
    problem.operands[kernels::QuerySums]->type = DataType_t::BFLOAT16;
    CHECK(kernels::check(problem).err_msg == "neighborhood: query sums: found type BFLOAT16; expected FLOAT.");
    problem = gradient_end();
    problem.operands[kernels::QuerySums] = packed(DataType_t::FLOAT, {kBatches, kHeads, 64, 64, 72});
    CHECK(kernels::check(problem).err_msg ==
          "neighborhood: query sums: found dims [2, 3, 64, 64, 72]; expected [2, 3, 64, 64, 64], all positive.");
    problem = gradient_start();
    problem.operands[kernels::QuerySums].reset();
    CHECK(kernels::check(problem).err_msg == "neighborhood: the problem: found no query sums; expected one.");
    for (NeighborhoodKernelProblem moved : {gradient_start(), gradients()}) {
        moved.operands[kernels::QuerySums]->strides[0] += 64;
        CHECK(kernels::check(moved).err_msg ==
              "neighborhood: query sums: found strides [786496, 262144, 4096, 64, 1]; expected 64 / 2 times those of "
              "query statistics, [24576, 8192, 128, 2, 1], all even except the last ones, which are 1.");
        moved.operands[kernels::QueryStatistics]->strides[0] += 2;
        CHECK(kernels::check(moved).err_msg == "");
    }
    problem = with_bias(gradients());
    CHECK(kernels::check(problem).err_msg == "neighborhood: the problem: found bias; expected none.");
}

TEST_CASE("a tile of warpgroups has 128 tokens, in the shape that sees the fewest keys") {
    auto const all_have = [](std::vector<Axis> const& axes, Bits const& bits) {
        for (std::int64_t const columns : {64, 128}) {
            CHECK(bits_of(forward({.axes = axes, .columns = columns})) == bits);
            CHECK(bits_of(gradients({.axes = axes, .columns = columns})) == bits);
        }
    };
    all_have(kImage, {0, 3, 4});
    all_have({{.length = 4096, .kernel = 65}}, {0, 0, 7});
    all_have({{.length = 1}}, {0, 0, 7});
    // Fewer keys are visible to tiles at the ends than to those in between.
    all_have({{.length = 16, .kernel = 7}, {.length = 32, .kernel = 7}, {.length = 32, .kernel = 7}}, {3, 2, 2});
    // Along a short axis with wide windows, all keys are visible to all tokens.
    all_have({{.length = 16, .kernel = 15}, {.length = 32, .kernel = 15}, {.length = 32, .kernel = 15}}, {4, 1, 2});
    // Five tokens of a group along the second axis.
    all_have({{.length = 1}, {.length = 40, .kernel = 5, .dilation = 8}, {.length = 40, .kernel = 5}}, {0, 3, 4});
}

TEST_CASE("warpgroups are launched a block for each tile, and a thread for eight columns before and after") {
    constexpr unsigned kTiles = kBatches * kHeads * 4 * 8;  // of 128 tokens
    constexpr unsigned kRows = kBatches * kHeads * 64 * 64;
    for (bool const is_wide : {false, true}) {
        Sizes const sizes{.columns = is_wide ? 72 : 40};
        int const columns = is_wide ? 128 : 64;
        for (NeighborhoodKernelProblem const& problem : {forward(sizes), gradients(sizes)}) {
            auto const launch = launch_of(problem);
            bool const of_gradients = problem.work == NeighborhoodWork::Gradients;
            CHECK(launch.blocks == kTiles);
            int const threads = of_gradients ? kernels::gradient_threads(columns) : kernels::kWarpgroupTileThreads;
            CHECK(launch.threads == static_cast<unsigned>(threads));
            CHECK(launch.shared_bytes == static_cast<unsigned>(kernels::warpgroup_shared_bytes(columns, of_gradients)));
        }
        for (NeighborhoodKernelProblem const& problem : {gradient_start(sizes), gradient_end(sizes)}) {
            auto const launch = launch_of(problem);
            CHECK(launch.blocks == kRows * static_cast<unsigned>(columns) / 8 / kernels::kWarpgroupTileThreads);
            CHECK(launch.threads == kernels::kWarpgroupTileThreads);
            CHECK(launch.shared_bytes == 0);
            CHECK(launch.arguments.columns == sizes.columns);
        }
    }
    Sizes const few{.axes = {{.length = 5, .kernel = 3}}, .columns = 8};
    CHECK(launch_of(gradient_start(few)).blocks == 1);
}

TEST_CASE("code of warpgroups is compiled for 9.0's own features, by type and 64 or 128 columns") {
    CHECK(code_of(forward({.columns = 8})) == "neighborhood_forward_warpgroups X=bfloat16 WARPGROUP_COLUMNS=64 sm_90a");
    CHECK(code_of(gradients({.columns = 72, .type = DataType_t::HALF})) ==
          "neighborhood_backward_warpgroups X=half WARPGROUP_COLUMNS=128 sm_90a");
    std::string const backward = "neighborhood_backward_warpgroups X=bfloat16 WARPGROUP_COLUMNS=64 sm_90a";
    std::vector<std::string> functions;
    for (NeighborhoodKernelProblem const& problem : {gradient_start(), gradients(), gradient_end()}) {
        CHECK(code_of(problem) == backward);
        auto const code = kernels::neighborhood_code(problem, NeighborhoodForm::Warpgroups, 90);
        functions.push_back(code.functions.at(kernels::neighborhood_function(problem.work)));
    }
    CHECK(functions == std::vector<std::string>{"neighborhood_gradient_start", "neighborhood_gradients",
                                                "neighborhood_gradient_end"});
}

TEST_CASE("rows of warpgroups begin at multiples of 16 bytes, and only sums in any order may differ between runs") {
    using Alignments = std::vector<std::size_t>;
    CHECK(kernels::alignments_of(gradient_start(), NeighborhoodForm::Warpgroups) == Alignments{16, 4, 16, 16, 16});
    CHECK(kernels::alignments_of(gradient_end(), NeighborhoodForm::Warpgroups) == Alignments{16, 16});
    CHECK_FALSE(kernels::is_deterministic(NeighborhoodWork::Gradients));
    for (NeighborhoodWork const work : {NeighborhoodWork::Forward, NeighborhoodWork::QueryGradients,
                                        NeighborhoodWork::GradientStart, NeighborhoodWork::GradientEnd}) {
        CHECK(kernels::is_deterministic(work));
    }
}
