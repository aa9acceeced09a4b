// Score modifiers: a ready one masks documents packed into one sequence, another is the program's own.
// Both are nodes of the graph: it can be stored as JSON, and runs the same once it is read back.
//   ./run sample 24_score_modifiers [--target cpu|reference|cuda]
#include <cudnn_frontend/score_modifiers.h>
#include "support.h"

#include <algorithm>

namespace fe = cudnn_frontend;
namespace ready = cudnn_frontend::graph::attn::score_modifiers;
using samples::Index;
using samples::Tensor;
using Half = fe::float16;
using Halves = std::vector<Half>;

namespace {

constexpr Index kHeads = 2, kRows = 12, kDepth = 16;
constexpr float kScale = 0.25f;
samples::Layout const kLayout = samples::bhsd(1, kHeads, kRows, kDepth);
std::vector<std::int32_t> const kDocuments = {0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2};

enum Uid : Index { Q, K, V, O, OfQueries, OfKeys };

Tensor integers(fe::graph::Graph& graph, char const* name, samples::Layout const& layout, Uid uid) {
    return graph.tensor(samples::describe(name, layout).set_uid(uid).set_data_type(fe::DataType_t::INT32));
}

// Subtracts 1 for every 4 positions between query and key: the last step of the program's own modifier.
Tensor fade(std::shared_ptr<fe::graph::Graph> graph, Tensor scores) {
    auto const step = [](char const* name, fe::PointwiseMode_t mode) {
        return fe::graph::Pointwise_attributes().set_name(name).set_mode(mode);
    };
    auto const index = [&](char const* name, Index axis) {
        auto const options = step(name, fe::PointwiseMode_t::GEN_INDEX).set_axis(axis);
        Tensor const result = graph->pointwise(scores, options);
        result->set_data_type(fe::DataType_t::INT32);
        return result;
    };
    Tensor const distance =
        graph->pointwise(index("key", 3), index("query", 2), step("distance", fe::PointwiseMode_t::SUB));
    Tensor const loss = graph->pointwise(distance, graph->tensor(0.25f), step("loss", fe::PointwiseMode_t::MUL));
    return graph->pointwise(scores, loss, step("faded", fe::PointwiseMode_t::ADD));
}

void describe(fe::graph::Graph& graph) {
    samples::set_types(graph, fe::DataType_t::HALF);
    auto const input = [&graph](char const* name, Uid uid) {
        return graph.tensor(samples::describe(name, kLayout).set_uid(uid));
    };
    auto const documents =
        ready::document_mask(integers(graph, "documents", samples::bhsd(1, 1, kRows, 1), Uid::OfQueries),
                             integers(graph, "of keys", samples::bhsd(1, 1, 1, kRows), Uid::OfKeys));
    auto options = fe::graph::SDPA_attributes().set_name("attention").set_attn_scale(kScale).set_causal_mask(true);
    options.set_generate_stats(false);
    options.set_score_mod(
        [documents](std::shared_ptr<fe::graph::Graph> g, Tensor scores) { return documents(g, fade(g, scores)); });
    auto const O = graph.sdpa(input("Q", Uid::Q), input("K", Uid::K), input("V", Uid::V), options)[0];
    O->set_output(true).set_uid(Uid::O);
}

double expected_score(double score, Index, Index, Index i, Index j) {
    bool const is_seen = j <= i && kDocuments[static_cast<std::size_t>(i)] == kDocuments[static_cast<std::size_t>(j)];
    return is_seen ? score + 0.25 * static_cast<double>(j - i) : -samples::kInfinity;
}

void draw() {
    for (Index i = 0; i < kRows; ++i) {
        std::printf("   ");
        for (Index j = 0; j < kRows; ++j) std::printf("%s", expected_score(0, 0, 0, i, j) > -1e9 ? "█" : "·");
        std::printf("\n");
    }
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("24_score_modifiers: h=%d s=%d d=%d, half, 3 documents, causal, fading, on target %s\n", int(kHeads),
                int(kRows), int(kDepth), fe::to_string(target.kind()));
    draw();
    std::size_t const size = kLayout.volume();
    Halves q = samples::random<Half>(size, 1), k = samples::random<Half>(size, 2), v = samples::random<Half>(size, 3);
    Halves o(size);
    std::vector<std::int32_t> documents = kDocuments;
    samples::Uid_pack const pack = {{Uid::Q, q.data()},
                                    {Uid::K, k.data()},
                                    {Uid::V, v.data()},
                                    {Uid::O, o.data()},
                                    {Uid::OfQueries, documents.data()},
                                    {Uid::OfKeys, documents.data()}};
    fe::graph::Graph graph;
    describe(graph);
    samples::require(graph.build(target));
    samples::run(target, graph, pack);

    samples::Checks checks;
    auto const want =
        samples::attention(view(kLayout, q), view(kLayout, k), view(kLayout, v), double{kScale}, expected_score);
    checks.compare("O", dense(view(kLayout, o)), want.o, samples::tolerance<Half>(kRows + kDepth));

    std::string text;
    samples::require(graph.serialize(text));
    fe::graph::Graph restored;
    samples::require(restored.deserialize(text));
    samples::require(restored.build(target));
    Halves const first = o;
    std::fill(o.begin(), o.end(), Half(-1.0f));
    samples::run(target, restored, pack);
    bool const is_same = std::equal(o.begin(), o.end(), first.begin(),
                                    [](Half a, Half b) { return static_cast<float>(a) == static_cast<float>(b); });
    std::printf("  %d bytes of JSON hold the graph with its modifier\n", int(text.size()));
    checks.expect("the graph that was stored and read back gives the same numbers", is_same);
    return checks.exit_code();
}
