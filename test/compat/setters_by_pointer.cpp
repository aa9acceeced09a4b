// Bindings of another language, and a reader of configuration files: tables hold setters and getters as pointers to
// members, which are called for the names in a table of values.
#include <cudnn_frontend.h>

#include "host_attention.h"

namespace {

namespace fe = cudnn_frontend;
using fe::graph::Graph;
using fe::graph::SDPA_attributes;
using fe::graph::Tensor_attributes;

// A setter in a binding generator: its class, and the type to which the other language's value is converted.
template <class Class, class Argument>
struct Setter {
    Class& (Class::*member)(Argument);

    void operator()(Class& object, std::decay_t<Argument> const& value) const { (object.*member)(value); }
};
template <class Class, class Argument>
Setter<Class, Argument> setter_of(Class& (Class::*member)(Argument)) {
    return {member};
}

auto const set_name = setter_of(&Tensor_attributes::set_name);
auto const set_dim = setter_of(&Tensor_attributes::set_dim);
auto const set_stride = setter_of(&Tensor_attributes::set_stride);
static_assert(std::is_same_v<decltype(set_name), Setter<Tensor_attributes, std::string const&> const>);
static_assert(std::is_same_v<decltype(set_dim), Setter<Tensor_attributes, std::vector<int64_t> const&> const>);
static_assert(std::is_same_v<decltype(set_stride), decltype(set_dim)>);

using Sizes = std::vector<int64_t>;
std::map<std::string, Tensor_attributes& (Tensor_attributes::*)(Sizes const&)> const size_setters = {
    {"dim", &Tensor_attributes::set_dim},
    {"stride", &Tensor_attributes::set_stride},
};
std::map<std::string, Tensor_attributes& (Tensor_attributes::*)(int64_t)> const number_setters = {
    {"uid", &Tensor_attributes::set_uid},
    {"alignment", &Tensor_attributes::set_alignment},
};
std::map<std::string, SDPA_attributes& (SDPA_attributes::*)(bool)> const switches = {
    {"causal", &SDPA_attributes::set_causal_mask},
    {"stats", &SDPA_attributes::set_generate_stats},
    {"padding", &SDPA_attributes::set_padding_mask},
};

struct TensorEntry {
    std::string name;
    std::map<std::string, Sizes> sizes;
    std::map<std::string, int64_t> numbers;
};

std::shared_ptr<Tensor_attributes> make(Graph& graph, TensorEntry const& entry) {
    Tensor_attributes attributes;
    set_name(attributes, entry.name);
    for (auto const& [key, value] : entry.sizes) (attributes.*size_setters.at(key))(value);
    for (auto const& [key, value] : entry.numbers) (attributes.*number_setters.at(key))(value);
    return graph.tensor(attributes);
}

constexpr int64_t b = 2, h = 2, s = 64, d = 64;

TensorEntry entry(std::string const& name, int64_t uid) {
    return {name, {{"dim", {b, h, s, d}}, {"stride", {h * s * d, s * d, d, 1}}}, {{"uid", uid}, {"alignment", 16}}};
}

void run(compat::Machine const& machine) {
    Graph graph;
    machine.prepare(graph);
    graph.set_io_data_type(fe::DataType_t::HALF)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    auto const Q = make(graph, entry("Q", 1)), K = make(graph, entry("K", 2)), V = make(graph, entry("V", 3));
    auto options = SDPA_attributes().set_attn_scale(0.125f);
    SDPA_attributes& (SDPA_attributes::*const rename)(std::string const&) = &SDPA_attributes::set_name;
    EXPECT(&(options.*rename)("attention") == &options && options.name == "attention");
    for (auto const& [key, is_on] : std::map<std::string, bool>{{"causal", true}, {"stats", false}}) {
        (options.*switches.at(key))(is_on);
    }
    auto [O, Stats] = graph.sdpa(Q, K, V, options);
    EXPECT(Q->get_name() == "Q" && K->get_dim() == Sizes{b, h, s, d} && V->get_stride().front() == h * s * d);
    EXPECT(Stats == nullptr);
    O->set_output(true);
    set_dim(*O, {b, h, s, d});
    set_stride(*O, {s * h * d, d, h * d, 1});
    (O.get()->*number_setters.at("uid"))(4);
    fe::error_t const built = graph.build(machine.handle(), {fe::HeurMode_t::A});
    EXPECT(built.is_good());
    if (!machine.has_gpu()) return;
    auto const q = compat::random_values<half>(b * h * s * d, 1), k = compat::random_values<half>(b * h * s * d, 2);
    auto const v = compat::random_values<half>(b * h * s * d, 3);
    compat::Mirror<half> dQ(machine, q), dK(machine, k), dV(machine, v), dO(machine, q);
    auto workspace = compat::workspace_of(machine, graph.get_workspace_size());
    std::unordered_map<int64_t, void*> pack = {{1, dQ.data()}, {2, dK.data()}, {3, dV.data()}, {4, dO.data()}};
    EXPECT(graph.execute(machine.handle(), pack, workspace.data()).is_good());
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    auto const o = dO.read();
    auto const view = [](std::vector<half> const& values, std::shared_ptr<Tensor_attributes> const& tensor) {
        return compat::View<half const>{values.data(), tensor->get_dim(), tensor->get_stride()};
    };
    EXPECT(compat::is_attention(view(q, Q), view(k, K), view(v, V), view(o, O), 0.125f, compat::causal));
}

}  // namespace

int main() { return compat::main_of(run); }
