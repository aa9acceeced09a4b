#include "cudnn/quirks/block_scale_limits.h"

namespace cudnn_frontend::quirks {

Found block_scale_fatal_place(Facts const&, Capabilities const& here) {
    if (!is_consumer_blackwell(here)) return {};
    return Violation{-1, "block scales on " + architecture_of(here)};
}

Found block_scale_place(Facts const&, Capabilities const& here) {
    if (is_consumer_blackwell(here)) return {};  // another limit's
    if (!is_datacenter(here)) return Violation{-1, "block scales on " + architecture_of(here)};
    if (here.cudnn_version >= 92101) return {};
    return Violation{-1, "block scales with " + version(here.cudnn_version)};
}

Found block_scale_backward(Facts const& facts, Capabilities const&) {
    if (!facts.is_backward) return {};
    return Violation{-1, "block scales in backward"};
}

Found block_scale_head_dims(Facts const& facts, Capabilities const&) {
    return bad_head_dim(facts, [](std::int64_t dim) { return dim > 128; });
}

Found block_scale_of_one_query(Facts const& facts, Capabilities const&) {
    if (facts.queries() > 1) return {};
    return Violation{Port::Q, "one query beside block scales"};
}

}  // namespace cudnn_frontend::quirks
