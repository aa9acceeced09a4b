#include "cudnn/quirks/type_limits.h"

#include "core/data_type.h"
#include "core/names.h"
#include "nodes/attention/unified.h"

namespace cudnn_frontend::quirks {

static DataType_t type_of_q(Facts const& facts) { return facts.tensor(Port::Q)->data_type; }

static std::string beside_q(DataType_t type, Facts const& facts) {
    return std::string("the data type ") + core::name_of(type) + " beside Q of " + core::name_of(type_of_q(facts));
}

Found io_type(Facts const& facts, Capabilities const&) {
    DataType_t const type = type_of_q(facts);
    if (core::is_half(type) || (type == DataType_t::FLOAT && !facts.is_backward)) return {};
    return Violation{Port::Q, std::string("the data type ") + core::name_of(type)};
}

Found result_types(Facts const& facts, Capabilities const&) {
    DataType_t const io = type_of_q(facts);
    bool const is_unified = nodes::is_told_as_unified(facts.graph, facts.node);
    for (int const port : {Port::O, Port::dO, Port::dQ, Port::dK, Port::dV}) {
        nodes::TensorSpec const* const tensor = facts.tensor(port);
        if (tensor == nullptr || tensor->data_type == io) continue;
        bool const are_halves = core::is_half(io) && core::is_half(tensor->data_type);
        if (are_halves && !facts.is_backward && !is_unified) continue;
        char const* const where = are_halves && is_unified ? " with the unified operation" : "";
        return Violation{port, beside_q(tensor->data_type, facts) + where};
    }
    return {};
}

Found bias_gradient_type(Facts const& facts, Capabilities const&) {
    nodes::TensorSpec const* const gradient = facts.tensor(Port::dBias);
    if (gradient == nullptr || gradient->data_type == type_of_q(facts)) return {};
    return Violation{Port::dBias, beside_q(gradient->data_type, facts)};
}

Found sink_type(Facts const& facts, Capabilities const&) {
    nodes::TensorSpec const* const sink = facts.tensor(Port::Sink_token);
    if (sink == nullptr || sink->data_type == DataType_t::FLOAT) return {};
    return Violation{Port::Sink_token, std::string("a sink token of type ") + core::name_of(sink->data_type)};
}

}  // namespace cudnn_frontend::quirks
