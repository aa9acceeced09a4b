#include "pictures/visibility.h"

#include "data/data.h"
#include "output.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace sdpa {
namespace {

// Multiplications of all runs: less than a second. A score modifier takes more, and memory for all scores.
constexpr double kMostWork = 4e9, kMostWorkWithModifier = 1e9;
constexpr double kMostElements = 2e7;  // of K and of V

// Whether a score modifier leaves finite scores finite, so that it hides no key: arithmetic with single numbers.
bool keeps_all_keys(Json const& document) {
    static std::set<std::string> const modes = {"ADD", "SUB", "MUL", "DIV", "TANH_FWD", "TANH_BWD"};
    std::set<std::string> made;
    for (Json const& node : document["nodes"]) {
        for (auto const& [port, id] : node["outputs"].items()) made.insert(id.get<std::string>());
    }
    for (Json const& node : document["nodes"]) {
        if (node["tag"].get<std::string>().starts_with("SDPA")) continue;
        if (node["tag"] != "POINTWISE" || !modes.contains(member(node, "fields").value("mode", ""))) return false;
        for (auto const& [port, id] : node["inputs"].items()) {
            Json const& dim = member(document["tensors"][id.get<std::string>()], "dim");
            bool const is_one_number = std::all_of(dim.begin(), dim.end(), [](Json const& size) { return size == 1; });
            if (!made.contains(id.get<std::string>()) && !is_one_number) return false;
        }
    }
    return true;
}

Json const& only_node(Json const& document) {
    Json const* found = nullptr;
    for (Json const& node : document.at("nodes")) {
        std::string const tag = node["tag"].get<std::string>();
        if (tag != "SDPA_FORWARD" && tag != "SDPA_BACKWARD") continue;
        if (found == nullptr) found = &node;
    }
    if (found == nullptr) throw Failure("", "no node of attention", "one whose mask can be shown");
    return *found;
}

// The sizes of the attention, from data that was made for it.
struct Problem {
    std::map<std::string, Memory*> by_port;
    std::int64_t batches, heads, queries, keys, value_depth;

    Problem(Json const& document, Memories& memories) {
        Json const& node = only_node(document);
        for (char const* group : {"inputs", "outputs"}) {
            for (auto const& [port, id] : member(node, group).items()) {
                auto const found = memories.find(document["tensors"][id.get<std::string>()]["uid"].get<std::int64_t>());
                if (found != memories.end()) by_port.insert({port, &found->second});
            }
        }
        Sizes const &q = by_port.at("Q")->dim, &v = by_port.at("V")->dim;
        batches = q[0], heads = q[1], queries = q[2], keys = by_port.at("K")->dim[2], value_depth = v[3];
    }
};

void set_all(Memory& memory, double value) {
    memory.generate([value] { return value; });
}

Sizes dim_of(Json const& document, Json const& node, char const* port) {
    return document["tensors"][node["inputs"][port].get<std::string>()]["dim"].get<Sizes>();
}

// Whether runs of this graph of forward attention show its mask, and are short.
bool can_run(Json const& document, Visibility_options const& options) {
    Json const& node = only_node(document);
    Json const& inputs = node["inputs"];
    // 8-bit numbers are too coarse for equal probabilities, dropout hides keys, and the others need indices of their
    // own.
    for (char const* port : {"descale_q", "page_table_k", "page_table_v", "dropout_mask", "seed"}) {
        if (inputs.contains(port)) return false;
    }
    // Runs set these, and read O.
    for (char const* port : {"Q", "K", "V", "bias", "sink_token"}) {
        if (inputs.contains(port) && is_computed(document, inputs[port].get<std::string>())) return false;
    }
    Json const& o = document["tensors"][node["outputs"]["O"].get<std::string>()];
    if (o.value("is_virtual", false)) return false;
    for (auto const& [id, tensor] : document["tensors"].items()) {
        if (tensor.contains("ragged_offset")) return false;
    }
    Sizes const q = dim_of(document, node, "Q"), v = dim_of(document, node, "V");
    double const runs = std::ceil(double(std::min(v[2], options.most_columns)) / double(v[3]));
    double const work = double(q[0]) * double(q[1]) * double(q[2]) * double(v[2]) * double(q[3] + v[3]);
    if (double(v[0]) * double(v[1]) * double(v[2]) * double(std::max(q[3], v[3])) > kMostElements) return false;
    return work * runs <= (document["nodes"].size() > 1 ? kMostWorkWithModifier : kMostWork);
}

class Runner {
   public:
    Runner(Json document, Visibility_options const& options) : document_(std::move(document)), options_(options) {
        require(graph_of(document_, graph_));
        require(graph_.build(fe::Target::cpu()));
        memories_ = make_data(document_, graph_, {1, true});
        problem_.emplace(document_, memories_);
    }

    Visibility run() {
        Visibility result{
            .source = "from runs of the graph on the CPU", .queries = problem_->queries, .keys = problem_->keys};
        result.rows = sample(result.queries, options_.most_rows);
        result.columns = sample(result.keys, options_.most_columns);
        result.visible.assign(result.rows.size(), std::vector<bool>(result.columns.size()));
        equal_scores();
        auto const columns = static_cast<std::int64_t>(result.columns.size());
        for (std::int64_t first = 0; first < columns; first += problem_->value_depth) read(first, result);
        return result;
    }

   private:
    // All scores are 0, except those that a mask sets to minus infinity.
    void equal_scores() {
        for (char const* port : {"Q", "K", "bias", "sink_token"}) {
            if (problem_->by_port.contains(port)) set_all(*problem_->by_port[port], 0.0);
        }
        if (options_.length_q && problem_->by_port.contains("seq_len_q"))
            set_all(*problem_->by_port["seq_len_q"], double(*options_.length_q));
        if (options_.length_kv && problem_->by_port.contains("seq_len_kv"))
            set_all(*problem_->by_port["seq_len_kv"], double(*options_.length_kv));
    }

    // Column d of the values is 1 for the drawn key first + d alone, so O shows there whether that key took part.
    void read(std::int64_t first, Visibility& result) {
        Memory& v = *problem_->by_port.at("V");
        auto const last = std::min(first + problem_->value_depth, static_cast<std::int64_t>(result.columns.size()));
        set_all(v, 0.0);
        for (std::int64_t c = first; c < last; ++c) {
            std::int64_t const key = result.columns[static_cast<std::size_t>(c)];
            for (std::int64_t b = 0; b < v.dim[0]; ++b)
                for (std::int64_t h = 0; h < v.dim[1]; ++h) v.set(v.place({b, h, key, c - first}), 1.0);
        }
        auto workspace = make_workspace(graph_.get_workspace_size());
        require(graph_.execute(host_pack(memories_), workspace.data()));
        Memory const& o = *problem_->by_port.at("O");
        for (std::int64_t c = first; c < last; ++c) {
            for (std::size_t r = 0; r < result.rows.size(); ++r)
                result.visible[r][static_cast<std::size_t>(c)] =
                    o.get(o.place({options_.batch, options_.head, result.rows[r], c - first})) > 0.0;
        }
    }

    Json document_;
    Visibility_options const& options_;
    fe::graph::Graph graph_;
    Memories memories_;
    std::optional<Problem> problem_;
};

// The mask of docs/spec.md, where options determine it.
class Formula {
   public:
    Formula(Json const& document, Visibility_options const& options)
        : document_(document), node_(only_node(document)), fields_(member(node_, "fields")), options_(options) {}

    // Refuses lengths of the options that the graph does not read, or that its tensors do not have.
    void check_lengths() const {
        need_length("--seq-len-q", options_.length_q, "seq_len_q", dim("Q")[2]);
        need_length("--seq-len-kv", options_.length_kv, "seq_len_kv", keys());
    }

    std::string refusal() const {
        for (char const* port : {"score_mod", "block_mask"}) {
            bool const is_there = member(node_, "inputs").contains(port);
            if (is_there && (port == std::string("block_mask") || !keeps_all_keys(document_)))
                return std::string("found ") + port + ", which decides what is visible, in a graph too large to run";
        }
        return {};
    }

    Visibility make() const {
        Sizes const q = dim("Q");
        Visibility result{.source = "from the options of the mask", .queries = q[2], .keys = keys()};
        result.rows = sample(result.queries, options_.most_rows);
        result.columns = sample(result.keys, options_.most_columns);
        bool const is_padded = fields_.value("padding_mask", false) || member(node_, "inputs").contains("page_table_k");
        std::int64_t const rows = is_padded ? options_.length_q.value_or(result.queries) : result.queries;
        std::int64_t const columns = is_padded ? options_.length_kv.value_or(result.keys) : result.keys;
        bool const is_bottom = fields_.value("diagonal_alignment", "TOP_LEFT") == "BOTTOM_RIGHT";
        std::int64_t const shift = is_bottom ? columns - rows : 0;
        for (std::int64_t const i : result.rows) {
            std::vector<bool> line;
            for (std::int64_t const j : result.columns) {
                bool const is_right =
                    !fields_.contains("right_bound") || j <= i + shift + fields_["right_bound"].get<std::int64_t>();
                bool const is_left =
                    !fields_.contains("left_bound") || j > i + shift - fields_["left_bound"].get<std::int64_t>();
                line.push_back(is_right && is_left && i < rows && j < columns);
            }
            result.visible.push_back(std::move(line));
        }
        return result;
    }

   private:
    void need_length(char const* option, std::optional<std::int64_t> const& length, char const* port,
                     std::int64_t most) const {
        if (!length) return;
        if (!member(node_, "inputs").contains(port))
            throw Failure(option, "a graph without " + std::string(port), "one with a padding mask", "without it");
        if (*length > most)
            throw Failure(option, std::to_string(*length), "at most " + std::to_string(most) + ", the tensor's rows");
    }
    Sizes dim(char const* port) const { return dim_of(document_, node_, port); }
    std::int64_t keys() const {
        if (!member(node_, "inputs").contains("page_table_k")) return dim("K")[2];
        if (fields_.contains("max_seq_len_kv")) return fields_["max_seq_len_kv"].get<std::int64_t>();
        return dim("page_table_k")[2] * dim("K")[2];
    }

    Json const& document_;
    Json const& node_;
    Json const& fields_;
    Visibility_options const& options_;
};

void check_place(Json const& document, Visibility_options const& options) {
    Json const& node = only_node(document);
    Sizes const q = dim_of(document, node, "Q");
    if (options.batch >= q[0] || options.head >= q[1])
        throw Failure("", "batch entry " + std::to_string(options.batch) + " and head " + std::to_string(options.head),
                      "less than " + std::to_string(q[0]) + " and " + std::to_string(q[1]));
}

}  // namespace

std::string node_text(Json const& node) {
    std::string const name = node.value("name", "");
    return (name.empty() ? "" : "'" + name + "', ") + node["tag"].get<std::string>();
}

Sizes sample(std::int64_t n, std::int64_t most) {
    Sizes chosen;
    std::int64_t const count = std::min(n, most);
    for (std::int64_t i = 0; i < count; ++i) chosen.push_back(i * n / count);
    return chosen;
}

Visibility visibility_of(Graph_file const& file, Visibility_options const& options) {
    Json const described = with_uids(file.document);
    fe::graph::Graph const graph = valid_graph_of(described);
    Json const document = with_dims(described, graph);
    check_place(document, options);
    Formula const formula(document, options);
    formula.check_lengths();
    Json const& node = only_node(document);
    bool const is_forward = node["tag"] == "SDPA_FORWARD";
    std::string const refusal = formula.refusal();
    // For backward this is the forward graph with the same mask, unless other nodes or 8-bit numbers make it another
    // one.
    std::optional<Json> forward;
    if (is_forward) forward = described;
    else if (document["nodes"].size() == 1 && !node["inputs"].contains("descale_q")) forward = forward_of(described);
    bool const runs = forward && can_run(with_dims(*forward, graph), options);
    if (!runs && !refusal.empty()) throw Failure(refusal + ". Try: a graph with fewer queries and keys");
    Visibility result = runs ? Runner(*forward, options).run() : formula.make();
    Sizes const q = dim_of(document, node, "Q");
    result.node = node_text(node), result.batches = q[0], result.heads = q[1];
    if (node["inputs"].contains("bias")) result.source += ", for a bias without minus infinity";
    return result;
}

}  // namespace sdpa
