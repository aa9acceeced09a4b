// With a single key the probabilities are 1, so that each query's output is the value row itself.
#include <cudnn_frontend.h>

#include <cstdio>

namespace fe = cudnn_frontend;

namespace {

enum Uid { Q = 1, K, V, O };

std::shared_ptr<fe::graph::Tensor_attributes> matrix(fe::graph::Graph& graph, char const* name, Uid uid,
                                                     std::int64_t rows) {
    return graph.tensor(fe::graph::Tensor_attributes()
                            .set_name(name)
                            .set_uid(uid)
                            .set_dim({1, 1, rows, 4})
                            .set_stride({rows * 4, rows * 4, 4, 1}));
}

bool run(fe::Target const& target) {
    fe::graph::Graph graph;
    graph.set_io_data_type(fe::DataType_t::FLOAT)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    auto options = fe::graph::SDPA_attributes().set_name("attention").set_attn_scale(0.5f).set_alibi_mask(false);
    auto [o, stats] = graph.sdpa(matrix(graph, "Q", Uid::Q, 3), matrix(graph, "K", Uid::K, 1),
                                 matrix(graph, "V", Uid::V, 1), options);
    o->set_output(true).set_uid(Uid::O);
    fe::error_t const status = graph.build(target);
    if (stats || status.is_bad()) {
        std::fprintf(stderr, "build: %s\n", status.err_msg.c_str());
        return false;
    }

    float q[12], k[4] = {1.f, -2.f, 3.f, 0.5f}, v[4] = {0.25f, -7.f, 11.f, 2.f}, result[12] = {};
    for (int i = 0; i < 12; ++i) q[i] = float(i) - 5.f;
    std::vector<char> workspace(std::size_t(graph.get_workspace_size()));
    std::unordered_map<std::int64_t, void*> pack{{Uid::Q, q}, {Uid::K, k}, {Uid::V, v}, {Uid::O, result}};
    fe::error_t const executed = graph.execute(pack, workspace.data());
    if (executed.is_bad()) std::fprintf(stderr, "execute: %s\n", executed.err_msg.c_str());
    for (int i = 0; i < 12; ++i) {
        if (!(result[i] - v[i % 4] < 1e-5f && v[i % 4] - result[i] < 1e-5f)) return false;
    }
    return executed.is_good();
}

}  // namespace

int main() { return run(fe::Target::cpu()) && run(fe::Target::reference()) ? 0 : 1; }
