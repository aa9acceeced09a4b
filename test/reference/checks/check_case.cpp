#include "reference/checks/check_case.h"

#include "reference/checks/row_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace sdpa_test {
namespace {

template <class... Lists>
std::vector<HostTensor> concatenated(Lists const&... lists) {
    std::vector<HostTensor> result;
    (result.insert(result.end(), lists.begin(), lists.end()), ...);
    return result;
}

void add_fault(PassOutcome& outcome, std::string const& fault) {
    if (!fault.empty()) outcome.faults += fault + "\n";
}

bool runs_program(Session const& session) {
    std::string plan;
    return session.graph().get_plan_name(plan).is_good() && plan.starts_with("program ");
}

// Runs, and checks where it wrote. A run that fails must not write anything.
bool run_watched(Session& session, Rig const& rig, std::vector<HostTensor> const& inputs,
                 std::vector<HostTensor> const& outputs, PassOutcome& outcome) {
    MemorySnapshot const before(concatenated(inputs, outputs));
    rig.prepare(session.graph());
    outcome.refusal = session.build(rig.target).get_message();
    if (outcome.refusal.empty()) {
        error_t const error = rig.execute(session);
        outcome.ran = error.is_good();
        outcome.ran_program = outcome.ran && runs_program(session);
        add_fault(outcome, error.get_message());
    }
    add_fault(outcome, before.change_outside(outcome.ran ? outputs : std::vector<HostTensor>()));
    return outcome.ran;
}

bool is_mask(HostTensor const& dump) {
    bool ok = true;
    for_each_index(dump.dim, [&](Index4 const& at) { ok = ok && (dump.get(at) == 0.0 || dump.get(at) == 1.0); });
    return ok;
}

using Lengths = std::optional<std::vector<std::int64_t>>;

// How many rows of each batch entry are compared; empty for all of them.
Lengths rows_to_compare(Rig const& rig, Lengths rows, Lengths const& others) {
    if (rig.defines_padded_rows || !rows) return std::nullopt;
    for (std::size_t b = 0; b < rows->size(); ++b) {
        if ((*others)[b] == 0) (*rows)[b] = 0;
    }
    return rows;
}

// If the target does not write masked elements of the dump, sets them to a value without effect.
void clear_masked(AttentionCase const& c, oracle::Array const& scores, HostTensor const& dump) {
    if (!dump) return;
    for_each_index(dump.dim, [&](Index4 const& at) {
        bool const is_padding = c.len_q && at[2] >= (*c.len_q)[static_cast<std::size_t>(at[0])];
        if (is_padding || std::isinf(scores.at(at[0], at[1], at[2], at[3]))) dump.set(at, 0.0);
    });
}

oracle::Array scaled(oracle::Array array, double factor) {
    for (double& value : array.values) value *= factor;
    return array;
}

// The error with that of storing a number that is not farther than the error from the exact one.
oracle::Array with_rounding(oracle::Array error, oracle::Array const& exact, DataType_t type) {
    if (type == DataType_t::FLOAT) return error;
    for (std::size_t n = 0; n < error.values.size(); ++n) {
        double const most = std::abs(exact.values[n]) + error.values[n];
        if (std::isfinite(most)) error.values[n] += oracle::storage_error(type, most);
    }
    return error;
}

oracle::Array one_number(double number) { return oracle::Array(1, 1, 1, 1, number); }

// If a target rounds FP8 attention in other places than the definition, as kernels do with probabilities before
// normalization, the exact result is unrounded, and the tolerance accounts for the rounding.
oracle::Problem problem_of(AttentionCase const& c, Inputs const& in, HostTensor const& rng_dump, Rig const& rig) {
    oracle::Problem problem = to_problem(c, in, rng_dump);
    if (rig.rounds_factors) {
        if (problem.narrow_probability) problem.narrow_probability->format.reset();
        if (problem.narrow_gradient) problem.narrow_gradient->format.reset();
    }
    return problem;
}

// The host rounds where the definition does: there the tolerance of each element is tighter.
bool compares_rows(AttentionCase const& c, Rig const& rig) { return is_fp8(c.type) && rig.rounds_factors; }

struct ForwardCheck {
    oracle::Problem problem;
    oracle::Forward exact;
    HostTensor rng_dump;
    bool is_known = false;  // whether `exact` is known
};

ForwardCheck expect_forward(AttentionCase const& c, Inputs const& in, HostTensor const& rng_dump, Rig const& rig) {
    ForwardCheck result{problem_of(c, in, rng_dump, rig), {}, rng_dump, true};
    result.exact = oracle::forward(result.problem);
    return result;
}

// If rows past the lengths are undefined, so are their probabilities.
double wanted_amax_s(AttentionCase const& c, Rig const& rig, double exact, HostTensor const& actual) {
    if (rig.defines_padded_rows || !c.len_q || !actual) return exact;
    return std::max(exact, std::min(1.0, actual.get({})));
}

ForwardCheck check_forward(AttentionCase const& c, Inputs const& in, Rig const& rig, PassOutcome& outcome) {
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    if (!run_watched(session, rig, in.all(), out.all(), outcome)) {
        // The target's dropout mask is not known.
        return c.dropout == Dropout::Probability ? ForwardCheck() : expect_forward(c, in, {}, rig);
    }
    if (!rig.dumps_masked_elements && out.rng_dump) {
        AttentionCase undropped = c;
        undropped.dropout = Dropout::None;
        clear_masked(c, oracle::scores(to_problem(undropped, in, {})), out.rng_dump);
    }
    if (out.rng_dump && !is_mask(out.rng_dump)) add_fault(outcome, "the dumped mask holds other values than 0 and 1");
    ForwardCheck const result = expect_forward(c, in, out.rng_dump, rig);
    oracle::Forward const allowed = oracle::allowed_error(result.problem, result.exact, precision_of(c, rig));
    auto const look = [&](char const* name, HostTensor const& actual, oracle::Array const& exact,
                          oracle::Array const& error) {
        if (!actual) return;
        Difference const difference = compare(name, actual, exact, error, rows_to_compare(rig, c.len_q, c.len_kv));
        add_fault(outcome, difference.fault);
        outcome.worst = std::max(outcome.worst, difference.worst);
    };
    Stored const o = stored(result.exact.o, allowed.o, in.factors.scale_o, c.result_type);
    look("O", out.o, o.wanted, o.allowed);
    if (compares_rows(c, rig)) {
        oracle::Forward const rounded = oracle::forward(to_problem(c, in, out.rng_dump));
        Stored const near = stored(rounded.o, allowed.o, in.factors.scale_o, c.result_type);
        add_fault(outcome, first_bad_row("O", out.o, {o.wanted, near.wanted, o.allowed},
                                         rows_to_compare(rig, c.len_q, c.len_kv)));
    }
    if (out.stats) {
        double const factor = factor_of_stats(c);
        oracle::Array const wanted = scaled(result.exact.stats, factor);
        look("stats", out.stats, wanted, with_rounding(scaled(allowed.stats, factor), wanted, c.stats_type));
    }
    if (out.max) look("max", out.max, result.exact.max, allowed.max);
    if (out.sum_exp) look("sum_exp", out.sum_exp, result.exact.sum_exp, allowed.sum_exp);
    auto const look_at_amax = [&](char const* name, HostTensor const& amax, double exact, double error) {
        if (amax) look(name, amax, one_number(exact), one_number(error + oracle::storage_error(amax.type, exact)));
    };
    look_at_amax("amax_s", out.amax_s, wanted_amax_s(c, rig, result.exact.amax_s, out.amax_s), allowed.amax_s);
    look_at_amax("amax_o", out.amax_o, result.exact.amax_o, allowed.amax_o);
    return result;
}

void check_backward(AttentionCase const& c, Inputs const& in, ForwardCheck const& forward, Rig const& rig,
                    PassOutcome& outcome) {
    BackwardInputs const more = make_backward_inputs(c, forward.exact);
    BackwardOutputs const out = make_backward_outputs(c);
    Session session(c, in, more, out);
    if (!run_watched(session, rig, concatenated(in.all(), more.all()), out.all(), outcome)) return;
    if (!rig.dumps_masked_elements) clear_masked(c, oracle::scores(forward.problem), out.rng_dump);
    if (out.rng_dump && !same_bits(out.rng_dump, forward.rng_dump))
        add_fault(outcome, "drops others than the forward pass");
    Factors const& factors = in.factors;
    oracle::Array const o = to_array(more.o, factors.descale_o);
    oracle::Array const stats = scaled(to_array(more.stats), 1.0 / factor_of_stats(c));
    oracle::Array const d_o = to_array(more.d_o, factors.descale_d_o);
    oracle::Backward const exact = oracle::backward(forward.problem, o, stats, d_o);
    oracle::Backward const allowed = oracle::allowed_error(forward.problem, o, stats, d_o, exact, precision_of(c, rig));
    auto const look = [&](char const* name, HostTensor const& actual, oracle::Array const& wanted,
                          oracle::Array const& error, Lengths const& rows) {
        if (!actual) return;
        Difference const difference = compare(name, actual, wanted, error, rows);
        add_fault(outcome, difference.fault);
        outcome.worst = std::max(outcome.worst, difference.worst);
    };
    bool const has_rows = compares_rows(c, rig);
    oracle::Backward const rounded =
        has_rows ? oracle::backward(to_problem(c, in, forward.rng_dump), o, stats, d_o) : oracle::Backward();
    auto const look_at_stored = [&](char const* name, HostTensor const& actual, oracle::Array oracle::Backward::*result,
                                    HostTensor const& scale, Lengths const& rows) {
        Stored const wanted = stored(exact.*result, allowed.*result, scale, actual.type);
        look(name, actual, wanted.wanted, wanted.allowed, rows);
        if (!has_rows) return;
        Stored const near = stored(rounded.*result, allowed.*result, scale, actual.type);
        add_fault(outcome, first_bad_row(name, actual, {wanted.wanted, near.wanted, wanted.allowed}, rows));
    };
    auto const look_at_amax = [&](char const* name, HostTensor const& amax, double wanted, double error) {
        if (!amax) return;
        error += oracle::storage_error(amax.type, wanted);
        look(name, amax, one_number(wanted), one_number(error), std::nullopt);
    };
    Lengths const of_queries = rows_to_compare(rig, c.len_q, c.len_kv);
    Lengths const of_keys = rows_to_compare(rig, c.len_kv, c.len_q);
    look_at_stored("dQ", out.d_q, &oracle::Backward::d_q, factors.scale_d_q, of_queries);
    look_at_stored("dK", out.d_k, &oracle::Backward::d_k, factors.scale_d_k, of_keys);
    look_at_stored("dV", out.d_v, &oracle::Backward::d_v, factors.scale_d_v, of_keys);
    look_at_amax("amax_dQ", out.amax_d_q, exact.amax_d_q, allowed.amax_d_q);
    look_at_amax("amax_dK", out.amax_d_k, exact.amax_d_k, allowed.amax_d_k);
    look_at_amax("amax_dV", out.amax_d_v, exact.amax_d_v, allowed.amax_d_v);
    look_at_amax("amax_dP", out.amax_d_p, exact.amax_d_p, allowed.amax_d_p);
    if (out.d_bias) look("dBias", out.d_bias, exact.d_bias, allowed.d_bias, std::nullopt);
    if (out.d_sink) look("dSink", out.d_sink, exact.d_sink, allowed.d_sink, std::nullopt);
}

// The roundoff of numbers rounded to the type before a product: relative for normal numbers, and that of the smallest.
struct Roundoff {
    double unit, floor;
};

Roundoff roundoff_of(DataType_t type) {
    if (is_fp8(type)) return {oracle::roundoff(format_of(type)), oracle::half_step(format_of(type))};
    if (type == DataType_t::HALF) return {0x1p-11, 0x1p-25};
    return {type == DataType_t::BFLOAT16 ? 0x1p-8 : 0x1p-24, 0.0};
}

}  // namespace

Stored stored(oracle::Array const& exact, oracle::Array const& allowed, HostTensor const& factor, DataType_t type) {
    if (!factor) return {exact, allowed};
    double const scale = factor_of(factor);
    double const most = is_fp8(type) ? oracle::largest(format_of(type)) : std::numeric_limits<double>::max();
    Stored result{exact, allowed};
    for (std::size_t n = 0; n < exact.values.size(); ++n) {
        double const value = std::clamp(exact.values[n] * scale, -most, most), error = allowed.values[n] * scale;
        result.wanted.values[n] = value;
        result.allowed.values[n] = error + oracle::storage_error(type, std::min(most, std::abs(value) + error));
    }
    return result;
}

// The types of FP8 results are accounted for in stored(), with their scales; until then they are as wide as FLOAT.
oracle::Precision precision_of(AttentionCase const& c, Rig const& rig) {
    bool const is_on_host = rig.target.kind() == Target::Kind::REFERENCE || rig.target.kind() == Target::Kind::CPU;
    // FP8 attention is interpreted on both.
    bool const is_reference = is_fp8(c.type) ? is_on_host : rig.target.kind() == Target::Kind::REFERENCE;
    double const unit = is_reference && !rig.joins_parts ? oracle::Precision::kDouble : oracle::Precision::kSingle;
    bool const rounds_rows = !is_on_host && (c.logit_max || c.score_sum_exp);
    double const row_unit = rounds_rows ? oracle::Precision::kSingle : 0.0;
    oracle::Precision precision{unit, is_fp8(c.type) ? DataType_t::FLOAT : c.result_type, c.bias_type};
    precision.row_unit = row_unit;
    if (c.stats_use_log2) precision.stats_unit = oracle::Precision::kSingle;
    if (rig.joins_parts) {
        precision.factor_unit = precision.gradient_unit = roundoff_of(c.result_type).unit;
        precision.stats_unit = oracle::Precision::kSingle;
        precision.parts_floor = rig.parts * roundoff_of(c.type_of_gradients()).floor;
    }
    // The CPU may multiply pairs of BFLOAT16 numbers, where no result has more digits.
    bool const has_pairs = rig.target.kind() == Target::Kind::CPU && c.type == DataType_t::BFLOAT16 &&
                           c.result_type == DataType_t::BFLOAT16;
    if (has_pairs) {
        precision.factor_unit += roundoff_of(c.type).unit;
        precision.gradient_unit += roundoff_of(c.type).unit;
    }
    if (!rig.rounds_factors) return precision;
    Factors const factors = make_factors(c);
    Roundoff const probability = roundoff_of(c.type);
    Roundoff const gradient = roundoff_of(is_fp8(c.type) ? c.type_of_gradients() : c.type);
    if (is_fp8(c.type)) precision.product_unit = 0x1p-12;  // Hopper's tensor cores keep 14 bits of the largest term
    precision.factor_unit += probability.unit;
    precision.gradient_unit += gradient.unit;
    precision.factor_floor = probability.floor / factor_of(factors.scale_s);
    precision.gradient_floor = gradient.floor / factor_of(factors.scale_d_p);
    return precision;
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
        if (found == wanted || (std::isnan(found) && std::isnan(wanted))) return;
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

std::string Outcome::faults() const {
    std::string text;
    for (auto const& [name, pass] : {std::pair("forward: ", &forward), std::pair("backward: ", &backward)}) {
        if (!pass->refusal.empty()) text += name + pass->refusal + "\n";
        std::istringstream lines(pass->faults);
        for (std::string line; std::getline(lines, line);) text += name + line + "\n";
    }
    return text;
}

// If forward is refused, backward still runs, on forward's expected results.
Outcome check_case(AttentionCase const& c, Rig const& rig) {
    Inputs const in = make_inputs(c);
    Outcome outcome;
    ForwardCheck const forward = check_forward(c, in, rig, outcome.forward);
    if (forward.is_known && c.has_backward()) check_backward(c, in, forward, rig, outcome.backward);
    return outcome;
}

}  // namespace sdpa_test
