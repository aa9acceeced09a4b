// Writes the code of the named modifiers, with which the attention engine compiles its kernels, for the host's
// compiler:
//   write_modifier_codes <file for codes> <file for codes of bounds>
// Each code has a namespace, and functions with the kernels' names call the one that host_modifier chooses.
#include "api/graph/graph_impl.h"
#include "kernels/attention/attention_graph.h"
#include "nodes/validation/validate.h"
#include "support/modifiers/modifier_problem.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
namespace kernels = cudnn_frontend::kernels;

struct Code {
    std::string text, text_of_bounds;

    friend bool operator==(Code const&, Code const&) = default;
};

// Adds the code of the graph, unless it is there. False, with a message, where the engine refuses the graph.
bool add_code(std::vector<Code>& codes, fe::graph::Graph graph) {
    constexpr kernels::DeviceFacts kHopper{90, 132};
    auto const valid = fe::nodes::validate(fe::detail::Graph_access::snapshot(graph).spec);
    if (!valid.graph) return std::fprintf(stderr, "%s\n", valid.report.to_error().err_msg.c_str()), false;
    auto const read = kernels::read_attention(*valid.graph, kHopper);
    if (read.is_bad()) return std::fprintf(stderr, "%s\n", read.error().err_msg.c_str()), false;
    Code code{read.value().problem.modifier.text, read.value().problem.modifier.text_of_bounds};
    if (std::ranges::find(codes, code) == codes.end()) codes.push_back(std::move(code));
    return true;
}

struct Function {
    char const *head, *call;  // without the number of the code
    char const* before = "";  // a statement
};
constexpr Function kFunctions[] = {
    {"DistanceTerms distance_terms(ScorePlace", "distance_terms(at, inputs)", "    ++computed_distances;\n"},
    {"float modified_score(Linear score, ScorePlace", "modified_score(score, at, inputs)"},
    {"float modified_gradient(Linear score, float gradient, ScorePlace",
     "modified_gradient(score, gradient, at, inputs)"}};
constexpr Function kFunctionsOfBounds[] = {
    {"Bounds modified_score(Bounds const& score, BlockPlace", "modified_score(score, at, inputs)"},
    {"Bounds modified_gradient(Bounds const& score, Bounds const& gradient, BlockPlace",
     "modified_gradient(score, gradient, at, inputs)"}};

// One function for all scores of a kernel, or compiling would take minutes.
std::string dispatched(Function const& function, std::vector<Code> const& codes, std::string Code::*text) {
    std::string all = std::string("[[gnu::noinline]] inline ") + function.head +
                      " const& at, ScoreInputs const& inputs) {\n" + function.before + "    switch (host_modifier) {\n";
    for (std::size_t i = 0; i < codes.size(); ++i) {
        if ((codes[i].*text).empty()) continue;
        all += "        case " + std::to_string(i) + ": return code" + std::to_string(i) + "::" + function.call + ";\n";
    }
    return all + "        default: no_modifier();\n    }\n}\n";
}

std::string namespaces(std::vector<Code> const& codes, std::string Code::*text) {
    std::string all;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        if (!(codes[i].*text).empty()) all += "namespace code" + std::to_string(i) + " {\n" + codes[i].*text + "}\n";
    }
    return all;
}

// The texts by which the host finds a problem's number.
std::string table(std::vector<Code> const& codes) {
    std::string all = "inline constexpr char const* kModifierTexts[] = {\n";
    for (Code const& code : codes) all += "R\"(" + code.text + ")\",\n";
    return all + "};\n";
}

bool write(char const* path, std::string const& text) {
    std::ofstream file(path);
    file << text;
    return file.good();
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return std::fputs("write_modifier_codes: expected two files\n", stderr), 2;
    constexpr std::int64_t kColumns = 64;
    std::vector<Code> codes;
    for (auto const& modifiers : {sdpa_test::named_modifiers(), sdpa_test::distance_modifiers(),
                                  std::span(&sdpa_test::modifier_behind_prefix(), 1)}) {
        for (sdpa_test::NamedModifier const& modifier : modifiers) {
            sdpa_test::ModifierProblem problem(&modifier, fe::DataType_t::BFLOAT16, {.columns = kColumns});
            if (!add_code(codes, problem.forward()) || !add_code(codes, problem.backward())) return 1;
        }
    }
    std::string text = table(codes) + namespaces(codes, &Code::text) +
                       "constexpr bool kChangesGradients = true;\nconstexpr int kDistanceTerms = kMostDistanceTerms;\n";
    std::string bounds = namespaces(codes, &Code::text_of_bounds);
    for (Function const& function : kFunctions) text += dispatched(function, codes, &Code::text);
    for (Function const& function : kFunctionsOfBounds) bounds += dispatched(function, codes, &Code::text_of_bounds);
    return write(arguments[1], text) && write(arguments[2], bounds) ? 0 : 1;
}
