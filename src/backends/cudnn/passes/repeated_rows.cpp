#include "cudnn/passes/pass_list.h"

#include "cudnn/passes/draft_attention.h"

#include <map>
#include <utility>

namespace cudnn_frontend::cudnn::passes {
namespace {

using ir::PointwiseOp;
using ir::ValueId;

class RowRepetition {
   public:
    RowRepetition(GraphDraft& draft, bool is_backward) : draft_(draft), is_backward_(is_backward) {}

    // Engines know lengths, which are compared, by their form.
    void visit_own(PointwiseOp& op) {
        if (draft_.value(op.out).type == DataType_t::BOOLEAN || draft_.value(op.out).type == DataType_t::INT32) return;
        for_each_affected(op, [&](ValueId id, std::int64_t rows) {
            auto const known = repeated_.find(id);  // backward reads a dropout mask twice
            return known != repeated_.end() ? known->second : repeated_[id] = repeat(id, rows);
        });
    }

    // None of a modifier's own results lies in memory, where rows can be repeated.
    void visit_modifier(PointwiseOp& op) {
        for_each_affected(op, [&](ValueId id, std::int64_t rows) {
            return draft_.value(id).role == ir::Role::Input ? repeat(id, rows) : id;
        });
    }

   private:
    template <class Replace>
    void for_each_affected(PointwiseOp& op, Replace const& replace) {
        core::Dims const out = draft_.value(op.out).dim;
        for (ValueId& id : op.in) {
            if (id != ir::kNoValue && is_affected(draft_.value(id).dim, out)) id = replace(id, out[2]);
        }
    }

    bool is_affected(core::Dims const& dim, core::Dims const& out) const {
        if (dim.size() != 4 || out.size() != 4 || dim[2] > 1 || out[2] == 1) return false;
        return dim[3] > 1 ? is_backward_ : dim[0] > 1;
    }

    ValueId repeat(ValueId id, std::int64_t rows) {
        ir::Value view = draft_.value(id);
        view.name += "*";
        view.view_of = id;
        view.dim[2] = rows;
        view.stride[2] = 0;
        return draft_.add(std::move(view));
    }

    GraphDraft& draft_;
    bool is_backward_;
    std::map<ValueId, ValueId> repeated_;
};

}  // namespace

GraphDraft repeat_rows(GraphDraft draft) {
    auto const steps = find_score_steps(draft);
    if (!steps) return draft;
    RowRepetition rows(draft, steps->is_backward);
    for (std::size_t i = steps->first; i < steps->end; ++i) {
        auto* const op = std::get_if<PointwiseOp>(&draft.ops[i].body);
        if (op == nullptr) continue;
        if (is_own(draft, op->out)) rows.visit_own(*op);
        else if (i < steps->end_of_modifiers) rows.visit_modifier(*op);
    }
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
