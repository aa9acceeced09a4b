#include "nodes/validation/graph_checks.h"

#include "nodes/attention/attention_checks.h"

#include "core/data_type.h"
#include "nodes/schema/uses.h"
#include "nodes/schema/wording.h"

#include <algorithm>
#include <bit>
#include <map>

namespace cudnn_frontend::nodes::tensor_checks {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 62;

// An embedded value makes a tensor a scalar whatever its flags say.
bool is_scalar(TensorSpec const& tensor) { return tensor.is_by_value || tensor.is_constant || tensor.value; }

bool fits(TensorSpec const& tensor) {
    std::int64_t const most = kMaxBytes / std::max<std::int64_t>(core::size_of(tensor.data_type), 1);
    auto const count = core::volume(tensor.dim);
    auto const span = core::span_of(tensor.dim, tensor.stride);
    return count && span && *count <= most && *span <= most;
}

}  // namespace

// A tensor of another graph is inferred there: rules on missing values skip it.
void belongs_to_graph(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (!tensor.is_foreign) continue;
        scope.report(tensor, "a tensor that another graph registered", "a tensor of this graph",
                     "make one here with tensor_like() and pass that");
    }
}

void has_data_type(RuleScope const& scope) {
    GraphSpec const& graph = scope.graph();
    Uses const& uses = scope.uses();
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
        TensorSpec const& tensor = graph.tensors[i];
        if (tensor.is_foreign || !uses[i].any() || tensor.data_type != DataType_t::NOT_SET) continue;
        bool const is_unused_result = tensor.is_virtual && !uses[i].is_read();
        scope.report(
            tensor, text("no data type on a ", tensor.is_virtual ? "virtual" : "real", " tensor"),
            "a data type, its own or the graph's default",
            text(is_unused_result ? "call set_output(true) on it if it is a result of the graph; else " : "call ",
                 "set_data_type() on the tensor or ",
                 tensor.is_virtual ? "set_intermediate_data_type()" : "set_io_data_type()", " on the graph"));
    }
}

void has_layout(RuleScope const& scope) {
    GraphSpec const& graph = scope.graph();
    Uses const& uses = scope.uses();
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
        // Results of nodes are inferred; if that fails, the node's own rules report why.
        TensorSpec const& tensor = graph.tensors[i];
        if (tensor.is_foreign || !uses[i].is_read() || !uses[i].writers.empty()) continue;
        if (tensor.dim.empty()) {
            scope.report(tensor, "no dims on a tensor that a node reads", "the size of each dim",
                         "call set_dim() on the tensor");
        } else if (tensor.stride.empty()) {
            scope.report(tensor, text("dims ", tensor.dim, " without strides on a tensor that a node reads"),
                         "the distance between adjacent indices of each dim, in elements",
                         text("call set_stride(); row-major without gaps is ", core::packed_strides(tensor.dim)));
        }
    }
}

void has_rank_in_range(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (tensor.dim.size() <= core::kMaxRank) continue;
        scope.report(tensor, text(tensor.dim.size(), " dims ", tensor.dim), text("at most ", core::kMaxRank, " dims"),
                     "merge adjacent dims");
    }
}

void has_stride_for_each_dim(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (tensor.dim.empty() || tensor.stride.empty() || tensor.stride.size() == tensor.dim.size()) continue;
        scope.report(
            tensor,
            text(tensor.stride.size(), " strides ", tensor.stride, " for ", tensor.dim.size(), " dims ", tensor.dim),
            "one stride for each dim",
            text("call set_stride(); row-major without gaps is ", core::packed_strides(tensor.dim)));
    }
}

void has_positive_dims(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (all_positive(tensor.dim)) continue;
        scope.report(tensor, text("dims ", tensor.dim), "a size of at least 1 in each dim",
                     "skip the graph where a batch, length or head count is empty");
    }
}

void has_no_negative_stride(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (none_negative(tensor.stride)) continue;
        scope.report(tensor, text("strides ", tensor.stride), "strides of at least 0, counted in elements",
                     "point to the lowest address and lay the dim out upwards");
    }
}

void fits_memory(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (!has_regular_layout(tensor) || fits(tensor)) continue;
        scope.report(tensor, text("dims ", tensor.dim, " and strides ", tensor.stride, " of type ", tensor.data_type),
                     "elements and span of at most 2^62 bytes", "check the sizes for a product that overflowed");
    }
}

void has_whole_byte_elements(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (!has_type(tensor) || core::size_of(tensor.data_type) > 0) continue;
        scope.report(tensor, text("data type ", tensor.data_type), "a type whose elements are whole bytes",
                     "unpack the tensor to INT8, HALF or another type of whole bytes");
    }
}

void has_sound_alignment(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        std::int64_t const element = std::max<std::int64_t>(core::size_of(tensor.data_type), 1);
        bool const is_power = tensor.alignment > 0 && std::has_single_bit(static_cast<std::uint64_t>(tensor.alignment));
        if (is_power && tensor.alignment >= element) continue;
        scope.report(tensor, text("an alignment of ", tensor.alignment, " bytes"),
                     text("a power of two of at least ", element, ", the size of an element"),
                     "call set_alignment() with 16, the default");
    }
}

void is_plainly_laid_out(RuleScope const& scope) {
    for (std::size_t i = 0; i < scope.graph().tensors.size(); ++i) {
        TensorSpec const& tensor = scope.graph().tensors[i];
        bool const is_in_place =
            tensor.reordering == TensorReordering_t::F8_128x4 && block_scale_checks::is_block_scale(scope.uses()[i]);
        if (tensor.reordering != TensorReordering_t::NONE && core::is_known(tensor.reordering) && !is_in_place) {
            scope.report(tensor, text("reordering ", tensor.reordering),
                         "reordering NONE, or F8_128x4 on block scales of FP8 attention",
                         "leave out set_reordering_type(), or pass the tensor to sdpa_fp8() as block scales");
        }
        if (tensor.vector_count != 1) {
            scope.report(tensor, text("a vector count of ", tensor.vector_count), "a vector count of 1",
                         "leave out set_vector_count_and_dimension() and give each element its own index");
        }
    }
}

void has_valid_uid(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (tensor.uid.value_or(0) >= 0) continue;
        scope.report(tensor, text("uid ", *tensor.uid), "a uid of at least 0",
                     "call set_uid() with another number, or leave it out to have one assigned");
    }
}

void has_own_uid(RuleScope const& scope) {
    std::map<std::int64_t, TensorSpec const*> owners;
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (!tensor.uid) continue;
        auto const [owner, is_first] = owners.emplace(*tensor.uid, &tensor);
        if (is_first) continue;
        scope.report(tensor, text("uid ", *tensor.uid, ", which '", scope.label(*owner->second), "' has too"),
                     "a uid that no other tensor of the graph has",
                     "call set_uid() with another number, or clear_uid() to have one assigned");
    }
}

void by_value_is_one_element(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (!is_scalar(tensor) || !all_positive(tensor.dim) || core::volume(tensor.dim) == 1) continue;
        scope.report(tensor, text("dims ", tensor.dim, " on a tensor that is passed by value"),
                     "one element, every dim 1",
                     "give it dims of 1, or pass a pointer to its elements with set_is_pass_by_value(false)");
    }
}

void by_value_is_not_virtual(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (!is_scalar(tensor) || !tensor.is_virtual) continue;
        scope.report(tensor, "a virtual tensor that is passed by value",
                     "a tensor that is either computed inside the graph or passed in",
                     "call set_is_virtual(false) to pass it, or set_is_pass_by_value(false) to compute it");
    }
}

void embedded_value_has_own_type(RuleScope const& scope) {
    for (TensorSpec const& tensor : scope.graph().tensors) {
        if (!tensor.value || !has_type(tensor) || tensor.value->type == tensor.data_type) continue;
        scope.report(tensor, text("a value of type ", tensor.value->type, " on a tensor of type ", tensor.data_type),
                     "a value of the tensor's type",
                     "make the scalar from a C++ value of that type and leave out set_data_type()");
    }
}

}  // namespace cudnn_frontend::nodes::tensor_checks
