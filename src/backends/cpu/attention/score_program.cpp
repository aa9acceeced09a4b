#include "cpu/attention/score_program.h"

#include "core/pointwise.h"
#include "cpu/attention/attention_tile.h"
#include "cpu/attention/score_bounds.h"
#include "cpu/interpreter/interpreter.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <type_traits>

namespace cudnn_frontend::cpu {
namespace {

using Cell = ScoreProgram::Cell;
using Kind = Cell::Kind;

constexpr int kScore = 0, kGradient = 1;

std::size_t index_of(int cell) { return static_cast<std::size_t>(cell); }

std::optional<TileFunction> fast_function(PointwiseMode_t mode) {
    using enum PointwiseMode_t;
    switch (mode) {
        case IDENTITY: return TileFunction::Identity;
        case ADD: return TileFunction::Add;
        case SUB: return TileFunction::Subtract;
        case MUL: return TileFunction::Multiply;
        case DIV: return TileFunction::Divide;
        case MAX: return TileFunction::Maximum;
        case MIN: return TileFunction::Minimum;
        case NEG: return TileFunction::Negate;
        case ABS: return TileFunction::Absolute;
        case FLOOR: return TileFunction::Floor;
        case EXP: return TileFunction::Exponential;
        case TANH_FWD: return TileFunction::Tanh;
        case TANH_BWD: return TileFunction::TanhGradient;
        case SIGMOID_FWD: return TileFunction::Sigmoid;
        case CMP_EQ: return TileFunction::Equal;
        case CMP_NEQ: return TileFunction::NotEqual;
        case CMP_GT: return TileFunction::Greater;
        case CMP_GE: return TileFunction::GreaterOrEqual;
        case CMP_LT: return TileFunction::Less;
        case CMP_LE: return TileFunction::LessOrEqual;
        case LOGICAL_AND: return TileFunction::And;
        case LOGICAL_OR: return TileFunction::Or;
        case LOGICAL_NOT: return TileFunction::Not;
        case BINARY_SELECT: return TileFunction::Select;
        default: return std::nullopt;
    }
}

bool is_index(Cell const& cell) { return cell.function.mode == PointwiseMode_t::GEN_INDEX; }

bool is_integer(DataType_t type) {
    return type == DataType_t::INT32 || type == DataType_t::INT64 || type == DataType_t::INT8 ||
           type == DataType_t::UINT8;
}

// The numbers of a buffer: rows of lanes, one for each key, or one for all.
template <class Number>
struct Lanes {
    Number* data;
    std::int64_t step, rows;
};

void load_plane(DataView const& view, ScorePlace const& place, std::int64_t lanes, Lanes<float> const& to) {
    Slice const slice = transposed(slice_of(view, place.b, place.h, place.queries.begin, place.keys.begin));
    load_tile(slice, {to.data, lanes, to.rows, place.queries.size()}, lanes);
}

void load_plane(DataView const& view, ScorePlace const& place, std::int64_t lanes, Lanes<double> const& to) {
    for (std::int64_t row = 0; row < to.rows; ++row) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            bool const is_there = lane < place.queries.size();
            std::int64_t const query = place.queries.begin + lane, key = place.keys.begin + row;
            double& element = to.data[row * lanes + lane];
            element = is_there ? core::load(view.type, view.data, view.at(place.b, place.h, query, key)) : 0.0;
        }
    }
}

template <class Number>
void load(Cell const& cell, ScorePlace const& place, std::int64_t lanes, Lanes<Number> const& to) {
    if (cell.varies_by_query) return load_plane(cell.view, place, lanes, to);
    for (std::int64_t row = 0; row < to.rows; ++row) {
        std::int64_t const at = cell.view.at(place.b, place.h, 0, place.keys.begin + row);
        std::fill_n(to.data + row * lanes, lanes, static_cast<Number>(core::load(cell.view.type, cell.view.data, at)));
    }
}

// Nothing where both are one.
template <class From, class To>
void copy_tile(From const* from, std::int64_t count, To* to) {
    if constexpr (std::is_same_v<From, To>) {
        if (from == to) return;
    }
    std::transform(from, from + count, to, [](From number) { return static_cast<To>(number); });
}

template <class Number>
void fill_index(Cell const& cell, ScorePlace const& place, std::int64_t lanes, Lanes<Number> const& to) {
    std::int64_t const first[] = {place.b, place.h, place.queries.begin, place.keys.begin};
    std::int64_t const base = first[cell.function.axis];
    for (std::int64_t row = 0; row < to.rows; ++row) {
        Number* const numbers = to.data + row * lanes;
        if (cell.varies_by_query) std::iota(numbers, numbers + lanes, static_cast<Number>(base));
        else std::fill_n(numbers, lanes, static_cast<Number>(base + (cell.varies_by_key ? row : 0)));
    }
}

void apply(Kernels const& kernels, Cell const& cell, std::array<Lanes<float>, 3> const& in, Lanes<float> const& out) {
    TileStep step{*cell.fast, {}, out.data, out.rows};
    for (std::size_t i = 0; i < in.size(); ++i) step.in[i] = {in[i].data, in[i].step};
    kernels.apply(step);
}

void apply(Kernels const& kernels, Cell const& cell, std::array<Lanes<double>, 3> const& in, Lanes<double> const& out) {
    for (std::int64_t row = 0; row < out.rows; ++row) {
        PointwiseRow numbers{{}, out.data + row * kernels.lanes, kernels.lanes};
        for (std::size_t i = 0; i < in.size(); ++i) numbers.in[i] = in[i].data + row * in[i].step;
        apply(cell.function, numbers);
    }
}

}  // namespace

ScoreProgram::ScoreProgram(ir::ScoreRegion const& region, ScoreTensorOf const& tensor_of) {
    if (!region) return;
    cells_ = {{.kind = Kind::Score}, {.kind = Kind::Gradient}};
    values_.assign(2, ir::kNoValue);
    for (ir::RegionStep const& step : region.steps) add_step(step, tensor_of);
    score_result_ = add_operand(region.score, tensor_of);
    gradient_result_ = add_operand(region.gradient, tensor_of);
    add_to_order(score_result_);
    of_scores_ = order_.size();
    add_to_order(gradient_result_);
    assign_buffers(last_uses());
    place_in_tiles(last_uses());
    is_wide_ = std::ranges::any_of(order_, [&](int cell) {
        Cell const& computed = cells_[index_of(cell)];
        return computed.kind == Kind::Step && !is_index(computed) && !computed.fast;
    });
}

int ScoreProgram::add_operand(ir::RegionOperand const& operand, ScoreTensorOf const& tensor_of) {
    switch (operand.from) {
        case ir::RegionOperand::From::None: return -1;
        case ir::RegionOperand::From::Score: return kScore;
        case ir::RegionOperand::From::Gradient: return kGradient;
        case ir::RegionOperand::From::Step: return steps_[index_of(operand.index)];
        case ir::RegionOperand::From::Value: break;
    }
    auto const known = std::ranges::find(values_, operand.index);
    if (known != values_.end()) return static_cast<int>(known - values_.begin());
    ScoreTensor const given = tensor_of(operand.index);
    Cell tensor{.kind = Kind::Tensor, .view = given.view, .is_integer = is_integer(given.type)};
    tensor.varies_by_query = tensor.view.dim[2] > 1;
    tensor.varies_by_key = tensor.view.dim[3] > 1;
    values_.push_back(operand.index);
    cells_.push_back(tensor);
    return static_cast<int>(cells_.size()) - 1;
}

void ScoreProgram::add_step(ir::RegionStep const& step, ScoreTensorOf const& tensor_of) {
    Cell cell{.kind = Kind::Step, .function = step.function, .fast = fast_function(step.function.mode)};
    cell.is_integer = is_integer(step.type);
    cell.varies_by_query = is_index(cell) && cell.function.axis == 2;
    cell.varies_by_key = is_index(cell) && cell.function.axis == 3;
    for (std::size_t i = 0; i < cell.in.size() && !is_index(cell); ++i) {
        cell.in[i] = add_operand(step.in[i], tensor_of);
        if (cell.in[i] < 0) continue;
        cell.varies_by_query |= cells_[index_of(cell.in[i])].varies_by_query;
        cell.varies_by_key |= cells_[index_of(cell.in[i])].varies_by_key;
    }
    steps_.push_back(static_cast<int>(cells_.size()));
    values_.push_back(ir::kNoValue);
    cells_.push_back(cell);
}

// Adds the cell after all cells that it reads, which are then read soon.
void ScoreProgram::add_to_order(int cell) {
    if (cell < 0 || std::ranges::find(order_, cell) != order_.end()) return;
    for (int const in : cells_[index_of(cell)].in) add_to_order(in);
    order_.push_back(cell);
}

// The last reader of each cell, by the place in the order; results are read after their pass.
std::vector<std::size_t> ScoreProgram::last_uses() const {
    std::vector<std::size_t> last(cells_.size(), 0);
    for (std::size_t at = 0; at < order_.size(); ++at) {
        for (int const in : cells_[index_of(order_[at])].in) {
            if (in >= 0) last[index_of(in)] = at;
        }
    }
    last[index_of(score_result_)] = std::max(last[index_of(score_result_)], of_scores_);
    if (gradient_result_ >= 0) last[index_of(gradient_result_)] = order_.size();
    return last;
}

// A buffer serves another cell once its own was read for the last time.
void ScoreProgram::assign_buffers(std::vector<std::size_t> const& last) {
    std::vector<int> free_tiles, free_rows;
    for (std::size_t at = 0; at < order_.size(); ++at) {
        Cell& cell = cells_[index_of(order_[at])];
        std::set<int> const operands(cell.in.begin(), cell.in.end());
        for (int const in : operands) {
            if (in < 0 || last[index_of(in)] != at) continue;
            Cell const& read = cells_[index_of(in)];
            (read.varies_by_key ? free_tiles : free_rows).push_back(read.buffer);
        }
        auto& unused = cell.varies_by_key ? free_tiles : free_rows;
        int& count = cell.varies_by_key ? tiles_ : rows_;
        if (unused.empty()) unused.push_back(count++);
        cell.buffer = unused.back();
        unused.pop_back();
    }
}

// The tile that a pass gets needs no copy where the other pass does not read it, nor does the result of its last step.
void ScoreProgram::place_in_tiles(std::vector<std::size_t> const& last) {
    cells_[kScore].is_in_place = last[kScore] < of_scores_;
    cells_[kGradient].is_in_place = true;
    auto const place_result = [&](int result, std::size_t end) {
        if (result < 0 || end == 0 || order_[end - 1] != result || last[index_of(result)] > end) return;
        Cell& cell = cells_[index_of(result)];
        cell.is_in_place = cell.is_in_place || (cell.kind == Kind::Step && cell.varies_by_key);
    };
    place_result(score_result_, of_scores_);
    place_result(gradient_result_, order_.size());
}

void ScoreProgram::choose_precision(std::array<std::int64_t, 4> const& scores) {
    constexpr double kMostInFloat = 1 << 24;
    std::vector<Interval> bounds(cells_.size());
    ScoreBox const all{{0, scores[0]}, {0, scores[1]}, {0, scores[2]}, {0, scores[3]}};
    for (int const at : order_) {
        Cell const& cell = cells_[index_of(at)];
        if (cell.kind == Kind::Tensor && cell.is_integer) bounds[index_of(at)] = bounds_of(cell.view, all);
        if (cell.kind == Kind::Step) bounds[index_of(at)] = bounds_of(cell, bounds, all);
        Interval const& found = bounds[index_of(at)];
        bool const is_exact = -kMostInFloat <= found.low && found.high <= kMostInFloat;
        is_wide_ = is_wide_ || (cell.is_integer && !is_exact);
    }
}

std::int64_t ScoreProgram::scratch_bytes(std::int64_t lanes) const {
    bool const may_be_wide = is_wide_ || std::ranges::any_of(cells_, &Cell::is_integer);
    return (tiles_ * kMostTileKeys + rows_) * lanes *
           static_cast<std::int64_t>(may_be_wide ? sizeof(double) : sizeof(float));
}

template <class Number>
void ScoreProgram::run_in(Pass pass, Kernels const& kernels, ScorePlace const& place, Number* scratch,
                          float* tile) const {
    std::int64_t const lanes = kernels.lanes, keys = place.keys.size();
    auto const lanes_of = [&](int at) {
        Cell const& cell = cells_[index_of(at)];
        if constexpr (std::is_same_v<Number, float>) {
            if (cell.is_in_place) return Lanes<float>{tile, lanes, keys};
        }
        if (cell.varies_by_key) return Lanes<Number>{scratch + cell.buffer * kMostTileKeys * lanes, lanes, keys};
        return Lanes<Number>{scratch + (tiles_ * kMostTileKeys + cell.buffer) * lanes, 0, 1};
    };
    bool const is_first = pass == Pass::Scores;
    for (std::size_t i = is_first ? 0 : of_scores_; i < (is_first ? of_scores_ : order_.size()); ++i) {
        Cell const& cell = cells_[index_of(order_[i])];
        Lanes<Number> const out = lanes_of(order_[i]);
        std::array<Lanes<Number>, 3> in{};
        for (std::size_t o = 0; o < in.size(); ++o) {
            if (cell.in[o] >= 0) in[o] = lanes_of(cell.in[o]);
        }
        if (cell.kind == Kind::Tensor) load(cell, place, lanes, out);
        else if (cell.kind != Kind::Step) copy_tile(tile, keys * lanes, out.data);
        else if (is_index(cell)) fill_index(cell, place, lanes, out);
        else apply(kernels, cell, in, out);
    }
    Lanes<Number> const result = lanes_of(is_first ? score_result_ : gradient_result_);
    for (std::int64_t key = 0; key < keys; ++key) {
        copy_tile(result.data + key * result.step, lanes, tile + key * lanes);
    }
}

void ScoreProgram::run(Pass pass, Kernels const& kernels, ScorePlace const& place, void* scratch, float* tile) const {
    if (is_wide_) run_in(pass, kernels, place, static_cast<double*>(scratch), tile);
    else run_in(pass, kernels, place, static_cast<float*>(scratch), tile);
}

}  // namespace cudnn_frontend::cpu
