// Plans of classes of calls for a GPU, without one.
#include "neighborhood/shapes.h"

#include "lowering/has_cudnn.h"
#include "support/catch.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace na = sdpa_graph::neighborhood;
using cudnn_frontend::DataType_t;
using cudnn_frontend::Target;
using sdpa_graph::Tensor_view;
using enum na::Port;

namespace {

using Dims = std::vector<std::int64_t>;

// A view of two batch entries and four heads of 64; nothing reads the memory.
Tensor_view view(DataType_t type, Dims const& space, bool has_columns) {
    Dims dim{2};
    dim.insert(dim.end(), space.begin(), space.end());
    dim.push_back(4);
    if (has_columns) dim.push_back(64);
    return {reinterpret_cast<void*>(4096), dim, sdpa_graph::row_major(dim), type};
}

std::string engine_of_gradients(Dims const& space, std::int64_t kernel, bool is_deterministic) {
    sdpa_graph::Place const place{.is_deterministic = is_deterministic};
    na::Call call{
        .function = na::Function::Backward,
        .options = {Dims(space.size(), kernel), Dims(space.size(), 1), std::vector<bool>(space.size(), false)},
        .tensors = {},
        .attn_scale = 0.125f,
        .hints = {},
        .place = &place};
    Tensor_view const rows = view(DataType_t::BFLOAT16, space, true), sums = view(DataType_t::FLOAT, space, false);
    for (na::Port const port : {Q, K, V, O, DO, DQ, DK, DV}) call.set(port, rows);
    call.set(Stats, sums);
    Target const target = Target::offline("h200");
    cudnn_frontend::graph::Graph graph;
    na::describe(na::shapes_of(call, target), graph);
    REQUIRE(graph.build(target).get_message() == "");
    std::string name;
    REQUIRE(graph.get_plan_name(name).is_good());
    return name;
}

}  // namespace

TEST_CASE("gradients of a place that is deterministic are computed by kernels that give the same bits", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    CHECK(engine_of_gradients({24, 24}, 7, false) == "neighborhood_warpgroups");
    CHECK(engine_of_gradients({24, 24}, 7, true) == "neighborhood_tiles");
    CHECK(engine_of_gradients({16384}, 257, false) != "neighborhood_tiles");
    CHECK(engine_of_gradients({16384}, 257, true) == "neighborhood_tiles");
}
