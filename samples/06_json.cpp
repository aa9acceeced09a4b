// A graph as JSON text and back: the restored graph is the same and gives the same results.
//   ./run sample 06_json [--target cpu|reference|cuda]
#include "support.h"

namespace fe = cudnn_frontend;
using samples::Index;

namespace {

constexpr Index kHeads = 2, kRows = 48, kDepth = 16;
samples::Layout const kLayout = samples::bhsd(1, kHeads, kRows, kDepth);

enum Uid : Index { Q = 10, K, V, O };  // set by hand: a program that reads the text knows tensors only by uid

void describe_attention(fe::graph::Graph& graph) {
    graph.set_name("saved attention");
    samples::set_types(graph, fe::DataType_t::HALF);
    auto Q = graph.tensor(samples::describe("Q", kLayout).set_uid(Uid::Q));
    auto K = graph.tensor(samples::describe("K", kLayout).set_uid(Uid::K));
    auto V = graph.tensor(samples::describe("V", kLayout).set_uid(Uid::V));
    auto options = fe::graph::SDPA_attributes().set_name("attention").set_attn_scale(0.25f).set_generate_stats(false);
    options.set_causal_mask(true).set_sliding_window_length(16);
    auto O = graph.sdpa(Q, K, V, options)[0];
    O->set_output(true).set_uid(Uid::O);
}

std::vector<double> numbers(fe::graph::Graph& graph, fe::Target const& target) {
    auto q = samples::random<fe::float16>(kLayout.volume(), 1);
    auto k = samples::random<fe::float16>(kLayout.volume(), 2);
    auto v = samples::random<fe::float16>(kLayout.volume(), 3);
    std::vector<fe::float16> o(kLayout.volume());
    samples::require(graph.build(target));
    samples::run(target, graph,
                 samples::Uid_pack{{Uid::Q, q.data()}, {Uid::K, k.data()}, {Uid::V, v.data()}, {Uid::O, o.data()}});
    return dense(view(kLayout, o));
}

// The text with the first `from` replaced.
std::string edited(std::string text, std::string const& from, std::string const& to) {
    auto const place = text.find(from);
    return place == std::string::npos ? text : text.replace(place, from.size(), to);
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("06_json: h=%d s=%d d=%d, causal window, half, on target %s\n\n", int(kHeads), int(kRows), int(kDepth),
                fe::to_string(target.kind()));

    fe::graph::Graph graph, restored;
    describe_attention(graph);
    std::string text, again;
    samples::require(graph.serialize(text));
    std::printf("%s\n", text.c_str());

    samples::require(restored.deserialize(text));
    samples::require(restored.serialize(again));
    samples::Checks checks;
    checks.expect("the restored graph gives the same text", again == text);
    checks.expect("and has the same key", restored.key() == graph.key());
    checks.compare("O of the restored", numbers(restored, target), numbers(graph, target), 0.0);

    // A fault in the text is an error that names its place, and leaves the graph unchanged.
    fe::error_t const refusal = restored.deserialize(edited(text, "\"left_bound\"", "\"left_bond\""));
    std::printf("\n  A misspelt field gives this error:\n%s\n\n", refusal.get_message().c_str());
    bool const named = refusal.err_msg.find("left_bond") != std::string::npos;
    checks.expect("is refused, and the message names it", refusal.is_bad() && named);
    samples::require(restored.serialize(again));
    checks.expect("nothing of it was read", again == text);
    return checks.exit_code();
}
