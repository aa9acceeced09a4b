// A fault or a limit of cuDNN as data: where it applies, how it is known, and what is done about it.
#pragma once

#include "core/findings.h"
#include "cudnn/quirks/versions.h"
#include "nodes/validation/validate.h"

#include <cudnn_frontend/report.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::quirks {

// The graph's settings that quirks examine.
struct QuirkSettings {
    bool dynamic_shapes = false;
};

// The facts about a node that quirks examine: an attention node, except for quirks of moves.
struct AttentionFacts {
    nodes::GraphSpec const& graph;
    nodes::Node const& node;
    nodes::AttentionFields const& fields;  // defaults where the node is no attention
    bool is_backward;
    Capabilities here;
    QuirkSettings settings;

    nodes::TensorSpec const* tensor(int port) const { return graph.tensor(node, port); }
    bool has(int port) const { return tensor(port) != nullptr; }
    std::int64_t queries() const;
    std::int64_t keys() const;
    std::int64_t qk_dim() const;
    std::int64_t v_dim() const;
};

// Refuse: graphs that violate it never reach cuDNN. BarEngine: engines of a kind serve no such graph. Rewrite: a pass
// of src/backends/cudnn/passes gives cuDNN another form of the graph.
enum class Verdict { Refuse, BarEngine, Rewrite };

// NoEngine: no engine accepts the graph, or none compiles. WrongNumbers: engines accept it, and results are wrong or
// left unwritten. Crash, Hang: the process faults or does not come back, in a run where that was seen on a GPU, in
// planning where it was seen offline. AskedOffline: the backend's operations have no place for the option, so that
// engines would not learn of it. ToldByNvidia: NVIDIA's documents or release notes say so; nothing was tried here.
// Slower: engines accept it and are right, and need more time or memory. Untried: engines accept it, and no run showed
// it wrong; the form that a pass gives ran and was right.
enum class Evidence { NoEngine, WrongNumbers, Crash, Hang, AskedOffline, ToldByNvidia, Slower, Untried };
char const* to_text(Evidence evidence);  // "wrong numbers"

constexpr std::string_view kOffline = "offline", kH100 = "an H100", kH200 = "an H200";

// The last release with which the quirk was seen, and where; a version of 0: never.
struct Verified {
    std::size_t cudnn_version = 0;
    std::string_view where = {};
};

// The result of a check. It is not reported by the check itself: some checks extend the texts of others, and the check
// of a bar of engines reports nothing. check() in support.h makes a finding of it, with the row's expectation and fix.
struct Violation {
    int port = -1;  // the first tensor at fault; -1: the node
    std::string found;
    std::vector<int> others = {};  // ports of further tensors at fault
};

// The nodes that a quirk is about: attention, of one kind or all, or nodes that move elements.
enum class QuirkScope { All, Fp8, BlockScaled, Wider, Moves };

// Rows of one id are the same quirk where its requirement or text differs in another place; the first that finds a
// violation is reported.
struct Quirk {
    char const* id;  // cudnn.s07: a limit, cudnn.e01: engines, cudnn.w01: a workaround
    Versions cudnn = {};
    Architectures on = kEvery;
    Evidence evidence;
    Verified verified = {};
    char const* summary;    // the requirement in that place; for the other verdicts cuDNN's behavior
    char const* fix;        // the user's remedy; for the other verdicts the library's action
    char const* seen = "";  // the runs behind the evidence
    // The first violation, if there is any. Passes look at the graph themselves.
    std::optional<Violation> (*check)(AttentionFacts const& facts) = nullptr;
    QuirkScope of = QuirkScope::All;
    error_code_t code = error_code_t::GRAPH_NOT_SUPPORTED;
    Verdict verdict = Verdict::Refuse;
    char const* pass = "";  // the pass that rewrites

    core::Rule rule() const { return {id, summary, code}; }
    bool is_in_force(Capabilities const& here) const {
        return cudnn.contain(here.cudnn_version) && on.contain(here.sm);
    }
};

// All of them, in the order of their ids.
std::span<Quirk const> quirks();

// Whether asking cuDNN for engines is what ends the process.
bool is_fatal_to_ask(Quirk const& quirk);
// Whether engines may be found all the same.
bool may_have_engines(Quirk const& quirk);

}  // namespace cudnn_frontend::quirks
