// A program in the style of those that call PyTorch's functions: <sdpa_graph/flash_torch.h> in place of its header.
#include <sdpa_graph/flash_torch.h>

#include <ATen/ATen.h>

#include <cmath>
#include <cstdio>
#include <string>

namespace {

int failures = 0;

void expect(bool holds, char const* what) {
    if (holds) return;
    std::printf("does not hold: %s\n", what);
    ++failures;
}

bool is_close(at::Tensor const& found, at::Tensor const& wanted) {
    return found.sizes() == wanted.sizes() && at::allclose(found.to(at::kDouble), wanted, 0.02, 0.02);
}

// The same function by PyTorch's own operations, in double, with gradients.
struct Plain {
    at::Tensor q, k, v;

    static at::Tensor leaf(at::Tensor const& tensor) { return tensor.to(at::kDouble).requires_grad_(true); }
    Plain(at::Tensor const& q_, at::Tensor const& k_, at::Tensor const& v_) : q(leaf(q_)), k(leaf(k_)), v(leaf(v_)) {}

    at::Tensor scores(double scale) const {
        at::Tensor const x = at::matmul(q.transpose(1, 2), k.transpose(1, 2).transpose(2, 3)) * scale;
        at::Tensor const ones = at::ones({x.size(2), x.size(3)}, at::kBool);
        return x.masked_fill(ones.triu(x.size(3) - x.size(2) + 1), -INFINITY);
    }
    at::Tensor out(double scale) const {
        return at::matmul(at::softmax(scores(scale), -1), v.transpose(1, 2)).transpose(1, 2);
    }
};

at::Tensor random(at::IntArrayRef dim) { return at::randn(dim, at::kFloat).to(at::kBFloat16); }

void check_padded() {
    at::Tensor const q = random({2, 5, 3, 16}), k = random({2, 9, 3, 16}), v = random({2, 9, 3, 16});
    at::Tensor const dout = random({2, 5, 3, 16});
    std::optional<at::Tensor> none;
    auto const [out, q_padded, k_padded, v_padded, lse, state, unused, p] =
        pytorch_flash::mha_fwd(q, k, v, none, none, 0.0f, 0.25f, true, -1, -1, 0.0f, false, std::nullopt);
    Plain const plain(q, k, v);
    expect(is_close(out, plain.out(0.25)), "out is that of PyTorch's operations");
    expect(is_close(lse, at::logsumexp(plain.scores(0.25), -1)), "softmax_lse is that of PyTorch's operations");
    expect(q_padded.is_same(q) && !p.defined() && state.numel() == 2 && unused.dim() == 0, "the other results");
    auto const [dq, dk, dv, softmax_d] = pytorch_flash::mha_bwd(dout, q, k, v, out, lse, none, none, none, none, 0.0f,
                                                                0.25f, true, -1, -1, 0.0f, false, state, unused);
    plain.out(0.25).backward(dout.to(at::kDouble));
    expect(is_close(dq, plain.q.grad()) && is_close(dk, plain.k.grad()) && is_close(dv, plain.v.grad()),
           "gradients are those of PyTorch's operations");
    expect(softmax_d.sizes() == at::IntArrayRef({2, 3, 128}), "the shape of softmax_d");
}

void check_packed() {
    at::Tensor const q = random({7, 2, 16}), k = random({9, 2, 16}), v = random({9, 2, 16});
    at::Tensor const totals_q = at::tensor({0, 3, 7}, at::kInt), totals_k = at::tensor({0, 5, 9}, at::kInt);
    std::optional<at::Tensor> none, given = at::empty_like(q);
    auto const results = pytorch_flash::mha_varlen_fwd(q, k, v, given, totals_q, totals_k, none, none, none, 4, 5, 0.0f,
                                                       0.25f, false, true, -1, -1, 0.0f, false, std::nullopt);
    Plain const last(q.slice(0, 3, 7).unsqueeze(0), k.slice(0, 5, 9).unsqueeze(0), v.slice(0, 5, 9).unsqueeze(0));
    expect(std::get<0>(results).is_same(*given), "out is the tensor that was passed");
    expect(is_close(given->slice(0, 3, 7).unsqueeze(0), last.out(0.25)), "the second sequence");
    expect(std::get<4>(results).sizes() == at::IntArrayRef({2, 7}), "the shape of softmax_lse");
}

void check_dropout() {
    at::Tensor const q = random({1, 64, 2, 16});
    std::optional<at::Tensor> none;
    auto const draw = [&] {
        return std::get<0>(pytorch_flash::mha_fwd(q, q, q, none, none, 0.5f, 0.25f, false, -1, -1, 0.0f, true, {}));
    };
    at::manual_seed(5);
    at::Tensor const first = draw(), second = draw();
    at::manual_seed(5);
    expect(!first.equal(second), "each call draws numbers of its own");
    expect(first.equal(draw()), "the seed decides what is dropped");
}

void check_errors() {
    at::Tensor const q = random({1, 4, 2, 16}).to(at::kFloat);
    std::optional<at::Tensor> none;
    try {
        static_cast<void>(pytorch_flash::mha_fwd(q, q, q, none, none, 0.0f, 1.0f, false, -1, -1, 0.0f, false, {}));
        expect(false, "FLOAT is refused");
    } catch (c10::Error const& error) {
        bool const has_rule = std::string(error.what()).find("[flash.c05]") != std::string::npos;
        expect(has_rule, "the error names the rule");
    }
}

}  // namespace

int main() {
    at::manual_seed(1);
    check_padded();
    check_packed();
    check_dropout();
    check_errors();
    return failures;
}
