#include "neighbors.h"

#include "edits.h"

#include <algorithm>
#include <optional>
#include <set>

namespace sdpa {
namespace {

constexpr std::size_t kMostNodes = 64;  // of a graph of which every edit is a copy
constexpr std::size_t kMostNeighbors = 4, kMostFixes = 8, kMostOfPairs = 24;

// The number of broken rules; as if it were endless for a document that is none.
std::size_t faults_of(Json const& document) {
    fe::graph::Graph graph;
    if (graph_of(document, graph).is_bad()) return SIZE_MAX;
    return graph.check().findings().size();
}

// The plan's name, nothing where there is none.
std::optional<std::string> plan_of(Json const& document, fe::Target const& target) {
    fe::graph::Graph graph;
    std::string name;
    if (graph_of(document, graph).is_bad() || !graph.check().ok()) return std::nullopt;
    if (graph.build(target).is_bad() || graph.get_plan_name(name).is_bad()) return std::nullopt;
    return name;
}

class Searcher {
   public:
    explicit Searcher(Search const& search) : search_(search), end_(std::chrono::steady_clock::now() + search.limit) {}

    std::vector<Neighbor> run() {
        Neighbor const valid = fixed();
        if (faults_of(valid.document) > 0) return {};
        if (!valid.changes.empty() && accept(valid)) return found_;
        auto const edits = edits_of(valid.document);
        std::set<std::string> kinds;
        for (Edit const& edit : edits) {
            if (is_over()) break;
            if (!kinds.contains(edit.kind) && accept(after(valid, edit))) kinds.insert(edit.kind);
        }
        if (found_.empty()) try_pairs(valid, edits);
        try_targets(valid);
        return found_;
    }

   private:
    bool is_over() const { return found_.size() >= kMostNeighbors || std::chrono::steady_clock::now() > end_; }

    static Neighbor after(Neighbor const& base, Edit const& edit) {
        Neighbor next{base.changes, base.target, {}, edit.document};
        next.changes.push_back(edit.text);
        return next;
    }

    bool accept(Neighbor candidate) {
        if (!tried_.insert(candidate.document.dump()).second) return false;
        auto const name = plan_of(candidate.document, search_.target);
        if (!name) return false;
        candidate.plan = *name;
        found_.push_back(std::move(candidate));
        return true;
    }

    // The graph after the edits that each leave the fewest broken rules.
    Neighbor fixed() const {
        Neighbor now{{}, search_.target_name, {}, search_.document};
        std::size_t faults = faults_of(now.document);
        while (faults > 0 && now.changes.size() < kMostFixes) {
            std::optional<Edit> best;
            for (Edit& edit : edits_of(now.document)) {
                if (is_over()) return now;
                std::size_t const left = faults_of(edit.document);
                if (left >= faults) continue;
                faults = left;
                best = std::move(edit);
            }
            if (!best) break;
            now = after(now, *best);
        }
        return now;
    }

    void try_pairs(Neighbor const& valid, std::vector<Edit> const& edits) {
        for (std::size_t i = 0; i < std::min(edits.size(), kMostOfPairs); ++i) {
            Neighbor const first = after(valid, edits[i]);
            for (Edit const& second : edits_of(first.document)) {
                if (is_over()) return;
                if (second.cost >= edits[i].cost) accept(after(first, second));
            }
        }
    }

    // GPUs of another kind, then the CPU; not for graphs that had faults of their own.
    void try_targets(Neighbor const& valid) {
        std::vector<std::pair<std::string, fe::Target>> targets;
        if (search_.target.kind() == fe::Target::Kind::OFFLINE) {
            for (std::string const& name : fe::DeviceProperties::names()) {
                if (name != search_.target_name) targets.emplace_back(name, fe::Target::offline(name));
            }
        }
        if (search_.target.kind() != fe::Target::Kind::CPU) targets.emplace_back("cpu", fe::Target::cpu());
        for (auto const& [name, target] : targets) {
            if (is_over() && name != "cpu") continue;
            auto const plan = plan_of(valid.document, target);
            if (!plan) continue;
            Neighbor other{valid.changes, name, *plan, valid.document};
            other.changes.push_back(name == "cpu" ? "run it on the CPU, Target::cpu()"
                                                  : "plan it for another GPU, " + name);
            found_.push_back(std::move(other));
        }
    }

    Search const& search_;
    std::chrono::steady_clock::time_point end_;
    std::set<std::string> tried_;
    std::vector<Neighbor> found_;
};

}  // namespace

std::vector<Neighbor> nearest_graphs(Search const& search) {
    if (search.document.at("nodes").size() > kMostNodes) return {};
    return Searcher(search).run();
}

}  // namespace sdpa
