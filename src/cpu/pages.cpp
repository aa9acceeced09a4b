#include "cpu/pages.h"

namespace cudnn_frontend::inline v1::cpu {
namespace {

class PageCheck {
   public:
    PageCheck(ir::OpGraph const& graph, Memory const& memory) : graph_(graph), memory_(memory) {}

    error_t operator()(ir::PagedLoadOp const& op) const { return check(op.container, op.table, op.length); }
    error_t operator()(ir::SdpaForwardOp const& op) const {
        SDPA_GRAPH_TRY(check(op.k, op.page_table_k, op.seq_len_kv));
        return check(op.v, op.page_table_v, op.seq_len_kv);
    }
    template <class Other>
    error_t operator()(Other const&) const {
        return {};
    }

   private:
    error_t check(ir::ValueId container, ir::ValueId table, ir::ValueId length) const {
        if (table == ir::kNoValue) return {};
        std::int64_t const pages = graph_.value(container).dim[0], batches = graph_.value(table).dim[0];
        View const view = paged_view(memory_.view(container), memory_.view(table), batches, 0);
        for (std::int64_t b = 0; b < batches; ++b) {
            std::int64_t const keys = memory_.integer(length, b * graph_.value(length).stride[0]);
            for (std::int64_t key = 0; key < keys; key += view.pages.rows) {
                std::int64_t const page = view.pages.page(b, key);
                if (page < 0 || page >= pages) return no_such_page(table, container, b, key / view.pages.rows, page);
            }
        }
        return {};
    }

    error_t no_such_page(ir::ValueId table, ir::ValueId container, std::int64_t b, std::int64_t row,
                         std::int64_t page) const {
        std::string const& name = graph_.value(table).name;
        ir::Value const& pages = graph_.value(container);
        return {error_code_t::INVALID_VALUE,
                "Page table '" + name + "' holds page " + std::to_string(page) + " at batch entry " +
                    std::to_string(b) + ", row " + std::to_string(row) + "; '" + pages.name + "' has pages 0 to " +
                    std::to_string(pages.dim[0] - 1) + ". Nothing was written; correct the entry.",
                {"", "", name}};
    }

    ir::OpGraph const& graph_;
    Memory const& memory_;
};

}  // namespace

View paged_view(View container, View const& table, std::int64_t batches, std::int64_t rows) {
    if (!table) return container;
    container.pages = {.table = table.data,
                       .type = table.type,
                       .batch_stride = table.dim[0] == 1 ? 0 : table.stride[0],
                       .page_stride = table.stride[2],
                       .starts = table.starts,
                       .starts_type = table.starts_type,
                       .starts_unit = table.starts_unit,
                       .rows = container.dim[2]};
    container.dim[0] = batches;
    container.dim[2] = rows;
    return container;
}

error_t check_pages(ir::OpGraph const& graph, Memory const& memory) {
    PageCheck const check(graph, memory);
    for (ir::Op const& op : graph.ops()) SDPA_GRAPH_TRY(std::visit(check, op.body));
    return {};
}

}  // namespace cudnn_frontend::inline v1::cpu
