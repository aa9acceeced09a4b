// Score modifiers, each in a few nodes of the public API: those that models use, which are the one list for tests on
// every target and for the benchmark, and some for tests of kernels.
#pragma once

#include "../host_tensor.h"
#include "score_terms.h"

#include <functional>
#include <map>
#include <span>
#include <vector>

namespace sdpa_test {

// The place of a modifier in a graph: the scores' dims, the tensors that it reads, and the terms that its gradient
// reads again.
class ModifierPlace {
   public:
    // Gives the tensors uids from that one on.
    ModifierPlace(Index4 const& scores, std::int64_t first_uid) : scores_(scores), next_uid_(first_uid) {}

    std::int64_t heads() const { return scores_[1]; }
    std::int64_t queries() const { return scores_[2]; }
    std::int64_t keys() const { return scores_[3]; }

    // A tensor with dims of the scores, or 1 where they do not vary, and value(index) in each element.
    using Value = std::function<double(Index4 const& at)>;
    Term floats(Term const& score, char const* varies, Value const& value);
    Term integers(Term const& score, char const* varies, Value const& value);

    std::vector<Term> kept;
    std::map<std::int64_t, HostTensor> tensors;  // by uid

   private:
    Term tensor(Term const& score, char const* varies, DataType_t type, Value const& value);

    Index4 scores_;
    std::int64_t next_uid_;
};

struct NamedModifier {
    char const* name;
    Term (*modify)(Term const& score, ModifierPlace& at);
    // Null where the gradient passes unchanged.
    Term (*gradient)(Term const& gradient, ModifierPlace& at) = nullptr;
};

std::span<NamedModifier const> named_modifiers();
// One of them, and others that no model uses, for the terms of the distance in kernels: a term that is added, one that
// another one reads, and a factor that is finite within the tensors alone.
std::span<NamedModifier const> distance_modifiers();
// A further one, which leaves the scores of the first half of keys as they are.
NamedModifier const& modifier_behind_prefix();

}  // namespace sdpa_test
