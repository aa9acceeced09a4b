// Limits on sink tokens, and on Stats, Max and Sum_exp.
#include "cudnn/quirks/quirk_rows.h"

namespace cudnn_frontend::quirks {
namespace {

char const* name_of_softmax_result(Facts const& facts) { return facts.has(Port::Max) ? "Max" : "Sum_exp"; }

Found any_sink(Facts const& facts) {
    if (!facts.has(Port::SinkToken)) return {};
    return Violation{Port::SinkToken, "a sink token"};
}

Found stats_beside_max(Facts const& facts) {
    if (facts.is_backward || !has_softmax_result(facts) || !facts.has(Port::Stats)) return {};
    return Violation{Port::Stats, std::string("Stats with ") + name_of_softmax_result(facts)};
}

Found sink_beside_max(Facts const& facts) {
    if (facts.is_backward || !has_softmax_result(facts) || !facts.has(Port::SinkToken)) return {};
    return Violation{Port::SinkToken, std::string("a sink token with ") + name_of_softmax_result(facts)};
}

template <bool of_backward>
Found stats_in_base_2(Facts const& facts) {
    if (facts.is_backward != of_backward || !facts.fields.stats_use_log2 || !facts.has(Port::Stats)) return {};
    return Violation{Port::Stats, "Stats in base 2"};
}

constexpr Quirk kRows[] = {
    {.id = "cudnn.s29",
     .cudnn = {0, 91300},
     .evidence = Evidence::NoEngine,
     .verified = {91200, kOffline},
     .summary = "cuDNN 9.13 or newer for a sink token",
     .fix = "install a newer cuDNN, or use Target::cpu()",
     .seen = "asked of 9.12.0 for five devices: forward has no engine. Backward without dSink has one, which is of no "
             "use without its forward. 9.13.0 supports both",
     .check = any_sink},
    {.id = "cudnn.s30",
     .cudnn = {0, 92000},
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "either Stats or Max and Sum_exp, which this release leaves unwritten with Stats",
     .fix = "leave out set_generate_stats(true), and compute Stats as max + ln(sum_exp)",
     .seen = "32 of 32 runs wrong",
     .check = stats_beside_max},
    {.id = "cudnn.s31",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "either a sink token or Max and Sum_exp",
     .fix = "leave the sink out, and scale each row of O by sum_exp / (sum_exp + exp(sink - max))",
     .check = sink_beside_max},
    {.id = "cudnn.s92",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "Stats as natural logarithms: no engine of forward writes them in base 2",
     .fix = "leave out set_stats_use_log2(true), and multiply Stats by 1 / ln 2 after forward",
     .seen = "asked in six forms of the multiplication",
     .check = stats_in_base_2<false>},
    {.id = "cudnn.s92",
     .evidence = Evidence::Crash,
     .verified = {92801, kOffline},
     .summary = "Stats as natural logarithms: backward with Stats in base 2 and a causal mask crashes in cuDNN",
     .fix = "leave out set_stats_use_log2(true), and multiply Stats by ln 2 before backward",
     .seen =
         "9.19.0: a segmentation fault inside the engines, on every device; 9.28.1: std::bad_alloc on 9.0 and 10.x, on "
         "others in some runs and not in others. Without causality engines support it",
     .check = stats_in_base_2<true>},
};

}  // namespace

std::span<Quirk const> softmax_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
