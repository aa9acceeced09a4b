// How a group of the GPU suite is made: a change of a plain case, at several shapes and in two types.
#pragma once

#include "gpu/cases/gpu_cases.h"

#include <functional>

namespace sdpa_test {

using Change = std::function<void(AttentionCase&)>;

struct Shape {
    std::int64_t b, h_q, h_k, h_v, s_q, s_kv, d_qk, d_v;
};

AttentionCase base_case(Shape const& shape, DataType_t type, std::uint64_t seed);
CaseGroup group(std::string name, Change const& change, std::string limit = {}, std::string backward_limit = {});

void lengths(AttentionCase& c);
void packed(AttentionCase& c);  // sequences one after the other
void bottom_right(AttentionCase& c);
void dropout(AttentionCase& c);
void masked_dropout(AttentionCase& c);
Change one_number(bool b, bool h);      // one query, and a mask of a number for all, or for each batch entry or head
Change biased(bool b, bool h, bool q);  // with a bias that has so many of the scores' dims, and its gradient
Change scaled(Scale scale);
Change laid_out(Layout layout);
Change head_dims(std::int64_t qk, std::int64_t v);
DataType_t other_half(DataType_t type);  // BFLOAT16 for HALF, and the other way round
Change decode(std::int64_t keys);        // one query
Change modified(oracle::Modify modifier, float number = 1.0f);
Change paged(std::int64_t k_rows, std::int64_t v_rows);
void sink(AttentionCase& c);
void low_scores(AttentionCase& c);                        // around -128
Change with_scores(Layout layout, Change const& change);  // a bias or a dropout mask so laid out
Index4 of_heads(AttentionCase const& c);                  // dims of a number for each head

}  // namespace sdpa_test
