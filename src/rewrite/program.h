// A program computes a graph in several steps: attention over slices of the user's tensors, and what joins the partial
// results. It is a value, the same for every backend.
#pragma once

#include "nodes/validation/validate.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace cudnn_frontend::rows {
struct Documents;
struct Dropout_mask;
struct Padding;
struct Tables;
}  // namespace cudnn_frontend::rows

namespace cudnn_frontend::rewrite {

// An address: so many bytes past the start of a tensor of the user's graph, or of a piece of the program's scratch.
struct Place {
    enum class Of { Tensor, Scratch };

    Of of = Of::Tensor;
    std::size_t index = 0;  // in the graph's tensors, or in Program::scratch
    std::int64_t offset = 0;

    friend bool operator==(Place const&, Place const&) = default;
};

// Some elements there, which need not be contiguous. A stride of 0 repeats what is read.
struct View {
    Place place;
    DataType_t type = DataType_t::NOT_SET;
    core::Dims dim, stride;
    std::int64_t alignment = 16;  // the address is a multiple of so many bytes

    friend bool operator==(View const&, View const&) = default;
};

// Steps of a lane run one after the other, those of the two lanes side by side. A step of the main lane waits for those
// of the side lane that come before it in the program; one of the side lane waits for none of the main lane's.
enum class Lane { Main, Side };

// One attention. Attends that differ in their places alone share a graph, which is planned once.
struct Attend {
    struct TensorBinding {
        std::int64_t uid;  // of the attention's own graph
        Place place;
    };

    std::shared_ptr<nodes::ValidatedGraph const> graph;
    std::vector<TensorBinding> bindings;  // of every tensor that is not virtual
    // A step in the side lane is not the first one. It reads nothing that those before it write, and writes nothing
    // that they read or write.
    Lane lane = Lane::Main;
};

// With L_i a row's log-sum-exp over the keys of part i, natural, and O_i its output:
//   stats = ln(sum over i of exp(L_i)),   o = sum over i of exp(L_i - stats) * O_i
// A row that no part saw gets o = 0 and stats = -inf. What a part holds does not matter where L_i = -inf, or where it
// has no keys: engines leave such parts unwritten.
struct Merge {
    View partial_o, partial_stats;             // {parts, ..., columns} and {parts, ..., 1}
    View o;                                    // {..., columns}
    std::optional<View> stats = {};            // {..., 1}
    std::optional<View> partial_lengths = {};  // {parts, ..., 1}: how many keys each part has
};

// result = sum over i of term i, added up in their order, with what the result holds as the first if `accumulates`.
// With one part this is a copy.
struct Sum {
    View terms;   // {parts, ...}
    View result;  // {...}
    bool accumulates = false;
};

// How long the sequences of parts are, where heads have become rows and keys are split in chunks, all {batch, chunks}:
//   rows[b, i] = (queries[b, i] - first_query, but from 0 to most_queries) * group
//   part_keys[b, i] = keys[b, i] - first_key - i * chunk, but from 0 to the chunk
// Both are 0 where one of them is.
struct SplitLengths {
    View queries, keys;
    View rows, part_keys;
    std::int64_t group, chunk;
    std::int64_t first_query = 0, most_queries = std::numeric_limits<std::int32_t>::max(), first_key = 0;
};

// The sequences that slots hold, and their lengths: the given ones, or all rows of the tensors. Packed sequences are in
// one batch entry, and `totals` has the rows in which they start.
struct SlotSequences {
    std::optional<View> given_queries, given_keys;  // {batch, 1, 1, 1}
    std::int64_t batches = 0, queries = 0, keys = 0;
    std::optional<View> totals_queries = {}, totals_keys = {};  // {batch + 1, 1, 1, 1}
};

// Tables for attention over packed sequences where each slot is a sequence, or one of its heads: the slots' lengths,
// and where they start in tensors. Slots past the last sequence are empty.
struct SlotTables {
    struct Starts {
        View result;  // {slots + 1, 1, 1, 1}, in elements
        std::int64_t by_sequence = 0, by_head = 0, heads_together = 1;
        bool is_of_keys = false;
        // The offsets of sequences that are packed: {batch + 1, 1, 1, 1}, in units of so many elements.
        std::optional<View> given = {};
        std::int64_t unit = 1;
    };

    SlotSequences sequences;
    std::int64_t slots_of_sequence = 1;
    View queries, keys;  // lengths: {slots, 1, 1, 1}
    std::vector<Starts> starts;
};

// Documents that are packed one after the other, of which an attention has the tokens of a span of queries and of one
// of keys: how many each document has there, and where they start. One without queries or without keys there is empty.
struct DocumentTables {
    struct Side {
        View starts, lengths;                         // of whole documents: {batch + 1, 1, 1, 1} and {batch, 1, 1, 1}
        std::int64_t unit = 1, row = 1;               // starts count so many elements, and a token has so many
        std::int64_t first = 0, end = 0, tokens = 0;  // the span, and how many tokens there are in all
        View used, totals;                            // in the span: lengths, and the first token of each document
        std::optional<View> before = {};              // how many tokens of each document lie before the span
    };
    struct Starts {
        View result;  // {batch + 1, 1, 1, 1}, in elements
        std::int64_t by_row = 0;
        bool is_of_keys = false;
    };

    std::int64_t batches = 0;
    Side queries, keys;
    std::vector<Starts> starts = {};
    bool start_together = false;  // documents start at the same tokens on both sides
};

// The mask of dropout for some heads, queries and keys of an attention, as the whole attention draws it, and the
// numbers by which the weights that are kept are scaled.
struct DropoutMask {
    View seed, offset;                              // one integer
    View mask;                                      // {batch, heads, queries, keys} without gaps
    View scale;                                     // one FLOAT
    std::optional<View> inverse = {};               // the inverse of the scale
    double probability = 0.0;                       // that a score is dropped
    std::int64_t heads = 0, queries = 0, keys = 0;  // of the whole attention
    std::int64_t first_head = 0, first_query = 0, first_key = 0;
    std::optional<View> queries_before = {}, keys_before = {};  // where each batch entry starts: {batch, 1, 1, 1}
};

// Zeros in the rows past the length of each sequence; in log-sum-exps minus infinity, or the head's sink.
struct ClearPadding {
    struct Rows {
        View tensor;  // {batch, heads, rows, columns}
        bool is_of_keys = false, is_log_sums = false;
    };

    SlotSequences sequences;
    std::vector<Rows> tensors;
    std::optional<View> sink = {};  // {1, heads, 1, 1}
};

// A step that leads from one attention to the next, or joins partial results.
using Joint = std::variant<Merge, Sum, SplitLengths, SlotTables, ClearPadding, DocumentTables, DropoutMask>;

// A joint's own name, in the order of the variant.
char const* name_of(Joint const& joint);

// Memory that goes to other ranks of a group, and memory that comes from them. Two ranks have as many pieces for each
// other, in the same order and of the same sizes. A rank may send to itself.
struct Pieces {
    struct Piece {
        int rank;   // to which it goes, or from which it comes
        View view;  // without gaps
    };

    std::string content;  // for messages and pictures: keys and values of heads 0 to 3
    std::vector<Piece> sends, receives;
};

// The start of an exchange, in which all ranks take part. What is sent stays as it is until its Await.
struct Exchange {
    std::shared_ptr<Pieces const> pieces;
};

// Its end: what was received is there. Exchanges end in the order in which they started.
struct Await {
    std::shared_ptr<Pieces const> pieces;
};

using Step = std::variant<Attend, Joint, Exchange, Await>;

struct Program {
    std::string name;                   // of the rewrite and its parameters: few_queries(8)
    std::vector<std::int64_t> scratch;  // the bytes of each piece, a multiple of 256
    std::vector<Step> steps;            // each may read what those that it waits for wrote
    std::string agreement = {};         // the same text for all ranks of a group whose programs fit each other
};

bool has_joints(Program const& program);
bool has_exchanges(Program const& program);

// The first of a program's attentions, of which it has at least one.
Attend const& first_attend(Program const& program);

std::int64_t bytes_of(Pieces::Piece const& piece);

// An operand of a step.
struct StepOperand {
    std::string role;  // Q, terms
    bool is_written;
    View view;
};

// The operands of a joint and their places, in the order of its struct.
std::vector<StepOperand> operands_of(Joint const& joint);
std::vector<Place> places_of(Joint const& joint);
// The pieces that an exchange reads at its start, and those that it writes until its end.
std::vector<StepOperand> operands_of(Exchange const& exchange);
std::vector<StepOperand> operands_of(Await const& await);

// The joints of slots as work on rows, bound to a pointer for each of places_of(), in order.
rows::Tables work_of(SlotTables const& tables, std::span<void* const> pointers);
rows::Padding work_of(ClearPadding const& padding, std::span<void* const> pointers);
rows::Documents work_of(DocumentTables const& tables, std::span<void* const> pointers);
rows::Dropout_mask work_of(DropoutMask const& mask, std::span<void* const> pointers);

// Programs as text for people, and what text and pictures of them need.

// An attention's in the order of its ports, those of other steps as they are declared.
std::vector<StepOperand> operands_of(Step const& step);

// The operation of a step and its options, without its operands: "attention right_bound=0".
std::string heading_of(Step const& step);

// "K + 4096" or "scratch 1"; tensors have the names of the program's graph.
std::string name_of(Place const& place, nodes::GraphSpec const& graph);

// "[1, 8, 16, 64] HALF", and what is unusual: strides that are not packed, an address that is aligned to less.
std::string shape_of(View const& view);

// A line for each piece of scratch, and a paragraph for each step.
std::string to_text(Program const& program, nodes::GraphSpec const& graph);

}  // namespace cudnn_frontend::rewrite
