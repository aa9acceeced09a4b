// Parts of the keys are independent tasks, each with a softmax of its own, so that one sequence also uses all threads.
// A second loop merges the parts of each query. The parts are the same for any number of threads, and so are the bits.
#include "cpu/attention/attention_forward.h"

#include "attention/masks.h"
#include "core/threads.h"
#include "cpu/attention/attention_tile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cudnn_frontend::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kMostQueries = 4;
constexpr std::int64_t kPartKeys = 512;   // keys of a task
constexpr std::int64_t kCopiedRows = 64;  // rows that are converted at once

// The results of a part of the keys for one query, before they are merged.
struct PartResult {
    RowSoftmax* softmax;
    float* o;
};

struct FewQueries {
    AttentionTensors const& tensors;
    AttentionProblem const& problem;
    AttentionShape const& shape;
    Kernels const& kernels;
    std::int64_t heads;               // query heads of a task, which share a key head and a value head
    std::int64_t width, value_width;  // in whole vectors
    RowSoftmax* part_softmax;         // for each query and part
    float* part_o;

    std::int64_t parts() const { return (shape.keys + kPartKeys - 1) / kPartKeys; }
    std::int64_t queries() const { return shape.batches * shape.heads * shape.queries; }
    std::int64_t tasks() const { return shape.batches * (shape.heads / heads) * parts(); }
    PartResult result(std::int64_t b, std::int64_t h, std::int64_t query, std::int64_t part) const {
        std::int64_t const index = ((b * shape.heads + h) * shape.queries + query) * parts() + part;
        return {part_softmax + index, part_o + index * value_width};
    }
};

// A worker's memory.
struct RowScratch {
    float *q, *scores, *o, *copy;
};

FewQueries make_few_queries(AttentionTensors const& tensors, AttentionProblem const& problem, Arena& arena) {
    AttentionShape const& shape = problem.shape;
    std::int64_t const heads = shape.key_heads == shape.value_heads ? shape.heads / shape.key_heads : 1;
    FewQueries run{tensors,
                   problem,
                   shape,
                   kernels(),
                   heads,
                   round_up(shape.width, kRowStep),
                   round_up(shape.value_width, kRowStep),
                   nullptr,
                   nullptr};
    std::int64_t const results = saturating_multiply(run.queries(), run.parts());
    run.part_softmax = arena.take<RowSoftmax>(results, 1);
    run.part_o = arena.take<float>(results, run.value_width);
    return run;
}

RowScratch take_scratch(FewQueries const& run, Arena& arena) {
    return {arena.take<float>(run.heads, run.width), arena.take<float>(run.heads, kPartKeys),
            arena.take<float>(run.heads, run.value_width),
            arena.take<float>(kCopiedRows, std::max(run.width, run.value_width))};
}

std::int64_t scratch_bytes(FewQueries const& run) {
    Arena arena(nullptr, 0);
    take_scratch(run, arena);
    return arena.used();
}

// Heads from one on, of one batch entry, and one of its queries with keys that are visible to it.
struct RowTask {
    FewQueries const& run;
    RowScratch scratch;
    std::int64_t b, h, query;
    Range keys;
};

// Calls multiply(products) for the task's rows of a tensor, part by part: products of these rows, one vector of that
// width for each head, and the scores. Kernels read whole vectors of floats and BFLOAT16 numbers; other rows are
// copied.
template <class Multiply>
void for_each_rows(RowTask const& task, DataView const& view, std::int64_t head, float* vectors, std::int64_t width,
                   Multiply const& multiply) {
    bool const is_bfloat16 = view.type == DataType_t::BFLOAT16;
    bool const is_direct =
        (is_bfloat16 || view.type == DataType_t::FLOAT) && view.stride[3] == 1 && view.dim[3] == width && width > 1;
    Range keys = task.keys;
    while (keys.size() > 0) {
        std::int64_t const most = is_direct ? keys.size() : std::min(keys.size(), kCopiedRows);
        std::int64_t const count = view.rows_together(keys.begin, most), first = keys.begin - task.keys.begin;
        Slice const rows = slice_of(view, task.b, head, keys.begin, 0);
        RowProducts products{};
        products.width = products.vector_stride = width;
        products.count = count;
        products.vectors = vectors;
        products.vector_count = task.run.heads;
        products.weights = task.scratch.scores + first;
        products.weight_stride = kPartKeys;
        if (is_direct) {
            std::int64_t const bytes = is_bfloat16 ? 2 : 4;
            products.rows = static_cast<char const*>(rows.data) + rows.origin * bytes;
            products.stride = rows.row_stride;
            products.are_bfloat16 = is_bfloat16;
        } else {
            load_tile(rows, {task.scratch.copy, width, count, view.dim[3]}, width);
            products.rows = task.scratch.copy;
            products.stride = width;
        }
        multiply(products);
        keys.begin += count;
    }
}

void load_queries(RowTask const& task) {
    FewQueries const& run = task.run;
    for (std::int64_t head = 0; head < run.heads; ++head) {
        Slice const row = slice_of(run.tensors[Port::Q], task.b, task.h + head, task.query, 0);
        load_tile(row, {task.scratch.q + head * run.width, run.width, 1, run.shape.width}, run.width);
    }
    for (std::int64_t i = 0; i < run.heads * run.width; ++i) task.scratch.q[i] *= run.problem.scale;
}

// The scores of a head's row, up to whole vectors.
void finish_scores(RowTask const& task, std::int64_t head, float* scores) {
    AttentionProblem const& problem = task.run.problem;
    std::int64_t const h = task.h + head, count = task.keys.size();
    if (problem.bias) {
        float* const bias = task.scratch.copy;
        for (std::int64_t key = 0; key < count; key += kCopiedRows) {
            std::int64_t const some = std::min(kCopiedRows, count - key);
            load_tile(slice_of(problem.bias, task.b, h, task.query, task.keys.begin + key), {bias, 0, 1, some}, some);
            for (std::int64_t i = 0; i < some; ++i) scores[key + i] += bias[i];
        }
    }
    if (problem.alibi) {
        auto const slope = static_cast<float>(attention::alibi_slope(h, task.run.shape.heads));
        for (std::int64_t key = 0; key < count; ++key)
            scores[key] += slope * static_cast<float>(task.keys.begin + key - task.query);
    }
    std::fill(scores + count, scores + round_up(count, kRowStep), -kInfinity);
}

// Adds the products of weights and values to O. A sum with infinity or NaN of a value whose weight is 0 is NaN; only
// then weights of 0 are left out.
void multiply_by_values(RowTask const& task, bool leaves_out_zeros) {
    FewQueries const& run = task.run;
    std::fill_n(task.scratch.o, run.heads * run.value_width, 0.0f);
    for_each_rows(task, run.tensors[Port::V], run.shape.value_head(task.h), task.scratch.o, run.value_width,
                  [&](RowProducts products) {
                      products.leaves_out_zeros = leaves_out_zeros;
                      run.kernels.add_rows(products);
                  });
}

void attend(RowTask const& task, std::int64_t part) {
    FewQueries const& run = task.run;
    load_queries(task);
    for_each_rows(task, run.tensors[Port::K], run.shape.key_head(task.h), task.scratch.q, run.width,
                  [&](RowProducts const& products) { run.kernels.dot_rows(products); });
    for (std::int64_t head = 0; head < run.heads; ++head) {
        float* const scores = task.scratch.scores + head * kPartKeys;
        finish_scores(task, head, scores);
        *run.result(task.b, task.h + head, task.query, part).softmax =
            run.kernels.softmax_row(scores, round_up(task.keys.size(), kRowStep));
    }
    multiply_by_values(task, false);
    bool const has_nan = std::any_of(task.scratch.o, task.scratch.o + run.heads * run.value_width,
                                     [](float number) { return std::isnan(number); });
    if (has_nan) multiply_by_values(task, true);
    for (std::int64_t head = 0; head < run.heads; ++head)
        std::copy_n(task.scratch.o + head * run.value_width, run.value_width,
                    run.result(task.b, task.h + head, task.query, part).o);
}

// The keys of a part that are visible to a query.
Range keys_of_part(Sequence const& sequence, std::int64_t query, std::int64_t part) {
    if (query >= sequence.queries) return {0, 0};
    Range const visible = sequence.keys_of({query, query + 1});
    std::int64_t const begin = std::max(visible.begin, part * kPartKeys);
    return {begin, std::max(begin, std::min(visible.end, (part + 1) * kPartKeys))};
}

// Parts in the order of keys change the maximum and the sums as steps of an online softmax do.
RowSoftmax merge_parts(FewQueries const& run, std::int64_t b, std::int64_t h, std::int64_t query, float* o) {
    Sequence const sequence = run.problem.sequence(b);
    RowSoftmax all = run.problem.before_keys(h);
    std::fill_n(o, run.value_width, 0.0f);
    for (std::int64_t part = 0; part < run.parts(); ++part) {
        if (keys_of_part(sequence, query, part).size() == 0) continue;
        PartResult const result = run.result(b, h, query, part);
        float const added = result.softmax->max, old = all.max;
        all.max = (added > old || std::isnan(added)) ? added : old;
        float const anchor = all.max == -kInfinity ? 0.0f : all.max;
        float const old_factor = std::exp(old - anchor), new_factor = std::exp(added - anchor);
        all.sum = all.sum * old_factor + result.softmax->sum * new_factor;
        // Under an infinite sink exp(inf - inf) is NaN; the sums of the keys stay as they are.
        float const kept = all.max == old ? 1.0f : old_factor, weight = all.max == added ? 1.0f : new_factor;
        for (std::int64_t i = 0; i < run.value_width; ++i)
            o[i] = (kept == 0.0f ? 0.0f : o[i] * kept) + (weight == 0.0f ? 0.0f : result.o[i] * weight);
    }
    return all;
}

void store_number(DataView const& view, std::int64_t b, std::int64_t h, std::int64_t query, float number) {
    if (view) core::store(view.type, view.data, view.at(b, h, query, 0), static_cast<double>(number));
}

// Queries past the sequence's length and queries without visible keys get O = 0. A ragged tensor has no memory for the
// former.
void store_query(FewQueries const& run, std::int64_t b, std::int64_t h, std::int64_t query, float* o) {
    AttentionTensors const& tensors = run.tensors;
    RowSoftmax const all = merge_parts(run, b, h, query, o);
    bool const is_present = query < run.problem.sequence(b).queries;
    // With an infinite sink no key has any probability, whatever the sum is.
    float const sum = run.problem.sink_of(h) == kInfinity ? 1.0f : all.sum;
    for (std::int64_t i = 0; i < run.shape.value_width; ++i) o[i] = sum == 0.0f ? 0.0f : o[i] * (1.0f / sum);
    auto const has_place = [&](Port port) { return tensors[port] && (is_present || !tensors[port].starts); };
    if (has_place(Port::O)) {
        store_tile({o, run.value_width, 1, run.shape.value_width}, slice_of(tensors[Port::O], b, h, query, 0));
    }
    if (has_place(Port::Max)) store_number(tensors[Port::Max], b, h, query, all.max);
    if (has_place(Port::SumExp)) store_number(tensors[Port::SumExp], b, h, query, all.sum);
    float const stats = (all.max + std::log(all.sum)) / run.problem.log_of_base;
    if (has_place(Port::Stats)) store_number(tensors[Port::Stats], b, h, query, stats);
}

void run_task(FewQueries const& run, RowScratch const& scratch, std::int64_t index) {
    std::int64_t const part = index % run.parts(), groups = run.shape.heads / run.heads;
    std::int64_t const group = index / run.parts() % groups, b = index / run.parts() / groups;
    Sequence const sequence = run.problem.sequence(b);
    for (std::int64_t query = 0; query < run.shape.queries; ++query) {
        Range const keys = keys_of_part(sequence, query, part);
        if (keys.size() > 0) attend({run, scratch, b, group * run.heads, query, keys}, part);
    }
}

}  // namespace

bool has_few_queries(AttentionShape const& shape) { return shape.queries <= kMostQueries; }

bool attends_few_queries(AttentionProblem const& problem) {
    return has_few_queries(problem.shape) && !problem.modifier && !problem.has_dropout() && !problem.block_mask;
}

std::int64_t few_queries_workspace(AttentionTensors const& tensors, int threads) {
    AttentionProblem const sizes{shape_of(tensors[Port::Q], tensors[Port::K], tensors[Port::V])};
    Arena arena(nullptr, 0);
    FewQueries const run = make_few_queries(tensors, sizes, arena);
    std::int64_t const workers = std::min<std::int64_t>(threads, std::max(run.tasks(), run.queries()));
    return Arena::workspace_bytes(saturating_add(arena.used(), saturating_multiply(workers, scratch_bytes(run))));
}

void attend_few_queries(AttentionTensors const& tensors, AttentionProblem const& problem, int threads,
                        void* workspace) {
    Arena results(workspace, 0);
    FewQueries const run = make_few_queries(tensors, problem, results);
    std::int64_t const bytes = scratch_bytes(run);
    auto const scratch_of = [&](int worker) {
        Arena arena(workspace, results.used() + worker * bytes);
        return take_scratch(run, arena);
    };
    core::parallel_for(threads, run.tasks(),
                       [&](int worker, std::int64_t index) { run_task(run, scratch_of(worker), index); });
    core::parallel_for(threads, run.queries(), [&](int worker, std::int64_t index) {
        std::int64_t const query = index % run.shape.queries, head = index / run.shape.queries;
        store_query(run, head / run.shape.heads, head % run.shape.heads, query, scratch_of(worker).o);
    });
}

}  // namespace cudnn_frontend::cpu
