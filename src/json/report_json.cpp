// Reports and advice as JSON.
#include "core/names.h"
#include "json/document.h"
#include "json/graph_json.h"

namespace cudnn_frontend {
namespace json {
namespace {

void append_place(Json& object, error_location const& where, std::vector<std::string> const& others) {
    object.append("rule", where.rule);
    object.append("node", where.node);
    object.append("tensor", where.tensor);
    Json& names = object.append("others", Json::list());
    for (std::string const& tensor : others) names.append(tensor);
}

}  // namespace

std::string write_report(Report const& report) {
    Json list = Json::list();
    for (Finding const& finding : report.findings()) {
        Json& object = list.append(Json::object());
        object.append("code", core::name_of(finding.code));
        append_place(object, finding.where, finding.others);
        object.append("found", finding.found);
        object.append("needed", finding.needed);
        object.append("fix", finding.fix);
    }
    return print(list);
}

std::string write_advice(Advice const& advice) {
    Json list = Json::list();
    for (Remark const& remark : advice.remarks()) {
        Json& object = list.append(Json::object());
        append_place(object, remark.where, remark.others);
        object.append("found", remark.found);
        object.append("effect", remark.effect);
        object.append("fix", remark.fix);
    }
    return print(list);
}

}  // namespace json

std::string Report::to_json() const { return json::write_report(*this); }
std::string Advice::to_json() const { return json::write_advice(*this); }

}  // namespace cudnn_frontend
