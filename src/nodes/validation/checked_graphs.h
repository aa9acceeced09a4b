// The graphs that this process validated last: those of programs, and the attentions into which they are divided. A
// graph that is described again gets the earlier result; a new one can be compared with them.
#pragma once

#include "core/process/kept_objects.h"
#include "nodes/validation/validate.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace cudnn_frontend::nodes {

// A graph as it was described, and the result of its validation.
struct CheckedGraph {
    GraphSpec described;
    ValidatedGraph graph;
};

struct CheckedGraphKind {
    using Key = GraphSpec;
    using Object = CheckedGraph const;
    static constexpr char const* kName = "validated graphs";
    static Key const& key_of(Object const& checked) { return checked.described; }
    static bool is_same(Key const& a, Key const& b) { return a == b; }  // names too, since errors have them
    static std::size_t bytes_of(Object const& checked);
};
using CheckedGraphs = core::process::KeptObjects<CheckedGraphKind>;
using CheckedGraphPointer = std::shared_ptr<CheckedGraph const>;

// A hash of a description. Names and the dims of the tensors distinguish most graphs of a program.
class DescriptionHash {
   public:
    explicit DescriptionHash(GraphHead const& graph) { add(end_of(graph.name)); }
    void add(std::string const& name, core::Dims const& dim) {
        hash_ ^= end_of(name);
        for (std::int64_t const size : dim) add(static_cast<std::uint64_t>(size));
    }
    std::size_t get() const { return static_cast<std::size_t>(hash_); }

   private:
    void add(std::uint64_t word) {
        hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15u;
        hash_ ^= hash_ >> 32;
    }
    // Names often differ in a number at their end.
    static std::uint64_t end_of(std::string const& name) {
        auto const letter = [&](std::size_t from_end) {
            return std::uint64_t{static_cast<unsigned char>(name[name.size() - from_end])};
        };
        return name.size() < 3 ? name.size() : name.size() << 32 | letter(1) << 24 | letter(2) << 16 | letter(3) << 8;
    }

    std::uint64_t hash_ = 0;
};

// Validates the graph, or finds the earlier result. An error describes the graph's faults.
Result<CheckedGraphs::Found> check(GraphSpec const& described);

// The graph of a description, which keeps the description.
inline std::shared_ptr<ValidatedGraph const> graph_of(CheckedGraphPointer const& checked) {
    return {checked, &checked->graph};
}

// The number of tensors and nodes that differ. The rest of the graph counts as one more.
std::size_t differing_parts(GraphSpec const& a, GraphSpec const& b);

// The first few fields in which the graph differs from another one, with both values.
std::string difference_text(GraphSpec const& graph, GraphSpec const& other);

std::size_t heap_bytes(GraphSpec const& spec);

}  // namespace cudnn_frontend::nodes
