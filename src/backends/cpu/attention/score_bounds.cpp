#include "cpu/attention/score_bounds.h"

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::cpu {
namespace {

using Cell = ScoreProgram::Cell;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Interval kFalse{0.0, 0.0}, kTrue{1.0, 1.0}, kEither{0.0, 1.0};

bool is_finite(Interval const& x) { return std::isfinite(x.low) && std::isfinite(x.high); }
bool is_true(Interval const& x) { return is_finite(x) && (x.low > 0.0 || x.high < 0.0); }
bool is_false(Interval const& x) { return x.is(0.0); }
Interval truth(bool always, bool never) { return always ? kTrue : never ? kFalse : kEither; }

// The bounds of a function that is monotonic in each operand: those of the four combinations.
template <class Function>
Interval hull(Interval const& a, Interval const& b, Function const& f) {
    auto const [low, high] = std::minmax({f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)});
    return {low, high};
}

Interval either(Interval const& a, Interval const& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Interval compared(PointwiseMode_t mode, Interval const& a, Interval const& b) {
    using enum PointwiseMode_t;
    if (!is_finite(a) || !is_finite(b)) return kEither;
    switch (mode) {
        case CMP_EQ: return truth(a.is(b.low) && b.is(a.low), a.high < b.low || b.high < a.low);
        case CMP_NEQ: return truth(a.high < b.low || b.high < a.low, a.is(b.low) && b.is(a.low));
        case CMP_GT: return truth(a.low > b.high, a.high <= b.low);
        case CMP_GE: return truth(a.low >= b.high, a.high < b.low);
        case CMP_LT: return truth(a.high < b.low, a.low >= b.high);
        case CMP_LE: return truth(a.high <= b.low, a.low > b.high);
        default: return kEither;
    }
}

// Modes whose results follow from finite operands; the others can give anything.
Interval computed(PointwiseMode_t mode, Interval const& a, Interval const& b) {
    using enum PointwiseMode_t;
    switch (mode) {
        case ADD: return {a.low + b.low, a.high + b.high};
        case SUB: return {a.low - b.high, a.high - b.low};
        case MUL: return hull(a, b, [](double x, double y) { return x * y; });
        case MAX: return {std::max(a.low, b.low), std::max(a.high, b.high)};
        case MIN: return {std::min(a.low, b.low), std::min(a.high, b.high)};
        default: return {};
    }
}

Interval computed(PointwiseMode_t mode, Interval const& x) {
    using enum PointwiseMode_t;
    switch (mode) {
        case NEG: return {-x.high, -x.low};
        case ABS:
            return {x.low <= 0.0 && x.high >= 0.0 ? 0.0 : std::min(std::abs(x.low), std::abs(x.high)),
                    std::max(std::abs(x.low), std::abs(x.high))};
        case FLOOR: return {std::floor(x.low), std::floor(x.high)};
        default: return {};
    }
}

Interval index_bounds(std::int64_t axis, ScoreBox const& box) {
    Range const ranges[] = {box.batches, box.heads, box.queries, box.keys};
    Range const& range = ranges[axis];
    return {static_cast<double>(range.begin), static_cast<double>(range.end - 1)};
}

}  // namespace

Interval bounds_of(DataView const& view, ScoreBox const& box) {
    auto const part = [](Range range, std::int64_t dim) { return dim == 1 ? Range{0, 1} : range; };
    Range const batches = part(box.batches, view.dim[0]), heads = part(box.heads, view.dim[1]),
                queries = part(box.queries, view.dim[2]), keys = part(box.keys, view.dim[3]);
    Interval bounds{kInfinity, -kInfinity};
    for (std::int64_t b = batches.begin; b < batches.end; ++b) {
        for (std::int64_t h = heads.begin; h < heads.end; ++h) {
            for (std::int64_t i = queries.begin; i < queries.end; ++i) {
                for (std::int64_t j = keys.begin; j < keys.end; ++j) {
                    double const element = core::load(view.type, view.data, view.at(b, h, i, j));
                    if (std::isnan(element)) return {};
                    bounds = {std::min(bounds.low, element), std::max(bounds.high, element)};
                }
            }
        }
    }
    return bounds.low <= bounds.high ? bounds : Interval();
}

Interval bounds_of(Cell const& step, std::span<Interval const> cells, ScoreBox const& box) {
    using enum PointwiseMode_t;
    auto const operand = [&](std::size_t i) {
        return step.in[i] < 0 ? Interval() : cells[static_cast<std::size_t>(step.in[i])];
    };
    Interval const a = operand(0), b = operand(1), c = operand(2);
    switch (step.function.mode) {
        case GEN_INDEX: return index_bounds(step.function.axis, box);
        case IDENTITY: return a;
        case BINARY_SELECT: return is_true(c) ? a : is_false(c) ? b : either(a, b);
        case LOGICAL_AND: return truth(is_true(a) && is_true(b), is_false(a) || is_false(b));
        case LOGICAL_OR: return truth(is_true(a) || is_true(b), is_false(a) && is_false(b));
        case LOGICAL_NOT: return truth(is_false(a), is_true(a));
        case CMP_EQ:
        case CMP_NEQ:
        case CMP_GT:
        case CMP_GE:
        case CMP_LT:
        case CMP_LE: return compared(step.function.mode, a, b);
        default: break;
    }
    if (!is_finite(a)) return {};
    return step.in[1] < 0 ? computed(step.function.mode, a)
                          : (is_finite(b) ? computed(step.function.mode, a, b) : Interval());
}

std::int64_t HiddenTiles::memory_bytes(ScoreProgram const& program, std::int64_t queries, std::int64_t lanes) {
    if (!may_hide(program)) return 0;
    return static_cast<std::int64_t>(program.cells().size() * sizeof(Interval)) * (panels_of(queries, lanes) + 3);
}

// Only a choice between the score and -inf hides it.
bool HiddenTiles::may_hide(ScoreProgram const& program) {
    return std::ranges::any_of(program.cells(), [](Cell const& cell) {
        return cell.kind == Cell::Kind::Step && cell.function.mode == PointwiseMode_t::BINARY_SELECT;
    });
}

HiddenTiles::HiddenTiles(ScoreProgram const& program, std::int64_t b, std::int64_t h, Range queries, std::int64_t lanes,
                         void* memory)
    : program_(program),
      b_(b),
      h_(h),
      queries_(queries),
      lanes_(lanes),
      panels_(panels_of(queries.size(), lanes)),
      may_hide_(may_hide(program)),
      memory_(static_cast<Interval*>(memory)) {
    if (!may_hide_) return;
    std::fill_n(memory_, (panels_ + 3) * static_cast<std::int64_t>(program.cells().size()), Interval());
    for (std::size_t i = 0; i < program.cells().size(); ++i) {
        Cell const& cell = program.cells()[i];
        if (cell.kind != Cell::Kind::Tensor || cell.varies_by_key) continue;
        Interval& of_all = bounds_in(panels_)[i] = {kInfinity, -kInfinity};
        for (std::int64_t panel = 0; panel < panels_; ++panel) {
            bounds_in(panel)[i] = bounds_of(cell.view, {{b, b + 1}, {h, h + 1}, panel_queries(panel), {0, 1}});
            of_all = either(of_all, bounds_in(panel)[i]);
        }
    }
}

void HiddenTiles::set_keys(Range keys) {
    keys_ = keys;
    for (std::size_t i = 0; may_hide_ && i < program_.cells().size(); ++i) {
        Cell const& cell = program_.cells()[i];
        if (cell.kind == Cell::Kind::Tensor && cell.varies_by_key && !cell.varies_by_query)
            bounds_in(panels_ + 1)[i] = bounds_of(cell.view, {{b_, b_ + 1}, {h_, h_ + 1}, {0, 1}, keys});
    }
}

Range HiddenTiles::panel_queries(std::int64_t panel) const {
    std::int64_t const begin = queries_.begin + panel * lanes_;
    return {begin, std::min(begin + lanes_, queries_.end)};
}

Interval* HiddenTiles::bounds_in(std::int64_t panel) const {
    return memory_ + panel * static_cast<std::int64_t>(program_.cells().size());
}

bool HiddenTiles::hides(std::int64_t panel, Range queries) const {
    std::size_t const count = program_.cells().size();
    Interval* const bounds = bounds_in(panels_ + 2);
    ScoreBox const box{{b_, b_ + 1}, {h_, h_ + 1}, queries, keys_};
    for (std::size_t i = 0; i < count; ++i) {
        Cell const& cell = program_.cells()[i];
        bool const is_of_keys = cell.varies_by_key;
        if (cell.kind == Cell::Kind::Tensor) bounds[i] = bounds_in(is_of_keys ? panels_ + 1 : panel)[i];
        if (cell.kind == Cell::Kind::Step) bounds[i] = bounds_of(cell, {bounds, count}, box);
    }
    return bounds[static_cast<std::size_t>(program_.score_result())].is(-kInfinity);
}

}  // namespace cudnn_frontend::cpu
