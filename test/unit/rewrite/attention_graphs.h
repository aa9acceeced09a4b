// Attention to rewrite, and programs as text.
#pragma once

#include "group/task.h"
#include "rewrite/attention_node.h"
#include "unit/nodes/graphs.h"

namespace test {

namespace rewrite = cudnn_frontend::rewrite;

// The sizes of an attention.
struct Problem {
    std::int64_t batches = 1, heads = 4, key_heads = 2, queries = 2, keys = 8, columns = 16;
};

// The graphs are in HALF, row-major.
TestGraph forward_graph(Problem const& sizes);
TestGraph backward_graph(Problem const& sizes);
// A rank of a group that is only described, and its part of a graph with the lengths of the layouts.
cudnn_frontend::group::Task task_of(int rank, cudnn_frontend::group::Layout const& queries,
                                    cudnn_frontend::group::Layout const& keys);
TestGraph part_of(Problem sizes, cudnn_frontend::group::Task const& task, bool is_backward);
// Adds lengths of queries and keys.
TestGraph with_lengths(TestGraph graph);

// The sizes of neighborhood attention along a line.
struct Line {
    std::int64_t batches = 1, tokens = 9, heads = 2, columns = 16, kernel = 4, dilation = 1;
    bool is_causal = false;
};
TestGraph line_graph(NodeKind kind, Line const& line);

// The error of a rewrite, with the conditions that do not hold, such as "few_queries.c12: memory for O".
std::string refusal(std::string const& rewrite, std::vector<std::string> const& conditions);

// A valid graph, in the form that rewrites read.
class Rewritable {
   public:
    explicit Rewritable(GraphSpec const& spec);

    rewrite::Attention const& operator*() const { return *attention_; }
    ValidatedGraph const& graph() const { return *graph_; }
    // The rewrites' result as text; in place of that, the error.
    std::string text(Result<rewrite::Program> const& program) const;

   private:
    std::optional<ValidatedGraph> graph_;
    std::optional<rewrite::Attention> attention_;
};

}  // namespace test
