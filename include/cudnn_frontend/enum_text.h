// The names of enumerators as in types.h, "?" for a number that is none; for messages and logs of programs.
#pragma once

#include "types.h"

#include <iosfwd>

namespace cudnn_frontend {

namespace detail {
SDPA_GRAPH_API char const* enum_text(error_code_t value);
SDPA_GRAPH_API char const* enum_text(DataType_t value);
SDPA_GRAPH_API char const* enum_text(HeurMode_t value);
SDPA_GRAPH_API char const* enum_text(BuildPlanPolicy_t value);
SDPA_GRAPH_API char const* enum_text(DiagonalAlignment_t value);
SDPA_GRAPH_API char const* enum_text(AttentionImplementation_t value);
SDPA_GRAPH_API char const* enum_text(TensorReordering_t value);
SDPA_GRAPH_API char const* enum_text(BehaviorNote_t value);
SDPA_GRAPH_API char const* enum_text(NumericalNote_t value);
SDPA_GRAPH_API char const* enum_text(ReductionMode_t value);
SDPA_GRAPH_API char const* enum_text(RngDistribution_t value);
SDPA_GRAPH_API char const* enum_text(ReshapeMode_t value);
SDPA_GRAPH_API char const* enum_text(PointwiseMode_t value);
SDPA_GRAPH_API char const* enum_text(KnobType_t value);
SDPA_GRAPH_API std::ostream& print(std::ostream& stream, char const* text);
}  // namespace detail

// Templates, so that a program's own functions of these names win.
template <class Enum>
auto to_string(Enum value) -> decltype(detail::enum_text(value)) {
    return detail::enum_text(value);
}
template <class Enum>
auto operator<<(std::ostream& stream, Enum const& value) -> decltype(detail::print(stream, detail::enum_text(value))) {
    return detail::print(stream, detail::enum_text(value));
}

}  // namespace cudnn_frontend
