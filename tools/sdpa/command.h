// The parts that all subcommands share: exit codes, errors, JSON and how a subcommand is added.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace sdpa {

using Json = nlohmann::ordered_json;

// The exit codes of every subcommand.
constexpr int kYes = 0;    // done, or the answer is yes
constexpr int kNo = 1;     // the answer is no: no plan, wrong numbers, nothing usable
constexpr int kUsage = 2;  // the arguments or the input are not usable

// "place: found ...; expected .... Try: ....", without the parts that are empty, as the library words its findings.
std::string fault_text(std::string place, std::string found, std::string expected, std::string fix = {});

// Ends the command with exit code kUsage and this message.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
    Failure(std::string place, std::string found, std::string expected, std::string fix = {})
        : std::runtime_error(fault_text(std::move(place), std::move(found), std::move(expected), std::move(fix))) {}
};

// The subcommand that was chosen; it returns the exit code.
using Action = std::function<int()>;

void add_doctor(CLI::App& app, Action& action);
void add_new(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_store(CLI::App& app, Action& action);
void add_draw(CLI::App& app, Action& action);
void add_mask(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_matrix(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_capsule(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_man(CLI::App& app, Action& action);

bool has_subcommand(CLI::App const& app, std::string const& name);

std::string version_text();  // such as sdpa-graph 0.1.0

// The paragraph below the options in a subcommand's help.
inline std::string footer(std::string const& examples, std::string const& exit_codes) {
    return "Examples:\n" + examples + "\nExit codes: " + exit_codes + "; 2: usage, or the input is not readable";
}

// The check of an option's number; those of CLI11 print the bounds of its type. CLI11 itself takes numbers beyond the
// type's bounds for the nearest one, and negative ones for what is left modulo 2^64.
inline CLI::Validator at_least(int least) {
    auto const find_fault = [least](std::string const& text) -> std::string {
        constexpr double kMost = 0x1p53;
        double number = 0.0;
        if (CLI::detail::lexical_cast(text, number) && number >= least && number <= kMost) return {};
        return fault_text("", "'" + text + "'", "a number of " + std::to_string(least) + " or more, at most 2^53");
    };
    return {find_fault, least > 0 ? "POSITIVE" : "NONNEGATIVE", "at_least"};
}

// The same for a seed, which may have all 64 bits.
inline CLI::Validator is_seed() {
    auto const find_fault = [](std::string const& text) -> std::string {
        std::uint64_t seed = 0;
        auto const end = text.data() + text.size();
        auto const read = std::from_chars(text.data(), end, seed);
        if (read.ec == std::errc() && read.ptr == end) return {};
        return fault_text("", "'" + text + "'", "a whole number from 0 to 2^64 - 1");
    };
    return {find_fault, "SEED", "is_seed"};
}

}  // namespace sdpa
