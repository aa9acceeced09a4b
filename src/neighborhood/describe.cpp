#include "neighborhood/shapes.h"

namespace sdpa_graph::neighborhood {
namespace {

using enum Port;
using Attributes = fe::graph::Tensor_attributes;
using Tensor = std::shared_ptr<Attributes>;

// Makes the tensors of one graph.
class Builder {
   public:
    Builder(Shapes const& shapes, fe::graph::Graph& graph) : shapes_(shapes), graph_(graph) {}

    bool has(Port port) const { return shapes_.tensors[port].alignment > 0; }
    Tensor input(Port port) { return graph_.tensor(attributes(port)); }
    void write(Tensor const& result, Port port) { *result = attributes(port).set_output(true); }
    // A result that is passed as an option.
    Tensor output(Port port) { return graph_.tensor(attributes(port).set_output(true)); }

    template <class Options>
    Options windows() const {
        Options options;
        options.set_kernel_size(shapes_.options.kernel_size).set_dilation(shapes_.options.dilation);
        options.set_is_causal(shapes_.options.is_causal).set_name("neighborhood attention");
        return options;
    }

   private:
    Attributes attributes(Port port) const {
        Layout const& layout = shapes_.tensors[port];
        return Attributes()
            .set_name(fe::neighborhood::kOperands[port].label)
            .set_uid(port)
            .set_data_type(port == Stats ? DataType_t::FLOAT : shapes_.type)
            .set_dim(layout.dim)
            .set_stride(layout.stride)
            .set_alignment(layout.alignment);
    }

    Shapes const& shapes_;
    fe::graph::Graph& graph_;
};

void describe_forward(Builder& build, Shapes const& shapes, fe::graph::Graph& graph) {
    auto options = build.windows<fe::graph::Neighborhood_attributes>();
    options.set_attn_scale(shapes.scale).set_generate_stats(build.has(Stats));
    if (build.has(RelPosBias)) options.set_rel_pos_bias(build.input(RelPosBias));
    auto const [o, stats] = graph.neighborhood_attention(build.input(Q), build.input(K), build.input(V), options);
    build.write(o, O);
    if (build.has(Stats)) build.write(stats, Stats);
}

void describe_backward(Builder& build, Shapes const& shapes, fe::graph::Graph& graph) {
    auto options = build.windows<fe::graph::Neighborhood_backward_attributes>();
    options.set_attn_scale(shapes.scale);
    auto const [dq, dk, dv] = graph.neighborhood_attention_backward(
        build.input(Q), build.input(K), build.input(V), build.input(O), build.input(DO), build.input(Stats), options);
    build.write(dq, DQ);
    build.write(dk, DK);
    build.write(dv, DV);
}

void describe_qk(Builder& build, fe::graph::Graph& graph) {
    auto options = build.windows<fe::graph::Neighborhood_qk_attributes>();
    if (build.has(RelPosBias)) options.set_rel_pos_bias(build.input(RelPosBias));
    build.write(graph.neighborhood_qk(build.input(Q), build.input(K), options), Attn);
}

void describe_qk_backward(Builder& build, fe::graph::Graph& graph) {
    auto options = build.windows<fe::graph::Neighborhood_qk_backward_attributes>();
    if (build.has(DRelPosBias)) options.set_drel_pos_bias(build.output(DRelPosBias));
    auto const [dq, dk] = graph.neighborhood_qk_backward(build.input(DAttn), build.input(Q), build.input(K), options);
    build.write(dq, DQ);
    build.write(dk, DK);
}

void describe_av(Builder& build, fe::graph::Graph& graph) {
    auto const options = build.windows<fe::graph::Neighborhood_av_attributes>();
    build.write(graph.neighborhood_av(build.input(Attn), build.input(V), options), O);
}

void describe_av_backward(Builder& build, fe::graph::Graph& graph) {
    auto const options = build.windows<fe::graph::Neighborhood_av_backward_attributes>();
    auto const [dattn, dv] =
        graph.neighborhood_av_backward(build.input(DO), build.input(Attn), build.input(V), options);
    build.write(dattn, DAttn);
    build.write(dv, DV);
}

}  // namespace

void describe(Shapes const& shapes, fe::graph::Graph& graph) {
    graph.set_io_data_type(shapes.type)
        .set_intermediate_data_type(DataType_t::FLOAT)
        .set_compute_data_type(DataType_t::FLOAT)
        .set_name("neighborhood attention");
    if (shapes.is_deterministic) graph.deselect_numeric_notes({fe::NumericalNote_t::NONDETERMINISTIC});
    Builder build(shapes, graph);
    switch (shapes.function) {
        case Function::Forward: return describe_forward(build, shapes, graph);
        case Function::Backward: return describe_backward(build, shapes, graph);
        case Function::Qk: return describe_qk(build, graph);
        case Function::QkBackward: return describe_qk_backward(build, graph);
        case Function::Av: return describe_av(build, graph);
        case Function::AvBackward: return describe_av_backward(build, graph);
    }
}

}  // namespace sdpa_graph::neighborhood
