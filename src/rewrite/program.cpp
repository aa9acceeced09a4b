#include "rewrite/program.h"

#include "core/data_type.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cudnn_frontend::rewrite {
namespace {

using StepOperands = std::vector<StepOperand>;

void add(StepOperands& operands, std::string role, bool is_written, std::optional<View> const& view) {
    if (view) operands.push_back({std::move(role), is_written, *view});
}

void add(StepOperands& operands, SlotSequences const& sequences) {
    add(operands, "given lengths of queries", false, sequences.given_queries);
    add(operands, "given lengths of keys", false, sequences.given_keys);
    add(operands, "starts of queries", false, sequences.totals_queries);
    add(operands, "starts of keys", false, sequences.totals_keys);
}

StepOperands all_of(Merge const& merge) {
    StepOperands all{
        {"partial O", false, merge.partial_o}, {"partial Stats", false, merge.partial_stats}, {"O", true, merge.o}};
    add(all, "Stats", true, merge.stats);
    add(all, "partial lengths", false, merge.partial_lengths);
    return all;
}

StepOperands all_of(Sum const& sum) { return {{"terms", false, sum.terms}, {"result", true, sum.result}}; }

StepOperands all_of(SplitLengths const& split) {
    return {{"lengths of queries", false, split.queries},
            {"lengths of keys", false, split.keys},
            {"lengths of rows", true, split.rows},
            {"lengths of parts", true, split.part_keys}};
}

StepOperands all_of(SlotTables const& tables) {
    StepOperands all;
    add(all, tables.sequences);
    all.push_back({"lengths of queries", true, tables.queries});
    all.push_back({"lengths of keys", true, tables.keys});
    for (SlotTables::Starts const& starts : tables.starts) {
        all.push_back({"starts", true, starts.result});
        add(all, "given starts", false, starts.given);
    }
    return all;
}

StepOperands all_of(ClearPadding const& padding) {
    StepOperands all;
    add(all, padding.sequences);
    for (ClearPadding::Rows const& rows : padding.tensors) all.push_back({"rows", true, rows.tensor});
    add(all, "sink", false, padding.sink);
    return all;
}

void add(StepOperands& operands, std::string const& of, DocumentTables::Side const& side) {
    operands.push_back({"starts of " + of, false, side.starts});
    operands.push_back({"lengths of " + of, false, side.lengths});
    operands.push_back({"lengths of " + of + " here", true, side.used});
    operands.push_back({"starts of " + of + " here", true, side.totals});
    add(operands, of + " before", true, side.before);
}

StepOperands all_of(DocumentTables const& tables) {
    StepOperands all;
    add(all, "queries", tables.queries);
    add(all, "keys", tables.keys);
    for (DocumentTables::Starts const& starts : tables.starts) all.push_back({"starts", true, starts.result});
    return all;
}

StepOperands all_of(DropoutMask const& mask) {
    StepOperands all{{"seed", false, mask.seed},
                     {"offset", false, mask.offset},
                     {"mask", true, mask.mask},
                     {"scale", true, mask.scale}};
    add(all, "inverse of the scale", true, mask.inverse);
    add(all, "queries before", false, mask.queries_before);
    add(all, "keys before", false, mask.keys_before);
    return all;
}

}  // namespace

char const* name_of(Joint const& joint) {
    constexpr char const* kNames[] = {
        "merge", "sum", "split lengths", "tables of slots", "clear padding", "tables of documents", "mask of dropout"};
    static_assert(std::size(kNames) == std::variant_size_v<Joint>);
    return kNames[joint.index()];
}

bool has_joints(Program const& program) {
    return std::ranges::any_of(program.steps, [](Step const& step) { return std::holds_alternative<Joint>(step); });
}

bool has_exchanges(Program const& program) {
    return std::ranges::any_of(program.steps, [](Step const& step) { return std::holds_alternative<Exchange>(step); });
}

std::int64_t bytes_of(Pieces::Piece const& piece) {
    return core::volume(piece.view.dim).value_or(0) * core::size_of(piece.view.type);
}

static StepOperands all_of(std::vector<Pieces::Piece> const& pieces, bool is_written) {
    StepOperands all;
    for (Pieces::Piece const& piece : pieces) {
        all.push_back({(is_written ? "from rank " : "to rank ") + std::to_string(piece.rank), is_written, piece.view});
    }
    return all;
}

std::vector<StepOperand> operands_of(Exchange const& exchange) { return all_of(exchange.pieces->sends, false); }
std::vector<StepOperand> operands_of(Await const& await) { return all_of(await.pieces->receives, true); }

Attend const& first_attend(Program const& program) {
    auto const is_attend = [](Step const& step) { return std::holds_alternative<Attend>(step); };
    return std::get<Attend>(*std::ranges::find_if(program.steps, is_attend));
}

std::vector<StepOperand> operands_of(Joint const& joint) {
    return std::visit([](auto const& kind) { return all_of(kind); }, joint);
}

std::vector<Place> places_of(Joint const& joint) {
    std::vector<Place> places;
    for (StepOperand const& operand : operands_of(joint)) places.push_back(operand.view.place);
    return places;
}

}  // namespace cudnn_frontend::rewrite
