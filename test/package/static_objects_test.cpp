// A program's static objects may use the library when its own static objects are gone: one that was made before the
// first call is destroyed after everything that calls made.
#include <cudnn_frontend.h>

#include "expect.h"

#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

namespace fe = cudnn_frontend;

namespace {

struct Answers {
    std::vector<float> o;
    std::string json, text, advice, failures;

    bool operator==(Answers const& other) const {
        return o == other.o && json == other.json && text == other.text && advice == other.advice &&
               failures == other.failures;
    }
};

constexpr std::int64_t kRows = 4, kColumns = 8;

std::shared_ptr<fe::graph::Tensor_attributes> input(fe::graph::Graph& graph, std::int64_t uid) {
    return graph.tensor(fe::graph::Tensor_attributes()
                            .set_uid(uid)
                            .set_dim({1, 1, kRows, kColumns})
                            .set_stride({kRows * kColumns, kRows * kColumns, kColumns, 1}));
}

void describe(fe::graph::Graph& graph) {
    graph.set_io_data_type(fe::DataType_t::FLOAT)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    auto const q = input(graph, 1), k = input(graph, 2), v = input(graph, 3);
    auto const [o, stats] = graph.sdpa(q, k, v, fe::graph::SDPA_attributes().set_generate_stats(false));
    o->set_output(true).set_uid(4);
}

// The results of a run, the texts, and the errors of targets.
Answers ask(fe::Target const& target) {
    Answers answers;
    fe::graph::Graph graph;
    describe(graph);
    std::vector<float> q, k, v;
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
        q.push_back(0.1f * static_cast<float>(i % 7)), k.push_back(0.2f * static_cast<float>(i % 5));
        v.push_back(0.3f * static_cast<float>(i % 11));
    }
    answers.o.resize(q.size());
    std::vector<std::pair<std::string, fe::error_t>> const steps{
        {"build", graph.build(target)},
        {"serialize", graph.serialize(answers.json)},
    };
    for (auto const& [step, error] : steps) {
        if (error.is_bad()) answers.failures += step + ": " + error.get_message() + "\n";
    }
    std::vector<char> workspace(static_cast<std::size_t>(graph.get_workspace_size()));
    std::unordered_map<std::int64_t, void*> pack{{1, q.data()}, {2, k.data()}, {3, v.data()}, {4, answers.o.data()}};
    if (auto const error = graph.execute(nullptr, pack, workspace.data()); error.is_bad())
        answers.failures += error.get_message() + "\n";
    answers.text = graph.print();
    answers.advice = graph.advice().to_text();
    fe::graph::Reshape_attributes reshape;
    answers.text += std::to_string(reshape.get_dim().size());
    // Where cuDNN is not there these are errors, and no faults.
    fe::graph::Graph elsewhere;
    describe(elsewhere);
    answers.text += elsewhere.build(fe::Target::offline("no such GPU")).get_message();
    return answers;
}

std::vector<fe::Target> targets() { return {fe::Target::cpu(), fe::Target::reference()}; }

std::vector<Answers> first;

// Destroyed after whatever was made since: what the library makes on its first call, among that.
struct Late {
    ~Late() {
        std::vector<Answers> last;
        for (fe::Target const& target : targets()) last.push_back(ask(target));
        if (last == first) return;
        std::fprintf(stderr, "calls of a static object give other answers than calls of main()\n");
        std::_Exit(1);
    }
} const late;

}  // namespace

int main() {
    for (fe::Target const& target : targets()) {
        first.push_back(ask(target));
        EXPECT(first.back().failures.empty());
        EXPECT(first.back().o.at(1) > 0.0f);
        EXPECT(first.back().text.find("no device description is called 'no such GPU'") != std::string::npos ||
               first.back().text.find("has no") != std::string::npos);
    }
    return failures;
}
