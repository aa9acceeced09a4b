// The division by which a dilated window finds multiples, in a GPU's single precision. Target::cpu(), which keeps more
// digits, would not show where that is too coarse.
#include "api/graph/graph_impl.h"
#include "core/data_type.h"
#include "support/catch.h"

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/score_modifiers.h>

#include <algorithm>
#include <cmath>

namespace fe = cudnn_frontend;
using fe::PointwiseMode_t;
namespace pointwise = fe::nodes::pointwise;

namespace {

constexpr std::int32_t kFurthest = 1 << 20;

fe::nodes::GraphSpec window(std::int32_t reach, std::int32_t step) {
    fe::graph::Graph graph;
    graph.set_io_data_type(fe::DataType_t::HALF).set_compute_data_type(fe::DataType_t::FLOAT);
    graph.set_intermediate_data_type(fe::DataType_t::FLOAT);
    auto const rows = [&] {
        return graph.tensor(fe::graph::Tensor_attributes().set_dim({1, 1, 4, 8}).set_stride({32, 32, 8, 1}));
    };
    auto const q = rows(), k = rows(), v = rows();
    auto options = fe::graph::SDPA_attributes().set_generate_stats(false);
    options.set_score_mod(fe::graph::attn::score_modifiers::dilated_window(reach, step));
    graph.sdpa(q, k, v, options)[0]->set_output(true);
    return fe::detail::Graph_access::snapshot(graph).spec;
}

// The operations that compute from a distance whether it is on the grid.
class Division {
   public:
    explicit Division(fe::nodes::GraphSpec const& spec) : numbers_(spec.tensors.size()) {
        for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
            auto const& value = spec.tensors[i].value;
            if (value && value->type == fe::DataType_t::FLOAT)
                numbers_[i] = static_cast<float>(fe::core::to_double(*value));
        }
        for (fe::nodes::Node const& node : spec.nodes) {
            auto const* const fields = std::get_if<fe::nodes::PointwiseFields>(&node.fields);
            bool const is_part = fields != nullptr && node.compute_data_type == fe::DataType_t::FLOAT &&
                                 fields->mode != PointwiseMode_t::BINARY_SELECT;
            if (is_part)
                steps_.push_back({fields->mode, port(node, pointwise::In0), port(node, pointwise::In1),
                                  port(node, pointwise::Out0)});
        }
    }

    std::size_t size() const { return steps_.size(); }

    bool keeps(std::int32_t distance) {
        numbers_[steps_.front().a] = static_cast<float>(distance);
        for (Step const& step : steps_) {
            float const a = numbers_[step.a], b = step.mode == PointwiseMode_t::FLOOR ? 0.0f : numbers_[step.b];
            numbers_[step.out] = result(step.mode, a, b);
        }
        return numbers_[steps_.back().out] != 0.0f;
    }

   private:
    struct Step {
        PointwiseMode_t mode;
        std::size_t a, b, out;
    };

    static std::size_t port(fe::nodes::Node const& node, int port) {
        return static_cast<std::size_t>(node.ports[static_cast<std::size_t>(port)]);
    }
    static float result(PointwiseMode_t mode, float a, float b) {
        switch (mode) {
            case PointwiseMode_t::MUL: return a * b;
            case PointwiseMode_t::ADD: return a + b;
            case PointwiseMode_t::SUB: return a - b;
            case PointwiseMode_t::FLOOR: return std::floor(a);
            case PointwiseMode_t::CMP_LT: return a < b ? 1.0f : 0.0f;
            default: return std::nanf("");
        }
    }

    std::vector<float> numbers_;
    std::vector<Step> steps_;
};

}  // namespace

TEST_CASE("A dilated window keeps the multiples of its step alone, as far as it divides in single precision",
          "[graph]") {
    for (std::int32_t const step : {1, 2, 3, 5, 7, 48, 1023, 65537, 349525, 1048575}) {
        Division division(window(kFurthest, step));
        REQUIRE(division.size() == 5);
        std::int64_t wrong = 0;
        for (std::int32_t d = -kFurthest; d <= kFurthest; ++d) wrong += division.keeps(d) == (d % step == 0) ? 0 : 1;
        CAPTURE(step);
        CHECK(wrong == 0);
    }
}

TEST_CASE("A dilated window that reaches further divides integers", "[graph]") {
    auto const spec = window(kFurthest + 1, 3);
    CHECK(std::ranges::any_of(spec.nodes, [](fe::nodes::Node const& node) {
        auto const* const fields = std::get_if<fe::nodes::PointwiseFields>(&node.fields);
        return fields != nullptr && fields->mode == PointwiseMode_t::MOD;
    }));
}
