// Plans by engines for all shapes, resized for described GPUs on machines without one.
#include <cudnn_frontend/resized_plan.h>

#include "lowering/has_cudnn.h"
#include "support/catch.h"

#include <cudnn_frontend/graph.h>

#include <map>
#include <random>
#include <vector>

using namespace cudnn_frontend;
using graph::Graph;
using graph::Resized_plan;
using graph::Tensor_attributes;
using graph::Tensor_shape;

namespace {

using Dims = std::vector<std::int64_t>;

struct TrainingSizes {
    std::int64_t batches = 2, heads = 8, key_heads = 4, tokens = 512, columns = 128;
};

enum Uid : std::int64_t { Q = 1, K, V, O, Stats, DO, DQ, DK, DV };

Dims dims_of(TrainingSizes const& n, std::int64_t uid) {
    bool const has_keys = uid == Uid::K || uid == Uid::V || uid == Uid::DK || uid == Uid::DV;
    return {n.batches, has_keys ? n.key_heads : n.heads, n.tokens, uid == Uid::Stats ? 1 : n.columns};
}
// The memory is in the order [batch, tokens, heads, columns].
Dims strides_of(TrainingSizes const& n, std::int64_t uid) {
    Dims const dims = dims_of(n, uid);
    return {dims[1] * dims[2] * dims[3], dims[3], dims[1] * dims[3], 1};
}

class Pass {
   public:
    Pass(TrainingSizes const& n, bool is_backward) : n_(n) {
        graph_.set_io_data_type(DataType_t::BFLOAT16).set_intermediate_data_type(DataType_t::FLOAT);
        graph_.set_compute_data_type(DataType_t::FLOAT);
        if (is_backward) backward();
        else forward();
    }
    Graph& graph() { return graph_; }

   private:
    std::shared_ptr<Tensor_attributes> input(Uid uid) {
        return graph_.tensor(Tensor_attributes()
                                 .set_uid(uid)
                                 .set_dim(dims_of(n_, uid))
                                 .set_stride(strides_of(n_, uid))
                                 .set_data_type(uid == Uid::Stats ? DataType_t::FLOAT : DataType_t::BFLOAT16));
    }
    void result(std::shared_ptr<Tensor_attributes> const& tensor, Uid uid) {
        tensor->set_output(true).set_uid(uid).set_dim(dims_of(n_, uid)).set_stride(strides_of(n_, uid));
    }
    void forward() {
        auto options = graph::SDPA_attributes().set_attn_scale(0.1f).set_generate_stats(true).set_causal_mask(true);
        auto const [o, stats] = graph_.sdpa(input(Uid::Q), input(Uid::K), input(Uid::V), options);
        result(o, Uid::O);
        result(stats, Uid::Stats);
        stats->set_data_type(DataType_t::FLOAT);
    }
    void backward() {
        auto options = graph::SDPA_backward_attributes().set_attn_scale(0.1f).set_causal_mask(true);
        auto const [dq, dk, dv] = graph_.sdpa_backward(input(Uid::Q), input(Uid::K), input(Uid::V), input(Uid::O),
                                                       input(Uid::DO), input(Uid::Stats), options);
        result(dq, Uid::DQ);
        result(dk, Uid::DK);
        result(dv, Uid::DV);
    }

    TrainingSizes n_;
    Graph graph_;
};

error_object resize(Graph const& graph, TrainingSizes const& n, bool is_backward, Resized_plan& made) {
    std::map<std::int64_t, Dims> dims, strides;
    std::vector<Tensor_shape> shapes;
    for (std::int64_t uid = Uid::Q; uid <= (is_backward ? Uid::DV : Uid::Stats); ++uid) {
        dims[uid] = dims_of(n, uid);
        strides[uid] = strides_of(n, uid);
        shapes.push_back({uid, dims[uid].data(), strides[uid].data(), dims[uid].size()});
    }
    return Resized_plan::make(graph, shapes.data(), shapes.size(), made);
}

error_object build(Graph& graph, ShapePolicy_t policy = ShapePolicy_t::ALL_SHAPES) {
    return graph.set_shape_policy(policy).build(Target::offline("h200"));
}

}  // namespace

TEST_CASE("a plan for all shapes is resized to the sizes of another graph", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    std::mt19937 random(3);
    auto const any = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    for (bool const is_backward : {false, true}) {
        Pass first({}, is_backward);
        REQUIRE(build(first.graph()).get_message() == "");
        for (int i = 0; i < 10; ++i) {
            std::int64_t const key_heads = any(1, 4);
            TrainingSizes const n{any(1, 4), key_heads * any(1, 3), key_heads, any(1, 1000)};
            Pass other(n, is_backward);
            REQUIRE(build(other.graph()).get_message() == "");
            Resized_plan resized;
            REQUIRE(resize(first.graph(), n, is_backward, resized).get_message() == "");
            CHECK(resized.is_made());
            CHECK(resized.get_workspace_size() == other.graph().get_workspace_size());
        }
    }
}

TEST_CASE("sizes that leave multiprocessors without work are refused as slow ones", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Pass pass({}, false);
    REQUIRE(build(pass.graph()).get_message() == "");
    Resized_plan resized;
    auto const refusal = resize(pass.graph(), {1, 1, 1, 2048, 128}, false, resized);
    CHECK(refusal.get_code() == error_code_t::HEURISTIC_QUERY_FAILED);
    CHECK(refusal.get_message() == "the engine 'attention' has too few tiles here for the multiprocessors");
    CHECK(!resized.is_made());
}

TEST_CASE("only plans for all shapes are resized", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Pass pass({.heads = 4, .tokens = 4096}, true);  // whose exact plan is by the same engine
    REQUIRE(build(pass.graph(), ShapePolicy_t::EXACT).get_message() == "");
    Resized_plan resized;
    CHECK(resize(pass.graph(), {}, true, resized).get_code() == error_code_t::GRAPH_NOT_SUPPORTED);
}

TEST_CASE("head dims stay those of the graph", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Pass pass({}, false);
    REQUIRE(build(pass.graph()).get_message() == "");
    Resized_plan resized;
    CHECK(resize(pass.graph(), {.columns = 64}, false, resized).get_message() ==
          "Q: found a head dim of 64; expected 128. Try: build a graph of these shapes.");
}

TEST_CASE("filters of a graph hold for its resized plans", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Pass pass({}, true);
    REQUIRE(build(pass.graph()).get_message() == "");
    pass.graph().deselect_workspace_greater_than(pass.graph().get_workspace_size());
    Resized_plan resized;
    CHECK(resize(pass.graph(), {.tokens = 500}, true, resized).get_message() == "");
    auto const refusal = resize(pass.graph(), {.tokens = 1000}, true, resized);
    CHECK(refusal.get_code() == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(refusal.get_message().starts_with("the graph's filters bar the resized plan: "));
}

TEST_CASE("a resized plan does not need its graph, and runs on the queues of its target", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Resized_plan resized;
    {
        Pass pass({}, false);
        REQUIRE(build(pass.graph()).get_message() == "");
        REQUIRE(resize(pass.graph(), {3, 8, 4, 100}, false, resized).get_message() == "");
    }
    std::map<std::int64_t, void*> const pack;
    CHECK(resized.execute(Cuda_stream(nullptr), pack, nullptr).get_message() ==
          "the plan was built for a cuDNN handle, and the call has a Cuda_stream; pass a handle, whose stream "
          "runtime::set_stream() sets");
    CHECK(resized.execute(cudnnHandle_t(nullptr), pack, nullptr).is_bad());
}
