#include "timing/work.h"

#include "pictures/window.h"

#include <algorithm>
#include <set>

namespace sdpa {
namespace {

// The scores that a mask leaves visible to this number of rows and keys, for the options of docs/spec.md.
double visible_scores(Json const& fields, std::int64_t rows, std::int64_t keys) {
    bool const is_bottom = fields.value("diagonal_alignment", "TOP_LEFT") == "BOTTOM_RIGHT";
    std::int64_t const shift = is_bottom ? keys - rows : 0;
    double count = 0.0;
    for (std::int64_t i = 0; i < rows; ++i) {
        std::int64_t first = 0, end = keys;
        if (fields.contains("left_bound"))
            first = std::max(first, i + shift - fields["left_bound"].get<std::int64_t>() + 1);
        if (fields.contains("right_bound"))
            end = std::min(end, i + shift + fields["right_bound"].get<std::int64_t>() + 1);
        count += static_cast<double>(std::max<std::int64_t>(end - first, 0));
    }
    return count;
}

class Node {
   public:
    Node(Json const& document, Json const& node, Memories const& memories)
        : document_(document), node_(node), fields_(member(node, "fields")), memories_(memories) {}

    bool is(char const* tag) const { return node_["tag"] == tag; }
    Json const& json() const { return node_; }
    bool has(std::string const& port) const { return member(node_, "inputs").contains(port); }
    Sizes dim(std::string const& port) const { return tensor(port)["dim"].get<Sizes>(); }

    // The rows or keys of each batch entry.
    Sizes lengths(bool is_keys) const {
        std::string const side = is_keys ? "kv" : "q";
        if (Memory const* const each = find("seq_len_" + side)) return numbers(*each);
        if (Memory const* const ends = find("cu_seq_len_" + side)) {
            Sizes all = numbers(*ends);
            for (std::size_t b = 0; b + 1 < all.size(); ++b) all[b] = all[b + 1] - all[b];
            all.pop_back();
            return all;
        }
        return Sizes(static_cast<std::size_t>(dim("Q")[0]), dim(is_keys ? "K" : "Q")[2]);
    }

    double operations() const {
        bool const is_backward = is("SDPA_BACKWARD");
        if (is_backward || is("SDPA_FORWARD")) {
            Sizes const rows = lengths(false), keys = lengths(true);
            double scores = 0.0;
            for (std::size_t b = 0; b < rows.size(); ++b) scores += visible_scores(fields_, rows[b], keys[b]);
            auto const depth = double(dim("Q")[3]), value_depth = double(dim("V")[3]);
            // Forward multiplies Q by K, and the probabilities by V; backward also computes dP, dV, dQ and dK.
            double const each = is_backward ? 3.0 * depth + 2.0 * value_depth : depth + value_depth;
            return 2.0 * scores * double(dim("Q")[1]) * each;
        }
        return neighborhood_operations();
    }

   private:
    Json const& tensor(std::string const& port) const {
        return document_["tensors"][member(node_, "inputs")[port].get<std::string>()];
    }

    // Null where the node has no such tensor, or it has no memory since another node computes it.
    Memory const* find(std::string const& port) const {
        if (!has(port)) return nullptr;
        auto const found = memories_.find(tensor(port)["uid"].get<std::int64_t>());
        return found == memories_.end() ? nullptr : &found->second;
    }

    static Sizes numbers(Memory const& memory) {
        Sizes all;
        memory.for_each([&](Sizes const&, std::int64_t at) { all.push_back(std::int64_t(memory.get(at))); });
        return all;
    }

    double neighborhood_operations() const {
        static std::map<std::string, double> const products = {
            {"NEIGHBORHOOD_FORWARD", 2.0},     {"NEIGHBORHOOD_BACKWARD", 5.0}, {"NEIGHBORHOOD_QK", 1.0},
            {"NEIGHBORHOOD_QK_BACKWARD", 2.0}, {"NEIGHBORHOOD_AV", 1.0},       {"NEIGHBORHOOD_AV_BACKWARD", 2.0}};
        auto const found = products.find(node_["tag"].get<std::string>());
        if (found == products.end()) return 0.0;
        bool const has_heads_first = !has("Q") || found->first.find("_QK") != std::string::npos;
        Sizes const tokens = dim(has("Q") ? "Q" : "V");
        double const heads = double(tokens[0]) * double(has_heads_first ? tokens[1] : tokens[tokens.size() - 2]);
        return 2.0 * found->second * heads * visible_pairs(document_, node_) * double(tokens.back());
    }

    Json const& document_;
    Json const& node_;
    Json const& fields_;
    Memories const& memories_;
};

double volume(Sizes const& dim) {
    double count = 1.0;
    for (std::int64_t const length : dim) count *= static_cast<double>(length);
    return count;
}

// The elements of a tensor that the attention of this node reads or writes.
double elements_of(Memory const& memory, Node const* attention) {
    static std::set<std::string> const of_queries = {"Q", "O", "dO", "dQ"}, of_keys = {"K", "V", "dK", "dV"};
    bool const is_keys = of_keys.contains(memory.port);
    if (attention == nullptr || (!is_keys && !of_queries.contains(memory.port))) return volume(memory.dim);
    double rows = 0.0;
    for (std::int64_t const length : attention->lengths(is_keys)) rows += double(length);
    return rows * double(memory.dim[1]) * double(memory.dim[3]);
}

}  // namespace

Work work_of(Json const& document, Memories const& memories) {
    Work work;
    std::optional<Node> attention;
    for (Json const& json : document.at("nodes")) {
        Node const node(document, json, memories);
        work.operations += node.operations();
        if (!node.is("SDPA_FORWARD") && !node.is("SDPA_BACKWARD")) continue;
        work.is_8_bit |= node.has("descale_q");
        work.counts_hidden |= node.has("block_mask") || node.has("score_mod");
        if (!attention) attention.emplace(node);
    }
    for (auto const& [uid, memory] : memories) {
        if (memory.is_by_value) continue;
        double const elements = elements_of(memory, attention ? &*attention : nullptr);
        work.bytes += elements * static_cast<double>(element_bits(memory.type)) / 8.0;
    }
    return work;
}

}  // namespace sdpa
