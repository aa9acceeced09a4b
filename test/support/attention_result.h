// The results of attention of which a graph may lack some: they are then virtual.
#pragma once

#include <set>

namespace sdpa_test {

enum class AttentionResult { O, Stats, DQ, DK, DV };
using ResultSet = std::set<AttentionResult>;

}  // namespace sdpa_test
