// The compile-time cost of a user's file: the graph API and one attention graph.
#include <cudnn_frontend/graph.h>

namespace fe = cudnn_frontend;

fe::error_t build_attention(fe::graph::Graph& graph) {
    graph.set_io_data_type(fe::DataType_t::BFLOAT16).set_compute_data_type(fe::DataType_t::FLOAT);
    auto q = graph.tensor(fe::graph::Tensor_attributes()
                              .set_name("Q")
                              .set_uid(1)
                              .set_dim({2, 8, 128, 64})
                              .set_stride({65536, 8192, 64, 1}));
    auto k = graph.tensor(fe::graph::Tensor_attributes()
                              .set_name("K")
                              .set_uid(2)
                              .set_dim({2, 2, 128, 64})
                              .set_stride({16384, 8192, 64, 1}));
    auto v = graph.tensor(fe::graph::Tensor_attributes()
                              .set_name("V")
                              .set_uid(3)
                              .set_dim({2, 2, 128, 64})
                              .set_stride({16384, 8192, 64, 1}));
    auto options = fe::graph::SDPA_attributes()
                       .set_name("attention")
                       .set_attn_scale(0.125f)
                       .set_causal_mask(true)
                       .set_generate_stats(true);
    auto [o, stats] = graph.sdpa(q, k, v, options);
    o->set_output(true).set_uid(4);
    stats->set_output(true).set_uid(5).set_data_type(fe::DataType_t::FLOAT);
    return graph.validate();
}
