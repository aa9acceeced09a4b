// A library of many operations, whose headers all share one: functions declared on classes of the older API, switches
// over enumerations of other operations, a table of tensors as JSON. Only the attention source is built; it includes
// the graph API by the names of its parts.
#include <cudnn_frontend/graph_interface.h>
#include <cudnn_frontend/graph_properties.h>
#include <cudnn_frontend_Logging.h>
#include <cudnn_frontend_utils.h>

#include "host_attention.h"

namespace library {

namespace fe = cudnn_frontend;

// Declared for all, but defined in sources of convolutions, which are not built.
fe::Tensor tensor_create(cudnnDataType_t type, int64_t id, int64_t const* dim, int64_t const* stride, bool is_virtual);
fe::PointWiseDesc pointwise_desc_create(cudnnDataType_t type, cudnnPointwiseMode_t mode);
fe::Operation binary_op_create(fe::Tensor const& x, fe::Tensor const& b, fe::Tensor const& y,
                               fe::PointWiseDesc const& desc);
void print_operations(std::vector<fe::Operation const*> const& operations);

struct Pooling {
    fe::ResampleMode_t mode = fe::ResampleMode_t::MAXPOOL;
    fe::PaddingMode_t padding = fe::PaddingMode_t::NEG_INF_PAD;
};
struct Normalization {
    fe::NormMode_t mode = fe::NormMode_t::LAYER_NORM;
    fe::NormFwdPhase_t phase = fe::NormFwdPhase_t::NOT_SET;
};

inline char const* name_of(fe::ConvolutionMode_t mode) {
    switch (mode) {
        case fe::ConvolutionMode_t::NOT_SET: return "not set";
        case fe::ConvolutionMode_t::CONVOLUTION: return "convolution";
        case fe::ConvolutionMode_t::CROSS_CORRELATION: return "cross correlation";
    }
    return "?";
}

inline bool routes_rows(fe::MoeGroupedMatmulMode_t mode) {
    return mode == fe::MoeGroupedMatmulMode_t::GATHER || mode == fe::MoeGroupedMatmulMode_t::SCATTER;
}

inline json describe(fe::graph::Tensor_attributes const& tensor) {
    return {{"name", tensor.get_name()}, {"dim", tensor.get_dim()}, {"stride", tensor.get_stride()}};
}

}  // namespace library

namespace {

namespace fe = cudnn_frontend;
using ftype = half;
using tensor_attr_t = std::shared_ptr<fe::graph::Tensor_attributes>;

constexpr int64_t b = 2, h = 2, s = 128, d = 64;

class AttentionLayer {
   public:
    explicit AttentionLayer(compat::Machine const& machine) : machine_(machine) {
        machine.prepare(graph_);
        graph_.set_io_data_type(fe::DataType_t::HALF)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
        q_ = tensor("Q"), k_ = tensor("K"), v_ = tensor("V");
        auto const options = fe::graph::SDPA_attributes().set_name("layer").set_attn_scale(0.125f);
        o_ = graph_.sdpa(q_, k_, v_, options)[0];
        o_->set_output(true).set_dim(q_->get_dim()).set_stride(q_->get_stride());
        fe::error_t const built = graph_.build(machine.handle(), {fe::HeurMode_t::A});
        if (built.is_bad()) std::puts(built.err_msg.c_str());
        EXPECT(built.is_good());
    }

    json description() const {
        json tensors = json::array();
        for (tensor_attr_t const& each : {q_, k_, v_, o_}) tensors.push_back(library::describe(*each));
        return tensors;
    }

    void check_run() const {
        auto const q = compat::random_values<ftype>(b * h * s * d, 1), k = compat::random_values<ftype>(q.size(), 2);
        auto const v = compat::random_values<ftype>(q.size(), 3);
        compat::Mirror<ftype> dQ(machine_, q), dK(machine_, k), dV(machine_, v), dO(machine_, q);
        auto workspace = compat::workspace_of(machine_, graph_.get_workspace_size());
        std::unordered_map<tensor_attr_t, void*> pack = {
            {q_, dQ.data()}, {k_, dK.data()}, {v_, dV.data()}, {o_, dO.data()}};
        EXPECT(graph_.execute(machine_.handle(), pack, workspace.data()).is_good());
        EXPECT(cudaDeviceSynchronize() == cudaSuccess);
        auto const o = dO.read();
        auto const view = [&](std::vector<ftype> const& values) {
            return compat::View<ftype const>{values.data(), q_->get_dim(), q_->get_stride()};
        };
        auto const no_offset = [](int64_t, int64_t, int64_t, int64_t) { return 0.0f; };
        EXPECT(compat::is_attention(view(q), view(k), view(v), view(o), 0.125f, no_offset));
    }

   private:
    tensor_attr_t tensor(std::string const& name) {
        return graph_.tensor(
            fe::graph::Tensor_attributes().set_name(name).set_dim({b, h, s, d}).set_stride({h * s * d, s * d, d, 1}));
    }

    compat::Machine const& machine_;
    fe::graph::Graph graph_;
    tensor_attr_t q_, k_, v_, o_;
};

void run(compat::Machine const& machine) {
    EXPECT(std::string("cross correlation") == library::name_of(fe::ConvolutionMode_t::CROSS_CORRELATION));
    EXPECT(library::routes_rows(fe::MoeGroupedMatmulMode_t::GATHER));
    EXPECT(!library::routes_rows(fe::MoeGroupedMatmulMode_t::NONE));
    EXPECT(library::Pooling().mode != fe::ResampleMode_t::BILINEAR);
    EXPECT(library::Normalization().phase != fe::NormFwdPhase_t::TRAINING);
    AttentionLayer const layer(machine);
    json const description = layer.description();
    EXPECT(description.size() == 4 && description[1]["name"] == "K");
    EXPECT(description[3]["dim"].get<std::vector<int64_t>>() == std::vector<int64_t>{b, h, s, d});
    CUDNN_FE_LOG_LABEL_ENDL("described as " << description.dump());
    if (machine.has_gpu()) layer.check_run();
}

}  // namespace

int main() { return compat::main_of(run); }
