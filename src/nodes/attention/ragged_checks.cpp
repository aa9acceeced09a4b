#include "nodes/attention/attention_checks.h"

#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_node.h"
#include "nodes/attention/attention_schema.h"
#include "nodes/schema/wording.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

namespace cudnn_frontend::nodes::ragged_checks {
namespace {

bool is_row_port(PortUse const& use) {
    return attention_fields(*use.node) != nullptr && attention::may_be_ragged(attention::operand(use.port->port));
}

// The number of the offset's units in a row, as a fraction in lowest terms.
std::pair<std::int64_t, std::int64_t> counted_rows(TensorSpec const& tensor) {
    std::int64_t const unit = std::max<std::int64_t>(tensor.ragged_offset_multiplier, 1);
    std::int64_t const common = std::gcd(tensor.stride[2], unit);
    return {tensor.stride[2] / common, unit / common};
}

std::string row_text(TensorSpec const& tensor) {
    std::string const elements = text(tensor.stride[2], " elements");
    return tensor.ragged_offset_multiplier == 1 ? elements
                                                : text(elements, ", counted by ", tensor.ragged_offset_multiplier);
}

// The source of the number of rows of the batch entries: the tensor of lengths, and for a page table the size of a
// page.
std::pair<TensorId, std::int64_t> rows_of(GraphSpec const& graph, PortUse const& use) {
    using namespace attention;
    int const port = use.port->port;
    bool const is_table = is_page_table(operand(port)), is_of_keys = is_table || has_key_rows(operand(port));
    auto const tensor_at = [&](Port at) { return use.node->ports[static_cast<std::size_t>(at)]; };
    auto const [lengths, sums] = is_of_keys ? kKeyLengths : kQueryLengths;
    return {tensor_at(sums) != kNoTensor ? tensor_at(sums) : tensor_at(lengths),
            is_table ? page_size(graph, *use.node, port == PageTableK ? K : V) : 0};
}

// The first use of a ragged tensor that does not know about offsets.
PortUse const* other_use(TensorUses const& uses) {
    for (auto const* list : {&uses.readers, &uses.writers}) {
        for (PortUse const& use : *list) {
            if (!is_row_port(use)) return &use;
        }
    }
    return nullptr;
}

// Whether a tensor has an offset that it may keep: all else about it waits until other tensors are without one.
bool may_be_ragged(TensorSpec const& tensor, TensorUses const& uses) {
    auto const is_container = [](PortUse const& use) { return is_paged(*use.node, use.port->port); };
    return tensor.ragged_offset != kNoTensor && other_use(uses) == nullptr &&
           std::ranges::none_of(uses.readers, is_container);
}

void check_offset(RuleScope const& scope, TensorSpec const& tensor, TensorSpec const& offset, TensorUses const& uses) {
    char const* const kFix = "make it with tensor(), fill it before the graph runs, and pass its memory in the pack";
    if (offset.ragged_offset != kNoTensor) {
        return scope.report(tensor,
                            text("the ragged offset '", scope.label(offset), "', which has a ragged offset itself"),
                            "an offset without one", kFix);
    }
    if (offset.is_virtual || offset.is_by_value || offset.is_constant || offset.value || !uses.writers.empty()) {
        return scope.report(tensor, text("the ragged offset '", scope.label(offset), "', which is no input in memory"),
                            "an offset in memory, which the caller fills", kFix);
    }
    bool const is_integer = offset.data_type == DataType_t::INT32 || offset.data_type == DataType_t::INT64;
    if (has_type(offset) && !is_integer) {
        scope.report(tensor, text("the ragged offset '", scope.label(offset), "' of type ", offset.data_type),
                     "INT32 or INT64", "call set_data_type(DataType_t::INT32)");
    }
    if (tensor.dim.size() != 4 || offset.dim.empty()) return;
    core::Dims const wanted = attention::dims_of(attention::shapes::kEnds, {.batches = tensor.dim[0]});
    if (wanted.empty() || offset.dim == wanted) return;
    scope.report(tensor, text("the ragged offset '", scope.label(offset), "' with dims ", offset.dim),
                 text("dims ", wanted, ": where each batch entry starts, and where the last one ends"),
                 "call set_dim() on it with one element more than the batch has entries");
}

}  // namespace

void offsets_are_sound(RuleScope const& scope) {
    GraphSpec const& graph = scope.graph();
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
        TensorSpec const& tensor = graph.tensors[i];
        if (!may_be_ragged(tensor, scope.uses()[i])) continue;
        auto const at = static_cast<std::size_t>(tensor.ragged_offset);
        check_offset(scope, tensor, graph.tensors[at], scope.uses()[at]);
    }
}

void multipliers_are_in_range(RuleScope const& scope) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    for (TensorSpec const& tensor : scope.graph().tensors) {
        std::int64_t const multiplier = tensor.ragged_offset_multiplier;
        if (multiplier < 1 || multiplier > kMost) {
            scope.report(tensor, text("a ragged offset's multiplier of ", multiplier), "a number from 1 to 2^31",
                         "call set_ragged_offset_multiplier() with the elements that the offset counts as one");
        } else if (multiplier != 1 && tensor.ragged_offset == kNoTensor) {
            scope.report(tensor, text("a ragged offset's multiplier of ", multiplier, " without an offset"),
                         "the offset that it belongs to",
                         "call set_ragged_offset(), or leave out set_ragged_offset_multiplier()");
        }
    }
}

void ragged_tensors_fit(RuleScope const& scope) {
    GraphSpec const& graph = scope.graph();
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
        TensorSpec const& tensor = graph.tensors[i];
        if (tensor.ragged_offset == kNoTensor) continue;
        if (PortUse const* const use = other_use(scope.uses()[i])) {
            scope.report(tensor,
                         text("a ragged offset on what node '", label(*use->node), "' has as ", use->port->name),
                         "a tensor that attention reads or writes as Q, K, V, O, "
                         "Stats, Max, Sum_exp, a gradient of these or a page table",
                         "pad the tensor, and leave out set_ragged_offset()");
        } else if (tensor.is_virtual || tensor.is_by_value || tensor.is_constant || tensor.value) {
            scope.report(tensor, "a ragged offset on a tensor that is not in memory", "a real tensor",
                         "call set_output(true) on it, or leave out set_ragged_offset()");
        } else if (may_be_ragged(tensor, scope.uses()[i]) && has_regular_layout(tensor) &&
                   !scope.uses()[i].writers.empty() && !has_rows_of_all_heads(tensor)) {
            scope.report(
                tensor, text("a ragged offset with strides ", tensor.stride, " for dims ", tensor.dim),
                "rows that hold all heads in what a node writes, so that sequences can follow each other",
                text("lay the tensor out as tokens, heads, elements: strides ", rows_first_strides(tensor.dim)));
        }
    }
}

// For rows with other widths an offset means other tokens, unless multipliers are in proportion to them.
void offsets_fit_all_rows(RuleScope const& scope) {
    GraphSpec const& graph = scope.graph();
    std::map<TensorId, TensorSpec const*> first_of;
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
        TensorSpec const& tensor = graph.tensors[i];
        if (!may_be_ragged(tensor, scope.uses()[i]) || !has_regular_layout(tensor)) continue;
        if (tensor.dim.size() != 4 || !has_rows_of_all_heads(tensor)) continue;
        auto const [entry, is_first] = first_of.emplace(tensor.ragged_offset, &tensor);
        TensorSpec const& first = *entry->second;
        if (is_first || counted_rows(tensor) == counted_rows(first)) continue;
        std::string const offset = scope.label(graph.tensors[static_cast<std::size_t>(tensor.ragged_offset)]);
        scope.report(
            tensor,
            text("the ragged offset '", offset, "' with rows of ", row_text(tensor), ", which is also that of '",
                 scope.label(first), "' with rows of ", row_text(first)),
            "an offset for each width of rows, or multipliers in proportion to them",
            "count tokens in the offset, and call set_ragged_offset_multiplier() with the elements of a row on "
            "each tensor; or make another offset tensor");
    }
}

void uses_agree_on_rows(RuleScope const& scope) {
    GraphSpec const& graph = scope.graph();
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
        if (graph.tensors[i].ragged_offset == kNoTensor) continue;
        PortUse const* first = nullptr;
        for (auto const* uses : {&scope.uses()[i].writers, &scope.uses()[i].readers}) {
            for (PortUse const& use : *uses) {
                if (!is_row_port(use)) continue;
                if (first == nullptr) first = &use;
                if (rows_of(graph, use) == rows_of(graph, *first)) continue;
                scope.report(graph.tensors[i],
                             text("a ragged tensor that node '", label(*first->node), "' has as ", first->port->name,
                                  " and node '", label(*use.node), "' as ", use.port->name, ", with other lengths"),
                             "the same lengths, and the same page size of a table, wherever it is used",
                             "make a tensor for each use; they may be given the same memory");
                break;
            }
        }
    }
}

void ragged_has_padding(RuleScope const& scope) {
    if (attention_fields(scope.node())->padding_mask) return;
    for (int const port : attention::kPortsWhere<attention::may_be_ragged>) {
        TensorSpec const* const tensor = scope.tensor(port);
        if (tensor == nullptr || tensor->ragged_offset == kNoTensor) continue;
        scope.report_port(port, "a ragged offset without a padding mask",
                          "the padding mask with seq_len_q and seq_len_kv, which say where each sequence ends",
                          "call set_padding_mask(true), set_seq_len_q() and set_seq_len_kv()");
    }
}

}  // namespace cudnn_frontend::nodes::ragged_checks
