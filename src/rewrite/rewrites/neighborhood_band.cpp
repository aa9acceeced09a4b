#include "rewrite/rewrites/rewrites.h"

#include "nodes/schema/schema.h"
#include "rewrite/only_node.h"
#include "rewrite/program_builder.h"
#include "rewrite/view_moves.h"

#include <algorithm>
#include <map>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;
using enum error_code_t;
using nodes::NodeKind;

constexpr char const* kName = "neighborhood_band";
constexpr std::size_t kRows = 2;

// A tensor of the node, and the port of attention that its rows go to.
struct Link {
    int node, attention;
    bool has_keys;  // as rows; else queries
};
constexpr Link kLinks[] = {
    {neighborhood::Q, Port::Q, false},   {neighborhood::K, Port::K, true},    {neighborhood::V, Port::V, true},
    {neighborhood::O, Port::O, false},   {neighborhood::DO, Port::DO, false}, {neighborhood::Stats, Port::Stats, false},
    {neighborhood::DQ, Port::DQ, false}, {neighborhood::DK, Port::DK, true},  {neighborhood::DV, Port::DV, true}};

// Groups of the dilation with as many tokens each.
struct Groups {
    std::int64_t first, count, length;
};

// Where the dilation does not divide the length, the groups that have a token more come first.
std::vector<Groups> groups_of(neighborhood::Axis const& axis) {
    std::int64_t const length = axis.length / axis.dilation, longer = axis.length % axis.dilation;
    std::vector<Groups> groups;
    if (longer > 0) groups.push_back({0, longer, length + 1});
    groups.push_back({longer, axis.dilation - longer, length});
    return groups;
}

// The dim that the groups join: one stride leads from a head of a group to the next, or from a batch entry.
enum class Folded { IntoHeads, IntoBatch };

// {batch, heads, tokens of a group, columns}.
std::optional<View> fold(Neighborhood const& n, int port, Groups const& groups, Folded folded) {
    View view = n.view(port);
    if (port == neighborhood::Stats) view.dim.push_back(1), view.stride.push_back(1);
    std::int64_t const dilation = n.axes.front().dilation;
    // The last row of longer groups ends behind the tensor, until the groups that are not as long are cut off.
    view = split(part_of(view, 1, groups.first, groups.length * dilation), 1, dilation);
    view = permute(part_of(view, 2, 0, groups.count), {0, 2, 3, 1, 4});
    return join(view, folded == Folded::IntoHeads ? 1 : 0);
}

bool folds(Neighborhood const& n, Folded folded) {
    for (Groups const& groups : groups_of(n.axes.front())) {
        for (Link const& link : kLinks) {
            if (n.has(link.node) && !fold(n, link.node, groups, folded)) return false;
        }
    }
    return true;
}

bool has_results(Neighborhood const& n) {
    auto const is_there = [&](int port) { return n.tensor(port) == nullptr || n.has(port); };
    return is_there(neighborhood::O) && is_there(neighborhood::DQ) && is_there(neighborhood::DK) &&
           is_there(neighborhood::DV);
}

bool has_whole_vectors(Neighborhood const& n) {
    return n.columns == 1 || std::ranges::all_of(kLinks, [&](Link const& link) {
               return link.node == neighborhood::Stats || !n.has(link.node) || n.tensor(link.node)->stride.back() == 1;
           });
}

using Condition = ConditionOf<Neighborhood>;

constexpr core::Rule kIsNeighborhood{"neighborhood_band.c01",
                                     "a graph of one node, of neighborhood attention or its backward",
                                     error_code_t::GRAPH_NOT_SUPPORTED};

constexpr Condition kConditions[] = {
    {"neighborhood_band.c02", "one axis of space", GRAPH_NOT_SUPPORTED,
     [](Neighborhood const& n) { return n.axes.size() == 1; }},
    {"neighborhood_band.c03", "no relative position bias", GRAPH_NOT_SUPPORTED,
     [](Neighborhood const& n) { return n.tensor(neighborhood::RelPosBias) == nullptr; }},
    {"neighborhood_band.c04", "a window of two keys or more", GRAPH_NOT_SUPPORTED,
     [](Neighborhood const& n) { return n.axes.front().kernel > 1; }},
    {"neighborhood_band.c05", "memory for O, and for all three gradients in backward", GRAPH_NOT_SUPPORTED,
     has_results},
    {"neighborhood_band.c06", "vectors whose elements lie side by side", GRAPH_NOT_SUPPORTED, has_whole_vectors},
    {"neighborhood_band.c07",
     "strides by which the groups of a dilation are further heads, or batch entries of a batch of one",
     GRAPH_NOT_SUPPORTED,
     [](Neighborhood const& n) { return folds(n, Folded::IntoHeads) || folds(n, Folded::IntoBatch); }},
};

// A range of tokens of each group.
struct TokenRange {
    std::int64_t first, count;
};

struct Mask {
    std::optional<std::int64_t> left, right;
    DiagonalAlignment_t alignment = DiagonalAlignment_t::TOP_LEFT;
};

// The parts of groups of one length.
class DilationGroupWriter {
   public:
    DilationGroupWriter(Neighborhood const& n, Groups const& groups, Folded folded, ProgramBuilder& program)
        : n_(n), axis_(n.axes.front()), all_{0, groups.length}, program_(program) {
        for (Link const& link : kLinks) {
            if (n.has(link.node)) views_[link.attention] = *fold(n, link.node, groups, folded);
        }
    }

    error_t write() {
        if (axis_.is_causal) return attend(all_, all_, causal(), Lane::Main);
        if (keys() == all_.count) return attend(all_, all_, {}, Lane::Main);
        return n_.is_backward() ? write_backward() : write_forward();
    }

   private:
    std::int64_t keys() const { return axis_.kernel; }
    std::int64_t before() const { return axis_.kernel / 2; }
    std::int64_t after() const { return axis_.kernel - 1 - before(); }
    TokenRange first_keys() const { return {0, keys()}; }
    TokenRange last_keys() const { return {all_.count - keys(), keys()}; }
    TokenRange last_queries() const { return {all_.count - after(), after()}; }

    // The keys up to the query itself.
    Mask causal() const { return {keys() < all_.count ? std::optional(keys()) : std::nullopt, 0}; }

    // Each query is in one part, which has all keys that it sees.
    error_t write_forward() {
        TokenRange const queries{before(), all_.count - keys() + 1};
        SDPA_GRAPH_TRY(attend(queries, all_, {keys(), 0, DiagonalAlignment_t::BOTTOM_RIGHT}, Lane::Main));
        SDPA_GRAPH_TRY(attend({0, before()}, first_keys(), {}, Lane::Side));
        return after() > 0 ? attend(last_queries(), last_keys(), {}, Lane::Side) : error_t();
    }

    // Backward's engines leave out tiles only of causal windows at the top left, as this one is: of the keys behind the
    // first `keys()`, and the queries that see one of them.
    error_t write_backward() {
        TokenRange const queries{before() + 1, all_.count - keys()};
        SDPA_GRAPH_TRY(attend(queries, {keys(), queries.count}, causal(), Lane::Main));
        SDPA_GRAPH_TRY(attend_to_first_keys());
        return after() > 0 ? attend_with_last_queries() : error_t();
    }

    // Queries up to before() see nothing else; what those behind them see begins a key later with each.
    error_t attend_to_first_keys() {
        TokenRange const queries{0, std::min(before() + keys(), all_.count - after())};
        View const partial = program_.scratch_like(rows_of(Port::DQ, queries));
        SDPA_GRAPH_TRY(attend(queries, first_keys(), {before() + 1, keys()}, Lane::Side, {{Port::DQ, partial}}));
        TokenRange const alone{0, before() + 1}, shared{alone.count, queries.count - alone.count};
        program_.copy(part_of(partial, kRows, alone.first, alone.count), rows_of(Port::DQ, alone));
        program_.add(part_of(partial, kRows, shared.first, shared.count), rows_of(Port::DQ, shared));
        return {};
    }

    error_t attend_with_last_queries() {
        Gradients partial;
        for (int const port : {Port::DK, Port::DV}) partial[port] = program_.scratch_like(rows_of(port, last_keys()));
        SDPA_GRAPH_TRY(attend(last_queries(), last_keys(), {}, Lane::Side, partial));
        for (auto const& [port, view] : partial) program_.add(view, rows_of(port, last_keys()));
        return {};
    }

    View rows_of(int port, TokenRange rows) const { return part_of(views_.at(port), kRows, rows.first, rows.count); }

    // Gradients that are not written to the user's tensors, by port.
    using Gradients = std::map<int, View>;

    error_t attend(TokenRange queries, TokenRange keys, Mask const& mask, Lane lane, Gradients const& partial = {}) {
        AttentionDraft draft(n_.graph(), make_attention());
        if (!n_.is_backward()) {
            draft.fields_of<nodes::SdpaForwardFields>().generate_stats = n_.has(neighborhood::Stats);
        }
        draft.fields().attn_scale = n_.scale();
        draft.fields().diagonal_alignment = mask.alignment;
        draft.fields().left_bound = mask.left;
        draft.fields().right_bound = mask.right;
        for (Link const& link : kLinks) {
            if (!views_.contains(link.attention)) continue;
            auto const own = partial.find(link.attention);
            draft.connect(link.attention,
                          own != partial.end() ? own->second : rows_of(link.attention, link.has_keys ? keys : queries));
        }
        return program_.attend(std::move(draft), lane);
    }

    nodes::Node make_attention() const {
        nodes::Node node = nodes::make_node(n_.is_backward() ? NodeKind::SdpaBackward : NodeKind::SdpaForward);
        node.name = n_.node().name;
        node.compute_data_type = n_.node().compute_data_type;
        return node;
    }

    Neighborhood const& n_;
    neighborhood::Axis axis_;
    TokenRange all_;
    std::map<int, View> views_;  // by port of attention
    ProgramBuilder& program_;
};

}  // namespace

Result<Program> neighborhood_band(nodes::ValidatedGraph const& graph) {
    auto const n = Neighborhood::of(graph);
    if (!n) return refusal(kName, {kIsNeighborhood});
    SDPA_GRAPH_TRY(check(kName, kConditions, *n));
    ProgramBuilder program(kName);
    Folded const folded = folds(*n, Folded::IntoHeads) ? Folded::IntoHeads : Folded::IntoBatch;
    for (Groups const& groups : groups_of(n->axes.front())) {
        SDPA_GRAPH_TRY(DilationGroupWriter(*n, groups, folded, program).write());
    }
    return program.take();
}

}  // namespace cudnn_frontend::rewrite
