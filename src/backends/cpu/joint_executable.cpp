#include "cpu/cpu_backend.h"

#include "core/data_type.h"
#include "core/findings.h"
#include "core/text.h"
#include "cpu/memory/tensor.h"
#include "plan/packs/run_rules.h"
#include "rows/documents.h"
#include "rows/host_worker.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cudnn_frontend::cpu {
namespace {

using rewrite::View;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Extents extents(core::Dims const& list) {
    Extents all{};
    std::ranges::copy(list, all.begin());
    return all;
}

// Strides without those of the parts, which come first.
Extents strides_of_part(View const& parts) { return extents(core::Dims(parts.stride.begin() + 1, parts.stride.end())); }

class SumExecutable final : public plan::Executable {
   public:
    explicit SumExecutable(rewrite::Sum sum) : sum_(std::move(sum)) {}

    std::int64_t workspace_size() const override { return 0; }

    error_t launch(plan::Launch const& launch) const override {
        View const& terms = sum_.terms;
        View const& result = sum_.result;
        Walk<2> walk(result.dim.size(), extents(result.dim), {extents(result.stride), strides_of_part(terms)});
        do {
            double sum = sum_.accumulates ? core::load(result.type, launch.pointers[1], walk.offset(0)) : 0.0;
            for (std::int64_t part = 0; part < terms.dim[0]; ++part) {
                sum += core::load(terms.type, launch.pointers[0], walk.offset(1) + part * terms.stride[0]);
            }
            core::store(result.type, launch.pointers[1], walk.offset(0), sum);
        } while (walk.next());
        return {};
    }

    Result<std::string> serialize() const override { return std::string(); }

   private:
    rewrite::Sum sum_;
};

class MergeExecutable final : public plan::Executable {
   public:
    explicit MergeExecutable(rewrite::Merge merge) : merge_(std::move(merge)) {}

    std::int64_t workspace_size() const override { return 0; }

    error_t launch(plan::Launch const& launch) const override {
        View const& o = merge_.o;
        Extents rows = extents(o.dim);
        rows[o.dim.size() - 1] = 1;
        Extents const stats = merge_.stats ? extents(merge_.stats->stride) : Extents{};
        Extents const lengths = merge_.partial_lengths ? strides_of_part(*merge_.partial_lengths) : Extents{};
        Walk<5> walk(o.dim.size(), rows,
                     {extents(o.stride), stats, strides_of_part(merge_.partial_o),
                      strides_of_part(merge_.partial_stats), lengths});
        std::vector<double> weights(static_cast<std::size_t>(merge_.partial_o.dim[0]));
        do {
            load_stats(launch, walk.offset(3), walk.offset(4), weights);
            double const total = weigh(weights);
            if (merge_.stats) core::store(merge_.stats->type, launch.pointers[3], walk.offset(1), total);
            merge_row(launch, walk.offset(0), walk.offset(2), weights);
        } while (walk.next());
        return {};
    }

    Result<std::string> serialize() const override { return std::string(); }

   private:
    // The log-sum-exp of each part's row, which is not read where the part has no keys.
    void load_stats(plan::Launch const& launch, std::int64_t row, std::int64_t length, std::vector<double>& all) const {
        View const& stats = merge_.partial_stats;
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto const part = static_cast<std::int64_t>(i);
            bool const has_keys =
                !merge_.partial_lengths || core::load_integer(merge_.partial_lengths->type, launch.pointers.back(),
                                                              length + part * merge_.partial_lengths->stride[0]) > 0;
            all[i] = has_keys ? core::load(stats.type, launch.pointers[1], row + part * stats.stride[0]) : -kInfinity;
        }
    }

    // Makes each part's factor of its log-sum-exp; returns the log-sum-exp over all parts.
    static double weigh(std::vector<double>& weights) {
        double greatest = -kInfinity, sum = 0.0;
        for (double const stats : weights) greatest = std::isnan(stats) ? stats : std::max(greatest, stats);
        bool const is_empty = greatest == -kInfinity;
        for (double& weight : weights) sum += weight = is_empty ? 0.0 : std::exp(weight - greatest);
        for (double& weight : weights) weight = is_empty ? 0.0 : weight / sum;
        return is_empty ? greatest : greatest + std::log(sum);
    }

    // The output of a part without keys of the row is not read.
    void merge_row(plan::Launch const& launch, std::int64_t to, std::int64_t from,
                   std::vector<double> const& weights) const {
        View const& o = merge_.o;
        View const& parts = merge_.partial_o;
        for (std::int64_t column = 0; column < o.dim.back(); ++column) {
            double sum = 0.0;
            for (std::size_t part = 0; part < weights.size(); ++part) {
                if (weights[part] == 0.0) continue;
                std::int64_t const at = from + static_cast<std::int64_t>(part) * parts.stride[0];
                sum += weights[part] * core::load(parts.type, launch.pointers[0], at + column * parts.stride.back());
            }
            core::store(o.type, launch.pointers[2], to + column * o.stride.back(), sum);
        }
    }

    rewrite::Merge merge_;
};

class SplitLengthsExecutable final : public plan::Executable {
   public:
    explicit SplitLengthsExecutable(rewrite::SplitLengths split) : split_(std::move(split)) {}

    std::int64_t workspace_size() const override { return 0; }

    error_t launch(plan::Launch const& launch) const override {
        auto const extents_of = [](View const& view) { return extents(view.stride); };
        Walk<4> walk(2, extents(split_.rows.dim),
                     {extents_of(split_.queries), extents_of(split_.keys), extents_of(split_.rows),
                      extents_of(split_.part_keys)});
        do {
            auto const load = [&](View const& view, std::size_t i) {
                return core::load_integer(view.type, launch.pointers[i], walk.offset(i));
            };
            std::int64_t const queries =
                std::clamp<std::int64_t>(load(split_.queries, 0) - split_.first_query, 0, split_.most_queries);
            std::int64_t const first = split_.first_key + walk.index()[1] * split_.chunk;
            std::int64_t const keys = std::clamp<std::int64_t>(load(split_.keys, 1) - first, 0, split_.chunk);
            bool const is_empty = queries == 0 || keys == 0;
            store(launch, walk, 2, is_empty ? 0 : queries * split_.group);
            store(launch, walk, 3, is_empty ? 0 : keys);
        } while (walk.next());
        return {};
    }

    Result<std::string> serialize() const override { return std::string(); }

   private:
    static void store(plan::Launch const& launch, Walk<4> const& walk, std::size_t operand, std::int64_t length) {
        core::store(DataType_t::INT32, launch.pointers[operand], walk.offset(operand), static_cast<double>(length));
    }

    rewrite::SplitLengths split_;
};

// Tables cut lengths to the tensors. Here the host can read them first.
error_t check(rewrite::SlotTables const& tables, std::span<void* const> pointers) {
    core::Findings findings;
    auto const check_list = [&](char const* name, void const* lengths, std::int64_t most) {
        for (std::int64_t batch = 0; batch < tables.sequences.batches; ++batch) {
            std::int64_t const length = core::load_integer(DataType_t::INT32, lengths, batch);
            if (length >= 0 && length <= most) continue;
            findings.add(plan::run_rules::kLengths.violation(
                "", name, core::text("the length ", length, " for batch entry ", batch),
                core::text("lengths from 0 to ", most, ", the size of the dim that they cut short"),
                "correct the entry, or use larger dims; nothing was written"));
            break;
        }
    };
    std::size_t at = 0;
    if (tables.sequences.given_queries) check_list("seq_len_q", pointers[at++], tables.sequences.queries);
    if (tables.sequences.given_keys) check_list("seq_len_kv", pointers[at], tables.sequences.keys);
    return findings.to_error();
}
error_t check(rewrite::ClearPadding const&, std::span<void* const>) { return {}; }

void check_documents(core::Findings& findings, char const* name, rows::Documents::Side const& side,
                     rewrite::DocumentTables::Side const& described, std::int64_t batches) {
    for (std::int64_t document = 0; document < batches; ++document) {
        std::int64_t const first = rows::first_token(side, document), length = side.lengths[document];
        std::int64_t const next = rows::first_token(side, document + 1);
        if (first >= 0 && length >= 0 && first + length <= next && next <= described.tokens) continue;
        findings.add(plan::run_rules::kOffsets.violation(
            "", name,
            core::text("document ", document, " of ", length, " tokens from ", first, ", and the next from ", next),
            core::text("documents in order, each with room for its tokens, in ", described.tokens, " tokens"),
            "correct the ragged offset or the length; nothing was written"));
        return;
    }
}

error_t check(rewrite::DocumentTables const& tables, std::span<void* const> pointers) {
    rows::Documents const work = rewrite::work_of(tables, pointers);
    core::Findings findings;
    check_documents(findings, "Q", work.queries, tables.queries, tables.batches);
    check_documents(findings, "K", work.keys, tables.keys, tables.batches);
    for (std::int64_t document = 0; document < tables.batches && tables.start_together; ++document) {
        std::int64_t const query = rows::first_token(work.queries, document);
        std::int64_t const key = rows::first_token(work.keys, document);
        if (query == key) continue;
        findings.add(plan::run_rules::kOffsets.violation(
            "", "K", core::text("document ", document, " from token ", key, ", and from ", query, " in Q"),
            "documents that start at the same tokens in Q and K, because their mask has bounds",
            "pack Q and K in the same way"));
        break;
    }
    return findings.to_error();
}

error_t check(rewrite::DropoutMask const&, std::span<void* const>) { return {}; }

// Tables, rows past the lengths or masks: work on rows.
template <class Joint>
class RowsExecutable final : public plan::Executable {
   public:
    explicit RowsExecutable(Joint joint) : joint_(std::move(joint)) {}

    std::int64_t workspace_size() const override { return 0; }

    // The same for all types of elements.
    error_t launch(plan::Launch const& launch) const override {
        SDPA_GRAPH_TRY(check(joint_, launch.pointers));
        return rows::HostWorker(DataType_t::HALF, 1).run(work_on_rows(rewrite::work_of(joint_, launch.pointers)));
    }

    Result<std::string> serialize() const override { return std::string(); }

   private:
    static rows::Work work_on_rows(rows::Tables const& tables) { return rows::Forward_start{{tables, {}}}; }
    static rows::Work work_on_rows(rows::Padding const& padding) { return padding; }
    static rows::Work work_on_rows(rows::Documents const& documents) { return documents; }
    static rows::Work work_on_rows(rows::Dropout_mask const& mask) { return mask; }

    Joint joint_;
};

template <class Executable, class Joint>
std::shared_ptr<plan::Executable const> make(Joint const& joint) {
    return std::make_shared<Executable>(joint);
}
auto executable_of(rewrite::Merge const& merge) { return make<MergeExecutable>(merge); }
auto executable_of(rewrite::Sum const& sum) { return make<SumExecutable>(sum); }
auto executable_of(rewrite::SplitLengths const& split) { return make<SplitLengthsExecutable>(split); }
auto executable_of(rewrite::SlotTables const& tables) { return make<RowsExecutable<rewrite::SlotTables>>(tables); }
auto executable_of(rewrite::ClearPadding const& padding) {
    return make<RowsExecutable<rewrite::ClearPadding>>(padding);
}
auto executable_of(rewrite::DocumentTables const& tables) {
    return make<RowsExecutable<rewrite::DocumentTables>>(tables);
}
auto executable_of(rewrite::DropoutMask const& mask) { return make<RowsExecutable<rewrite::DropoutMask>>(mask); }

}  // namespace

std::shared_ptr<plan::Executable const> join(rewrite::Joint const& joint) {
    return std::visit([](auto const& kind) { return executable_of(kind); }, joint);
}

}  // namespace cudnn_frontend::cpu
