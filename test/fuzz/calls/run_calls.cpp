// Runs of graphs in any state, with correct and faulty packs.
#include "fuzz/calls/machine.h"
#include "fuzz/driver.h"
#include "fuzz/graphs/runs.h"

#include <cudnn_frontend/resized_plan.h>
#include <cudnn_frontend/verification.h>

#include <map>
#include <optional>

namespace fuzz {
namespace {

constexpr std::size_t kBlock = 1 << 16;  // bytes of each tensor
constexpr std::int64_t kMostWorkspace = 1 << 20;
constexpr std::size_t kMostTensors = 24;

Graph& graph_of(Machine& m, Numbers const& n) { return *n.in(m.graphs, 0); }

// Whether the blocks are large enough for every tensor of the plan. The plan has the tensors as they were when it was
// built; the program's may have changed since. A stored plan has them as they were, too.
bool fits_in_blocks(Graph const& graph) {
    std::vector<std::uint8_t> bytes;
    Graph built;
    if (graph.serialize(bytes).is_bad() || built.deserialize(nullptr, bytes).is_bad()) return false;
    std::vector<std::int64_t> const uids = built.get_variant_pack_uids_sorted();
    for (std::int64_t const uid : uids) {
        Tensor_attributes tensor;
        if (built.query_tensor_attributes_of_uid(uid, tensor).is_bad() || tensor.get_ragged_offset()) return false;
        auto const span = span_of(tensor.get_dim(), tensor.get_stride());
        if (!span || static_cast<std::size_t>(*span) * 8 > kBlock) return false;
    }
    return uids.size() <= kMostTensors && built.get_workspace_size() <= kMostWorkspace;
}

// Memory for one run: blocks of small integers, which are small floating-point numbers too.
struct Blocks {
    std::vector<std::int32_t> memory;
    std::map<std::int64_t, void*> pack;
    std::vector<void*> sorted;
    std::vector<double> workspace;
};

std::optional<Blocks> blocks_for(Graph const& graph) {
    if (!fits_in_blocks(graph)) return std::nullopt;
    Blocks blocks;
    std::vector<std::int64_t> const uids = graph.get_variant_pack_uids_sorted();
    blocks.memory.assign(uids.size() * kBlock / sizeof(std::int32_t), 1);
    for (std::size_t i = 0; i < uids.size(); ++i) {
        blocks.sorted.push_back(blocks.memory.data() + i * kBlock / sizeof(std::int32_t));
        blocks.pack[uids[i]] = blocks.sorted.back();
    }
    blocks.workspace.resize(static_cast<std::size_t>(graph.get_workspace_size()) / sizeof(double) + 1);
    return blocks;
}

void execute(Machine& m, Numbers const& n) {
    Graph const& graph = graph_of(m, n);
    auto blocks = blocks_for(graph);
    if (!blocks) return;
    ++figures().executions;
    m.note(n.flag(1) ? graph.execute(blocks->pack, blocks->workspace.data())
                     : graph.execute(nullptr, blocks->sorted.data(), static_cast<int>(blocks->sorted.size()),
                                     blocks->workspace.data()));
}

// A pack with a missing, null or misaligned entry, two entries for the same memory, or a wrong count.
void execute_wrongly(Machine& m, Numbers const& n) {
    Graph const& graph = graph_of(m, n);
    auto blocks = blocks_for(graph);
    if (!blocks || blocks->sorted.empty()) return;
    auto const entry = std::next(blocks->pack.begin(), n.as<std::ptrdiff_t>(2, blocks->pack.size()));
    void* const workspace = blocks->workspace.data();
    ++figures().executions;
    switch (n.as<int>(1, 7)) {
        case 0: blocks->pack.erase(entry); break;
        case 1: entry->second = nullptr; break;
        case 2: entry->second = static_cast<char*>(entry->second) + 1; break;
        case 3: entry->second = blocks->pack.begin()->second; break;
        case 4: m.note(graph.execute(blocks->pack, nullptr)); return;
        case 5:
            m.note(graph.execute(nullptr, blocks->sorted.data(), static_cast<int>(n[3]) % 2 - 1, workspace));
            return;
        default:
            m.note(graph.execute(nullptr, static_cast<void**>(nullptr), static_cast<int>(n[3]), workspace));
            return;
    }
    m.note(graph.execute(blocks->pack, workspace));
}

// The results are wrong unless the graph was run, so that all explanations are tried.
void verify(Machine& m, Numbers const& n) {
    Graph const& graph = graph_of(m, n);
    auto blocks = blocks_for(graph);
    if (!blocks) return;
    cudnn_frontend::Verification verification;
    cudnn_frontend::Verification_options options;
    options.most_scores = n.flag(1) ? n[2] : options.most_scores;
    options.search_milliseconds = 20;
    if (n.flag(3)) m.note(graph.execute(blocks->pack, blocks->workspace.data()));
    m.note(graph.verify(blocks->pack, options, verification));
    m.expect(verification.to_json().size() > 2 && !verification.to_text().empty(), "a verification has a text");
    std::string capsule;
    if ((n[2] & 1) != 0) m.note(graph.capsule(blocks->pack, capsule));
}

void execute_at(Machine& m, Numbers const& n) {
    auto blocks = blocks_for(graph_of(m, n));
    if (!blocks) return;
    m.note(graph_of(m, n).execute_plan_at_index(nullptr, blocks->pack, blocks->workspace.data(), n[1]));
    m.note(graph_of(m, n).autotune(nullptr, blocks->pack, blocks->workspace.data()));
    std::vector<double> const microseconds(static_cast<std::size_t>(n[2] & 3), static_cast<double>(n[3]));
    std::vector<std::vector<double>> const of_plans(static_cast<std::size_t>(n[1] & 3), microseconds);
    m.note(graph_of(m, n).choose_plan_by_times(of_plans));
    m.note(graph_of(m, n).warmup(nullptr));
}

// Lists of wrong lengths, with impossible dims and unknown uids. Valid ones only make dims smaller.
void execute_overridden(Machine& m, Numbers const& n) {
    auto blocks = blocks_for(graph_of(m, n));
    if (!blocks) return;
    std::vector<std::int64_t> const uids(static_cast<std::size_t>(n[1] & 3), n[2]);
    std::vector<std::vector<std::int64_t>> const dims(static_cast<std::size_t>(n[3] & 3), {1, 1, n[3] % 3, 1});
    m.note(graph_of(m, n).execute(nullptr, blocks->pack, blocks->workspace.data(), uids, dims, dims));
}

// Shapes of all tensors of the graph or of others, with huge or negative sizes and strides, or without lists of them.
void resize(Machine& m, Numbers const& n) {
    using cudnn_frontend::graph::Resized_plan;
    using cudnn_frontend::graph::Tensor_shape;
    std::vector<std::int64_t> uids = graph_of(m, n).get_variant_pack_uids_sorted();
    if (n[3] % 7 == 0) uids.push_back(n[3]);
    std::int64_t const dim[] = {1, 2, n[1], 64}, stride[] = {n[2], 64, 128, 1};
    std::vector<Tensor_shape> shapes;
    for (std::int64_t const uid : uids) {
        bool const has_list = n[3] % 5 != 0 || uid % 2 == 0;
        shapes.push_back({uid, has_list ? dim : nullptr, stride, n[3] % 3 == 0 ? std::size_t{3} : std::size_t{4}});
    }
    Resized_plan plan;
    m.note(Resized_plan::make(graph_of(m, n), shapes.data(), shapes.size(), plan));
    m.note(plan.execute(cudnnHandle_t(), std::map<std::int64_t, void*>(), nullptr));
    m.expect(plan.get_workspace_size() >= 0, "a resized plan has a workspace's size");
}

void execute_by_tensors(Machine& m, Numbers const& n) {
    auto blocks = blocks_for(graph_of(m, n));
    if (!blocks) return;
    std::map<Tensor_ptr, void*> pack;
    for (std::size_t i = 0; i < std::min(blocks->sorted.size(), m.tensors.size()); ++i) {
        pack[m.tensors[i]] = blocks->sorted[i];
    }
    m.note(graph_of(m, n).execute(pack, blocks->workspace.data()));
}

void make_cuda_graph(Machine& m, Numbers const& n) {
    std::map<std::int64_t, void*> const pack;
    m.note(graph_of(m, n).populate_cuda_graph(nullptr, pack, nullptr, nullptr));
    m.note(graph_of(m, n).update_cuda_graph(nullptr, pack, nullptr, nullptr));
}

constexpr Call kCalls[] = {
    {"run.execute", execute},
    {"run.execute_wrongly", execute_wrongly},
    {"run.execute_at", execute_at},
    {"run.execute_overridden", execute_overridden},
    {"run.execute_by_tensors", execute_by_tensors},
    {"run.resize", resize},
    {"run.make_cuda_graph", make_cuda_graph},
    {"run.verify", verify},
};

}  // namespace

std::span<Call const> run_calls() { return kCalls; }

}  // namespace fuzz
