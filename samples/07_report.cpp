// Reading a Report: all faults of a graph are reported at once, each with its rule and a fix.
//   ./run sample 07_report [--target cpu|reference|cuda]
#include <set>

#include "support.h"

namespace fe = cudnn_frontend;
using samples::Index;

namespace {

constexpr Index kBatch = 2, kHeads = 4, kQueries = 64, kKeys = 96, kDepth = 32;

// Mistakes of a program, and the rules that report them.
struct Faults {
    bool key_depth, missing_lengths, probability_of_one, bias_size, shared_uid;
};
constexpr Faults kAll{true, true, true, true, true}, kNone{};
std::set<std::string> const kRules = {"graph.c16", "sdpa_fwd.c05", "sdpa_fwd.c19", "sdpa_fwd.c21", "sdpa_fwd.c27"};

void describe_attention(fe::graph::Graph& graph, Faults const& faults) {
    samples::set_types(graph, fe::DataType_t::HALF);
    auto const tensor = [&graph](char const* name, Index b, Index h, Index s, Index d) {
        return graph.tensor(samples::describe(name, samples::bhsd(b, h, s, d)));
    };
    auto Q = tensor("Q", kBatch, kHeads, kQueries, kDepth);
    auto K = tensor("K", kBatch, kHeads, kKeys, faults.key_depth ? kDepth / 2 : kDepth);
    auto V = tensor("V", kBatch, kHeads, kKeys, kDepth);
    auto bias = tensor("bias", 1, kHeads, kQueries, faults.bias_size ? kQueries : kKeys);
    auto seed = tensor("seed", 1, 1, 1, 1), offset = tensor("offset", 1, 1, 1, 1);
    seed->set_data_type(fe::DataType_t::INT64).set_uid(40);
    offset->set_data_type(fe::DataType_t::INT64).set_uid(faults.shared_uid ? 40 : 41);

    fe::graph::SDPA_attributes options;
    options.set_name("attention").set_attn_scale(0.177f).set_generate_stats(false).set_bias(bias);
    options.set_dropout(faults.probability_of_one ? 1.0f : 0.1f, seed, offset).set_padding_mask(true);
    if (!faults.missing_lengths) {
        auto lengths_q = tensor("seq_len_q", kBatch, 1, 1, 1), lengths_kv = tensor("seq_len_kv", kBatch, 1, 1, 1);
        lengths_q->set_data_type(fe::DataType_t::INT32);
        lengths_kv->set_data_type(fe::DataType_t::INT32);
        options.set_seq_len_q(lengths_q).set_seq_len_kv(lengths_kv);
    }
    graph.sdpa(Q, K, V, options)[0]->set_output(true).set_name("O");
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("07_report: what check() says about a graph that breaks five rules\n\n");

    fe::graph::Graph faulty;
    describe_attention(faulty, kAll);
    fe::Report const report = faulty.check();
    std::set<std::string> rules;
    for (fe::Finding const& finding : report.findings()) {
        std::printf("  rule    %s\n", finding.where.rule.c_str());
        std::printf("  node    %s\n", finding.where.node.empty() ? "(the graph)" : finding.where.node.c_str());
        std::printf("  tensor  %s", finding.where.tensor.empty() ? "(none)" : finding.where.tensor.c_str());
        for (std::string const& other : finding.others) std::printf(", %s", other.c_str());
        std::printf("\n");
        std::printf("  found   %s\n", finding.found.c_str());
        std::printf("  needed  %s\n", finding.needed.c_str());
        std::printf("  fix     %s\n\n", finding.fix.c_str());
        rules.insert(finding.where.rule);
    }

    samples::Checks checks;
    checks.expect("exactly the five rules that were broken are reported", rules == kRules);
    fe::error_t const refusal = faulty.build(target);
    checks.expect("build() fails with the same text", refusal.is_bad() && refusal.err_msg == report.to_error().err_msg);

    fe::graph::Graph corrected;
    describe_attention(corrected, kNone);
    checks.expect("the corrected graph has nothing to report", corrected.check().ok());
    checks.expect("and builds", corrected.build(target).is_good());
    return checks.exit_code();
}
