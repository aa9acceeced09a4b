// Graph as text: printing, pictures, JSON, keys, and tensors looked up by uid.
#include "api/graph/graph_errors.h"
#include "api/graph/graph_impl.h"
#include "api/graph/spec_text.h"
#include "core/text.h"
#include "expand/expand.h"
#include "json/graph_json.h"
#include "plan/pictures/plan_picture.h"
#include "plan/planner.h"

#include <ostream>
#include <utility>

namespace cudnn_frontend::graph {

using api::guarded_in;
using core::guarded;
using core::guarded_or;

error_t Graph::query_tensor_attributes_of_uid(std::int64_t const uid, Tensor_attributes& attributes) const {
    return guarded_in(impl_, [&]() -> error_t {
        if (detail::Graph_access::copy_of_uid(*this, uid, attributes)) return {};
        return {error_code_t::INVALID_VALUE, "no tensor of the graph has the uid " + std::to_string(uid) +
                                                 "; uids that the user did not set exist from validate() on"};
    });
}

std::size_t Graph::key() {
    return guarded_or([](error_t const&) { return std::size_t{0}; },
                      [&] { return canonical_key(detail::Graph_access::snapshot(*this).spec); });
}

// The description with the values that validation infers, where the graph is valid.
static nodes::GraphSpec complete_description(Graph const& graph) {
    nodes::GraphSpec spec = detail::Graph_access::snapshot(graph).spec;
    nodes::Validation const validation = nodes::validate(spec);
    return validation.graph ? validation.graph->spec() : spec;
}

std::string Graph::print() const {
    return guarded_or([](error_t const& error) { return error.err_msg; },
                      [&] { return to_text(complete_description(*this)); });
}

std::ostream& operator<<(std::ostream& stream, Graph const& graph) { return stream << graph.print(); }

error_t Graph::print_operations(std::string& text, OperationsFormat format) const {
    return guarded_in(impl_, [&]() -> error_t {
        nodes::Validation const validation = nodes::validate(detail::Graph_access::snapshot(*this).spec);
        if (!validation.graph) return validation.report.to_error();
        auto const operations = expand::expand(*validation.graph, expand::TargetAbilities());
        if (operations.is_bad()) return operations.error();
        text = format == OperationsFormat::DOT ? ir::to_dot(operations.value()) : ir::to_text(operations.value());
        return {};
    });
}

error_t Graph::draw_plan(std::string& text, PictureFormat format) const {
    return guarded_in(impl_, [&]() -> error_t {
        bool const has_planner = impl_ != nullptr && impl_->planner != nullptr;  // a graph that was moved from has none
        plan::Plan const* const plan = has_planner ? impl_->planner->plan() : nullptr;
        if (plan == nullptr) {
            return api::missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, "draw_plan", "build_plans");
        }
        plan::Picture const picture = plan::picture_of(*plan, complete_description(*this));
        text = format == PictureFormat::SVG ? plan::to_svg(picture) : plan::to_dot(picture);
        return {};
    });
}

error_t Graph::serialize(std::string& json) const {
    return guarded_in(impl_, [&]() -> error_t {
        json = json::write_graph(detail::Graph_access::snapshot(*this).spec);
        return {};
    });
}

error_t Graph::serialize_as_version(std::int64_t version, std::string& json) const {
    return guarded_in(impl_, [&]() -> error_t {
        if (version < json::kFlatVersion || version > json::kFormatVersion) {
            return {error_code_t::INVALID_VALUE, core::text("version ", version, " of the JSON format; expected ",
                                                            json::kFlatVersion, " or ", json::kFormatVersion)};
        }
        nodes::GraphSpec spec = detail::Graph_access::snapshot(*this).spec;
        json = version == json::kFlatVersion ? json::write_flat_graph(std::move(spec))
                                             : json::write_graph(std::move(spec));
        return {};
    });
}

error_t Graph::deserialize(std::string const& json) {
    return guarded_in(impl_, [&]() -> error_t {
        SDPA_GRAPH_TRY(check_replaceable(impl_));
        auto const spec = json::read_graph(json);
        if (spec.is_bad()) return spec.error();
        detail::Graph_access::assign(*this, spec.value());
        return {};
    });
}

}  // namespace cudnn_frontend::graph
