// The tensors of a case: inputs filled with seeded data in the case's layouts, outputs poisoned.
#pragma once

#include "reference/oracle/oracle.h"
#include "support/attention_case.h"

namespace sdpa_test {

// Scales and descales of FP8 attention.
struct Factors {
    HostTensor descale_q, descale_k, descale_v, descale_o, descale_d_o, descale_s, descale_d_p;
    HostTensor scale_s, scale_o, scale_d_q, scale_d_k, scale_d_v, scale_d_p;

    std::vector<HostTensor> all() const {
        return {descale_q, descale_k, descale_v, descale_o, descale_d_o, descale_s, descale_d_p,
                scale_s,   scale_o,   scale_d_q, scale_d_k, scale_d_v,   scale_d_p};
    }
};

// Tensors that an option does not use are empty.
struct Inputs {
    HostTensor q, k, v, scale, bias, sink, len_q, len_kv, seed, offset, mask, mask_scale, mask_scale_inv;
    HostTensor modifier_of_queries, modifier_of_keys, block_mask;
    Factors factors;

    std::vector<HostTensor> all() const {
        std::vector<HostTensor> tensors = factors.all();
        for (HostTensor const& tensor : of_all_attention()) tensors.push_back(tensor);
        return tensors;
    }

   private:
    std::vector<HostTensor> of_all_attention() const {
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
    HostTensor o, stats, max, sum_exp, rng_dump, amax_s, amax_o;
    std::vector<HostTensor> all() const { return {o, stats, max, sum_exp, rng_dump, amax_s, amax_o}; }
};

// The inputs that backward gets from the forward pass and from the loss.
struct BackwardInputs {
    HostTensor o, stats, d_o;
    std::vector<HostTensor> all() const { return {o, stats, d_o}; }
};

struct BackwardOutputs {
    HostTensor d_q, d_k, d_v, d_bias, d_sink, rng_dump, amax_d_q, amax_d_k, amax_d_v, amax_d_p;
    std::vector<HostTensor> all() const {
        return {d_q, d_k, d_v, d_bias, d_sink, rng_dump, amax_d_q, amax_d_k, amax_d_v, amax_d_p};
    }
};

Factors make_factors(AttentionCase const& c);  // empty unless attention is FP8
Inputs make_inputs(AttentionCase const& c);
ForwardOutputs make_forward_outputs(AttentionCase const& c);
BackwardInputs make_backward_inputs(AttentionCase const& c, oracle::Forward const& forward);
BackwardOutputs make_backward_outputs(AttentionCase const& c);

oracle::Array to_array(HostTensor const& tensor);
// The dequantized numbers; the same as above without a descale.
oracle::Array to_array(HostTensor const& tensor, HostTensor const& descale);
// Stats holds the natural logarithm times this.
double factor_of_stats(AttentionCase const& c);
double factor_of(HostTensor const& factor);  // 1 if there is none
oracle::Fp8 format_of(DataType_t type);
// The mask that a generated dropout used, as dumped; empty unless the case has one.
oracle::Problem to_problem(AttentionCase const& c, Inputs const& inputs, HostTensor const& rng_dump);

}  // namespace sdpa_test
