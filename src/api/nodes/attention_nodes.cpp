// How a graph makes its attention nodes.
#include "api/attributes/attributes_access.h"
#include "api/graph/graph_impl.h"

#include <cudnn_frontend/graph.h>

#include <exception>
#include <initializer_list>
#include <new>
#include <utility>

namespace cudnn_frontend::graph {

namespace port = nodes::attention;

struct Connection {
    int port;
    Tensor_ptr const* tensor;
};

static void connect_all(nodes::Draft& node, std::initializer_list<Connection> connections) {
    for (Connection const& connection : connections) detail::connect(node, connection.port, *connection.tensor);
}

// {O, Stats}
static std::array<Tensor_ptr, 2> forward_results(nodes::Draft& node, Graph::Impl& impl) {
    Tensor_ptr const o = make_output(node, port::O, "O", impl);
    bool const has_stats = std::get<nodes::SdpaForwardFields>(node.fields).generate_stats;
    return {o, has_stats ? make_output(node, port::Stats, "Stats", impl) : nullptr};
}

// {dQ, dK, dV}
static std::array<Tensor_ptr, 3> backward_results(nodes::Draft& node, Graph::Impl& impl) {
    return {make_output(node, port::DQ, "dQ", impl), make_output(node, port::DK, "dK", impl),
            make_output(node, port::DV, "dV", impl)};
}

namespace {

// Keeps the graph's members from being destroyed while a modifier runs.
class RunningModifier {
   public:
    explicit RunningModifier(Graph::Impl& impl) : impl_(impl) { ++impl_.running_modifiers; }
    RunningModifier(RunningModifier const&) = delete;
    ~RunningModifier() { --impl_.running_modifiers; }

   private:
    Graph::Impl& impl_;
};

}  // namespace

// Returns the modifier's result; null, with a fault, if it throws.
static Tensor_ptr call_modifier(Graph& graph, Graph::Impl& impl, detail::Score_modifier const& modifier,
                                Tensor_ptr const& scores) {
    std::shared_ptr<Graph> const borrowed(std::shared_ptr<Graph>(), &graph);
    std::string thrown = "an exception of unknown type";
    RunningModifier const running(impl);
    try {
        return modifier(borrowed, scores);
    } catch (std::bad_alloc const&) {
        throw;
    } catch (std::exception const& exception) {
        thrown = std::string("the exception '") + exception.what() + "'";
    } catch (...) {
    }
    impl.modifier_faults.push_back({0, thrown + " from the callable", "a tensor made of the scores"});
    return nullptr;
}

// Lets the modifier add its nodes: it gets the tensor of one port and returns the tensor for the other.
static void apply_modifier(Graph& graph, Graph::Impl& impl, nodes::Draft& node, detail::Score_modifier const& modifier,
                           int given, int returned) {
    auto outer = std::exchange(impl.modifier_faults, {});  // for a modifier that itself adds attention to this graph
    Tensor_ptr const scores = make_output(node, given, given == port::Score ? "Score" : "dScore", impl);
    detail::connect(node, returned, call_modifier(graph, impl, modifier, scores));
    for (nodes::ModifierFault& fault : std::exchange(impl.modifier_faults, std::move(outer))) {
        fault.port = returned;
        node.modifier_faults.push_back(std::move(fault));
    }
}

// Adds the nodes of its modifiers before it.
static void add_attention(Graph& graph, Graph::Impl& impl, nodes::Draft node) {
    if (node.score_mod) {
        apply_modifier(graph, impl, node, std::exchange(node.score_mod, {}), port::Score, port::ScoreMod);
    }
    if (node.score_mod_bprop) {
        apply_modifier(graph, impl, node, std::exchange(node.score_mod_bprop, {}), port::DScore, port::DScoreMod);
    }
    impl.nodes.push_back(std::move(node));
}

std::array<Tensor_ptr, 2> Graph::sdpa(Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v,
                                      SDPA_attributes const& attributes) noexcept {
    return Impl::guarded(impl_, [&] {
        nodes::Draft node = detail::Attributes_access::take(attributes);
        connect_all(node, {{port::Q, &q}, {port::K, &k}, {port::V, &v}});
        auto results = forward_results(node, impl());
        add_attention(*this, impl(), std::move(node));
        return results;
    });
}

std::array<Tensor_ptr, 3> Graph::sdpa_backward(Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v,
                                               Tensor_ptr const& o, Tensor_ptr const& dO, Tensor_ptr const& stats,
                                               SDPA_backward_attributes const& attributes) noexcept {
    return Impl::guarded(impl_, [&] {
        nodes::Draft node = detail::Attributes_access::take(attributes);
        connect_all(
            node, {{port::Q, &q}, {port::K, &k}, {port::V, &v}, {port::O, &o}, {port::DO, &dO}, {port::Stats, &stats}});
        auto gradients = backward_results(node, impl());
        add_attention(*this, impl(), std::move(node));
        return gradients;
    });
}

std::array<Tensor_ptr, 4> Graph::sdpa_fp8(Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v,
                                          Tensor_ptr const& descale_q, Tensor_ptr const& descale_k,
                                          Tensor_ptr const& descale_v, Tensor_ptr const& descale_s,
                                          Tensor_ptr const& scale_s, Tensor_ptr const& scale_o,
                                          SDPA_fp8_attributes const& attributes) noexcept {
    return Impl::guarded(impl_, [&] {
        nodes::Draft node = detail::Attributes_access::take(attributes);
        connect_all(node, {{port::Q, &q},
                           {port::K, &k},
                           {port::V, &v},
                           {port::DescaleQ, &descale_q},
                           {port::DescaleK, &descale_k},
                           {port::DescaleV, &descale_v},
                           {port::DescaleS, &descale_s},
                           {port::ScaleS, &scale_s},
                           {port::ScaleO, &scale_o}});
        auto const [o, stats] = forward_results(node, impl());
        std::array<Tensor_ptr, 4> results{o, stats, make_output(node, port::AmaxS, "Amax_S", impl()),
                                          make_output(node, port::AmaxO, "Amax_O", impl())};
        add_attention(*this, impl(), std::move(node));
        return results;
    });
}

std::array<Tensor_ptr, 7> Graph::sdpa_fp8_backward(
    Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v, Tensor_ptr const& o, Tensor_ptr const& dO,
    Tensor_ptr const& stats, Tensor_ptr const& descale_q, Tensor_ptr const& descale_k, Tensor_ptr const& descale_v,
    Tensor_ptr const& descale_o, Tensor_ptr const& descale_dO, Tensor_ptr const& descale_s,
    Tensor_ptr const& descale_dP, Tensor_ptr const& scale_s, Tensor_ptr const& scale_dQ, Tensor_ptr const& scale_dK,
    Tensor_ptr const& scale_dV, Tensor_ptr const& scale_dP, SDPA_fp8_backward_attributes const& attributes) noexcept {
    return Impl::guarded(impl_, [&] {
        nodes::Draft node = detail::Attributes_access::take(attributes);
        connect_all(node, {{port::Q, &q},
                           {port::K, &k},
                           {port::V, &v},
                           {port::O, &o},
                           {port::DO, &dO},
                           {port::Stats, &stats},
                           {port::DescaleQ, &descale_q},
                           {port::DescaleK, &descale_k},
                           {port::DescaleV, &descale_v},
                           {port::DescaleO, &descale_o},
                           {port::DescaleDO, &descale_dO},
                           {port::DescaleS, &descale_s},
                           {port::DescaleDP, &descale_dP},
                           {port::ScaleS, &scale_s},
                           {port::ScaleDQ, &scale_dQ},
                           {port::ScaleDK, &scale_dK},
                           {port::ScaleDV, &scale_dV},
                           {port::ScaleDP, &scale_dP}});
        auto const [dQ, dK, dV] = backward_results(node, impl());
        std::array<Tensor_ptr, 7> results{dQ,
                                          dK,
                                          dV,
                                          make_output(node, port::AmaxDQ, "Amax_dQ", impl()),
                                          make_output(node, port::AmaxDK, "Amax_dK", impl()),
                                          make_output(node, port::AmaxDV, "Amax_dV", impl()),
                                          make_output(node, port::AmaxDP, "Amax_dP", impl())};
        add_attention(*this, impl(), std::move(node));
        return results;
    });
}

std::array<Tensor_ptr, 3> Graph::sdpa_fp8(Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v,
                                          Tensor_ptr const& descale_q, Tensor_ptr const& descale_k,
                                          Tensor_ptr const& descale_v, SDPA_fp8_attributes const& attributes) noexcept {
    return Impl::guarded(impl_, [&] {
        nodes::Draft node = detail::Attributes_access::take(attributes);
        std::get<nodes::SdpaForwardFields>(node.fields).block_scaled = true;
        connect_all(node, {{port::Q, &q},
                           {port::K, &k},
                           {port::V, &v},
                           {port::DescaleQ, &descale_q},
                           {port::DescaleK, &descale_k},
                           {port::DescaleV, &descale_v}});
        auto const [o, stats] = forward_results(node, impl());
        std::array<Tensor_ptr, 3> results{o, stats, make_output(node, port::AmaxO, "Amax_O", impl())};
        add_attention(*this, impl(), std::move(node));
        return results;
    });
}

std::array<Tensor_ptr, 6> Graph::sdpa_fp8_backward(
    Tensor_ptr const& q, Tensor_ptr const& q_T, Tensor_ptr const& k, Tensor_ptr const& k_T, Tensor_ptr const& v,
    Tensor_ptr const& o_f16, Tensor_ptr const& dO_f16, Tensor_ptr const& dO, Tensor_ptr const& dO_T,
    Tensor_ptr const& stats, Tensor_ptr const& descale_q, Tensor_ptr const& descale_q_T, Tensor_ptr const& descale_k,
    Tensor_ptr const& descale_k_T, Tensor_ptr const& descale_v, Tensor_ptr const& descale_dO,
    Tensor_ptr const& descale_dO_T, SDPA_fp8_backward_attributes const& attributes) noexcept {
    return Impl::guarded(impl_, [&] {
        nodes::Draft node = detail::Attributes_access::take(attributes);
        std::get<nodes::SdpaBackwardFields>(node.fields).block_scaled = true;
        connect_all(node, {{port::Q, &q},
                           {port::QTransposed, &q_T},
                           {port::K, &k},
                           {port::KTransposed, &k_T},
                           {port::V, &v},
                           {port::O, &o_f16},
                           {port::DOF16, &dO_f16},
                           {port::DO, &dO},
                           {port::DOTransposed, &dO_T},
                           {port::Stats, &stats},
                           {port::DescaleQ, &descale_q},
                           {port::DescaleQTransposed, &descale_q_T},
                           {port::DescaleK, &descale_k},
                           {port::DescaleKTransposed, &descale_k_T},
                           {port::DescaleV, &descale_v},
                           {port::DescaleDO, &descale_dO},
                           {port::DescaleDOTransposed, &descale_dO_T}});
        auto const [dQ, dK, dV] = backward_results(node, impl());
        std::array<Tensor_ptr, 6> results{dQ,
                                          dK,
                                          dV,
                                          make_output(node, port::AmaxDQ, "Amax_dQ", impl()),
                                          make_output(node, port::AmaxDK, "Amax_dK", impl()),
                                          make_output(node, port::AmaxDV, "Amax_dV", impl())};
        add_attention(*this, impl(), std::move(node));
        return results;
    });
}

std::array<Tensor_ptr, 2> Graph::scaled_dot_product_flash_attention(Tensor_ptr const& q, Tensor_ptr const& k,
                                                                    Tensor_ptr const& v,
                                                                    SDPA_attributes const& attributes) noexcept {
    return sdpa(q, k, v, attributes);
}

std::array<Tensor_ptr, 3> Graph::scaled_dot_product_flash_attention_backward(
    Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v, Tensor_ptr const& o, Tensor_ptr const& dO,
    Tensor_ptr const& stats, SDPA_backward_attributes const& attributes) noexcept {
    return sdpa_backward(q, k, v, o, dO, stats, attributes);
}

}  // namespace cudnn_frontend::graph
