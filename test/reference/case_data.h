// The tensors of a case: inputs filled with seeded data in the case's layouts, outputs poisoned.
#pragma once

#include "reference/oracle.h"
#include "support/attention_case.h"

namespace sdpa_test {

// Tensors that an option does not use are empty.
struct Inputs {
    HostTensor q, k, v, scale, bias, sink, len_q, len_kv, seed, offset, mask, mask_scale, mask_scale_inv;
    HostTensor modifier_of_queries, modifier_of_keys, block_mask;

    std::vector<HostTensor> all() const {
        return {q,
                k,
                v,
                scale,
                bias,
                sink,
                len_q,
                len_kv,
                seed,
                offset,
                mask,
                mask_scale,
                mask_scale_inv,
                modifier_of_queries,
                modifier_of_keys,
                block_mask};
    }
};

struct ForwardOutputs {
    HostTensor o, stats, max, sum_exp, rng_dump;
    std::vector<HostTensor> all() const { return {o, stats, max, sum_exp, rng_dump}; }
};

// What the backward pass gets from the forward pass and from the loss.
struct BackwardInputs {
    HostTensor o, stats, d_o;
    std::vector<HostTensor> all() const { return {o, stats, d_o}; }
};

struct BackwardOutputs {
    HostTensor d_q, d_k, d_v, d_bias, d_sink, rng_dump;
    std::vector<HostTensor> all() const { return {d_q, d_k, d_v, d_bias, d_sink, rng_dump}; }
};

Inputs make_inputs(AttentionCase const& c);
ForwardOutputs make_forward_outputs(AttentionCase const& c);
BackwardInputs make_backward_inputs(AttentionCase const& c, oracle::Forward const& forward);
BackwardOutputs make_backward_outputs(AttentionCase const& c);

oracle::Array to_array(HostTensor const& tensor);
// The mask that a generated dropout used, as dumped; empty unless the case has one.
oracle::Problem to_problem(AttentionCase const& c, Inputs const& inputs, HostTensor const& rng_dump);

}  // namespace sdpa_test
