#include "rewrite/program_builder.h"

#include "core/hash.h"
#include "core/last_used.h"
#include "core/process/process_settings.h"

#include <mutex>

namespace cudnn_frontend::rewrite {
namespace {

struct ProgramPart {
    nodes::GraphSpec described;
    nodes::ValidatedGraph graph;
};

// Never destroyed: static objects of a program may build graphs when this library's are gone.
core::LastUsed<ProgramPart const>& known_parts() {
    static auto* const parts = new core::LastUsed<ProgramPart const>();
    return *parts;
}

// The sizes distinguish most parts.
std::size_t key_of(nodes::GraphSpec const& spec) {
    std::size_t key = spec.tensors.size();
    for (nodes::TensorSpec const& tensor : spec.tensors) {
        for (std::int64_t const size : tensor.dim) core::add_size(key, size);
    }
    return key;
}

}  // namespace

Result<std::shared_ptr<nodes::ValidatedGraph const>> validated_part(nodes::GraphSpec const& described) {
    std::size_t const most = core::process::kept_graphs.get();
    std::size_t const key = key_of(described);
    static std::mutex validating;  // so that threads with equal parts get one graph
    std::lock_guard const alone(validating);
    auto part = most == 0
                    ? nullptr
                    : known_parts().find(key, [&](ProgramPart const& kept) { return kept.described == described; });
    if (part == nullptr) {
        nodes::Validation validation = nodes::validate(described);
        if (!validation.graph) return validation.report.to_error();
        part = std::make_shared<ProgramPart const>(ProgramPart{described, std::move(*validation.graph)});
        if (most > 0) known_parts().keep(key, part, most);
    }
    return std::shared_ptr<nodes::ValidatedGraph const>(part, &part->graph);
}

void keep_parts_at_most(std::size_t most) { known_parts().keep_at_most(most); }

}  // namespace cudnn_frontend::rewrite
