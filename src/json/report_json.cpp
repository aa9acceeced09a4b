#include "core/names.h"
#include "json/document.h"
#include "json/graph_json.h"
#include "json/printer.h"

namespace cudnn_frontend {
namespace json {

std::string write_report(Report const& report) {
    Json list = Json::list();
    for (Finding const& finding : report.findings()) {
        Json others = Json::list();
        for (std::string const& tensor : finding.others) others.append(tensor);
        list.append(Json::object({
            {"code", core::name_of(finding.code)},
            {"rule", finding.where.rule},
            {"node", finding.where.node},
            {"tensor", finding.where.tensor},
            {"others", std::move(others)},
            {"found", finding.found},
            {"needed", finding.needed},
            {"fix", finding.fix},
        }));
    }
    return print(list);
}

}  // namespace json

std::string Report::to_json() const { return json::write_report(*this); }

}  // namespace cudnn_frontend
