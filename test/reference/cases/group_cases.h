// Random cases for groups of ranks: what the graph of a rank's part can say, mostly without what groups refuse.
#pragma once

#include "reference/checks/group_run.h"
#include "support/attention_case.h"
#include "support/random.h"

namespace sdpa_test {

// The case, without what the graph of a rank's part cannot say at all.
AttentionCase group_case(AttentionCase c, Random& random);
// The tokens of all batch entries where they are packed, else the rows of one.
std::int64_t queries_of(AttentionCase const& c);
std::int64_t keys_of(AttentionCase const& c);
// Random layouts and a random way; each rank needs a query and a key.
GroupSetup group_setup(AttentionCase const& c, int ranks, Random& random);
// The ranges of tokens that all ranks have together.
int parts_of(GroupSetup const& setup);

bool is_packed(AttentionCase const& c);
// Whether a modifier reads a number for each key.
bool has_documents(AttentionCase const& c);

}  // namespace sdpa_test
