// The names of the document format itself. Those of fields, ports and nodes come from the tables of src/nodes.
#pragma once

#include "json/value.h"
#include "nodes/schema/graph_spec.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cudnn_frontend::json {

namespace key {
inline constexpr char const* kFormat = "format";
inline constexpr char const* kVersion = "version";
inline constexpr char const* kContext = "context";
inline constexpr char const* kTensors = "tensors";
inline constexpr char const* kNodes = "nodes";
inline constexpr char const* kRaggedOffset = "ragged_offset";
inline constexpr char const* kTag = "tag";
inline constexpr char const* kInputs = "inputs";
inline constexpr char const* kOutputs = "outputs";
inline constexpr char const* kFields = "fields";
inline constexpr char const* kType = "type";
inline constexpr char const* kValue = "value";
inline constexpr char const* kBits = "bits";
}  // namespace key

inline constexpr char const* kFormatName = "sdpa-graph";
inline constexpr std::int64_t kFormatVersion = 1;
inline constexpr char const* kNan = "nan";
inline constexpr char const* kInfinity = "inf";
inline constexpr char const* kMinusInfinity = "-inf";
inline constexpr char const* kTensorIdPattern = "^t(0|[1-9][0-9]*)$";

inline constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxMembers = 1'000'000;  // of one object or array: bounds tensors and nodes
inline constexpr std::size_t kMaxValues = 8'000'000;

inline std::string tensor_id(std::size_t index) { return "t" + std::to_string(index); }

// The fields of every node, whatever its kind.
std::span<nodes::Field const> node_fields();

}  // namespace cudnn_frontend::json
