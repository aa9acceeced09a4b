// The operations that the functions of neighborhood attention expand to.
#include "api/graph/graph_impl.h"
#include "core/data_type.h"
#include "expand/expand.h"
#include "support/catch.h"

#include <cudnn_frontend/graph.h>

#include <cmath>

namespace fe = cudnn_frontend;
using namespace fe::graph;
using Dims = std::vector<std::int64_t>;

namespace {

struct Made {
    Graph graph;

    Made() { graph.set_io_data_type(fe::DataType_t::HALF); }

    Tensor_ptr tensor(Dims const& dim) {
        return graph.tensor(Tensor_attributes().set_dim(dim).set_stride(fe::core::packed_strides(dim)));
    }
    Tensor_ptr tokens() { return tensor({2, 6, 9, 3, 8}); }
    Tensor_ptr heads_first() { return tensor({2, 3, 6, 9, 8}); }
    Tensor_ptr slots() { return tensor({2, 3, 6, 9, 15}); }
    Tensor_ptr bias() { return tensor({3, 5, 9}); }

    template <class Attributes>
    static Attributes windows() {
        return Attributes().set_name("neighbors").set_kernel_size({3, 5});
    }

    fe::ir::OpGraph operations() const {
        auto const validation = fe::nodes::validate(fe::detail::Graph_access::snapshot(graph).spec);
        INFO(validation.report);
        REQUIRE(validation.graph);
        auto expanded = fe::expand::expand(*validation.graph, {});
        INFO(expanded.error().err_msg);
        REQUIRE(expanded.is_good());
        return std::move(expanded).value();
    }
    // The names of the operations, without the node's.
    std::string kinds() const {
        fe::ir::OpGraph const made = operations();
        std::string text;
        for (fe::ir::Op const& op : made.ops()) text += std::string(fe::ir::kind_name(op)) + " ";
        return text;
    }
};

template <class Results>
void use(Results const& results) {
    for (Tensor_ptr const& result : results) {
        if (result) result->set_output(true);
    }
}

}  // namespace

TEST_CASE("neighborhood attention is two products over windows around a softmax", "[expand]") {
    Made made;
    auto const plain = Made::windows<Neighborhood_attributes>();
    SECTION("plain") {
        use(made.graph.neighborhood_attention(made.tokens(), made.tokens(), made.tokens(), plain));
        CHECK(made.kinds() ==
              "TRANSPOSE MUL TRANSPOSE WINDOW_SLOTS REDUCE_MAX SUB EXP REDUCE_ADD DIV TRANSPOSE WINDOW_QUERIES "
              "TRANSPOSE ");
    }
    SECTION("with a bias and Stats") {
        auto options = plain;
        options.set_rel_pos_bias(made.bias()).set_generate_stats(true);
        use(made.graph.neighborhood_attention(made.tokens(), made.tokens(), made.tokens(), options));
        CHECK(made.kinds() ==
              "TRANSPOSE MUL TRANSPOSE WINDOW_SLOTS WINDOW_BIAS ADD REDUCE_MAX SUB EXP REDUCE_ADD LOG ADD RESHAPE "
              "TRANSPOSE DIV TRANSPOSE WINDOW_QUERIES TRANSPOSE ");
    }
}

TEST_CASE("the scale of neighborhood attention is the inverse root of the head dim unless it is set", "[expand]") {
    for (float const scale : {0.0f, -0.5f}) {
        Made made;
        auto options = Made::windows<Neighborhood_attributes>();
        if (scale != 0.0f) options.set_attn_scale(scale);
        use(made.graph.neighborhood_attention(made.tokens(), made.tokens(), made.tokens(), options));
        fe::ir::OpGraph const operations = made.operations();
        std::vector<double> constants;
        for (fe::ir::Value const& value : operations.values()) {
            if (value.role == fe::ir::Role::Constant) constants.push_back(fe::core::to_double(value.constant));
        }
        REQUIRE(constants.size() == 1);
        CHECK(constants[0] == Approx(scale != 0.0f ? scale : 1.0 / std::sqrt(8.0)));
    }
}

TEST_CASE("backward of neighborhood attention", "[expand]") {
    Made made;
    auto options = Made::windows<Neighborhood_backward_attributes>();
    Tensor_ptr const gradient = made.bias();
    gradient->set_output(true);
    options.set_rel_pos_bias(made.bias()).set_drel_pos_bias(gradient);
    Tensor_ptr const stats = made.tensor({2, 6, 9, 3});
    stats->set_data_type(fe::DataType_t::FLOAT);
    use(made.graph.neighborhood_attention_backward(made.tokens(), made.tokens(), made.tokens(), made.tokens(),
                                                   made.tokens(), stats, options));
    std::string const kinds = made.kinds();
    CAPTURE(kinds);
    auto const count = [&](std::string const& kind) {
        std::size_t found = 0;
        for (std::size_t at = kinds.find(kind + " "); at != std::string::npos; at = kinds.find(kind + " ", at + 1))
            ++found;
        return found;
    };
    CHECK(count("WINDOW_SLOTS") == 2);    // the scores again, and the gradient of the probabilities
    CHECK(count("WINDOW_KEYS") == 2);     // dK, dV
    CHECK(count("WINDOW_QUERIES") == 1);  // dQ
    CHECK(count("WINDOW_BIAS") == 1);
    CHECK(count("WINDOW_BIAS_SUM") == 1);
}

TEST_CASE("the products of neighborhood attention are one operation each", "[expand]") {
    Made made;
    SECTION("queries times keys") {
        made.graph.neighborhood_qk(made.heads_first(), made.heads_first(), Made::windows<Neighborhood_qk_attributes>())
            ->set_output(true);
        CHECK(made.kinds() == "WINDOW_SLOTS ");
    }
    SECTION("weights times values") {
        made.graph.neighborhood_av(made.slots(), made.heads_first(), Made::windows<Neighborhood_av_attributes>())
            ->set_output(true);
        CHECK(made.kinds() == "WINDOW_QUERIES ");
    }
    SECTION("the gradients of the one") {
        use(made.graph.neighborhood_qk_backward(made.slots(), made.heads_first(), made.heads_first(),
                                                Made::windows<Neighborhood_qk_backward_attributes>()));
        CHECK(made.kinds() == "WINDOW_QUERIES WINDOW_KEYS ");
    }
    SECTION("the gradients of the other") {
        use(made.graph.neighborhood_av_backward(made.heads_first(), made.slots(), made.heads_first(),
                                                Made::windows<Neighborhood_av_backward_attributes>()));
        CHECK(made.kinds() == "WINDOW_SLOTS WINDOW_KEYS ");
    }
}
