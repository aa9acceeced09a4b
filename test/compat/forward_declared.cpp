// The server's source: the classes that its header declared are this library's. No header of the library comes before.
#include "forward_declared.h"

static server::Tensor first_of(std::vector<server::Tensor> const& tensors) { return tensors.front(); }

#include <cudnn_frontend.h>

#include "host_attention.h"

namespace fe = cudnn_frontend;

namespace server {

Session::Session(fe::DataType_t type)
    : graph_(std::make_unique<fe::graph::Graph>()), options_(std::make_unique<fe::graph::SDPA_attributes>()) {
    graph_->set_io_data_type(type)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    options_->set_name("served").set_attn_scale(0.125f).set_causal_mask(true);
}
Session::~Session() = default;

Tensor Session::add_input(std::string const& name, std::vector<std::int64_t> const& dim) {
    std::vector<std::int64_t> const stride{dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1};
    return graph_->tensor(fe::graph::Tensor_attributes().set_name(name).set_dim(dim).set_stride(stride));
}

Tensor Session::attend(Tensor const& q, Tensor const& k, Tensor const& v) {
    auto [o, stats] = graph_->sdpa(q, k, v, *options_);
    o->set_output(true).set_dim(q->get_dim()).set_stride(q->get_stride());
    return o;
}

}  // namespace server

static void run(compat::Machine const& machine) {
    server::Session session(fe::DataType_t::BFLOAT16);
    machine.prepare(session.graph());
    auto const q = session.add_input("Q", {2, 4, 64, 64}), k = session.add_input("K", {2, 2, 128, 64});
    auto const o = session.attend(q, k, session.add_input("V", {2, 2, 128, 64}));
    EXPECT(first_of({q, k}) == q);
    fe::error_t const built = session.graph().build(machine.handle(), {fe::HeurMode_t::A});
    if (built.is_bad()) std::puts(built.err_msg.c_str());
    EXPECT(built.is_good() && session.graph().get_variant_pack_uids_sorted().size() == 4 && o->has_uid());
}

int main() { return compat::main_of(run); }
