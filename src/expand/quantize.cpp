#include "expand/quantize.h"

#include "nodes/schema.h"

namespace cudnn_frontend::inline v1::expand {

using ir::ValueId;
using enum PointwiseMode_t;

ValueId descaled(AttentionScope& at, ValueId x, std::initializer_list<int> ports, std::string const& name) {
    if (!at.is_fp8()) return x;
    for (int const port : ports) {
        std::string const step = name + "_by_" + nodes::port_name(at.node().kind(), port);
        x = at.pointwise(MUL, {x, at.port(port)}, at.add_virtual(step, at.value(x).dim, DataType_t::FLOAT));
    }
    return x;
}

ValueId quantized(AttentionScope& at, ValueId x, Quantization const& how, ValueId out) {
    if (at.is_connected(how.amax_port)) at.reduce(ReductionMode_t::AMAX, x, at.port(how.amax_port));
    return at.pointwise(MUL, {x, at.port(how.scale_port)}, out);
}

}  // namespace cudnn_frontend::inline v1::expand
