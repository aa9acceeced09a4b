#include "cudnn/quirks/quirk_rows.h"

#include "nodes/attention/attention_node.h"

namespace cudnn_frontend::quirks {
namespace {

// Backward supports no FLOAT at all, which another limit says.
bool are_floats(Facts const& facts) {
    return !facts.is_backward && facts.tensor(Port::Q)->data_type == DataType_t::FLOAT;
}

Found dropout_of_floats(Facts const& facts) {
    if (!are_floats(facts)) return {};
    if (facts.has(Port::DropoutMask)) return Violation{Port::DropoutMask, "a dropout mask with Q of FLOAT"};
    if (!draws_dropout(facts)) return {};
    return Violation{-1, "a dropout probability with Q of FLOAT"};
}

Found wide_head(int port, std::int64_t dim) {
    if (dim <= 128) return {};
    return Violation{port, "a head dim of " + number(dim) + " with Q of FLOAT"};
}

Found v_dim_of_floats(Facts const& facts) {
    return are_floats(facts) ? wide_head(Port::V, facts.v_dim()) : std::nullopt;
}

// Holds where a multiprocessor has 100 KiB of shared memory.
Found qk_dim_of_floats(Facts const& facts) {
    bool const is_here = facts.here.sm == 86 || facts.here.sm == 89 || kConsumerBlackwell.contain(facts.here.sm);
    return is_here && are_floats(facts) ? wide_head(Port::Q, facts.qk_dim()) : std::nullopt;
}

Found one_query_of_floats(Facts const& facts) {
    if (!are_floats(facts) || facts.queries() != 1 || !shares_key_heads(facts)) return {};
    return Violation{Port::K, "one query of FLOAT, with shared key heads"};
}

Found sink_of_floats(Facts const& facts) {
    if (!are_floats(facts) || !facts.has(Port::SinkToken)) return {};
    return Violation{Port::SinkToken, "a sink token with Q of FLOAT"};
}

Found unified_floats(Facts const& facts) {
    if (!are_floats(facts) || !nodes::is_told_as_unified(facts.graph, facts.node)) return {};
    return Violation{Port::Q, "Q of FLOAT with the unified operation"};
}

constexpr Quirk kRows[] = {
    {.id = "cudnn.s76",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "no dropout with Q of FLOAT: a drawn one has no engine, a mask gives NaN",
     .fix = "convert the tensors to HALF or BFLOAT16, or use Target::cpu()",
     .seen = "a mask: 8 of 8 runs wrong; a drawn one and a mask of one column: no engine in 8 of 8. 9.14.0 the same",
     .check = dropout_of_floats,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s77",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "V with head dims up to 128 where Q is FLOAT: beyond, O is wrong",
     .fix = "convert the tensors to HALF or BFLOAT16, use smaller heads, or Target::cpu()",
     .seen = "8 of 8 runs wrong, 9.14.0 the same: V's columns from 128 on are NaN, those of Q and K are right",
     .check = v_dim_of_floats,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s77",
     .on = kAmpere | kConsumerBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "head dims up to 128 for Q of FLOAT, where a multiprocessor has 100 KiB of shared memory",
     .fix = "convert the tensors to HALF or BFLOAT16, use smaller heads, or Target::cpu()",
     .seen = "asked for 8.9 and 12.0; 8.6 by its size",
     .check = qk_dim_of_floats,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s78",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "one query of FLOAT: as many heads in K as in Q, since O is NaN for others",
     .fix = "convert the tensors to HALF or BFLOAT16, give Q a second row, before the query in a bottom-right mask "
            "without lengths, or use Target::cpu()",
     .seen =
         "6 of 6 runs wrong, 9.14.0 the same: NaN from the second head on; with fewer heads in V alone it is right. "
         "Causality, windows, padding, bias, ALiBi, softcap, Max, ragged tensors and pages of FLOAT are right",
     .check = one_query_of_floats,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s79",
     .cudnn = {0, 91900},
     .evidence = Evidence::NoEngine,
     .verified = {91400, kH200},
     .summary = "cuDNN 9.19 or newer for a sink token with Q of FLOAT",
     .fix = "install 9.19 or newer, convert the tensors to HALF or BFLOAT16, or use Target::cpu()",
     .seen = "9.14.0: 8 of 8 runs past the limit had no engine",
     .check = sink_of_floats,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s83",
     .evidence = Evidence::Crash,
     .verified = {91900, kH200},
     .summary = "no unified operation with Q of FLOAT: its runs end in illegal memory accesses",
     .fix = "set_implementation(AttentionImplementation_t::COMPOSITE), or leave out the options that only the unified "
            "operation has",
     .seen =
         "26 of 26 runs, each in a process of its own, with 9.14.0 and 9.19.0: 18 shapes of 1 to 4 batch entries, 1 "
         "to 16 heads of 32 to 128 and 256 to 4,096 rows, and 8 cases. The same graphs of single operations are "
         "right",
     .check = unified_floats,
     .of = QuirkScope::Wider},
};

}  // namespace

std::span<Quirk const> float_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
