#include "fuzz/graphs/base_neighborhoods.h"

#include "reference/cases/neighborhood_case.h"

#include <algorithm>

namespace fuzz {
namespace {

namespace graph = cudnn_frontend::graph;
using graph::Graph;
using neighborhood_formula::Axis;
using sdpa_test::NeighborhoodCase;
using Dims = std::vector<std::int64_t>;
using Tensor_ptr = std::shared_ptr<graph::Tensor_attributes>;

NeighborhoodCase small_case(std::uint64_t index) {
    NeighborhoodCase c = sdpa_test::random_neighborhood_case(index);
    for (Axis& axis : c.axes) {
        axis.length = 1 + (axis.length - 1) % 5;
        axis.dilation = std::min(axis.dilation, axis.length);
        axis.kernel = std::min(axis.kernel, axis.length / axis.dilation);
        if (c.has_bias && axis.kernel % 2 == 0) --axis.kernel;
    }
    c.width = 1 + c.width % 4;
    return c;
}

bool is_odd(Axis const& axis) { return axis.kernel % 2 == 1; }

class Maker {
   public:
    explicit Maker(NeighborhoodCase const& c) : c_(c) { graph_.set_io_data_type(c.type); }

    Graph take() { return std::move(graph_); }

    void add_fused(bool is_backward) {
        auto const tokens = [&] { return tensor(dims(true, c_.width)); };
        if (is_backward) {
            auto options = windows<graph::Neighborhood_backward_attributes>();
            if (c_.has_bias) options.set_rel_pos_bias(bias());
            Tensor_ptr const stats = tensor(dims(true, 0));
            stats->set_data_type(cudnn_frontend::DataType_t::FLOAT);
            return use(graph_.neighborhood_attention_backward(tokens(), tokens(), tokens(), tokens(), tokens(), stats,
                                                              options));
        }
        auto options = windows<graph::Neighborhood_attributes>().set_generate_stats(c_.generates_stats);
        if (c_.has_bias) options.set_rel_pos_bias(bias());
        use(graph_.neighborhood_attention(tokens(), tokens(), tokens(), options));
    }

    void add_products() {
        auto const tokens = [&] { return tensor(dims(false, c_.width)); };
        auto options = windows<graph::Neighborhood_qk_attributes>();
        if (c_.has_bias) options.set_rel_pos_bias(bias());
        Tensor_ptr const attn = graph_.neighborhood_qk(tokens(), tokens(), options);
        attn->set_output(true);
        auto const av = windows<graph::Neighborhood_av_backward_attributes>();
        use(graph_.neighborhood_av_backward(tokens(), tensor(dims(false, slots())), tokens(), av));
        auto const qk = windows<graph::Neighborhood_qk_backward_attributes>();
        use(graph_.neighborhood_qk_backward(tensor(dims(false, slots())), tokens(), tokens(), qk));
    }

   private:
    template <class Attributes>
    Attributes windows() const {
        Dims kernel, dilation;
        std::vector<bool> causal;
        for (Axis const& axis : c_.axes) {
            kernel.push_back(axis.kernel);
            dilation.push_back(axis.dilation);
            causal.push_back(axis.is_causal);
        }
        return Attributes().set_kernel_size(kernel).set_dilation(dilation).set_is_causal(causal);
    }
    Tensor_ptr tensor(Dims const& dim) {
        Dims stride(dim.size(), 1);
        for (std::size_t d = dim.size() - 1; d > 0; --d) stride[d - 1] = stride[d] * dim[d];
        return graph_.tensor(graph::Tensor_attributes().set_dim(dim).set_stride(stride));
    }
    Tensor_ptr bias() {
        Dims dim{c_.heads};
        for (Axis const& axis : c_.axes) dim.push_back(2 * axis.kernel - 1);
        return tensor(dim);
    }
    Dims dims(bool heads_last, std::int64_t columns) const {
        Dims dim{c_.batches};
        for (Axis const& axis : c_.axes) dim.push_back(axis.length);
        dim.insert(heads_last ? dim.end() : dim.begin() + 1, c_.heads);
        if (columns > 0) dim.push_back(columns);
        return dim;
    }
    std::int64_t slots() const {
        std::int64_t product = 1;
        for (Axis const& axis : c_.axes) product *= axis.kernel;
        return product;
    }
    template <class Results>
    static void use(Results const& results) {
        for (Tensor_ptr const& result : results) {
            if (result) result->set_output(true);
        }
    }

    NeighborhoodCase const& c_;
    Graph graph_;
};

}  // namespace

Graph neighborhood_graph(std::uint64_t index) {
    NeighborhoodCase const c = small_case(index);
    Maker maker(c);
    bool const has_products = std::all_of(c.axes.begin(), c.axes.end(), is_odd);
    if (index % 3 == 0 && has_products) maker.add_products();
    else maker.add_fused(index % 3 == 1);
    return maker.take();
}

}  // namespace fuzz
