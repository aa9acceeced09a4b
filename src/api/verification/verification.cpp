// The result of a verification as text and as JSON.
#include <cudnn_frontend/verification.h>

#include "core/findings.h"
#include "core/text.h"
#include "json/document.h"
#include "json/field_json.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <utility>

namespace cudnn_frontend {
namespace {

using core::text;
using json::Json;

std::string number_text(double number) {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.4g", number);
    return digits.data();
}

using Row = std::vector<std::string>;

Row row_of(Compared_result const& result) {
    bool const is_exact = result.worst_index.empty();
    return {result.name,
            std::to_string(result.wrong),
            std::to_string(result.elements),
            is_exact ? "-" : core::to_string(result.worst_index),
            is_exact ? "-" : number_text(result.got),
            is_exact ? "-" : number_text(result.expected),
            is_exact ? "-" : number_text(result.allowed),
            result.share > 1e6 ? "over 1e6" : number_text(result.share)};
}

std::string range_text(Compared_result const& result) {
    std::string ranges;
    for (std::size_t axis = 0; axis < result.first_wrong.size(); ++axis) {
        std::int64_t const first = result.first_wrong[axis], last = result.last_wrong[axis];
        ranges += text(ranges.empty() ? "" : ", ", first);
        if (last != first) ranges += text("-", last);
    }
    return ranges;
}

std::string explanations_text(Verification::Content const& content) {
    std::string lines;
    if (content.explanations.size() == 1) lines = "explained by: ";
    if (content.explanations.size() > 1) lines = "each of these explains all of it:\n";
    for (Result_explanation const& each : content.explanations)
        lines += (content.explanations.size() > 1 ? "  " : "") + each.text + " (" + each.id + ")\n";
    if (content.explanations.empty() && content.tried > 0)
        lines = text("not explained: none of the ", content.tried,
                     " known mistakes that were tried reproduces these results\n");
    if (content.left > 0)
        lines += text("the time did not suffice for ", content.left, " more. Try: a greater search_milliseconds\n");
    return lines;
}

Json json_of(Compared_result const& result) {
    auto const number = [](double value) { return json::number_to_json(value, false); };
    Json object = Json::object();
    object.append("name", result.name);
    object.append("uid", result.uid);
    object.append("elements", result.elements);
    object.append("wrong", result.wrong);
    object.append("worst_index", json::list_of(result.worst_index));
    object.append("got", number(result.got));
    object.append("expected", number(result.expected));
    object.append("allowed", number(result.allowed));
    object.append("share", number(result.share));
    object.append("first_wrong", json::list_of(result.first_wrong));
    object.append("last_wrong", json::list_of(result.last_wrong));
    return object;
}

}  // namespace

Verification::Verification() = default;
Verification::Verification(Content content) : content_(std::move(content)) {}

bool Verification::ok() const {
    auto const is_right = [](Compared_result const& result) { return result.wrong == 0; };
    return !content_.results.empty() && std::ranges::all_of(content_.results, is_right);
}

std::string Verification::to_text() const {
    std::string lines = "compared with the reference\n";
    if (is_sampled())
        lines = text("compared with the reference: a sample, about ", content_.scores_compared, " of ", content_.scores,
                     " scores\n");
    std::vector<Row> rows = {{"result", "wrong", "of", "worst at", "got", "expected", "allowed", "error / allowed"}};
    for (Compared_result const& result : content_.results) rows.push_back(row_of(result));
    lines += core::table(rows, "  ");
    if (!content_.not_compared.empty()) lines += "  not compared: " + core::listed(content_.not_compared, "and") + "\n";
    if (content_.results.empty()) return lines + "nothing was compared\n";
    if (ok()) return lines + "right: all errors are within the allowed ones\n";
    lines += "wrong: errors exceed the allowed ones\n";
    for (Compared_result const& result : content_.results) {
        if (result.wrong > 0) lines += "  " + result.name + ": wrong elements within [" + range_text(result) + "]\n";
    }
    return lines + explanations_text(content_);
}

std::string Verification::to_json() const {
    Json object = Json::object();
    object.append("right", ok());
    object.append("sampled", is_sampled());
    object.append("scores", content_.scores);
    object.append("scores_compared", content_.scores_compared);
    Json& results = object.append("results", Json::list());
    for (Compared_result const& result : content_.results) results.append(json_of(result));
    object.append("not_compared", json::list_of(content_.not_compared));
    Json& explanations = object.append("explanations", Json::list());
    for (Result_explanation const& each : content_.explanations) {
        Json& explanation = explanations.append(Json::object());
        explanation.append("id", each.id);
        explanation.append("text", each.text);
    }
    object.append("tried", content_.tried);
    object.append("left", content_.left);
    return json::print(object);
}

std::ostream& operator<<(std::ostream& stream, Verification const& verification) {
    return stream << verification.to_text();
}

}  // namespace cudnn_frontend
