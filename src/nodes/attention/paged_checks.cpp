#include "nodes/attention/attention_checks.h"

#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes::paged_checks {
namespace {

using namespace attention;
using namespace attention_checks;

// Calls check(port of the container, port of its table) for K and for V, where that is paged.
template <class Check>
void for_each_paged(RuleScope const& scope, Check const& check) {
    for (int const port : {K, V}) {
        if (is_paged(scope.node(), port)) check(port, page_table_port(port));
    }
}

std::optional<std::int64_t> stated_length(RuleScope const& scope) {
    auto const* const forward = std::get_if<SdpaForwardFields>(&scope.node().fields);
    return forward == nullptr ? std::nullopt : forward->max_seq_len_kv;
}

bool is_power_of_two(std::int64_t number) { return number > 0 && (number & (number - 1)) == 0; }

}  // namespace

// With the padding mask, another rule asks for lengths.
void paged_has_lengths(RuleScope const& scope) {
    if (fields(scope).padding_mask) return;
    for_each_paged(scope, [&](int, int table) {
        scope.report_port(table, text(kPort, " without seq_len_q and seq_len_kv"),
                          "both, which say how many keys are in the pages",
                          "call set_padding_mask(true), set_seq_len_q() and set_seq_len_kv()");
    });
}

void tables_have_dims(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor_4d(Q);
    std::int64_t const keys = attention_checks::key_count(scope);
    for_each_paged(scope, [&](int port, int at) {
        TensorSpec const* const table = scope.tensor_4d(at);
        TensorSpec const* const container = scope.tensor_4d(port);
        if (q == nullptr || table == nullptr || container == nullptr || keys < 1) return;
        std::int64_t const page = container->dim[2];
        core::Dims const wanted{q->dim[0], 1, pages_for(keys, page), 1};
        if (table->dim == wanted) return;
        scope.report_port(
            at, text(kPort, " with dims ", table->dim),
            text("dims ", wanted, ", for each batch entry of Q the pages of ", page, " rows that hold ", keys, " keys"),
            "call set_dim() on it with these dims, or set_paged_attention_max_seq_len_kv() with the most keys of an "
            "entry");
    });
}

void page_sizes_fit(RuleScope const& scope) {
    for_each_paged(scope, [&](int port, int) {
        TensorSpec const* const container = scope.tensor_4d(port);
        if (container == nullptr || is_power_of_two(container->dim[2])) return;
        scope.report_port(port, text("pages of ", container->dim[2], " rows in ", kPort),
                          "a power of two as the rows of a page, which are the third dim of the container",
                          text("give ", kPort, " dims {pages, heads, 16, head dim}, for example"));
    });
}

void stated_length_is_positive(RuleScope const& scope) {
    auto const stated = stated_length(scope);
    if (!stated || *stated >= 1 || !has_pages(scope.node())) return;
    scope.report_node(text("set_paged_attention_max_seq_len_kv(", *stated, ")"), "a length of at least 1",
                      "pass the most keys that an entry can have, or leave the call out");
}

void stated_length_agrees(RuleScope const& scope) {
    auto const stated = stated_length(scope);
    if (!stated || *stated < 1 || !has_pages(scope.node())) return;
    for (int const port : {K, V}) {
        TensorSpec const* const tensor = scope.tensor_4d(port);
        if (is_paged(scope.node(), port) || may_lack_table(scope, port)) continue;
        if (tensor == nullptr || tensor->dim[2] == *stated) continue;
        scope.report_port(port,
                          text("set_paged_attention_max_seq_len_kv(", *stated, ") and ", name(scope, port),
                               " with length ", tensor->dim[2]),
                          text("one length for both, since ", name(scope, port), " has no page table"),
                          text("leave the call out, or give ", name(scope, port), " ", *stated, " rows"));
    }
}

void containers_are_not_ragged(RuleScope const& scope) {
    for_each_paged(scope, [&](int port, int) {
        TensorSpec const* const container = scope.tensor(port);
        if (container == nullptr || container->ragged_offset == kNoTensor) return;
        scope.report_port(port, text("a page table and a ragged offset for ", kPort),
                          "one of the two: the table says where each page is",
                          "leave out set_ragged_offset(); a table may have one, which packs its entries");
    });
}

void tables_are_given(RuleScope const& scope) { expect_given_tables(scope, kPortsWhere<is_page_table>); }

}  // namespace cudnn_frontend::nodes::paged_checks
