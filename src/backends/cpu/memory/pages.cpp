#include "cpu/memory/indices.h"

#include "core/text.h"
#include "plan/packs/run_rules.h"

namespace cudnn_frontend::cpu {
namespace {

class PageCheck {
   public:
    PageCheck(ir::OpGraph const& graph, Memory const& memory) : graph_(graph), memory_(memory) {}

    void operator()(ir::PagedLoadOp const& op) { check(op.container, op.table, op.length); }
    void operator()(ir::SdpaForwardOp const& op) {
        using namespace attention;
        check(op.operands[K], op.operands[PageTableK], op.operands[SeqLenKv]);
        check(op.operands[V], op.operands[PageTableV], op.operands[SeqLenKv]);
    }
    template <class Other>
    void operator()(Other const&) {}

    error_t error() const { return findings_.to_error(); }

   private:
    void check(ir::ValueId container, ir::ValueId table, ir::ValueId length) {
        if (table == ir::kNoValue || findings_.has(&graph_.value(table))) return;
        std::int64_t const pages = graph_.value(container).dim[0], batches = graph_.value(table).dim[0];
        DataView const view = paged_view(memory_.view(container), memory_.view(table), batches, 0);
        for (std::int64_t b = 0; b < batches; ++b) {
            std::int64_t const keys = memory_.integer(length, b * graph_.value(length).stride[0]);
            for (std::int64_t key = 0; key < keys; key += view.pages.rows) {
                std::int64_t const page = view.pages.page(b, key);
                if (page < 0 || page >= pages) {
                    return add_missing_page(table, container, b, key / view.pages.rows, page);
                }
            }
        }
    }

    void add_missing_page(ir::ValueId table, ir::ValueId container, std::int64_t b, std::int64_t row,
                          std::int64_t page) {
        ir::Value const &tensor = graph_.value(table), &pages = graph_.value(container);
        findings_.add(plan::run_rules::kPages.violation(
                          "", tensor.name, core::text("page ", page, " at batch entry ", b, ", row ", row),
                          core::text("pages 0 to ", pages.dim[0] - 1, ", which '", pages.name, "' has"),
                          "correct the entry; nothing was written"),
                      &tensor);
    }

    ir::OpGraph const& graph_;
    Memory const& memory_;
    core::Findings findings_;  // the first of each table
};

}  // namespace

DataView paged_view(DataView container, DataView const& table, std::int64_t batches, std::int64_t rows) {
    if (!table) return container;
    container.pages = {.table = table.data,
                       .type = table.type,
                       .batch_stride = table.dim[0] == 1 ? 0 : table.stride[0],
                       .page_stride = table.stride[2],
                       .starts = table.starts,
                       .rows = container.dim[2]};
    container.dim[0] = batches;
    container.dim[2] = rows;
    return container;
}

error_t check_pages(ir::OpGraph const& graph, Memory const& memory) {
    PageCheck check(graph, memory);
    for (ir::Op const& op : graph.ops()) std::visit(check, op.body);
    return check.error();
}

}  // namespace cudnn_frontend::cpu
