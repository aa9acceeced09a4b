// A program in the style of those that call NATTEN's functions on PyTorch's tensors.
#include <sdpa_graph/neighborhood_torch.h>

#include <ATen/ATen.h>

#include <cstdio>
#include <string>

namespace {

using namespace sdpa_graph::neighborhood_torch;

int failures = 0;

void expect(bool holds, char const* what) {
    if (holds) return;
    std::printf("does not hold: %s\n", what);
    ++failures;
}

bool is_close(at::Tensor const& found, at::Tensor const& wanted) {
    return found.sizes() == wanted.sizes() && at::allclose(found.to(at::kDouble), wanted, 1e-4, 1e-4);
}

// Windows as large as both axes are plain attention, {b, height, width, h, d}.
struct Plain {
    at::Tensor q, k, v;

    static at::Tensor leaf(at::Tensor const& tensor) { return tensor.to(at::kDouble).requires_grad_(true); }
    at::Tensor scores() const {
        auto const heads_first = [](at::Tensor const& x) { return x.flatten(1, 2).transpose(1, 2); };
        return at::matmul(heads_first(q), heads_first(k).transpose(2, 3)) * 0.5;
    }
    at::Tensor out() const {
        at::Tensor const weighed = at::matmul(at::softmax(scores(), -1), v.flatten(1, 2).transpose(1, 2));
        return weighed.transpose(1, 2).reshape(q.sizes());
    }
};

void check_fused() {
    at::IntArrayRef const dim({2, 3, 4, 2, 8});
    at::Tensor const q = at::randn(dim), k = at::randn(dim), v = at::randn(dim), dout = at::randn(dim);
    at::Tensor const out = at::empty(dim), lse = at::empty({2, 3, 4, 2});
    na2d_forward(out, q, k, v, std::nullopt, lse, {3, 4}, {1, 1}, {false, false}, 0.5f, {8, 8}, {8, 8});
    Plain const plain{Plain::leaf(q), Plain::leaf(k), Plain::leaf(v)};
    expect(is_close(out, plain.out()), "output is that of PyTorch's operations");
    expect(is_close(lse.flatten(1, 2).transpose(1, 2), at::logsumexp(plain.scores(), -1)),
           "logsumexp is that of PyTorch's operations");
    at::Tensor const dq = at::empty(dim), dk = at::empty(dim), dv = at::empty(dim);
    na2d_backward(dq, dk, dv, q, k, v, out, dout, lse, {3, 4}, {1, 1}, {false, false}, 0.5f, {8, 8}, {8, 8}, {1, 1},
                  false);
    plain.out().backward(dout.to(at::kDouble));
    expect(is_close(dq, plain.q.grad()) && is_close(dk, plain.k.grad()) && is_close(dv, plain.v.grad()),
           "gradients are those of PyTorch's operations");
}

void check_products() {
    at::Tensor const q = at::randn({2, 2, 5, 8}), k = at::randn({2, 2, 5, 8}), attn = at::empty({2, 2, 5, 5});
    na1d_qk_forward(attn, q, k, std::nullopt, {5}, {1}, {false});
    expect(is_close(attn, at::matmul(q, k.transpose(2, 3)).to(at::kDouble)), "attn has all products");
    at::Tensor const out = at::empty({2, 2, 5, 8});
    na1d_av_forward(out, attn, k, {5}, {1}, {false});
    expect(is_close(out, at::matmul(attn, k).to(at::kDouble)), "output has all sums");
    at::Tensor const dattn = at::empty_like(attn), dv = at::empty_like(k), dq = at::empty_like(q),
                     dk = at::empty_like(k), dbias = at::empty({2, 9});
    na1d_av_backward(dattn, dv, out, attn, k, {5}, {1}, {false});
    expect(is_close(dv, at::matmul(attn.transpose(2, 3), out).to(at::kDouble)), "d_value has all sums");
    na1d_qk_backward(dq, dk, dbias, dattn, q, k, {5}, {1}, {false});
    expect(is_close(dq, at::matmul(dattn, k).to(at::kDouble)), "d_query has all sums");
    expect(is_close(dbias.select(1, 4), dattn.diagonal(0, 2, 3).sum({0, 2}).to(at::kDouble)),
           "d_rel_pos_bias has the sum of each distance");
}

void check_error() {
    at::Tensor const x = at::randn({1, 1, 5, 8});
    try {
        na1d_av_forward(x, at::randn({1, 1, 5, 4}), x, {4}, {1}, {false});
        expect(false, "what is refused throws");
    } catch (c10::Error const& error) {
        expect(std::string(error.what()).find("[na.c17]") != std::string::npos, "the error names its rule");
    }
}

}  // namespace

int main() {
    check_fused();
    check_products();
    check_error();
    return failures;
}
