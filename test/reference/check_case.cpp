#include "reference/check_case.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace sdpa_test {
namespace {

template <class... Lists>
std::vector<HostTensor> concatenated(Lists const&... lists) {
    std::vector<HostTensor> result;
    (result.insert(result.end(), lists.begin(), lists.end()), ...);
    return result;
}

// Collects faults, one line each.
class Faults {
   public:
    explicit Faults(char const* pass) : pass_(pass) {}
    void add(std::string const& fault) {
        if (!fault.empty()) text_ += std::string(pass_) + ": " + fault + "\n";
    }
    std::string const& text() const { return text_; }

   private:
    char const* pass_;
    std::string text_;
};

// Runs and looks at where it wrote. Nothing may be written where it fails.
bool run_watched(Session& session, Rig const& rig, std::vector<HostTensor> const& inputs,
                 std::vector<HostTensor> const& outputs, Faults& faults, Outcome& outcome) {
    MemorySnapshot const before(concatenated(inputs, outputs));
    rig.prepare(session.graph());
    error_t error = session.build(rig.target);
    outcome.is_refused = outcome.is_refused || error.is_bad();
    if (error.is_good()) error = rig.execute(session);
    if (error.is_bad()) faults.add(error.get_message());
    faults.add(before.change_outside(error.is_good() ? outputs : std::vector<HostTensor>()));
    return error.is_good();
}

bool is_mask(HostTensor const& dump) {
    bool ok = true;
    for_each_index(dump.dim, [&](Index4 const& at) { ok = ok && (dump.get(at) == 0.0 || dump.get(at) == 1.0); });
    return ok;
}

using Lengths = std::optional<std::vector<std::int64_t>>;

// How many rows of each batch entry are compared; nothing for all of them.
Lengths rows_to_compare(Rig const& rig, Lengths rows, Lengths const& others) {
    if (rig.defines_padded_rows || !rows) return std::nullopt;
    for (std::size_t b = 0; b < rows->size(); ++b) {
        if ((*others)[b] == 0) (*rows)[b] = 0;
    }
    return rows;
}

// Where the target leaves masked elements of the dump as they were, they become what they do not matter as.
void clear_masked(AttentionCase const& c, oracle::Array const& scores, HostTensor const& dump) {
    if (!dump) return;
    for_each_index(dump.dim, [&](Index4 const& at) {
        bool const is_padding = c.len_q && at[2] >= (*c.len_q)[static_cast<std::size_t>(at[0])];
        if (is_padding || std::isinf(scores.at(at[0], at[1], at[2], at[3]))) dump.set(at, 0.0);
    });
}

struct ForwardCheck {
    oracle::Problem problem;
    oracle::Forward exact;
    HostTensor rng_dump;
    bool ran = false;
};

ForwardCheck check_forward(AttentionCase const& c, Inputs const& in, Rig const& rig, Faults& faults, Outcome& outcome) {
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    ForwardCheck result;
    result.ran = run_watched(session, rig, in.all(), out.all(), faults, outcome);
    if (!result.ran) return result;
    if (!rig.dumps_masked_elements && out.rng_dump) {
        AttentionCase undropped = c;
        undropped.dropout = Dropout::None;
        clear_masked(c, oracle::scores(to_problem(undropped, in, {})), out.rng_dump);
    }
    if (out.rng_dump && !is_mask(out.rng_dump)) faults.add("the dumped mask holds other values than 0 and 1");
    result.rng_dump = out.rng_dump;
    result.problem = to_problem(c, in, out.rng_dump);
    result.exact = oracle::forward(result.problem);
    oracle::Forward const allowed = oracle::allowed_error(result.problem, result.exact, precision_of(c, rig));
    auto const look = [&](char const* name, HostTensor const& actual, oracle::Array const& exact,
                          oracle::Array const& error) {
        Difference const difference = compare(name, actual, exact, error, rows_to_compare(rig, c.len_q, c.len_kv));
        faults.add(difference.fault);
        outcome.worst_forward = std::max(outcome.worst_forward, difference.worst);
    };
    look("O", out.o, result.exact.o, allowed.o);
    if (out.stats) look("stats", out.stats, result.exact.stats, allowed.stats);
    if (out.max) look("max", out.max, result.exact.max, allowed.max);
    if (out.sum_exp) look("sum_exp", out.sum_exp, result.exact.sum_exp, allowed.sum_exp);
    return result;
}

void check_backward(AttentionCase const& c, Inputs const& in, ForwardCheck const& forward, Rig const& rig,
                    Faults& faults, Outcome& outcome) {
    BackwardInputs const more = make_backward_inputs(c, forward.exact);
    BackwardOutputs const out = make_backward_outputs(c);
    Session session(c, in, more, out);
    if (!run_watched(session, rig, concatenated(in.all(), more.all()), out.all(), faults, outcome)) return;
    if (!rig.dumps_masked_elements) clear_masked(c, oracle::scores(forward.problem), out.rng_dump);
    if (out.rng_dump && !same_bits(out.rng_dump, forward.rng_dump)) faults.add("drops others than the forward pass");
    oracle::Array const o = to_array(more.o), stats = to_array(more.stats), d_o = to_array(more.d_o);
    oracle::Backward const exact = oracle::backward(forward.problem, o, stats, d_o);
    oracle::Backward const allowed = oracle::allowed_error(forward.problem, o, stats, d_o, exact, precision_of(c, rig));
    auto const look = [&](char const* name, HostTensor const& actual, oracle::Array const& wanted,
                          oracle::Array const& error, Lengths const& rows) {
        Difference const difference = compare(name, actual, wanted, error, rows);
        faults.add(difference.fault);
        outcome.worst_backward = std::max(outcome.worst_backward, difference.worst);
    };
    look("dQ", out.d_q, exact.d_q, allowed.d_q, rows_to_compare(rig, c.len_q, c.len_kv));
    look("dK", out.d_k, exact.d_k, allowed.d_k, rows_to_compare(rig, c.len_kv, c.len_q));
    look("dV", out.d_v, exact.d_v, allowed.d_v, rows_to_compare(rig, c.len_kv, c.len_q));
    if (out.d_bias) look("dBias", out.d_bias, exact.d_bias, allowed.d_bias, std::nullopt);
    if (out.d_sink) look("dSink", out.d_sink, exact.d_sink, allowed.d_sink, std::nullopt);
}

double roundoff_of(DataType_t type) {
    return type == DataType_t::HALF ? 0x1p-11 : type == DataType_t::BFLOAT16 ? 0x1p-8 : 0x1p-24;
}

}  // namespace

oracle::Precision precision_of(AttentionCase const& c, Rig const& rig) {
    bool const is_reference = rig.target.kind() == Target::Kind::REFERENCE;
    return {is_reference ? oracle::Precision::kDouble : oracle::Precision::kSingle,
            c.result_type,
            c.bias_type,
            rig.rounds_factors ? roundoff_of(c.type) : 0.0,
            rig.rounds_factors && c.type == DataType_t::HALF ? 0x1p-25 : 0.0,
            c.logit_max || c.score_sum_exp ? oracle::Precision::kSingle : 0.0};
}

Difference compare(char const* name, HostTensor const& actual, oracle::Array const& expected,
                   oracle::Array const& allowed, std::optional<std::vector<std::int64_t>> const& rows) {
    Difference result;
    for_each_index(actual.dim, [&](Index4 const& at) {
        if (!actual.has(at)) return;
        if (rows && at[2] >= (*rows)[static_cast<std::size_t>(at[0])]) return;
        double const found = actual.get(at);
        double const wanted = expected.at(at[0], at[1], at[2], at[3]);
        double const bound = allowed.at(at[0], at[1], at[2], at[3]);
        if (found == wanted) return;
        double const error = std::abs(found - wanted);
        bool const is_within = error <= bound;
        if (is_within) result.worst = std::max(result.worst, error / bound);
        if (is_within || !result.fault.empty()) return;
        std::ostringstream fault;
        fault.precision(9);
        fault << name << to_string(at) << " is " << found << ", not " << wanted << " +- " << bound;
        result.fault = fault.str();
    });
    return result;
}

Outcome check_case(AttentionCase const& c, Rig const& rig) {
    Inputs const in = make_inputs(c);
    Faults forward_faults("forward"), backward_faults("backward");
    Outcome outcome;
    ForwardCheck const forward = check_forward(c, in, rig, forward_faults, outcome);
    if (forward.ran && c.has_backward()) check_backward(c, in, forward, rig, backward_faults, outcome);
    outcome.faults = forward_faults.text() + backward_faults.text();
    return outcome;
}

}  // namespace sdpa_test
