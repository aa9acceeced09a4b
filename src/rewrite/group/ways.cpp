// The choice of a way and its stages.
#include "rewrite/group/ways.h"

#include "core/text.h"
#include "rewrite/group/chunks.h"
#include "rewrite/group/documents.h"
#include "rewrite/group/score_nodes.h"
#include "rewrite/group/way_costs.h"

#include <numeric>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;

constexpr int kMostStages = 4;  // more have too few rows and heads to fill a GPU

// The number that is expected to take least, of those that divide the heads.
int usual_stages(Attention const& a, group::Task const& task) {
    if (task.stages != 0) return task.stages;
    int best = 1;
    if (task.size() == 1) return best;
    std::int64_t const heads = std::gcd(a.key_heads, a.value_heads);
    for (int stages = 2; stages <= kMostStages; ++stages) {
        if (heads % stages != 0) continue;
        if (time_of_gather(a, task, stages).all < time_of_gather(a, task, best).all) best = stages;
    }
    return best;
}

// Behind a left bound a part's keys may begin past the end of a sequence. Engines may leave the rows of such a part
// unwritten, so that they are cleared: their log-sum-exps are minus infinity, or the bits of the sink.
std::string obstacle_to_rows_without_keys(Attention const& a) {
    if (a.is_backward()) return {};
    std::string const bound = "a left bound with lengths and ";
    if (a.has(Port::Stats) && a.tensor(Port::Stats)->data_type != DataType_t::FLOAT) {
        return core::text(bound, "Stats of ", a.tensor(Port::Stats)->data_type);
    }
    if (!a.has(Port::SinkToken)) return {};
    if (a.has(Port::SumExp)) return bound + "a sink token with Sum_exp";
    if (a.has(Port::Stats) && a.fields().stats_use_log2) return bound + "a sink token with Stats of base 2";
    if (!a.has(Port::Stats) && !a.has(Port::Max)) return {};
    nodes::TensorSpec const& sink = *a.tensor(Port::SinkToken);
    bool const is_side_by_side = sink.dim[1] == 1 || sink.stride[1] == 1;
    return is_side_by_side && sink.data_type == DataType_t::FLOAT
               ? ""
               : bound + "a sink token that is not of FLOAT, or has gaps between its numbers";
}

}  // namespace

bool can_be_by_heads(Attention const& a, group::Task const& task) {
    return a.key_heads % task.size() == 0 && a.value_heads % task.size() == 0 && tensors_of_rows(a).empty();
}

std::string obstacle_to_gather(Attention const& a) {
    nodes::AttentionFields const& fields = a.fields();
    if (has_documents(a)) return obstacle_to_gathered_documents(a);
    if (!fields.padding_mask) return {};
    if (!a.has(Port::SeqLenQ) || !a.has(Port::SeqLenKv)) return "sums of lengths";
    for (int const port : {Port::SeqLenQ, Port::SeqLenKv}) {
        DataType_t const type = a.tensor(port)->data_type;
        if (type != DataType_t::INT32) return core::text("lengths of ", type);
    }
    bool const is_moved = has_bounds(a) && fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    if (is_moved) return "a diagonal to the bottom right, which lengths move";
    return fields.left_bound ? obstacle_to_rows_without_keys(a) : "";
}

std::string obstacle_to_ring(Attention const& a, group::Task const& task) {
    if (has_documents(a)) return "documents";
    if (chunks_of(task.queries) != chunks_of(task.keys)) return "keys that are not split as queries are";
    for (int const port : {Port::SinkToken, Port::Max, Port::SumExp}) {
        if (has_port(a, port)) return attention::operand(port).name;
    }
    if (has_counting_modifier(a)) return "a score modifier that counts rows or columns";
    return a.fields().stats_use_log2 ? "Stats of base 2" : "";
}

// The way that is expected to take least of those whose memory does not grow with the ranks; GATHER where neither can
// compute the attention.
static group::Group_way way_of_little_memory(Attention const& a, group::Task const& task) {
    bool const is_by_heads = can_be_by_heads(a, task), is_ring = obstacle_to_ring(a, task).empty();
    if (!is_ring) return is_by_heads ? group::Group_way::ALL_TO_ALL : group::Group_way::GATHER;
    bool const is_faster = !is_by_heads || time_of_ring(a, task).all < time_of_all_to_all(a, task).all;
    return is_faster ? group::Group_way::RING : group::Group_way::ALL_TO_ALL;
}

// The way that the task names, or the one that is expected to be fastest; `stages` is the number of stages of GATHER.
static group::Group_way usual_way(Attention const& a, group::Task const& task, int stages) {
    if (task.way == group::Group_way::RING) return task.way;
    if (!obstacle_to_gather(a).empty()) return group::Group_way::ALL_TO_ALL;
    bool const is_free = task.way == group::Group_way::AUTO && task.stages == 0 && task.size() > 1;
    if (!is_free) return task.way;
    if (scratch_of_gather(a, task, stages) > GroupRates().bytes_of_scratch) return way_of_little_memory(a, task);
    bool const is_by_heads =
        can_be_by_heads(a, task) && time_of_all_to_all(a, task).all < time_of_gather(a, task, stages).all;
    return is_by_heads ? group::Group_way::ALL_TO_ALL : group::Group_way::GATHER;
}

Result<Program> program_in_group(nodes::ValidatedGraph const& graph, group::Task const& task) {
    SDPA_GRAPH_TRY(check_in_group(graph, task));
    auto const attention = Attention::with_modifiers(graph);
    int const stages = usual_stages(*attention, task);
    switch (usual_way(*attention, task, stages)) {
        case group::Group_way::RING: return ring(*attention, task);
        case group::Group_way::ALL_TO_ALL: return all_to_all(*attention, task);
        default: return gather(*attention, task, stages);
    }
}

}  // namespace cudnn_frontend::rewrite
