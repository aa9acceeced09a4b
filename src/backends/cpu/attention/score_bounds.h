// Bounds on the numbers of a score program, from which follows which tiles a modifier hides.
#pragma once

#include "cpu/attention/score_program.h"

#include <cstdint>
#include <limits>
#include <span>

namespace cudnn_frontend::cpu {

// The least and the greatest number that something can be. Both infinite: it can be anything, even NaN.
struct Interval {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();

    bool is(double number) const { return low == number && high == number; }
};

// A part of the score tensor.
struct ScoreBox {
    Range batches, heads, queries, keys;
};

// The bounds of the elements that these scores read.
Interval bounds_of(DataView const& view, ScoreBox const& box);
// The bounds of a step's results, from those of the cells that it reads.
Interval bounds_of(ScoreProgram::Cell const& step, std::span<Interval const> cells, ScoreBox const& box);

// Finds the tiles without a visible score, for a block of queries in panels and one tile of keys after the other.
class HiddenTiles {
   public:
    // The memory for at most so many queries.
    static std::int64_t memory_bytes(ScoreProgram const& program, std::int64_t queries, std::int64_t lanes);

    // Queries of one head; the memory has memory_bytes().
    HiddenTiles(ScoreProgram const& program, std::int64_t b, std::int64_t h, Range queries, std::int64_t lanes,
                void* memory);

    // The keys that are asked for next.
    void set_keys(Range keys);
    bool hides(std::int64_t panel) const { return may_hide_ && hides(panel, panel_queries(panel)); }
    bool hides_all() const { return may_hide_ && hides(panels_, queries_); }

   private:
    static std::int64_t panels_of(std::int64_t queries, std::int64_t lanes) { return (queries + lanes - 1) / lanes; }
    static bool may_hide(ScoreProgram const& program);
    Range panel_queries(std::int64_t panel) const;
    bool hides(std::int64_t panel, Range queries) const;
    Interval* bounds_in(std::int64_t panel) const;

    ScoreProgram const& program_;
    std::int64_t b_, h_;
    Range queries_, keys_{0, 0};
    std::int64_t lanes_, panels_;
    bool may_hide_;
    Interval* memory_;  // the cells' bounds: for each panel, for all of them, for the keys, and for a result
};

}  // namespace cudnn_frontend::cpu
