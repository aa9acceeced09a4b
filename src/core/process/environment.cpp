#include "core/process/environment.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

namespace cudnn_frontend::core::environment {
namespace {

bool is_on(char const* name) {
    std::string const value = variable(name);
    return !value.empty() && value != "0";
}

template <class Number>
std::optional<Number> read_number(char const* name) {
    std::string const value = variable(name);
    Number number = 0;
    auto const end = value.data() + value.size();
    auto const parsed = std::from_chars(value.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) return {};
    return number;
}

}  // namespace

std::string variable(char const* name) {
    char const* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::vector<std::string> variables(std::initializer_list<char const*> names) {
    std::vector<std::string> values;
    for (char const* name : names) {
        if (std::string value = variable(name); !value.empty()) values.push_back(std::move(value));
    }
    return values;
}

bool ignores_limits() { return is_on("SDPA_GRAPH_IGNORE_LIMITS"); }
bool checks_indices() { return is_on("SDPA_GRAPH_CHECK_INDICES"); }
std::optional<ShapePolicy_t> shape_policy() {
    std::string const value = variable("SDPA_GRAPH_SHAPE_POLICY");
    if (value == "exact") return ShapePolicy_t::EXACT;
    if (value == "classes") return ShapePolicy_t::CLASSES;
    if (value == "all_shapes") return ShapePolicy_t::ALL_SHAPES;
    return value == "auto" ? std::optional(ShapePolicy_t::AUTO) : std::nullopt;
}
std::string cpu_kernels() { return variable("SDPA_GRAPH_CPU_KERNELS"); }
bool pins_threads() { return is_on("SDPA_GRAPH_PIN_THREADS"); }
std::size_t kept_bytes() {
    constexpr std::size_t kUsual = std::size_t{256} << 20;
    return read_number<std::size_t>("SDPA_GRAPH_KEPT_BYTES").value_or(kUsual);
}
std::int64_t replay_after() {
    if (variable("SDPA_GRAPH_REPLAY_AFTER") == "never") return -1;
    return read_number<std::uint32_t>("SDPA_GRAPH_REPLAY_AFTER").value_or(16);
}
bool verifies_first_runs() { return is_on("SDPA_GRAPH_VERIFY_FIRST_RUNS"); }
std::string plan_store() { return variable("SDPA_GRAPH_PLAN_STORE"); }
bool is_plan_store_frozen() { return is_on("SDPA_GRAPH_PLAN_STORE_FROZEN"); }
std::string wanted_of_plan_store() { return variable("SDPA_GRAPH_PLAN_STORE_WANTED"); }
std::string capsules() { return variable("SDPA_GRAPH_CAPSULES"); }
int log_level() { return read_number<int>("CUDNN_FRONTEND_LOG_INFO").value_or(0); }
std::string log_file() { return variable("CUDNN_FRONTEND_LOG_FILE"); }

}  // namespace cudnn_frontend::core::environment
