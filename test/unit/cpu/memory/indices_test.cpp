// Lengths, offsets and page tables that must be copied to the host before they can be checked.
#include "cpu/memory/indices.h"
#include "unit/expand/attention_graphs.h"

#include "support/catch.h"

#include <algorithm>
#include <cstring>
#include <map>

using namespace cudnn_frontend;
using Error = cudnn_frontend::error_object;
using test::AttentionGraph;
using test::Port;

namespace {

// A pack in which only integers have memory; nothing else may be read.
struct RemotePack {
    ir::OpGraph graph;
    std::map<std::string, std::vector<std::int32_t>> integers;
    int fetched = 0;

    Error check() {
        std::vector<void*> pointers;
        static char never_read = 0;
        for (ir::Binding const& binding : graph.bindings()) {
            auto const known = integers.find(graph.value(binding.value).name);
            pointers.push_back(known == integers.end() ? static_cast<void*>(&never_read) : known->second.data());
        }
        fetched = 0;
        return cpu::check_indices_elsewhere(graph, pointers, [&](std::span<std::byte> to, void const* from) -> Error {
            if (from == &never_read) return {error_code_t::GRAPH_EXECUTION_FAILED, "fetched what is no index"};
            std::memcpy(to.data(), from, to.size());
            ++fetched;
            return {};
        });
    }
};

// B = 2, 4 heads, 6 queries of 8 elements, 5 keys.
RemotePack padded(bool is_fused) {
    auto const attention = AttentionGraph::forward().padding();
    return {is_fused ? test::fused(attention) : test::composite(attention),
            {{"seq_len_q", {6, 2}}, {"seq_len_kv", {5, 0}}}};
}

RemotePack packed() {
    auto attention = AttentionGraph::forward().padding();
    auto& q = attention.tensor(Port::Q);
    q.stride = {192, 8, 32, 1};
    nodes::TensorId const offset = attention.add_tensor("offset", DataType_t::INT32, {3, 1, 1, 1});
    attention.tensor(Port::Q).ragged_offset = offset;
    return {test::composite(attention), {{"seq_len_q", {6, 2}}, {"seq_len_kv", {5, 5}}, {"offset", {0, 192, 256}}}};
}

// Cumulative lengths of 4 and 2 queries, which are also Q's ragged offset in tokens.
RemotePack totalled(bool is_fused) {
    auto attention = AttentionGraph::forward().padding();
    attention.node().ports[Port::SeqLenQ] = nodes::kNoTensor;
    attention.connect(Port::CuSeqLenQ, DataType_t::INT32, {3, 1, 1, 1});
    auto& q = attention.tensor(Port::Q);
    q.stride = {192, 8, 32, 1};
    q.ragged_offset = attention.node().ports[Port::CuSeqLenQ];
    q.ragged_offset_multiplier = 32;
    return {is_fused ? test::fused(attention) : test::composite(attention),
            {{"cu_seq_len_q", {0, 4, 6}}, {"seq_len_kv", {5, 0}}}};
}

// 7 pages of 2 rows for K, and 4 pages of 4 rows for V.
RemotePack paged(bool is_fused) {
    auto const attention = AttentionGraph::forward().padding().pages();
    return {is_fused ? test::fused(attention) : test::composite(attention),
            {{"seq_len_q", {6, 2}},
             {"seq_len_kv", {5, 2}},
             {"page_table_k", {6, 0, 3, 1, -9, -9}},
             {"page_table_v", {0, 3, 2, -9}}}};
}

}  // namespace

TEST_CASE("cumulative lengths are fetched, and looked at as lengths and as offsets") {
    for (bool const is_fused : {false, true}) {
        RemotePack totals = totalled(is_fused);
        CHECK(totals.check().get_message() == "");
        CHECK(totals.fetched == 2);
        totals.integers["cu_seq_len_q"] = {0, 7, 8};
        CHECK(totals.check().get_message().starts_with(
            "[run.r01] tensor 'cu_seq_len_q': found cumulative lengths from 0 to 7 for batch entry 0"));
        totals.integers["cu_seq_len_q"] = {0, 4, 3};
        CHECK(totals.check().get_message().starts_with(
            "[run.r01] tensor 'cu_seq_len_q': found cumulative lengths from 4 to 3 for batch entry 1"));
        totals.integers["cu_seq_len_q"] = {-4, 0, 2};
        CHECK(totals.check().get_message().starts_with(
            "[run.r02] tensor 'cu_seq_len_q': found a ragged offset of 'Q' that holds "
            "-4 at batch entry 0; expected offsets that count 32 elements"));
    }
}

TEST_CASE("indices in order pass, and each is fetched once") {
    for (bool const is_fused : {false, true}) {
        RemotePack lengths = padded(is_fused), pages = paged(is_fused);
        CHECK(lengths.check().get_message() == "");
        CHECK(lengths.fetched == 2);
        CHECK(pages.check().get_message() == "");
        CHECK(pages.fetched == 4);
    }
    RemotePack offsets = packed();
    CHECK(offsets.check().get_message() == "");
    CHECK(offsets.fetched == 3);
}

TEST_CASE("a sequence that ends behind the rows that backward was told of is named") {
    for (bool const is_fused : {false, true}) {
        auto const attention = test::packed_backward();
        RemotePack pack{is_fused ? test::fused(attention) : test::composite(attention),
                        {{"seq_len_q", {6, 2}}, {"seq_len_kv", {5, 2}}}};
        pack.integers["offset_64"] = {0, 6 * 64, 8 * 64};  // of Q, O, dO and dQ
        pack.integers["offset_4"] = {0, 6 * 4, 8 * 4};     // of Stats
        pack.integers["offset_32"] = {0, 5 * 32, 7 * 32};  // of K, V, dK and dV
        CHECK(pack.check().get_message() == "");
        pack.integers["offset_32"] = {0, 6 * 32, 9 * 32};
        CHECK(pack.check().get_message() ==
              "[run.r03] tensor 'offset_32': found a sequence of 'K' at batch entry 1 that ends after 8 rows; expected "
              "at "
              "most 7 rows, as the graph bounds them. Try: pass where the last sequence ends to "
              "set_max_total_seq_len_q(), of keys and values to set_max_total_seq_len_kv(); nothing was written.");
        pack.integers["offset_32"] = {0, 5 * 32 + 8, 8 * 32};  // within a row
        CHECK(pack.check().get_message().find("batch entry 1 that ends after 8 rows") != std::string::npos);
        CHECK(pack.check().where.tensor == "offset_32");
        pack.integers["offset_32"] = {0, 9 * 32, 9 * 32};  // where nothing follows
        pack.integers["seq_len_kv"] = {5, 0};
        CHECK(pack.check().get_message() == "");
    }
}

TEST_CASE("a length past the dim is named with its batch entry") {
    for (bool const is_fused : {false, true}) {
        RemotePack pack = padded(is_fused);
        pack.integers["seq_len_kv"][1] = 6;
        auto const error = pack.check();
        CHECK(error.get_code() == error_code_t::INVALID_VALUE);
        CHECK(error.get_message() ==
              "[run.r01] tensor 'seq_len_kv': found the length 6 for batch entry 1; expected lengths from 0 to 5, the "
              "size of the dim that they cut short. Try: correct the entry, or use larger dims; nothing was written.");
    }
}

TEST_CASE("an offset that decreases, or leaves too little room, is named") {
    RemotePack pack = packed();
    pack.integers["offset"][2] = 191;
    CHECK(
        pack.check().get_message() ==
        "[run.r02] tensor 'offset': found a ragged offset of 'Q' that decreases from 192 to 191 at batch entry 1; "
        "expected offsets that count elements, start at 0 or later and leave room for each sequence. Try: correct the "
        "entry; nothing was written.");
    pack.integers["offset"][2] = 255;
    CHECK(pack.check().get_message().find(
              "leaves room for 63 elements, where the sequence spans 64 at batch entry 1") != std::string::npos);
    pack.integers["offset"][0] = -1;
    CHECK(pack.check().get_message().find("holds -1 at batch entry 0") != std::string::npos);
    CHECK(pack.check().where.tensor == "offset");
}

TEST_CASE("the first fault of each tensor is told: of lengths, of offsets, of tables") {
    auto const lines = [](RemotePack& pack) {
        std::string const text = pack.check().get_message();
        CHECK(text.starts_with("2 findings:\n"));
        return std::count(text.begin(), text.end(), '\n');
    };
    for (bool const is_fused : {false, true}) {
        RemotePack lengths = padded(is_fused), pages = paged(is_fused);
        lengths.integers["seq_len_q"] = {-1, 7};
        lengths.integers["seq_len_kv"] = {6, -1};
        CHECK(lengths.check().where.tensor == "seq_len_q");
        CHECK(lengths.check().where.rule == "run.r01");
        CHECK(lengths.check().get_message().find(
                  "\n[run.r01] tensor 'seq_len_kv': found the length 6 for batch entry 0") != std::string::npos);
        CHECK(lines(lengths) == 2);
        pages.integers["page_table_k"][0] = 7;
        pages.integers["page_table_v"][1] = -1;
        CHECK(pages.check().where.tensor == "page_table_k");
        CHECK(pages.check().get_message().find(
                  "\n[run.r04] tensor 'page_table_v': found page -1 at batch entry 0, row 1") != std::string::npos);
        CHECK(lines(pages) == 2);
    }
    auto attention = AttentionGraph::forward().padding();
    test::pack_rows(attention, {Port::Q, Port::K, Port::V, Port::O});
    RemotePack offsets{test::composite(attention), {{"seq_len_q", {6, 2}}, {"seq_len_kv", {5, 5}}}};
    offsets.integers["offset_32"] = offsets.integers["offset_64"] = {0, -2, 0};  // each the offset of two
    CHECK(lines(offsets) == 2);
}

TEST_CASE("a page that is not there is named, and tables are fetched after the lengths that cut them short are known") {
    for (bool const is_fused : {false, true}) {
        RemotePack pack = paged(is_fused);
        pack.integers["page_table_k"][1] = 7;
        CHECK(pack.check().get_message() ==
              "[run.r04] tensor 'page_table_k': found page 7 at batch entry 0, row 1; expected pages 0 to 6, which 'K' "
              "has. Try: correct the entry; nothing was written.");
        pack.integers["seq_len_kv"][0] = 9;
        CHECK(pack.check().get_message().find("found the length 9") != std::string::npos);
        CHECK(pack.fetched == 2);
    }
}

TEST_CASE("a packed table has as many entries as its last offset says") {
    auto attention = AttentionGraph::forward().padding().pages();
    attention.tensor(Port::PageTableK).ragged_offset = attention.add_tensor("offset", DataType_t::INT32, {3, 1, 1, 1});
    RemotePack pack{test::composite(attention),
                    {{"seq_len_q", {6, 2}},
                     {"seq_len_kv", {5, 2}},
                     {"offset", {0, 3, 4}},
                     {"page_table_k", {6, 0, 3, 1}},
                     {"page_table_v", {0, 3, 2, -9}}}};
    CHECK(pack.check().get_message() == "");
    pack.integers["page_table_k"][3] = -2;
    CHECK(pack.check().get_message().find("found page -2 at batch entry 1, row 0") != std::string::npos);
    pack.integers["offset"] = {0, 2, 4};
    CHECK(pack.check().get_message().find("leaves room for 2 elements, where the sequence spans 3") !=
          std::string::npos);
}

TEST_CASE("a packed table that would end past all memory is not fetched") {
    auto attention = AttentionGraph::forward().padding().pages();
    attention.tensor(Port::PageTableK).ragged_offset = attention.add_tensor("offset", DataType_t::INT64, {3, 1, 1, 1});
    std::int64_t const entries[] = {0, 3, std::int64_t{1} << 62};
    std::vector<std::int32_t> halves(6);
    std::memcpy(halves.data(), entries, sizeof(entries));
    RemotePack pack{
        test::composite(attention),
        {{"seq_len_q", {6, 2}}, {"seq_len_kv", {5, 2}}, {"offset", halves}, {"page_table_v", {0, 3, 2, -9}}}};
    CHECK(
        pack.check().get_message() ==
        "[run.r02] tensor 'offset': found a ragged offset of 'page_table_k' that ends at 4611686018427387904 elements; "
        "expected no more elements than memory holds. Try: correct the last entry; nothing was written.");
    CHECK(pack.check().where.tensor == "offset");
}

TEST_CASE("what cannot be fetched is an error") {
    RemotePack pack = padded(false);
    pack.integers.erase("seq_len_q");
    CHECK(pack.check().get_message() == "fetched what is no index");
}
