// A score modifier (ir::ScoreRegion) as steps on tiles of scores.
#pragma once

#include "cpu/attention/kernels/attention_kernels.h"
#include "cpu/memory/view.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace cudnn_frontend::cpu {

// A half-open interval.
struct Range {
    std::int64_t begin, end;

    std::int64_t size() const { return end > begin ? end - begin : 0; }
};

// The part of the score tensor that a tile covers.
struct ScorePlace {
    std::int64_t b, h;
    Range queries, keys;
};

// A value that a region reads. Its type is that of the graph: integers between operations are stored as doubles.
struct ScoreTensor {
    DataView view;
    DataType_t type;
};
using ScoreTensorOf = std::function<ScoreTensor(ir::ValueId)>;

class ScoreProgram {
   public:
    // Something that a tile has a number of for each score.
    struct Cell {
        enum class Kind { Score, Gradient, Tensor, Step };

        Kind kind;
        DataView view;                     // of a tensor
        ir::PointwiseFunction function;    // of a step
        std::optional<TileFunction> fast;  // the kernels' function that is the same
        std::array<int, 3> in{-1, -1, -1};
        bool is_integer = false;
        bool varies_by_query = true, varies_by_key = true;
        int buffer = -1;
        bool is_in_place = false;  // in float it is in the tile that is changed, not in the buffer
    };
    enum class Pass { Scores, Gradients };

    ScoreProgram() = default;
    // Views may be of sizes alone until the program runs.
    ScoreProgram(ir::ScoreRegion const& region, ScoreTensorOf const& tensor_of);

    explicit operator bool() const { return !cells_.empty(); }
    bool changes_gradients() const { return gradient_result_ >= 0; }
    std::vector<Cell> const& cells() const { return cells_; }
    int score_result() const { return score_result_; }

    // Looks at the integers that the program reads: float is exact for small ones alone.
    void choose_precision(std::array<std::int64_t, 4> const& scores);
    std::int64_t scratch_bytes(std::int64_t lanes) const;

    // Replaces the scores of a tile, or the gradients of the scores that were replaced last with the same scratch.
    void run(Pass pass, Kernels const& kernels, ScorePlace const& place, void* scratch, float* tile) const;

   private:
    int add_operand(ir::RegionOperand const& operand, ScoreTensorOf const& tensor_of);
    void add_step(ir::RegionStep const& step, ScoreTensorOf const& tensor_of);
    void add_to_order(int cell);
    std::vector<std::size_t> last_uses() const;
    void assign_buffers(std::vector<std::size_t> const& last);
    void place_in_tiles(std::vector<std::size_t> const& last);
    template <class Number>
    void run_in(Pass pass, Kernels const& kernels, ScorePlace const& place, Number* scratch, float* tile) const;

    std::vector<Cell> cells_;    // the score, the gradient, then tensors and steps
    std::vector<int> steps_;     // the cells of the region's steps
    std::vector<int> values_;    // the graph's values that are tensors, by cell
    std::vector<int> order_;     // of computing cells
    std::size_t of_scores_ = 0;  // as many of them belong to the first pass
    int score_result_ = -1, gradient_result_ = -1;
    int tiles_ = 0, rows_ = 0;  // buffers: of a number for each score, and for each query
    bool is_wide_ = false;      // computes in double
};

}  // namespace cudnn_frontend::cpu
