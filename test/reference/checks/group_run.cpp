#include "reference/checks/group_run.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <thread>

namespace sdpa_test {
namespace {

using Json = nlohmann::json;
using sdpa_graph::Group;
using sdpa_graph::Layout;

// The things that the third and the fourth dim of a tensor count.
struct Axes {
    bool has_queries = false, has_keys = false, has_keys_last = false;
};

Axes axes_of(std::string const& port, HostTensor const& tensor) {
    for (char const* name : {"Q", "O", "Stats", "Max", "Sum_exp", "dO", "dQ"}) {
        if (port == name) return {.has_queries = true};
    }
    for (char const* name : {"K", "V", "dK", "dV"}) {
        if (port == name) return {.has_keys = true};
    }
    // The second group is a modifier's.
    for (char const* name : {"bias", "dBias", "dropout_mask", "rng_dump", "IN_0", "IN_1", "IN_2"}) {
        if (port == name) return {.has_queries = tensor.dim[2] != 1, .has_keys_last = tensor.dim[3] != 1};
    }
    return {};
}

// A tensor of the whole graph, a rank's shard of it, and the places of the shard's rows and columns.
struct Shard {
    HostTensor whole, part;
    std::vector<std::int64_t> rows, columns;
    std::int64_t uid = 0;
    bool is_result = false, is_by_value = false;

    bool is_packed() const { return !whole.starts.empty(); }

    void copy(bool into_part) const {
        if (is_packed()) return copy_documents(into_part);
        for_each_index(part.dim, [&](Index4 const& at) {
            Index4 from = at;
            if (!rows.empty()) from[2] = rows[static_cast<std::size_t>(at[2])];
            if (!columns.empty()) from[3] = columns[static_cast<std::size_t>(at[3])];
            auto const size = static_cast<std::size_t>(element_size(part.type));
            if (into_part) std::memcpy(part.element(at), whole.element(from), size);
            else std::memcpy(whole.element(from), part.element(at), size);
        });
    }

    // The part has the rank's tokens of all documents in one batch entry.
    void copy_documents(bool into_part) const {
        auto const size = static_cast<std::size_t>(element_size(part.type));
        for_each_index(whole.dim, [&](Index4 const& at) {
            if (!whole.has(at)) return;
            std::int64_t const token = whole.starts[static_cast<std::size_t>(at[0])] / whole.stride[2] + at[2];
            auto const own = std::ranges::find(rows, token);
            if (own == rows.end()) return;
            Index4 const here{0, at[1], own - rows.begin(), at[3]};
            if (into_part) std::memcpy(part.element(here), whole.element(at), size);
            else std::memcpy(whole.element(at), part.element(here), size);
        });
    }
};

Index4 rows_first(Index4 const& dim) { return {dim[1] * dim[2] * dim[3], dim[3], dim[1] * dim[3], 1}; }

class RankRun {
   public:
    RankRun(Session const& whole, GroupSetup const& setup, Group const& group) : setup_(setup), group_(group) {
        std::string text;
        error_ = whole.graph().serialize_as_version(1, text);
        if (error_.is_bad()) return;
        Json graph = Json::parse(text);
        for (auto& node : graph["nodes"]) {
            if (setup_.shares_lengths && node["inputs"].contains("seq_len_q")) {
                node["inputs"]["seq_len_kv"] = node["inputs"]["seq_len_q"];
            }
            if (setup_.leaves_out_dump) node["outputs"].erase("rng_dump");
            for (auto& [direction, is_result] : {std::pair("inputs", false), std::pair("outputs", true)}) {
                for (auto& [port, tensor] : node[direction].items()) {
                    Json& described = graph["tensors"][tensor.get<std::string>()];
                    add(whole, described, port, is_result);
                    if (!described.contains("ragged_offset")) continue;
                    add(whole, graph["tensors"][described["ragged_offset"].get<std::string>()], "offset", false);
                }
            }
        }
        error_ = graph_.deserialize(graph.dump());
    }

    error_t build() {
        if (error_.is_bad()) return error_;
        if (setup_.places != nullptr) setup_.places->enter(group_.rank());
        graph_.set_group(group_, setup_.queries, {setup_.way, setup_.stages, setup_.keys});
        return graph_.build(setup_.places != nullptr ? setup_.places->target(group_.rank()) : setup_.target);
    }

    // Runs after every rank has built its graph.
    error_t run() {
        if (setup_.places == nullptr) return run_on_host();
        setup_.places->enter(group_.rank());
        std::vector<RankTensor> tensors;
        for (Shard const& shard : shards_) tensors.push_back({shard.uid, shard.part, shard.is_by_value});
        return setup_.places->execute(group_.rank(), graph_, tensors);
    }

    void write_results() const {
        for (Shard const& shard : shards_) {
            if (shard.is_result) shard.copy(false);
        }
    }

   private:
    error_t run_on_host() const {
        std::map<std::int64_t, void*> pack;
        for (Shard const& shard : shards_) pack[shard.uid] = shard.part.data();
        HostMemory const workspace(graph_.get_workspace_size());
        error_t error = graph_.execute(pack, workspace.data(), workspace.size());
        if (error.is_good() && !workspace.guards_intact()) {
            return {cudnn_frontend::error_code_t::GRAPH_EXECUTION_FAILED, "wrote outside the workspace"};
        }
        return error;
    }

    void add(Session const& whole, Json& tensor, std::string const& port, bool is_result) {
        if (!tensor.contains("uid")) return;
        Shard shard{.uid = tensor["uid"], .is_result = is_result};
        for (Session::Entry const& entry : whole.entries()) {
            if (entry.tensor->get_uid() != shard.uid) continue;
            shard.whole = entry.memory;
            shard.is_by_value = entry.tensor->get_is_pass_by_value();
        }
        bool const is_known = std::ranges::find(shards_, shard.uid, &Shard::uid) != shards_.end();
        if (!shard.whole || is_known) return;
        Axes const axes = axes_of(port, shard.whole);
        Index4 dim = shard.whole.dim;
        if (axes.has_queries) dim[2] = static_cast<std::int64_t>((shard.rows = positions(setup_.queries)).size());
        if (axes.has_keys) dim[2] = static_cast<std::int64_t>((shard.rows = positions(setup_.keys)).size());
        if (axes.has_keys_last) dim[3] = static_cast<std::int64_t>((shard.columns = positions(setup_.keys)).size());
        if (shard.is_packed()) {
            dim[0] = 1;
            shard.part = make_tensor(shard.whole.type, dim, shard.whole.stride);
        } else {
            bool const has_rows_first = setup_.has_rows_first;
            shard.part = make_tensor(shard.whole.type, dim, has_rows_first ? rows_first(dim) : packed_strides(dim));
            tensor["dim"] = dim;
            tensor["stride"] = shard.part.stride;
        }
        if (!is_result) shard.copy(true);
        shards_.push_back(std::move(shard));
    }

    std::vector<std::int64_t> positions(Layout const& layout) const { return layout.positions_of(group_.rank()); }

    GroupSetup const& setup_;
    Group group_;
    Graph graph_;
    error_t error_;
    std::vector<Shard> shards_;
};

std::vector<Group> members_of(GroupSetup const& setup, error_t& error) {
    std::vector<Group> members;
    if (setup.places != nullptr) error = setup.places->make_members(members);
    else error = Group::of_threads(setup.ranks, {setup.deadline_milliseconds}, members);
    return members;
}

}  // namespace

void on_all_ranks(int ranks, std::function<void(int rank)> const& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) threads.emplace_back([&body, rank] { body(rank); });
    for (std::thread& thread : threads) thread.join();
}

error_t run_in_group(Session const& whole, GroupSetup const& setup) {
    error_t failure;
    std::vector<Group> const members = members_of(setup, failure);
    if (failure.is_bad()) return failure;
    std::vector<std::unique_ptr<RankRun>> runs;
    for (Group const& member : members) runs.push_back(std::make_unique<RankRun>(whole, setup, member));
    auto const on_all = [&](error_t (RankRun::*step)()) -> error_t {
        std::vector<error_t> errors(members.size());
        on_all_ranks(setup.ranks, [&](int rank) {
            auto const index = static_cast<std::size_t>(rank);
            errors[index] = (*runs[index].*step)();
        });
        auto const bad = std::ranges::find_if(errors, [](error_t const& error) { return error.is_bad(); });
        return bad != errors.end() ? *bad : error_t();
    };
    if (error_t const error = on_all(&RankRun::build); error.is_bad()) return error;
    auto const turn = setup.places != nullptr ? setup.places->take_turn() : nullptr;
    if (error_t const error = on_all(&RankRun::run); error.is_bad()) return error;
    for (auto const& run : runs) run->write_results();
    return {};
}

std::vector<std::string> refusals_in_group(Session const& whole, GroupSetup const& setup) {
    error_t failure;
    std::vector<Group> const members = members_of(setup, failure);
    std::vector<std::string> refusals;
    for (Group const& member : members) refusals.push_back(RankRun(whole, setup, member).build().get_message());
    return refusals;
}

}  // namespace sdpa_test
