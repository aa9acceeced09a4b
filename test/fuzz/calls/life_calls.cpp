// Copies, moves, destruction and threads.
#include "fuzz/calls/machine.h"

#include <thread>
#include <utility>

namespace fuzz {
namespace {

Graph& graph_of(Machine& m, Numbers const& n) { return *n.in(m.graphs, 0); }

void end(Machine& m, Numbers const& n) { n.in(m.graphs, 0) = std::make_shared<Graph>(); }
void end_tensors(Machine& m, Numbers const&) { m.tensors = {}; }
void copy(Machine& m, Numbers const& n) { graph_of(m, n) = *n.in(m.graphs, 1); }
void move(Machine& m, Numbers const& n) { graph_of(m, n) = std::move(*n.in(m.graphs, 1)); }
void copy_new(Machine& m, Numbers const& n) { n.in(m.graphs, 0) = std::make_shared<Graph>(*n.in(m.graphs, 1)); }
void move_new(Machine& m, Numbers const& n) {
    n.in(m.graphs, 0) = std::make_shared<Graph>(std::move(*n.in(m.graphs, 1)));
}

// Const members may be called from many threads at once.
void ask_in_threads(Machine& m, Numbers const& n) {
    Graph const& graph = graph_of(m, n);
    std::string texts[2];
    auto const ask = [&graph](std::string& text) { text = graph.check().to_text() + graph.print(); };
    std::thread other(ask, std::ref(texts[0]));
    ask(texts[1]);
    other.join();
    m.expect(texts[0] == texts[1], "two threads get the same answers");
}

// Graphs that share no tensors are independent.
void build_in_threads(Machine& m, Numbers const& n) {
    std::string text;
    if (graph_of(m, n).serialize(text).is_bad()) return;
    error_t errors[2];
    auto const build = [&text](error_t& error) {
        Graph graph;
        error = graph.deserialize(text);
        if (error.is_good()) error = graph.build(Target::cpu(1));
    };
    std::thread other(build, std::ref(errors[0]));
    build(errors[1]);
    other.join();
    m.note(errors[0]);
    // The search for a fix, the last line, ends after some time.
    auto const without_fix = [](error_t const& error) {
        return error.err_msg.substr(0, error.err_msg.find("\nTry: "));
    };
    m.expect(without_fix(errors[0]) == without_fix(errors[1]), "two threads build the same");
}

// A copy shares tensors with the graph, and is built at the same time.
void build_copy_in_thread(Machine& m, Numbers const& n) {
    Graph& graph = graph_of(m, n);
    Graph copy(graph);
    std::thread other([&copy] { (void)copy.build(Target::cpu(1)); });
    (void)graph.get_workspace_size();
    (void)graph.get_variant_pack_uids_sorted();
    other.join();
}

constexpr Call kCalls[] = {
    {"life.end", end},
    {"life.end_tensors", end_tensors},
    {"life.copy", copy},
    {"life.move", move},
    {"life.copy_new", copy_new},
    {"life.move_new", move_new},
    {"life.ask_in_threads", ask_in_threads},
    {"life.build_in_threads", build_in_threads},
    {"life.build_copy_in_thread", build_copy_in_thread},
};

}  // namespace

std::span<Call const> life_calls() { return kCalls; }

}  // namespace fuzz
