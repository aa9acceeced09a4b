// Graph::verify(): the results of a run against the reference, and the search for what explains wrong ones.
#include "api/gpu_memory.h"
#include "api/graph/graph_errors.h"
#include "api/graph/graph_impl.h"
#include "api/graph/pack_source.h"
#include "api/verification/comparison.h"
#include "api/verification/hypotheses.h"
#include "api/verification/slices.h"
#include "core/findings.h"
#include "core/text.h"
#include "group/group_rules.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/wording.h"
#include "plan/packs/run_rules.h"
#include "plan/planner.h"
#include "plan/shape_plans.h"

#include <cudnn_frontend/verification.h>

#include <chrono>
#include <cmath>

namespace cudnn_frontend {
namespace verification {
namespace {

using core::text;

// Products on a GPU may be of TF32.
constexpr double kRoundoffOnGpu = 0x1p-11;
// Scores of a sample, and of the part on which hypotheses are tried first.
constexpr std::int64_t kScoresOfSample = std::int64_t{1} << 22, kScoresOfTrial = std::int64_t{1} << 17;

// Replaces a pointer to the GPU's memory by a copy on the host.
error_t copy_to_host(Memory& memory, std::int64_t bytes) {
    void const* const from = memory.data;
    memory = Memory::of(bytes);
    return api::read_gpu({memory.data, static_cast<std::size_t>(bytes)}, from);
}

// The extents of ragged tensors depend on offsets and lengths, which are copied before them. Results that are left out
// are not copied.
error_t copy_all_to_host(Problem& problem, std::vector<plan::Slot> const& slots) {
    SDPA_GRAPH_TRY(api::wait_for_gpu());
    std::vector<std::int64_t> needless;
    std::vector<TensorId> const compared = results_of(problem);
    for (TensorId const id : all_results_of(problem)) {
        if (std::ranges::find(compared, id) == compared.end()) needless.push_back(*problem.tensor(id).uid);
    }
    auto const copy = [&](std::int64_t uid, std::int64_t bytes) -> error_t {
        if (std::ranges::find(needless, uid) == needless.end()) return copy_to_host(problem.memory[uid], bytes);
        problem.memory[uid] = Memory::of(bytes);
        return {};
    };
    for (plan::Slot const& slot : slots) {
        if (!slot.is_on_host && !slot.is_ragged()) SDPA_GRAPH_TRY(copy(slot.uid, slot.span));
    }
    for (plan::Slot const& slot : slots) {
        auto const tensor = std::ranges::find(problem.spec.tensors, slot.uid, &nodes::TensorSpec::uid);
        if (slot.is_on_host || !slot.is_ragged() || tensor == problem.spec.tensors.end()) continue;
        auto const id = static_cast<TensorId>(tensor - problem.spec.tensors.begin());
        std::int64_t const elements = std::max<std::int64_t>(elements_of(problem, id).extent(), 0);
        SDPA_GRAPH_TRY(copy(slot.uid, elements * slot.element_size));
    }
    return {};
}

// Compares a problem with its reference: as a whole, or in parts.
class Comparer {
   public:
    // The unit is roundoff_of_inputs() of the problem whose results are compared, also with references of edited ones.
    explicit Comparer(double unit) : unit_(unit) {}

    Result<std::vector<Compared_result>> whole(Problem const& problem) const {
        auto const expected = run_reference(problem);
        if (expected.is_bad()) return expected.error();
        std::vector<Compared_result> all;
        for (TensorId const id : results_of(problem))
            all.push_back(compare(problem, id, expected.value().at(*problem.tensor(id).uid), unit_));
        return all;
    }

    // Compares only the results that the part shows; none where it has no visible keys.
    Result<std::vector<Compared_result>> part(Problem const& problem, SlicePart const& chosen,
                                              std::int64_t& scores) const {
        auto const cut = slice(problem, chosen);
        if (!cut) return std::vector<Compared_result>();
        scores += scores_of(cut->problem.spec);
        auto const expected = run_reference(cut->problem);
        if (expected.is_bad()) return expected.error();
        std::vector<Compared_result> all;
        for (TensorId const id : results_of(cut->problem)) {
            std::int64_t const uid = *cut->problem.tensor(id).uid;
            auto const origin = cut->origins.find(uid);
            if (origin == cut->origins.end()) continue;
            all.push_back(compare(cut->problem, id, expected.value().at(uid), unit_, origin->second));
        }
        return all;
    }

    // Adds the scores of the parts.
    Result<std::vector<Compared_result>> parts(Problem const& problem, std::vector<SlicePart> const& chosen,
                                               std::int64_t& scores) const {
        std::vector<Compared_result> all;
        for (SlicePart const& one : chosen) {
            auto const results = part(problem, one, scores);
            if (results.is_bad()) return results.error();
            for (Compared_result const& result : results.value()) {
                auto const known = std::ranges::find(all, result.uid, &Compared_result::uid);
                if (known == all.end()) all.push_back(result);
                else merge(*known, result);
            }
        }
        return all;
    }

   private:
    double unit_;
};

bool all_right(Result<std::vector<Compared_result>> const& results) {
    if (results.is_bad() || results.value().empty()) return false;
    return std::ranges::all_of(results.value(), [](Compared_result const& result) { return result.wrong == 0; });
}

// Tries each hypothesis on the parts around the worst elements, then on the whole sample.
class HypothesisSearch {
   public:
    HypothesisSearch(Problem const& problem, Comparer const& comparer, std::vector<SlicePart> const& sample,
                     std::int64_t milliseconds)
        : problem_(problem),
          comparer_(comparer),
          sample_(sample),
          end_(Clock::now() + std::chrono::milliseconds(std::min(milliseconds, kLongest))) {}

    void run(Verification::Content& content) const {
        std::vector<Hypothesis> const all = hypotheses_of(problem_);
        std::vector<SlicePart> const trial = trial_of(content.results);
        for (Hypothesis const& hypothesis : all) {
            if (Clock::now() >= end_) {
                ++content.left;
                continue;
            }
            ++content.tried;
            if (explains(hypothesis, trial)) content.explanations.push_back({hypothesis.id, hypothesis.text});
        }
    }

   private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::int64_t kLongest = 1'000'000'000;

    // Parts around the worst elements, on which most hypotheses fail soon.
    std::vector<SlicePart> trial_of(std::vector<Compared_result> const& results) const {
        std::vector<SlicePart> parts;
        if (!can_be_sliced(problem_)) return parts;
        for (TensorId const id : results_of(problem_)) {
            auto const found = std::ranges::find(results, *problem_.tensor(id).uid, &Compared_result::uid);
            attention::Operand const* const row = attention_use(problem_.spec, id).operand;
            bool const has_part = row != nullptr && (attention::has_query_rows(*row) || attention::has_key_rows(*row));
            if (found == results.end() || found->wrong == 0 || !has_part) continue;
            parts.push_back(part_around(problem_, id, found->worst_index, kScoresOfTrial));
        }
        return parts;
    }

    bool explains(Hypothesis const& hypothesis, std::vector<SlicePart> const& trial) const {
        Problem edited = problem_;
        hypothesis.edit(edited);
        std::int64_t scores = 0;
        if (!trial.empty() && can_be_sliced(edited)) {
            auto const first = comparer_.parts(edited, trial, scores);
            bool const is_hopeless = first.is_bad() || (!first.value().empty() && !all_right(first));
            if (is_hopeless) return false;
        }
        return all_right(sample_.empty() ? comparer_.whole(edited) : comparer_.parts(edited, sample_, scores));
    }

    Problem const& problem_;
    Comparer const& comparer_;
    std::vector<SlicePart> const& sample_;
    Clock::time_point end_;
};

bool is_large(Problem const& problem, Verification_options const& options) {
    return scores_of(problem.spec) > options.most_scores;
}

error_t check_size(Problem const& problem, Verification_options const& options) {
    if (!is_large(problem, options) || can_be_sliced(problem)) return {};
    std::string const found = text("a graph with ", scores_of(problem.spec),
                                   " scores of which no sample can be compared, because of several nodes, generated "
                                   "dropout, pages, a block mask, a score modifier or block scales");
    return core::error_at("", error_code_t::GRAPH_NOT_SUPPORTED, found, text("at most ", options.most_scores),
                          "fewer batch entries, heads or rows, or more most_scores, of which the reference computes "
                          "some millions a second");
}

// A run of the whole graph checks its lengths and offsets; a sample is cut out by them before any run.
error_t check_sequences(Problem const& problem) {
    core::Findings findings;
    nodes::Node const& node = problem.spec.nodes.front();
    Dims const dims = nodes::score_dims(problem.spec, node);
    for (auto const& [ports, most] :
         {std::pair(attention::kQueryLengths, dims[2]), {attention::kKeyLengths, dims[3]}}) {
        for (std::int64_t const length : lengths_of(problem, node, ports)) {
            if (length >= 0 && length <= most) continue;
            findings.add(plan::run_rules::kLengths.violation(nodes::label(node), attention::operand(ports.lengths).name,
                                                             text("a length of ", length),
                                                             text("lengths from 0 to ", most), "correct the entry"));
        }
    }
    for (nodes::TensorSpec const& tensor : problem.spec.tensors) {
        if (tensor.ragged_offset == nodes::kNoTensor || !findings.empty()) continue;
        Dims const starts = elements_of(problem, static_cast<TensorId>(&tensor - problem.spec.tensors.data())).starts;
        if (starts.front() >= 0 && std::ranges::is_sorted(starts)) continue;
        findings.add(plan::run_rules::kOffsets.violation(nodes::label(node), tensor.name,
                                                         "ragged offsets that are negative or decrease",
                                                         "offsets from 0 on that do not decrease", "correct them"));
    }
    return findings.to_error();
}

error_t verify(Problem const& problem, double roundoff, Verification_options const& options, Verification& result) {
    Verification::Content content;
    content.scores = scores_of(problem.spec);
    bool const is_sampled = is_large(problem, options);
    if (is_sampled) SDPA_GRAPH_TRY(check_sequences(problem));
    Comparer const comparer(roundoff_of_inputs(problem, roundoff));
    std::vector<SlicePart> const parts =
        is_sampled ? sample(problem, std::min(kScoresOfSample, options.most_scores)) : std::vector<SlicePart>();
    if (!is_sampled) content.scores_compared = content.scores;
    auto results = is_sampled ? comparer.parts(problem, parts, content.scores_compared) : comparer.whole(problem);
    if (results.is_bad()) return results.error();
    content.results = std::move(results).value();
    bool const has_no_rows = is_sampled && parts.empty();
    for (TensorId const id : has_no_rows ? results_of(problem) : std::vector<TensorId>())
        content.results.push_back(nothing_compared(problem, id));
    if (content.results.empty()) {
        return {
            error_code_t::INVALID_VALUE,
            "found no result to compare: none has memory, all are left out, or no row of the sample has visible keys"};
    }
    for (TensorId const id : all_results_of(problem)) {
        nodes::TensorSpec const& tensor = problem.tensor(id);
        if (std::ranges::find(content.results, *tensor.uid, &Compared_result::uid) == content.results.end())
            content.not_compared.push_back(tensor.name);
    }
    bool const is_right = std::ranges::all_of(content.results, [](auto const& each) { return each.wrong == 0; });
    if (!is_right && options.search_milliseconds > 0)
        HypothesisSearch(problem, comparer, parts, options.search_milliseconds).run(content);
    result = Verification(std::move(content));
    return {};
}

}  // namespace
}  // namespace verification

namespace graph {

error_t Graph::compare(Variant_pack pack, Verification_options const* options, Verification& verification) const {
    return api::guarded_in(impl_, [&]() -> error_t {
        bool const is_built = impl_ != nullptr && impl_->planner && impl_->planner->plan() != nullptr;
        if (!is_built) return api::missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, "verify", "build_plans");
        if (impl_->settings.group) {
            return group::rules::violation(group::rules::kWhole, "verify() of a graph with set_group()",
                                           "a graph of a whole attention",
                                           "join the tensors by Layout::unshard(), and verify a graph of them");
        }
        plan::PackLayout const& layout = impl_->planner->layout();
        plan::PointerList pointers(layout.slots.size());
        SDPA_GRAPH_TRY(plan::resolve(api::UserPack(pack, impl_->id), layout, pointers.all()));
        verification::Problem problem{impl_->planned->graph.spec(), {}};
        for (std::size_t i = 0; i < layout.slots.size(); ++i)
            problem.memory[layout.slots[i].uid].data = static_cast<std::byte*>(pointers.all()[i]);
        Verification_options const chosen = options == nullptr ? Verification_options() : *options;
        problem.left_out = chosen.left_out;
        SDPA_GRAPH_TRY(verification::check_size(problem, chosen));
        bool const is_on_host = runs_on_host(impl_->planned_for);
        if (!is_on_host) SDPA_GRAPH_TRY(verification::copy_all_to_host(problem, layout.slots));
        double const least = is_on_host ? 0.0 : verification::kRoundoffOnGpu;
        return verification::verify(problem, std::max(chosen.roundoff, least), chosen, verification);
    });
}

}  // namespace graph
}  // namespace cudnn_frontend
