#include "nodes/rule.h"

#include "nodes/wording.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::nodes {

TensorSpec const* RuleScope::tensor_4d(int port) const {
    TensorSpec const* const connected = tensor(port);
    if (connected == nullptr || connected->dim.size() != 4) return nullptr;
    return std::ranges::all_of(connected->dim, [](auto size) { return size > 0; }) ? connected : nullptr;
}

std::string RuleScope::label(TensorSpec const& tensor) const {
    if (has_name(tensor)) return tensor.name;
    auto const id = static_cast<std::size_t>(&tensor - graph_.tensors.data());
    TensorUses const& uses = uses_[id];
    if (uses.readers.empty() && uses.writers.empty()) return text("tensor ", id);
    PortUse const& use = uses.writers.empty() ? uses.readers[0] : uses.writers[0];
    return text(nodes::label(graph_, *use.node), ".", use.port->name);
}

void RuleScope::report(TensorSpec const& tensor, std::string found, std::string needed, std::string fix) const {
    add(label(tensor), std::move(found), std::move(needed), std::move(fix));
}

void RuleScope::report_port(int port, std::string found, std::string needed, std::string fix) const {
    TensorSpec const* const connected = tensor(port);
    bool const is_named = connected != nullptr && has_name(*connected);
    add(is_named ? connected->name : port_name(node_->kind(), port), std::move(found), std::move(needed),
        std::move(fix));
}

void RuleScope::report_node(std::string found, std::string needed, std::string fix) const {
    add(std::string(), std::move(found), std::move(needed), std::move(fix));
}

void RuleScope::add(std::string tensor, std::string found, std::string needed, std::string fix) const {
    std::string node = node_ == nullptr ? std::string() : nodes::label(graph_, *node_);
    findings_.push_back({rule_.code,
                         {rule_.id, std::move(node), std::move(tensor)},
                         std::move(found),
                         std::move(needed),
                         std::move(fix)});
}

}  // namespace cudnn_frontend::nodes
