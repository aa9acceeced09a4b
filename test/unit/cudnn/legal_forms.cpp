#include "unit/cudnn/legal_forms.h"

#include "support/catch.h"

#include <set>
#include <utility>

namespace test {

cudnn::LegalGraph legalized(AttentionGraph const& attention, quirks::Capabilities const& device) {
    auto graph = cudnn::legal_graph({composite(attention)}, device);
    REQUIRE(graph.error().get_message() == "");
    return std::move(graph).value();
}

static std::string short_name(cudnn::LegalGraph const& graph, ir::ValueId id) {
    std::string const& name = graph.graph.value(id).name;
    std::size_t const end = name.rfind("::");
    return end == std::string::npos ? name : name.substr(end + 2);
}

static std::string names_of(cudnn::LegalGraph const& graph, bool wants_packed_alone) {
    std::set<std::string> names;
    for (auto const& [id, place] : graph.scratch) {
        if (wants_packed_alone && place.packed_like == ir::kNoValue) continue;
        names.insert(short_name(graph, id));
    }
    std::string text;
    for (std::string const& name : names) text += name + " ";
    return text;
}

std::string names_of_scratch(cudnn::LegalGraph const& graph) { return names_of(graph, false); }
std::string names_of_packed(cudnn::LegalGraph const& graph) { return names_of(graph, true); }

std::string names_of_implied(cudnn::LegalGraph const& graph) {
    std::string text;
    for (auto const& [read, written] : graph.implied) {
        text += short_name(graph, read) + " -> " + short_name(graph, written) + ", ";
    }
    return text;
}

}  // namespace test
