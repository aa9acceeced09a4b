// Valid calls of the functions, which tests change in one place.
#pragma once

#include "support/buffers.h"

#include <sdpa_graph/neighborhood.h>

#include <array>
#include <numeric>
#include <vector>

namespace neighborhood_test {

using namespace sdpa_test;
namespace na = sdpa_graph::neighborhood;
using cudnn_frontend::error_object;

template <std::size_t Rank>
na::Tuple<Rank> all(int value) {
    na::Tuple<Rank> tuple;
    tuple.fill(value);
    return tuple;
}

// Two batch entries, two heads of 8, windows of three along each axis.
template <std::size_t Rank>
struct Example {
    explicit Example(DataType_t of = DataType_t::FLOAT, std::vector<std::int64_t> const& axes = default_space())
        : type(of), space(axes) {
        Random random(Rank);
        for (Buffer* const buffer : {&q, &k, &v, &dout}) *buffer = random_buffer(random, heads_last(8));
        for (Buffer* const buffer : {&out, &dq, &dk, &dv}) *buffer = Buffer(type, heads_last(8));
        for (Buffer* const buffer : {&product_q, &product_k, &product_v, &product_dout})
            *buffer = random_buffer(random, heads_first(8));
        for (Buffer* const buffer : {&product_out, &product_dq, &product_dk, &product_dv})
            *buffer = Buffer(type, heads_first(8));
        lse = Buffer(DataType_t::FLOAT, without_last(heads_last(1)));
        set_kernel(all<Rank>(3));
    }

    // Makes the tensors anew that depend on the kernel.
    void set_kernel(na::Tuple<Rank> const& sizes) {
        Random random(7);
        kernel = sizes;
        std::int64_t slots = 1;
        Dims distances{2};
        for (int const size : sizes) {
            slots *= size;
            distances.push_back(2 * size - 1);
        }
        attn = random_buffer(random, heads_first(slots));
        dattn = random_buffer(random, heads_first(slots));
        bias = random_buffer(random, distances);
        dbias = Buffer(type, distances);
    }

    static std::vector<std::int64_t> default_space() {
        if constexpr (Rank == 1) return {9};
        if constexpr (Rank == 2) return {5, 6};
        return {3, 4, 5};
    }
    static Dims without_last(Dims dim) {
        dim.pop_back();
        return dim;
    }
    Dims heads_last(std::int64_t last) const {
        Dims dim{2};
        dim.insert(dim.end(), space.begin(), space.end());
        dim.insert(dim.end(), {2, last});
        return dim;
    }
    Dims heads_first(std::int64_t last) const {
        Dims dim{2, 2};
        dim.insert(dim.end(), space.begin(), space.end());
        dim.push_back(last);
        return dim;
    }
    Buffer random_buffer(Random& random, Dims const& dim) const {
        return Buffer::random(random, type, dim, sdpa_graph::row_major(dim));
    }
    na::Optional_tensor bias_if_wanted() const { return has_bias ? na::Optional_tensor(bias.view()) : std::nullopt; }

    error_object forward() {
        na::Optional_tensor const sums = has_lse ? na::Optional_tensor(lse.view()) : std::nullopt;
        return na::na_forward<Rank>(out.view(), q.view(), k.view(), v.view(), bias_if_wanted(), sums, kernel, dilation,
                                    is_causal, scale, query_tiles, key_tiles, place);
    }
    error_object backward() {
        return na::na_backward<Rank>(dq.view(), dk.view(), dv.view(), q.view(), k.view(), v.view(), out.view(),
                                     dout.view(), lse.view(), kernel, dilation, is_causal, scale, query_tiles,
                                     key_tiles, splits, true, place);
    }
    error_object qk() {
        return na::na_qk_forward<Rank>(attn.view(), product_q.view(), product_k.view(), bias_if_wanted(), kernel,
                                       dilation, is_causal, place);
    }
    error_object qk_backward() {
        na::Optional_tensor const d_bias = has_bias ? na::Optional_tensor(dbias.view()) : std::nullopt;
        return na::na_qk_backward<Rank>(product_dq.view(), product_dk.view(), d_bias, dattn.view(), product_q.view(),
                                        product_k.view(), kernel, dilation, is_causal, place);
    }
    error_object av() {
        return na::na_av_forward<Rank>(product_out.view(), attn.view(), product_v.view(), kernel, dilation, is_causal,
                                       place);
    }
    error_object av_backward() {
        return na::na_av_backward<Rank>(dattn.view(), product_dv.view(), product_dout.view(), attn.view(),
                                        product_v.view(), kernel, dilation, is_causal, place);
    }

    DataType_t type;
    std::vector<std::int64_t> space;
    Buffer q, k, v, dout, out, dq, dk, dv, lse;
    Buffer product_q, product_k, product_v, product_dout, product_out, product_dq, product_dk, product_dv;
    Buffer attn, dattn, bias, dbias;
    bool has_bias = false, has_lse = true;
    na::Tuple<Rank> kernel{}, dilation = all<Rank>(1);
    na::Boolean_tuple<Rank> is_causal{};
    float scale = 0.4f;
    na::Tuple<Rank> query_tiles = all<Rank>(8), key_tiles = all<Rank>(8), splits = all<Rank>(1);
    sdpa_graph::Place place;
};

}  // namespace neighborhood_test
