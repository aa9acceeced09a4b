#include "nodes/schema/rule.h"

#include "nodes/schema/wording.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::nodes {

TensorSpec const* RuleScope::tensor_4d(int port) const {
    TensorSpec const* const connected = tensor(port);
    if (connected == nullptr || connected->dim.size() != 4) return nullptr;
    return std::ranges::all_of(connected->dim, [](auto size) { return size > 0; }) ? connected : nullptr;
}

std::string RuleScope::label(TensorSpec const& tensor) const { return nodes::label(graph_, uses_, tensor); }

void RuleScope::report(TensorSpec const& tensor, std::string found, std::string needed, std::string fix) const {
    add(label(tensor), std::string(), std::move(found), std::move(needed), std::move(fix));
}

void RuleScope::report_port(int port, std::string found, std::string needed, std::string fix) const {
    TensorSpec const* const connected = tensor(port);
    bool const is_named = connected != nullptr && has_name(*connected);
    std::string const name = port_name(node_->kind(), port);
    add(is_named ? connected->name : name, name, std::move(found), std::move(needed), std::move(fix));
}

void RuleScope::report_node(std::string found, std::string needed, std::string fix) const {
    add(std::string(), std::string(), std::move(found), std::move(needed), std::move(fix));
}

void RuleScope::add(std::string tensor, std::string const& port, std::string found, std::string needed,
                    std::string fix) const {
    std::string node = node_ == nullptr ? std::string() : nodes::label(*node_);
    report_at(std::move(node), std::move(tensor), std::move(found), std::move(needed), std::move(fix), node_, port);
}

}  // namespace cudnn_frontend::nodes
