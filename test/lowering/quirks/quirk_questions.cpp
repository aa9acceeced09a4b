#include "lowering/quirks/quirk_questions.h"

#include "gpu/cases/case_changes.h"
#include "lowering/block_scale_graphs.h"
#include "lowering/case_graphs.h"
#include "lowering/quirks/changing_rewrites.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sdpa_test {
namespace {

using namespace cudnn_frontend;
namespace Port = nodes::attention;

// Few are enough to find out whether a quirk holds; each takes up to some seconds.
constexpr std::size_t kGraphsOnDevice = 3;

struct AskedGraph {
    std::string name;
    std::shared_ptr<nodes::ValidatedGraph const> graph;
    quirks::QuirkSettings settings;
};

AskedGraph asked(std::string name, nodes::GraphSpec spec, quirks::QuirkSettings const& settings = {}) {
    return {std::move(name), std::make_shared<nodes::ValidatedGraph const>(validated(std::move(spec))), settings};
}

AttentionCase plain_case() { return gpu_case_groups()[0].cases[3]; }

// A graph without a row of options.
AskedGraph causal_stats_in_base_2() {
    AttentionCase c = plain_case();
    c.stats_use_log2 = true, c.right = 0;
    return asked("stats in base 2, causal, backward", spec_of(Graphs(c).backward.graph()));
}

AskedGraph transposed_bias_gradient() {
    AttentionCase c = plain_case();
    c.bias = Index4{1, c.h_q, c.s_q, c.s_kv};
    c.d_bias = true;
    nodes::GraphSpec spec = spec_of(Graphs(c).backward.graph());
    nodes::TensorId const gradient = spec.nodes.front().ports[Port::DBias];
    std::swap(spec.tensors[static_cast<std::size_t>(gradient)].stride[1],
              spec.tensors[static_cast<std::size_t>(gradient)].stride[2]);
    return asked("dBias with gaps, backward", std::move(spec));
}

// The graph has rows of 24, so that strides are multiples of 16 bytes.
AskedGraph heads_of_20() {
    AttentionCase c = plain_case();
    c.d_qk = c.d_v = 24;
    nodes::GraphSpec spec = spec_of(Graphs(c).forward.graph());
    for (int const port : {Port::Q, Port::K, Port::V, Port::O}) {
        spec.tensors[static_cast<std::size_t>(spec.nodes.front().ports[port])].dim[3] = 20;
    }
    return asked("heads of 20, forward", std::move(spec));
}

AskedGraph two_attention_nodes() {
    nodes::GraphSpec spec = spec_of(Graphs(plain_case()).forward.graph());
    nodes::GraphSpec const other = spec;
    for (nodes::TensorSpec tensor : other.tensors) {
        if (tensor.uid) *tensor.uid += 100000;
        tensor.name += " of the second";
        spec.tensors.push_back(std::move(tensor));
    }
    for (nodes::Node node : other.nodes) {
        for (nodes::TensorId& port : node.ports) {
            if (port != nodes::kNoTensor) port += static_cast<nodes::TensorId>(other.tensors.size());
        }
        node.name = "second";
        spec.nodes.push_back(std::move(node));
    }
    return asked("two attention nodes, forward", std::move(spec));
}

AskedGraph reshaped_keys() {
    graph::Graph graph;
    auto const half = graph::Tensor_attributes()
                          .set_dim({2, 4, 128, 64})
                          .set_stride({32768, 8192, 64, 1})
                          .set_data_type(DataType_t::HALF);
    auto const keys = graph.reshape(graph.tensor(half), graph::Reshape_attributes().set_dim({2, 4, 128, 64}));
    graph.sdpa(graph.tensor(half), keys, graph.tensor(half), graph::SDPA_attributes().set_generate_stats(false))[0]
        ->set_output(true)
        .set_data_type(DataType_t::HALF);
    return asked("a reshape before K, forward", spec_of(graph));
}

AskedGraph block_scales() {
    return asked("block scales, forward", spec_of(BlockScaleGraph::forward({2, 2, 256, 128}, false)));
}

std::vector<AskedGraph> asked_graphs() {
    std::vector<AskedGraph> graphs{causal_stats_in_base_2(),
                                   transposed_bias_gradient(),
                                   heads_of_20(),
                                   two_attention_nodes(),
                                   reshaped_keys(),
                                   block_scales()};
    for (OptionRow const& row : option_rows()) {
        for (bool const is_backward : {false, true}) {
            auto const graph = row.graph(is_backward);
            if (!graph) continue;
            graphs.push_back(
                asked(row.name + (is_backward ? ", backward" : ", forward"), spec_of(*graph), row.settings));
        }
    }
    return graphs;
}

// The one limit or, of several, one that would end the process.
quirks::Quirk const* asked_limit(std::vector<quirks::Violated> const& found) {
    if (found.size() == 1) return found.front().quirk;
    auto const fatal = std::ranges::find_if(
        found, [](quirks::Violated const& violated) { return quirks::is_fatal_to_ask(*violated.quirk); });
    return fatal == found.end() ? nullptr : fatal->quirk;
}

// A form that no engine accepts can be tried without a GPU.
std::vector<quirks::Quirk const*> asked_rewrites(AskedGraph const& asked, quirks::Capabilities const& here) {
    auto rewrites = changing_rewrites(*asked.graph, here);
    std::erase_if(rewrites, [](auto const* quirk) { return quirk->evidence != quirks::Evidence::NoEngine; });
    return rewrites;
}

// The quirks that an answer about the graph is about.
std::vector<quirks::Quirk const*> asked_quirks(AskedGraph const& asked, quirks::Capabilities const& here) {
    auto const limits = quirks::violations(*asked.graph, here, asked.settings);
    if (limits.empty()) return asked_rewrites(asked, here);
    quirks::Quirk const* const limit = asked_limit(limits);
    return limit == nullptr ? std::vector<quirks::Quirk const*>{} : std::vector{limit};
}

}  // namespace

OfflineQuestion QuirkQuestion::past_quirk() const {
    bool const is_rewrite = quirk->verdict == quirks::Verdict::Rewrite;
    return {*graph, settings, true, is_rewrite ? quirk->id : ""};
}

std::vector<QuirkQuestion> quirk_questions(std::size_t cudnn_version) {
    std::vector<QuirkQuestion> questions;
    std::map<std::pair<quirks::Quirk const*, std::string>, std::size_t> counts;
    for (AskedGraph const& asked : asked_graphs()) {
        for (offline::DeviceDescription const& device : offline::known_devices()) {
            for (quirks::Quirk const* const quirk :
                 asked_quirks(asked, {.cudnn_version = cudnn_version, .sm = device.sm})) {
                if (++counts[{quirk, device.name}] > kGraphsOnDevice) continue;
                questions.push_back({quirk, asked.name + ", " + device.name, asked.graph, asked.settings, &device});
            }
        }
    }
    return questions;
}

}  // namespace sdpa_test
