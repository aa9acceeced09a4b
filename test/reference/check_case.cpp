#include "reference/check_case.h"

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
bool run_watched(Session& session, Target const& target, std::vector<HostTensor> const& inputs,
                 std::vector<HostTensor> const& outputs, Faults& faults) {
    MemorySnapshot const before(concatenated(inputs, outputs));
    error_t const error = session.run(target);
    if (error.is_bad()) faults.add(error.get_message());
    faults.add(before.change_outside(error.is_good() ? outputs : std::vector<HostTensor>()));
    return error.is_good();
}

bool is_mask(HostTensor const& dump) {
    bool ok = true;
    for_each_index(dump.dim, [&](Index4 const& at) { ok = ok && (dump.get(at) == 0.0 || dump.get(at) == 1.0); });
    return ok;
}

struct ForwardCheck {
    oracle::Problem problem;
    oracle::Forward exact;
    HostTensor rng_dump;
    bool ran = false;
};

ForwardCheck check_forward(AttentionCase const& c, Inputs const& in, Target const& target, Faults& faults) {
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    ForwardCheck result;
    result.ran = run_watched(session, target, in.all(), out.all(), faults);
    if (!result.ran) return result;
    if (out.rng_dump && !is_mask(out.rng_dump)) faults.add("the dumped mask holds other values than 0 and 1");
    result.rng_dump = out.rng_dump;
    result.problem = to_problem(c, in, out.rng_dump);
    result.exact = oracle::forward(result.problem);
    oracle::Forward const allowed = oracle::allowed_error(result.problem, result.exact, precision_of(c, target));
    faults.add(first_difference("O", out.o, result.exact.o, allowed.o));
    if (out.stats) faults.add(first_difference("stats", out.stats, result.exact.stats, allowed.stats));
    return result;
}

void check_backward(AttentionCase const& c, Inputs const& in, ForwardCheck const& forward, Target const& target,
                    Faults& faults) {
    BackwardInputs const more = make_backward_inputs(c, forward.exact);
    BackwardOutputs const out = make_backward_outputs(c);
    Session session(c, in, more, out);
    if (!run_watched(session, target, concatenated(in.all(), more.all()), out.all(), faults)) return;
    if (out.rng_dump && !same_bits(out.rng_dump, forward.rng_dump)) faults.add("drops others than the forward pass");
    oracle::Array const o = to_array(more.o), stats = to_array(more.stats), d_o = to_array(more.d_o);
    oracle::Backward const exact = oracle::backward(forward.problem, o, stats, d_o);
    oracle::Backward const allowed =
        oracle::allowed_error(forward.problem, o, stats, d_o, exact, precision_of(c, target));
    faults.add(first_difference("dQ", out.d_q, exact.d_q, allowed.d_q));
    faults.add(first_difference("dK", out.d_k, exact.d_k, allowed.d_k));
    faults.add(first_difference("dV", out.d_v, exact.d_v, allowed.d_v));
    if (out.d_bias) faults.add(first_difference("dBias", out.d_bias, exact.d_bias, allowed.d_bias));
}

}  // namespace

oracle::Precision precision_of(AttentionCase const& c, Target const& target) {
    bool const is_reference = target.kind() == Target::Kind::REFERENCE;
    return {is_reference ? oracle::Precision::kDouble : oracle::Precision::kSingle, c.result_type, c.bias_type};
}

std::string first_difference(char const* name, HostTensor const& actual, oracle::Array const& expected,
                             oracle::Array const& allowed) {
    std::ostringstream fault;
    for_each_index(actual.dim, [&](Index4 const& at) {
        if (fault.tellp() > 0) return;
        double const found = actual.get(at);
        double const wanted = expected.at(at[0], at[1], at[2], at[3]);
        double const bound = allowed.at(at[0], at[1], at[2], at[3]);
        if (found == wanted || std::abs(found - wanted) <= bound) return;
        fault.precision(9);
        fault << name << to_string(at) << " is " << found << ", not " << wanted << " +- " << bound;
    });
    return fault.str();
}

std::string check_case(AttentionCase const& c, Target const& target) {
    Inputs const in = make_inputs(c);
    Faults forward_faults("forward"), backward_faults("backward");
    ForwardCheck const forward = check_forward(c, in, target, forward_faults);
    if (forward.ran) check_backward(c, in, forward, target, backward_faults);
    return forward_faults.text() + backward_faults.text();
}

}  // namespace sdpa_test
