// Short ways to write the values of an op graph in tests.
#pragma once

#include "ir/builder.h"

#include <string>
#include <utility>

namespace cudnn_frontend::test {

using attention::Port;

inline ir::Value make_value(ir::Role role, std::string name, core::Dims dim, std::int64_t uid = -1) {
    ir::Value value;
    value.role = role;
    value.name = std::move(name);
    value.stride = core::packed_strides(dim);
    value.dim = std::move(dim);
    value.uid = uid;
    return value;
}
inline ir::Value input(std::string name, core::Dims dim, std::int64_t uid) {
    return make_value(ir::Role::Input, std::move(name), std::move(dim), uid);
}
inline ir::Value output(std::string name, core::Dims dim, std::int64_t uid) {
    return make_value(ir::Role::Output, std::move(name), std::move(dim), uid);
}
inline ir::Value temporary(std::string name, core::Dims dim) {
    return make_value(ir::Role::Virtual, std::move(name), std::move(dim));
}
inline ir::Value lengths(std::string name, std::int64_t batches, std::int64_t uid) {
    ir::Value value = input(std::move(name), {batches, 1, 1, 1}, uid);
    value.type = DataType_t::INT32;
    return value;
}

inline ir::Op op(ir::OpBody body, std::string name = "") {
    return {std::move(name), DataType_t::FLOAT, std::move(body)};
}

inline ir::Op pointwise(PointwiseMode_t mode, ir::ValueId in_0, ir::ValueId in_1, ir::ValueId out) {
    ir::PointwiseOp body;
    body.mode = mode;
    body.in[0] = in_0;
    body.in[1] = in_1;
    body.out = out;
    return op(body);
}
inline ir::Op pointwise(PointwiseMode_t mode, ir::ValueId in, ir::ValueId out) {
    return pointwise(mode, in, ir::kNoValue, out);
}

}  // namespace cudnn_frontend::test
