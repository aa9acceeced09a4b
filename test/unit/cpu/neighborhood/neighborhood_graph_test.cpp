// Neighborhood attention through the public graph on the CPU target, which runs it fused.
#include "support/catch.h"

#include "neighborhood_data.h"

#include "core/data_type.h"

#include <cudnn_frontend/graph.h>

using namespace neighborhood_test;
using fe::DataType_t;
using fe::Target;
using fe::neighborhood::Port;
using enum Function;

namespace {

using fe::graph::Tensor_attributes;

// A case's node in a graph, on the case's memory.
class NodeOf {
   public:
    NodeOf(NeighborhoodCase const& test, Data const& data) : test_(test), data_(data) {
        graph_.set_io_data_type(test.type).set_intermediate_data_type(DataType_t::FLOAT);
        graph_.set_compute_data_type(DataType_t::FLOAT);
        add();
    }

    fe::error_object build(Target const& target) { return graph_.build(target); }
    std::int64_t workspace_size() const { return graph_.get_workspace_size(); }
    fe::error_object run() {
        std::vector<std::byte> workspace(static_cast<std::size_t>(workspace_size()));
        return graph_.execute(nullptr, pack_, workspace.data());
    }

   private:
    void add() {
        switch (data_.function) {
            case Forward: return add_forward();
            case Backward: return add_backward();
            case Qk: return add_qk();
            case QkBackward: return add_qk_backward();
            case Av: return add_av();
            case AvBackward: return add_av_backward();
        }
    }
    bool is_fused() const { return data_.function == Forward || data_.function == Backward; }

    // The attributes of {B, space, H, D} or {B, H, space, D}; stats lack the last dim, a bias the first and the last.
    Tensor_attributes attributes(Tensor const& tensor, Port port) {
        bool const is_bias = port == Port::RelPosBias || port == Port::DRelPosBias;
        std::size_t const axes = test_.axes.size();
        std::vector<std::int64_t> dim, stride;
        auto const add = [&](std::int64_t size, std::int64_t step) {
            dim.push_back(size);
            stride.push_back(step);
        };
        if (!is_bias) add(test_.batches, tensor.view.batch);
        if (!is_fused() || is_bias) add(test_.heads, tensor.view.head);
        for (std::size_t a = 3 - axes; a < 3; ++a) add(tensor.lengths[a], tensor.view.axes[a]);
        if (is_fused() && !is_bias) add(test_.heads, tensor.view.head);
        if (!is_bias && port != Port::Stats) add(tensor.columns, tensor.view.last);
        pack_.emplace_back(port, tensor.view.data);
        return Tensor_attributes()
            .set_uid(port)
            .set_data_type(tensor.view.type)
            .set_dim(dim)
            .set_stride(stride)
            .set_alignment(fe::core::size_of(tensor.view.type));
    }
    auto in(Tensor const& tensor, Port port) { return graph_.tensor(attributes(tensor, port)); }
    void out(std::shared_ptr<Tensor_attributes> const& result, Tensor const& tensor, Port port) {
        *result = attributes(tensor, port).set_output(true);
    }

    template <class Options>
    Options windows() const {
        std::vector<std::int64_t> kernel, dilation;
        std::vector<bool> causal;
        for (auto const& axis : test_.axes) {
            kernel.push_back(axis.kernel);
            dilation.push_back(axis.dilation);
            causal.push_back(axis.is_causal);
        }
        return Options().set_kernel_size(kernel).set_dilation(dilation).set_is_causal(causal);
    }

    void add_forward() {
        auto options = windows<fe::graph::Neighborhood_attributes>();
        options.set_attn_scale(*test_.scale).set_generate_stats(test_.generates_stats);
        if (test_.has_bias) options.set_rel_pos_bias(in(data_.bias, Port::RelPosBias));
        auto const [o, stats] =
            graph_.neighborhood_attention(in(data_.q, Port::Q), in(data_.k, Port::K), in(data_.v, Port::V), options);
        out(o, data_.o, Port::O);
        if (test_.generates_stats) out(stats, data_.stats, Port::Stats);
    }
    void add_backward() {
        auto options = windows<fe::graph::Neighborhood_backward_attributes>();
        options.set_attn_scale(*test_.scale);
        if (test_.has_bias) {
            options.set_rel_pos_bias(in(data_.bias, Port::RelPosBias));
            options.set_drel_pos_bias(graph_.tensor(attributes(data_.d_bias, Port::DRelPosBias).set_output(true)));
        }
        auto const [dq, dk, dv] = graph_.neighborhood_attention_backward(
            in(data_.q, Port::Q), in(data_.k, Port::K), in(data_.v, Port::V), in(data_.o, Port::O),
            in(data_.d_o, Port::DO), in(data_.stats, Port::Stats), options);
        out(dq, data_.d_q, Port::DQ);
        out(dk, data_.d_k, Port::DK);
        out(dv, data_.d_v, Port::DV);
    }
    void add_qk() {
        auto options = windows<fe::graph::Neighborhood_qk_attributes>();
        if (test_.has_bias) options.set_rel_pos_bias(in(data_.bias, Port::RelPosBias));
        out(graph_.neighborhood_qk(in(data_.q, Port::Q), in(data_.k, Port::K), options), data_.attn, Port::Attn);
    }
    void add_qk_backward() {
        auto options = windows<fe::graph::Neighborhood_qk_backward_attributes>();
        if (test_.has_bias)
            options.set_drel_pos_bias(graph_.tensor(attributes(data_.d_bias, Port::DRelPosBias).set_output(true)));
        auto const [dq, dk] = graph_.neighborhood_qk_backward(in(data_.d_attn, Port::DAttn), in(data_.q, Port::Q),
                                                              in(data_.k, Port::K), options);
        out(dq, data_.d_q, Port::DQ);
        out(dk, data_.d_k, Port::DK);
    }
    void add_av() {
        auto const options = windows<fe::graph::Neighborhood_av_attributes>();
        out(graph_.neighborhood_av(in(data_.attn, Port::Attn), in(data_.v, Port::V), options), data_.o, Port::O);
    }
    void add_av_backward() {
        auto const options = windows<fe::graph::Neighborhood_av_backward_attributes>();
        auto const [dattn, dv] = graph_.neighborhood_av_backward(in(data_.d_o, Port::DO), in(data_.attn, Port::Attn),
                                                                 in(data_.v, Port::V), options);
        out(dattn, data_.d_attn, Port::DAttn);
        out(dv, data_.d_v, Port::DV);
    }

    NeighborhoodCase const& test_;
    Data const& data_;
    fe::graph::Graph graph_;
    std::vector<std::pair<std::int64_t, void*>> pack_;
};

// A case that the rules of the node allow.
NeighborhoodCase legal_case(Function function, std::uint64_t seed) {
    NeighborhoodCase test = random_case(function, seed);
    bool const is_product = function != Forward && function != Backward;
    for (auto& axis : test.axes) {
        if ((is_product || test.has_bias) && axis.kernel % 2 == 0) --axis.kernel;
        if (test.has_bias) axis.is_causal = false;
    }
    return test;
}

Data run_on(Function function, NeighborhoodCase const& test, Target const& target) {
    Data data = make_data(function, test);
    NodeOf node(test, data);
    REQUIRE(node.build(target).get_message() == "");
    REQUIRE(node.run().get_message() == "");
    return data;
}

}  // namespace

TEST_CASE("neighborhood graphs: the CPU target gives the same bits with any number of threads") {
    for (std::uint64_t seed = 3000; seed < 3030; ++seed) {
        Function const function = static_cast<Function>(seed % 6);
        NeighborhoodCase const test = legal_case(function, seed);
        INFO(test.text());
        Data one = run_on(function, test, Target::cpu(1)), many = run_on(function, test, Target::cpu(5));
        for (std::size_t r = 0; r < one.results(test).size(); ++r)
            CHECK(one.results(test)[r]->memory == many.results(test)[r]->memory);
    }
}

TEST_CASE("neighborhood graphs: the CPU target's workspace grows with the tokens, and not with their windows") {
    auto const size_of = [](std::int64_t length, Target const& target) {
        NeighborhoodCase test = case_of({{length, 63}, {64, 63}});
        test.generates_stats = false;
        Data const data = make_data(Forward, test);
        NodeOf node(test, data);
        REQUIRE(node.build(target).get_message() == "");
        return node.workspace_size();
    };
    CHECK(size_of(512, Target::cpu(1)) == size_of(64, Target::cpu(1)));
    CHECK(size_of(512, Target::cpu(1)) < 1 << 20);
    CHECK(size_of(512, Target::reference()) > std::int64_t{512} * 64 * 63 * 63);
}
