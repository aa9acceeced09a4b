#include "cudnn/quirks/quirk_rows.h"

#include "nodes/attention/attention_node.h"

namespace cudnn_frontend::quirks {
namespace {

bool is_forward_of_one_row(Facts const& facts) { return is_forward_of_one_query(facts) && facts.keys() > 1; }

bool is_of_batches_and_heads(core::Dims const& dim) { return dim[0] > 1 && dim[1] > 1 && dim[3] == 1; }

bool is_of_batches_and_heads(Facts const& facts, int port) {
    nodes::TensorSpec const* const tensor = facts.tensor(port);
    return tensor != nullptr && is_of_batches_and_heads(tensor->dim);
}

bool shares_any_heads(Facts const& facts) {
    return shares_key_heads(facts) || facts.tensor(Port::V)->dim[1] < facts.tensor(Port::Q)->dim[1];
}

Found mask_of_one_query(Facts const& facts) {
    if (!is_forward_of_one_row(facts) || !is_of_batches_and_heads(facts, Port::DropoutMask)) return {};
    return Violation{Port::DropoutMask, "one query, and one column for each batch entry and head"};
}

Found bias_of_one_query(Facts const& facts) {
    if (!is_forward_of_one_row(facts)) return {};
    std::string const found = "one query, and one column for each batch entry and head";
    if (is_of_batches_and_heads(facts, Port::Bias)) return Violation{Port::Bias, found};
    return wrong_in_modifier(facts, [&](nodes::TensorSpec const& tensor) {
        return is_of_batches_and_heads(tensor.dim) ? found + " in" : "";
    });
}

Found single_score(Facts const& facts) {
    if (!facts.is_backward || facts.queries() != 1 || facts.keys() != 1) return {};
    return Violation{-1, "one query and one key"};
}

// The kernel reads the heads that share keys as rows.
Found heads_of_one_query_in_pages(Facts const& facts) {
    bool const is_of_pages = is_forward_of_one_query(facts) && nodes::has_pages(facts.node);
    if (!is_of_pages || !shares_any_heads(facts)) return {};
    Found found = facts.has(Port::SinkToken) ? Violation{Port::SinkToken, "a sink token"} : per_head_values(facts);
    if (found) found->found += " with one query, pages and shared key heads";
    return found;
}

constexpr Quirk kRows[] = {
    {.id = "cudnn.s14",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "forward of one query: all columns in a dropout mask that differs between batch entries and heads; "
                "cuDNN reads others",
     .fix = "repeat the mask's column",
     .seen = "8 of 8 runs wrong, with 9.14.0 and 9.19.0; more queries than one are right",
     .check = mask_of_one_query},
    {.id = "cudnn.s16",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "forward of one query: all columns in a bias, or in what a modifier reads, that differs between batch "
                "entries and heads; cuDNN reads others",
     .fix = "repeat the column",
     .seen = "21 of 23 runs wrong; backward is right, 8 of 8 with each release. What modifiers read was not run",
     .check = bias_of_one_query},
    {.id = "cudnn.s18",
     .cudnn = {0, 91900},
     .evidence = Evidence::WrongNumbers,
     .verified = {91400, kH200},
     .summary = "cuDNN 9.19 or newer for backward of one query and one key: before, the single score's gradients are "
                "wrong",
     .fix = "install 9.19 or newer; or use dO times the kept probability for dV, and 0 for dQ and dK",
     .seen = "9.19.0: 36 of 36 runs right, 2 without an engine",
     .check = single_score},
    {.id = "cudnn.s89",
     .cudnn = {91500, 0},
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "forward of one query with pages and shared key heads: no sink token, and no per-head values in a "
                "bias, a dropout mask or a modifier; cuDNN reads those of other heads",
     .fix = "give Q and O dims {b, h, 2, d}, with finite numbers in the second row and seq_len_q left at 1; of a bias "
            "or a mask repeat the values for each key; or use Target::cpu()",
     .seen =
         "86 of 100 runs of 9.19.0 wrong, in each of the 22 kernels that support the graph; 58 of them with kernels "
         "that split the keys too. 9.14.0: 28 of 28 right; between the two, and with newer ones, nothing was run",
     .check = heads_of_one_query_in_pages},
};

}  // namespace

std::span<Quirk const> one_query_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
