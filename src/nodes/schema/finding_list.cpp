#include "nodes/schema/rule.h"

#include "nodes/schema/wording.h"

#include <string_view>

namespace cudnn_frontend::nodes {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

}  // namespace

void FindingList::add(Finding finding, Node const* node, std::string const& port) {
    std::string key = finding.where.rule;
    for (std::string const* part : {&finding.found, &finding.needed, &finding.fix}) (key += '\n') += *part;
    auto const [entry, is_new] = group_of_.emplace(std::pair(node, std::move(key)), groups_.size());
    if (is_new) {
        std::string const tensor = finding.where.tensor;
        groups_.push_back({std::move(finding), {port}, {tensor}});
        return;
    }
    Group& group = groups_[entry->second];
    group.ports.push_back(port);
    // One tensor may be connected to several ports.
    std::string& tensor = finding.where.tensor;
    if (group.tensors.insert(tensor).second) group.finding.others.push_back(std::move(tensor));
}

std::vector<Finding> FindingList::take() const {
    std::vector<Finding> findings;
    findings.reserve(groups_.size());
    for (Group const& group : groups_) {
        Finding finding = group.finding;
        std::string const ports = listed(group.ports, "and");
        for (std::string* text : {&finding.found, &finding.needed, &finding.fix}) replace_all(*text, kPort, ports);
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace cudnn_frontend::nodes
