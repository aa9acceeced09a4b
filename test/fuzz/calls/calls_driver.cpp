// Calls in any order on objects in any state. A case has a line for each call: its name and four numbers.
#include "fuzz/calls/machine.h"
#include "fuzz/driver.h"

#include <sstream>

namespace fuzz {

char const* const kDriverName = "calls";

void Machine::note(error_t const& error) {
    expect(error.is_good() || !error.err_msg.empty(), "an error has a text");
    expect(error.is_bad() || error.err_msg.empty(), "success has no text");
}

void Machine::expect(bool holds, char const* promise) {
    ++figures().comparisons;
    if (!holds && fault.empty()) fault = promise;
}

namespace {

std::span<Call const> any_group(Bytes& bytes) {
    using Group = std::span<Call const> (*)();
    constexpr Group kGroups[] = {tensor_calls, attribute_calls, graph_calls, stage_calls, question_calls,
                                 run_calls,    life_calls,      stage_calls, flash_calls, attention_calls};
    return bytes.pick(kGroups)();
}

Call const* call_named(std::string const& name) {
    for (auto const group : {tensor_calls, attribute_calls, graph_calls, stage_calls, question_calls, run_calls,
                             life_calls, flash_calls, attention_calls}) {
        for (Call const& call : group()) {
            if (name == call.name) return &call;
        }
    }
    return nullptr;
}

void add_call(std::string& text, std::string const& name, std::array<std::int64_t, 4> const& numbers) {
    text += name;
    for (std::int64_t const number : numbers) text += " " + std::to_string(number);
    text += "\n";
}

// Mostly for the first graph and few tensors, so that calls interact.
std::array<std::int64_t, 4> any_numbers(Bytes& bytes) {
    std::array<std::int64_t, 4> numbers{};
    for (std::int64_t& number : numbers) {
        number = bytes.chance(2) ? bytes.integer() : static_cast<std::int64_t>(bytes.below(4));
    }
    if (!bytes.chance(4)) numbers[0] = 0;
    return numbers;
}

// Most cases begin with a graph that can run, so that there is something to break.
void add_beginning(std::string& text, Bytes& bytes) {
    if (bytes.chance(5)) return;
    char const* const which = bytes.chance(3) ? "graph.add_small_backward" : "graph.add_small_attention";
    add_call(text, which, {0, bytes.byte(), 0, 0});
    if (bytes.chance(3)) return;
    add_call(text, "stage.build", {0, bytes.byte(), bytes.byte(), 0});
    if (bytes.chance(2)) add_call(text, "stage.store", {0, 0, 0, 0});
}

}  // namespace

std::string make_case(Bytes& bytes) {
    std::string text;
    add_beginning(text, bytes);
    for (std::size_t left = 2 + bytes.below(30); left > 0 && !bytes.is_empty(); --left) {
        std::span<Call const> const group = any_group(bytes);
        Call const& call = group[bytes.below(group.size())];
        add_call(text, call.name, any_numbers(bytes));
    }
    return text;
}

// A sequence is valid if it built a graph.
std::string check_case(std::string const& text) {
    Machine machine;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && machine.fault.empty();) {
        std::istringstream words(line);
        std::string name;
        std::array<std::int64_t, 4> numbers{};
        words >> name;
        for (std::int64_t& number : numbers) words >> number;
        Call const* const call = call_named(name);
        if (call == nullptr) return "no such call: " + name;
        call->run(machine, Numbers(numbers));
        if (!machine.fault.empty()) machine.fault += ", but not after " + line;
    }
    figures().valid += machine.was_built;
    return machine.fault;
}

}  // namespace fuzz
