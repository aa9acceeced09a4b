#include "data/verdict.h"

#include "output.h"

namespace sdpa {

void add_verdict_options(CLI::App& command, Verdict_options& options) {
    command
        .add_option("--most-scores", options.most_scores,
                    "The largest graph to compare as a whole, in scores; of larger ones a sample is compared")
        ->capture_default_str()
        ->check(at_least(0));
    command
        .add_option_function<double>(
            "--search-seconds",
            [&options](double seconds) { options.search_milliseconds = static_cast<std::int64_t>(seconds * 1000.0); },
            "How long explanations of wrong results are searched for; 0: none are")
        ->default_str("10")
        ->check(at_least(0))  // not NaN
        ->check(CLI::Range(0.0, 1e6));
}

fe::Verification compare(fe::graph::Graph const& graph, Memories& memories, Verdict_options const& options) {
    fe::Verification verification;
    require(graph.verify(host_pack(memories), options, verification));
    return verification;
}

std::string verdict_text(fe::Verification const& verification) {
    std::string text = verification.to_text();
    constexpr std::string_view kMember = "search_milliseconds";
    if (auto const at = text.find(kMember); at != std::string::npos)
        text.replace(at, kMember.size(), "--search-seconds");
    std::string const word = verification.ok() ? "right" : "wrong";
    auto const at = text.find("\n" + word + ": ");
    if (at == std::string::npos) return text;
    return text.replace(at + 1, word.size(), colored(verification.ok() ? Color::Green : Color::Red, word));
}

}  // namespace sdpa
