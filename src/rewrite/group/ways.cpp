// The choice of a way and its stages.
#include "rewrite/group/ways.h"

#include "core/text.h"
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
    return is_moved ? "a diagonal to the bottom right, which lengths move" : "";
}

Result<Program> program_in_group(nodes::ValidatedGraph const& graph, group::Task const& task) {
    SDPA_GRAPH_TRY(check_in_group(graph, task));
    auto const attention = Attention::with_modifiers(graph);
    bool const has_one_way = task.way == group::Group_way::ALL_TO_ALL || !obstacle_to_gather(*attention).empty();
    if (has_one_way) return all_to_all(*attention, task);
    int const stages = usual_stages(*attention, task);
    bool const is_free = task.way == group::Group_way::AUTO && task.stages == 0 && task.size() > 1;
    bool const is_by_heads = is_free && can_be_by_heads(*attention, task) &&
                             time_of_all_to_all(*attention, task).all < time_of_gather(*attention, task, stages).all;
    return is_by_heads ? all_to_all(*attention, task) : gather(*attention, task, stages);
}

}  // namespace cudnn_frontend::rewrite
