#include "cpu/memory/indices.h"

#include "cpu/memory/index_faults.h"

namespace cudnn_frontend::cpu {
namespace {

class PageCheck {
   public:
    PageCheck(ir::OpGraph const& graph, Memory const& memory) : graph_(graph), memory_(memory) {}

    void operator()(ir::PagedLoadOp const& op) { check(op.container, op.table, op.length); }
    void operator()(ir::SdpaForwardOp const& op) {
        using namespace attention;
        check(op.operands[K], op.operands[Page_table_k], op.operands[Seq_len_kv]);
        check(op.operands[V], op.operands[Page_table_v], op.operands[Seq_len_kv]);
    }
    template <class Other>
    void operator()(Other const&) {}

    error_t error() && { return std::move(faults_).error(); }

   private:
    void check(ir::ValueId container, ir::ValueId table, ir::ValueId length) {
        if (table == ir::kNoValue || faults_.has(table)) return;
        std::int64_t const pages = graph_.value(container).dim[0], batches = graph_.value(table).dim[0];
        View const view = paged_view(memory_.view(container), memory_.view(table), batches, 0);
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
        std::string const& name = graph_.value(table).name;
        ir::Value const& pages = graph_.value(container);
        faults_.add("run.r04", table, name,
                    "Page table '" + name + "' holds page " + std::to_string(page) + " at batch entry " +
                        std::to_string(b) + ", row " + std::to_string(row) + "; '" + pages.name + "' has pages 0 to " +
                        std::to_string(pages.dim[0] - 1) + ". Nothing was written; correct the entry.");
    }

    ir::OpGraph const& graph_;
    Memory const& memory_;
    IndexFaults faults_;
};

}  // namespace

View paged_view(View container, View const& table, std::int64_t batches, std::int64_t rows) {
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
    return std::move(check).error();
}

}  // namespace cudnn_frontend::cpu
