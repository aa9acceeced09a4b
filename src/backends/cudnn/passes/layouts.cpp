#include "cudnn/passes/pass_list.h"

#include "core/data_type.h"
#include "cudnn/passes/draft_attention.h"

#include <numeric>
#include <utility>

namespace cudnn_frontend::cudnn::passes {

using ir::ValueId;

// The views that expansion makes are transposes, of which the column is a row.
GraphDraft tidy_last_strides(GraphDraft draft) {
    for (ValueId id = 0; id < draft.value_count(); ++id) {
        ir::Value const& tensor = draft.value(id);
        if (is_own(draft, id) || tensor.view_of != ir::kNoValue) continue;
        if (tensor.dim.back() != 1 || tensor.stride.back() == 1) continue;
        draft.value(id).stride.back() = 1;
        for (ValueId view = id + 1; view < draft.value_count(); ++view) {
            core::Dims& stride = draft.value(view).stride;
            if (draft.value(view).view_of == id) stride[stride.size() - 2] = 1;
        }
    }
    return draft;
}

GraphDraft align_dropout_masks(GraphDraft draft) {
    ValueId const mask = given_mask(draft);
    if (mask == ir::kNoValue) return draft;
    ir::Value view = draft.value(mask);
    auto const said = draft.alignments.find(draft.storage_of(mask));
    std::int64_t const of_address = said == draft.alignments.end() ? kAlignment : said->second;
    std::int64_t const alignment = std::gcd(of_address, view.dim[3] * core::size_of(view.type));
    if (alignment == of_address) return draft;
    view.name += "@" + std::to_string(alignment);
    view.view_of = mask;
    ValueId const aligned = draft.add(std::move(view));
    draft.alignments.emplace(aligned, alignment);
    for (ir::Op& op : draft.ops) replace_input(op, mask, aligned);
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
