// The checks on one operation: its operands are there and their dims fit each other.
#include "attention/attention_operands.h"
#include "attention/block_scale.h"
#include "core/names.h"
#include "core/pointwise.h"
#include "ir/faults.h"
#include "ir/ports.h"

#include <algorithm>
#include <span>

namespace cudnn_frontend::ir {
namespace {

bool divides(core::Dims const& parts, core::Dims const& whole) {
    return std::equal(whole.begin(), whole.end(), parts.begin(), parts.end(),
                      [](std::int64_t a, std::int64_t b) { return a % b == 0; });
}

class OperandCheck {
   public:
    OperandCheck(OpGraph const& graph, std::size_t op_index, core::Findings& findings)
        : graph_(graph), op_index_(op_index), findings_(findings) {}

    void run() {
        Op const& op = graph_.ops()[op_index_];
        for (NamedValue const& in : inputs_of(op)) check_usable(in);
        for (NamedValue const& out : outputs_of(op)) check_usable(out);
        std::visit([this](auto const& body) { check_presence(body); }, op.body);
        if (!is_usable_) return;  // dims of operands that are not there cannot be compared
        std::visit([this](auto const& body) { check(body); }, op.body);
        if (!std::holds_alternative<ReshapeOp>(op.body)) check_outputs_nest(op);
    }

   private:
    void fail(std::string found, std::string needed) {
        findings_.add(fault_at_op(graph_, op_index_, std::move(found), std::move(needed)));
    }

    core::Dims const& dim(ValueId id) const { return graph_.value(id).dim; }
    std::string show(char const* label, ValueId id) const {
        return std::string(label) + " = " + label_of(graph_, id) + " " + core::to_string(dim(id));
    }

    void check_usable(NamedValue const& operand) {
        if (!is_in_range(graph_, operand.value)) {
            is_usable_ = false;
            return fail(std::string(operand.label) + " = %" + std::to_string(operand.value),
                        "values %0 to %" + std::to_string(static_cast<std::int64_t>(graph_.values().size()) - 1));
        }
        Value const& value = graph_.value(operand.value);
        bool const is_laid_out = !value.dim.empty() && value.dim.size() == value.stride.size() &&
                                 *std::min_element(value.dim.begin(), value.dim.end()) > 0;
        if (!is_laid_out) is_usable_ = false;
    }

    template <class Body>
    void check_presence(Body const& body) {
        require_ports<Body>(body, Ports<Body>::inputs);
        require_ports<Body>(body, Ports<Body>::outputs);
    }
    template <Attention Body>
    void check_presence(Body const& body) {
        for_each_operand(body, attention::is_required,
                         [&](attention::Operand const& row, ValueId id) { require(row.label, id); });
    }
    void check_presence(NeighborhoodOp const& op) {
        for_each_operand(op, neighborhood::is_required,
                         [&](neighborhood::OperandUses const& row, ValueId id) { require(row.label, id); });
    }
    void check_presence(PointwiseOp const& op) {
        std::size_t const needed = core::operand_count(op.mode);
        for (std::size_t i = 0; i < std::size(op.in); ++i) {
            if (i < needed) require(kPointwiseLabels[i], op.in[i]);
            if (i >= needed && op.in[i] != kNoValue) {
                fail(kPointwiseLabels[i], std::to_string(needed) + (needed == 1 ? " operand" : " operands"));
            }
        }
        require("out", op.out);
    }

    template <class Body>
    void require_ports(Body const& body, std::span<Port<Body> const> ports) {
        for (Port<Body> const& port : ports) {
            if (port.need == Need::Required) require(port.label, body.*port.value);
        }
    }
    void require(char const* label, ValueId id) {
        if (id != kNoValue) return;
        is_usable_ = false;
        fail("no operand", label);
    }

    void check_outputs_nest(Op const& op) {
        for (NamedValue const& out : outputs_of(op)) {
            Value const& value = graph_.value(out.value);
            if (core::overlaps_itself(value.dim, value.stride)) {
                fail(show(out.label, out.value) + " with strides " + core::to_string(value.stride),
                     "strides under which no two elements share a place");
            }
        }
    }

    // Compares a list of dims with the expected one.
    void check_dims(char const* label, ValueId id, core::Dims const& needed) {
        if (id != kNoValue && dim(id) != needed) fail(show(label, id), core::to_string(needed));
    }
    void check_broadcast(char const* label, ValueId id, core::Dims const& to) {
        if (id == kNoValue || core::broadcasts_to(dim(id), to)) return;
        fail(show(label, id), "each dim to be 1 or that of " + core::to_string(to));
    }
    void check_one_element(char const* label, ValueId id) {
        if (id != kNoValue && core::volume(dim(id)) != 1) fail(show(label, id), "one element");
    }
    void check_integer(char const* label, ValueId id) {
        if (id == kNoValue) return;
        DataType_t const type = graph_.value(id).type;
        if (type == DataType_t::INT32 || type == DataType_t::INT64) return;
        fail(show(label, id) + " of type " + core::name_of(type), "INT32 or INT64");
    }
    // Lengths are read before anything runs, so they cannot be a result.
    void check_lengths(char const* label, ValueId id, std::int64_t batches, std::size_t rank) {
        if (id == kNoValue) return;
        core::Dims needed(rank, 1);
        needed[0] = batches;
        check_dims(label, id, needed);
        check_integer(label, id);
        Value const& lengths = graph_.value(id);
        bool const is_result = lengths.role == Role::Virtual && lengths.steps_of == kNoValue;
        if (is_result || lengths.role == Role::Output) {
            fail(show(label, id) + ", which is a result", "memory of the caller or a constant");
        }
    }

    void check(MatmulOp const& op);
    void check(PointwiseOp const& op);
    void check(ReductionOp const& op);
    void check(RngOp const& op);
    void check(ReshapeOp const& op);
    void check(SliceOp const& op);
    void check(TransposeOp const& op);
    void check(PagedLoadOp const& op);
    void check(BlockMaskOp const& op);
    void check(WindowProductOp const& op);
    void check(WindowBiasOp const& op) { check_bias(op.x, op.y, op.options); }
    void check(WindowBiasSumOp const& op) { check_bias(op.y, op.x, op.options); }
    void check(NeighborhoodOp const& op);
    bool check_slots(NamedValue const& slots, neighborhood::Options const& options);
    void check_bias(ValueId bias, ValueId slots, neighborhood::Options const& options);
    void check(BlockDequantizeOp const& op) { check_blocks(op.x, op.scale, op.y, op.axis); }
    void check(BlockQuantizeOp const& op) { check_blocks(op.x, op.scale, op.y, op.axis); }
    void check_blocks(ValueId x, ValueId scale, ValueId y, std::int64_t axis);
    void check(SdpaForwardOp const& op);
    void check(SdpaBackwardOp const& op) { check_attention(op); }
    using Operands = attention::OfOperation<ValueId>;
    template <class Attention>
    void check_attention(Attention const& op);
    void check_operand(attention::Operand const& row, Operands const& operands, attention::Sizes const& sizes);
    void check_keys_and_values(Operands const& operands, std::int64_t keys);
    void check_options(AttentionOptions const& options, Operands const& operands);
    void check_region(ScoreRegion const& region, core::Dims const& scores, bool is_backward);
    void check_region_operand(RegionOperand const& operand, std::size_t steps, core::Dims const& scores);
    struct PageSizes {
        std::int64_t batches, keys;
    };
    void check_block_mask(ValueId mask, attention::Sizes const& sizes);
    void check_pages(ValueId container, ValueId table, ValueId length, PageSizes const& needed);
    bool check_rank_4(std::initializer_list<NamedValue> operands);

    OpGraph const& graph_;
    std::size_t op_index_;
    core::Findings& findings_;
    bool is_usable_ = true;
};

void OperandCheck::check(MatmulOp const& op) {
    core::Dims const &a = dim(op.a), &b = dim(op.b), &c = dim(op.c);
    std::size_t const rank = c.size();
    auto const fail_with = [&](std::string const& needed) {
        fail(show("a", op.a) + ", " + show("b", op.b) + ", " + show("c", op.c), needed);
    };
    if (rank < 2 || a.size() != rank || b.size() != rank) return fail_with("one rank of at least 2");
    std::size_t const m = rank - 2, n = rank - 1;
    if (a[m] != c[m] || b[n] != c[n] || a[n] != b[m]) {
        fail_with("the last two dims to be [M, K], [K, N] and [M, N]");
    }
    for (std::size_t i = 0; i < m; ++i) {
        if (c[i] % a[i] == 0 && c[i] % b[i] == 0) continue;
        fail_with("dim " + std::to_string(i) + " of a and of b to divide that of c, " + std::to_string(c[i]));
    }
    check_lengths("m_override", op.m_override, c[0], rank);
    check_lengths("n_override", op.n_override, c[0], rank);
    check_lengths("k_override", op.k_override, c[0], rank);
    bool const has_override = op.m_override != kNoValue || op.n_override != kNoValue || op.k_override != kNoValue;
    if (has_override && rank < 3) fail_with("a batch dim for overrides, rank 3 or more");
}

void OperandCheck::check(PointwiseOp const& op) {
    core::Dims const& out = dim(op.out);
    if (op.mode == PointwiseMode_t::NOT_SET) fail("no mode", "one");
    for (std::size_t i = 0; i < std::size(op.in); ++i) check_broadcast(kPointwiseLabels[i], op.in[i], out);
    auto const rank = static_cast<std::int64_t>(out.size());
    if (op.mode == PointwiseMode_t::GEN_INDEX && (op.axis < 0 || op.axis >= rank)) {
        fail("axis " + std::to_string(op.axis), "0 to " + std::to_string(rank - 1) + " for " + show("out", op.out));
    }
}

void OperandCheck::check(ReductionOp const& op) {
    if (op.mode == ReductionMode_t::NOT_SET) fail("no mode", "one");
    core::Dims const &x = dim(op.x), &y = dim(op.y);
    if (x.size() != y.size() || !divides(y, x)) {
        return fail(show("x", op.x) + " and " + show("y", op.y), "as many dims of y as of x, each a divisor");
    }
    if (op.rows == kNoValue) return;
    check_lengths("rows", op.rows, x[0], 4);
    if (x.size() == 4 && y[0] == 1 && y[2] == 1) return;
    fail(show("x", op.x) + " and " + show("y", op.y), "four dims with rows, in y 1 for the first and third");
}

void OperandCheck::check(RngOp const& op) {
    for (NamedValue const& in : {NamedValue{"seed", op.seed}, NamedValue{"offset", op.offset}}) {
        check_one_element(in.label, in.value);
        check_integer(in.label, in.value);
    }
    if (op.probability >= 0.0 && op.probability <= 1.0) return;
    fail("probability " + std::to_string(op.probability), "0 to 1");
}

void OperandCheck::check(ReshapeOp const& op) {
    if (core::volume(dim(op.x)) == core::volume(dim(op.y))) return;
    fail(show("x", op.x) + " and " + show("y", op.y), "the same number of elements");
}

void OperandCheck::check(SliceOp const& op) {
    core::Dims const &x = dim(op.x), &y = dim(op.y);
    bool fits = x.size() == y.size() && x.size() == op.start.size() && x.size() == op.step.size();
    for (std::size_t d = 0; fits && d < x.size(); ++d) {
        bool const is_inside = op.start[d] >= 0 && op.start[d] < x[d] && op.step[d] >= 1;
        fits = is_inside && (y[d] - 1) <= (x[d] - 1 - op.start[d]) / op.step[d];
    }
    if (fits) return;
    fail(show("x", op.x) + " and " + show("y", op.y) + ", from " + core::to_string(op.start) + " in steps of " +
             core::to_string(op.step),
         "each element of y to be one of x");
}

void OperandCheck::check(TransposeOp const& op) {
    core::Dims const &x = dim(op.x), &y = dim(op.y);
    if (core::is_permutation(op.permutation, x.size()) && y == core::permuted(x, op.permutation)) return;
    fail(show("x", op.x) + " and " + show("y", op.y) + " with the permutation " + core::to_string(op.permutation),
         "each dim of x once in y, in that order");
}

// Slots {B, H, space, W}, with windows that fit the space.
bool OperandCheck::check_slots(NamedValue const& slots, neighborhood::Options const& options) {
    core::Dims const& have = dim(slots.value);
    bool const has_space = have.size() >= 4;
    core::Dims const space = has_space ? core::Dims(have.begin() + 2, have.end() - 1) : core::Dims();
    if (has_space && neighborhood::fits(options, space) && have.back() == neighborhood::window_size(options))
        return true;
    fail(show(slots.label, slots.value) + " for windows of " + core::to_string(options.kernel_size),
         "batch, heads, a space that the windows fit, and their slots");
    return false;
}

void OperandCheck::check(WindowProductOp const& op) {
    bool const gives_slots = op.part == WindowPart::Slots, gives_queries = op.part == WindowPart::Queries;
    NamedValue const slots = gives_slots ? NamedValue{"y", op.y} : NamedValue{"a", op.a};
    if (!check_slots(slots, op.options)) return;
    ValueId const queries = gives_slots ? op.a : gives_queries ? op.y : op.b;
    core::Dims tokens = dim(slots.value);
    tokens.back() = dim(queries).back();
    check_dims(gives_slots ? "a" : gives_queries ? "y" : "b", queries, tokens);
    check_dims(gives_slots || gives_queries ? "b" : "y", gives_slots || gives_queries ? op.b : op.y, tokens);
}

void OperandCheck::check_bias(ValueId bias, ValueId slots, neighborhood::Options const& options) {
    if (!check_slots({"slots", slots}, options)) return;
    core::Dims needed{dim(slots)[1]};
    for (std::int64_t const kernel : options.kernel_size) needed.push_back(2 * kernel - 1);
    check_dims("bias", bias, needed);
}

void OperandCheck::check(NeighborhoodOp const& op) {
    neighborhood::Port const port = neighborhood::leading_port(op.function);
    ValueId const leading = op.operands[port];
    auto const axes = static_cast<std::int64_t>(dim(leading).size()) - 3;
    bool const has_space = axes >= 1 && axes <= static_cast<std::int64_t>(neighborhood::kMostAxes);
    auto const sizes = has_space ? neighborhood::sizes_of(op.function, dim(leading)) : neighborhood::TokenSizes();
    if (!has_space || !neighborhood::fits(op.options, sizes.space)) {
        return fail(show(neighborhood::kOperands[port].label, leading) + " for windows of " +
                        core::to_string(op.options.kernel_size),
                    "one to three axes of space that the windows fit");
    }
    for (neighborhood::OperandUses const& row : neighborhood::kOperands)
        check_dims(row.label, op.operands[row.port], neighborhood::dims_of(op.function, sizes, op.options, row.port));
}

bool OperandCheck::check_rank_4(std::initializer_list<NamedValue> operands) {
    bool good = true;
    for (NamedValue const& operand : operands) {
        if (dim(operand.value).size() == 4) continue;
        fail(show(operand.label, operand.value), "four dims: batch, head, sequence, vector");
        good = false;
    }
    return good;
}

// A container has pages where keys or values have batch entries and rows.
void OperandCheck::check_pages(ValueId container, ValueId table, ValueId length, PageSizes const& needed) {
    if (!check_rank_4({{"container", container}, {"table", table}})) return;
    std::int64_t const pages = (needed.keys - 1) / dim(container)[2] + 1;
    check_dims("table", table, {needed.batches, 1, pages, 1});
    check_integer("table", table);
    if (graph_.value(table).role != Role::Input) {
        fail(show("table", table) + ", which is no input", "memory of the caller");
    }
    if (graph_.value(container).ragged)
        fail(show("container", container) + ", which is ragged", "pages without offsets");
    if (length == kNoValue) return fail("pages without lengths", "lengths, which say how many keys are in them");
    check_lengths("length", length, needed.batches, 4);
}

void OperandCheck::check(PagedLoadOp const& op) {
    if (!check_rank_4({{"container", op.container}, {"y", op.y}})) return;
    core::Dims const &y = dim(op.y), &container = dim(op.container);
    std::int64_t const keys = key_count(graph_, op);
    check_dims("y", op.y, {y[0], container[1], keys, container[3]});
    check_pages(op.container, op.table, op.length, {y[0], keys});
}

void OperandCheck::check_block_mask(ValueId mask, attention::Sizes const& sizes) {
    check_dims("block_mask", mask, attention::dims_of(attention::shapes::kTiles, sizes));
    DataType_t const type = graph_.value(mask).type;
    if (type == DataType_t::UINT8) return;
    fail(show("block_mask", mask) + " of type " + core::name_of(type), "UINT8");
}

void OperandCheck::check(BlockMaskOp const& op) {
    if (!check_rank_4({{"y", op.y}})) return;
    core::Dims const& scores = dim(op.y);
    check_block_mask(op.mask, {scores[0], scores[1], scores[2], scores[3]});
}

void OperandCheck::check_blocks(ValueId x, ValueId scale, ValueId y, std::int64_t axis) {
    if (!check_rank_4({{"x", x}, {"scale", scale}, {"y", y}})) return;
    if (axis != 2 && axis != 3) return fail("axis " + std::to_string(axis), "2 or 3");
    check_dims("y", y, dim(x));
    auto const along = static_cast<std::size_t>(axis);
    bool const is_tiled = graph_.value(scale).reordering == TensorReordering_t::F8_128x4;
    check_dims("scale", scale,
               is_tiled ? attention::padded_block_dims(dim(x), along) : attention::block_dims(dim(x), along));
    DataType_t const type = graph_.value(scale).type;
    if (type == DataType_t::FP8_E8M0) return;
    fail(show("scale", scale) + " of type " + core::name_of(type), "FP8_E8M0");
}

void OperandCheck::check_keys_and_values(Operands const& operands, std::int64_t keys) {
    using namespace attention;
    core::Dims const& q = dim(operands[Q]);
    struct TableRows {
        char const* label;
        ValueId value, table;
    };
    for (TableRows const& rows :
         {TableRows{"k", operands[K], operands[PageTableK]}, TableRows{"v", operands[V], operands[PageTableV]}}) {
        core::Dims const& have = dim(rows.value);
        bool const is_paged = rows.table != kNoValue;
        if ((!is_paged && have[0] != 1 && have[0] != q[0]) || q[1] % have[1] != 0) {
            fail(show(rows.label, rows.value),
                 "batch " + std::to_string(q[0]) + " or 1, and a number of heads that divides " + std::to_string(q[1]));
        }
        if (is_paged) check_pages(rows.value, rows.table, operands[SeqLenKv], {q[0], keys});
        else if (have[2] != keys) {
            fail(show("k", operands[K]) + " and " + show("v", operands[V]), "one sequence length");
        }
    }
    if (dim(operands[K])[3] != q[3]) {
        fail(show("k", operands[K]), "vectors of " + std::to_string(q[3]) + " elements, as in q");
    }
}

// Checks an operand that is there against the table. Dims of K, V and page tables are checked together.
void OperandCheck::check_operand(attention::Operand const& row, Operands const& operands,
                                 attention::Sizes const& sizes) {
    ValueId const id = operands[row.port];
    bool const is_gradient = row.gradient_of != attention::PortCount;
    ValueId const source = is_gradient ? operands[row.gradient_of] : kNoValue;
    if (is_gradient && source == kNoValue) {
        return fail(std::string(row.label) + " without " + attention::operand(row.gradient_of).label,
                    "both or neither");
    }
    if (row.shape == attention::shapes::kTiles) return check_block_mask(id, sizes);
    if (attention::is_length(row)) return check_lengths(row.label, id, sizes.batches, 4);
    if (row.type == attention::TypeClass::Integer) check_integer(row.label, id);
    if (row.shape == attention::shapes::kNumber) return check_one_element(row.label, id);
    if (attention::has_own_sizes(row)) {
        if (is_gradient) check_dims(row.label, id, dim(source));
        return;
    }
    core::Dims const needed = attention::dims_of(row.shape, sizes);
    if (row.shape.broadcasts) return check_broadcast(row.label, id, needed);
    if (!needed.empty()) check_dims(row.label, id, needed);
}

void OperandCheck::check_options(AttentionOptions const& options, Operands const& operands) {
    using namespace attention;
    bool const has_lengths = operands[SeqLenQ] != kNoValue && operands[SeqLenKv] != kNoValue;
    if (options.padding && !has_lengths) fail("a padding mask without seq_len_q or seq_len_kv", "both");
    bool const has_generator = operands[Seed] != kNoValue && operands[Offset] != kNoValue;
    if (options.dropout_probability && !has_generator) {
        fail("dropout without seed or offset", "both");
    }
}

// An operand of a step, where so many steps come before it.
void OperandCheck::check_region_operand(RegionOperand const& operand, std::size_t steps, core::Dims const& scores) {
    using enum RegionOperand::From;
    if (operand.from == Value) check_broadcast("region", operand.index, scores);
    if (operand.from == Step && (operand.index < 0 || static_cast<std::size_t>(operand.index) >= steps))
        fail("the step " + std::to_string(operand.index) + " of a region", "an earlier step");
}

void OperandCheck::check_region(ScoreRegion const& region, core::Dims const& scores, bool is_backward) {
    using enum RegionOperand::From;
    for (std::size_t i = 0; i < region.steps.size(); ++i) {
        RegionStep const& step = region.steps[i];
        std::size_t const needed = core::operand_count(step.function.mode);
        for (std::size_t o = 0; o < std::size(step.in); ++o) {
            check_region_operand(step.in[o], i, scores);
            if ((step.in[o].from != None) != (o < needed))
                fail("operand " + std::to_string(o) + " of a region's step",
                     std::to_string(needed) + " of " + core::name_of(step.function.mode));
        }
        bool const is_index = step.function.mode == PointwiseMode_t::GEN_INDEX;
        if (is_index && (step.function.axis < 0 || step.function.axis > 3))
            fail("axis " + std::to_string(step.function.axis) + " in a region", "0 to 3");
    }
    check_region_operand(region.score, region.steps.size(), scores);
    check_region_operand(region.gradient, region.steps.size(), scores);
    if (!is_backward && region.gradient.from != None) fail("a gradient in forward's region", "none");
}

template <class Attention>
void OperandCheck::check_attention(Attention const& op) {
    using namespace attention;
    auto const& operands = op.operands;
    ValueId const q = operands[Q], v = operands[V];
    if (!check_rank_4({{"q", q}, {"k", operands[K]}, {"v", v}, {"o", operands[O]}})) return;
    Sizes const sizes{dim(q)[0], dim(q)[1], dim(q)[2], key_count(graph_, op), dim(v)[3]};
    check_keys_and_values(operands, sizes.keys);
    for (attention::Operand const& row : kOperands) {
        if (is_of_operation(row) && operands[row.port] != kNoValue) check_operand(row, operands, sizes);
    }
    check_options(op.options, operands);
    check_region(op.region, {sizes.batches, sizes.heads, sizes.queries, sizes.keys},
                 std::is_same_v<Attention, SdpaBackwardOp>);
}

void OperandCheck::check(SdpaForwardOp const& op) {
    using namespace attention;
    bool const has_pages = op.operands[PageTableK] != kNoValue || op.operands[PageTableV] != kNoValue;
    if (has_pages != (op.keys && *op.keys > 0)) {
        return fail("page tables or a number of keys alone", "both or neither");
    }
    check_attention(op);
}

}  // namespace

void check_operands(OpGraph const& graph, std::size_t op_index, core::Findings& findings) {
    OperandCheck(graph, op_index, findings).run();
}

}  // namespace cudnn_frontend::ir
