"""A small GPT learns as fast with sdpa_graph.flash_attn as with torch's attention. Needs torch."""

import math
import pathlib
import random

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch
functional = torch.nn.functional

TEXTS = pathlib.Path(random.__file__).parent  # Python's own library, as every machine that runs this has it


def text_of(names):
    """Bytes of programs."""
    return torch.tensor(list(b"".join((TEXTS / name).read_bytes() for name in names)))


def ours(q, k, v):
    from sdpa_graph.flash_attn import flash_attn_func

    return flash_attn_func(q, k, v, causal=True)


def theirs(q, k, v):
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)


class Block(torch.nn.Module):
    def __init__(self, width, heads, attend):
        super().__init__()
        self.heads, self.attend = heads, attend
        self.before_attention, self.before_mlp = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.project, self.merge = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)
        )

    def forward(self, x):
        q, k, v = self.project(self.before_attention(x)).unflatten(-1, (3, self.heads, -1)).unbind(-3)
        x = x + self.merge(self.attend(q, k, v).flatten(-2))
        return x + self.mlp(self.before_mlp(x))


class Model(torch.nn.Module):
    def __init__(self, width, heads, blocks, tokens, attend):
        super().__init__()
        self.letters, self.places = torch.nn.Embedding(256, width), torch.nn.Embedding(tokens, width)
        self.blocks = torch.nn.Sequential(*(Block(width, heads, attend) for _ in range(blocks)))
        self.last, self.guess = torch.nn.LayerNorm(width), torch.nn.Linear(width, 256)

    def forward(self, letters):
        x = self.letters(letters) + self.places.weight[: letters.shape[1]]
        return self.guess(self.last(self.blocks(x)))


def losses(attend, device, steps, width, heads, blocks, batch, tokens, seed=1):
    """The loss of each step, in bfloat16 with weights in FLOAT. The seed is for the weights and the order of the text."""
    torch.manual_seed(seed)
    model = Model(width, heads, blocks, tokens, attend).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    text = text_of(["argparse.py", "random.py", "inspect.py"]).to(device)
    choose, found = random.Random(seed), []
    for _ in range(steps):
        starts = [choose.randrange(len(text) - tokens - 1) for _ in range(batch)]
        rows = torch.stack([text[start : start + tokens + 1] for start in starts])
        with torch.autocast(device, dtype=torch.bfloat16):
            guesses = model(rows[:, :-1])
        loss = functional.cross_entropy(guesses.float().flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.detach())
    return torch.stack(found).cpu()


def check_same_curve(device, **size):
    """The curves of two attentions part no further than rounding makes them: far less than those of two seeds."""
    with_ours, with_theirs = (losses(attend, device, **size) for attend in (ours, theirs))
    assert with_theirs[0] > 5.0 and abs(with_theirs[0] - math.log(256)) < 1.0
    difference = (with_ours - with_theirs).abs()
    print(f"\nlosses with ours {with_ours[-1]:.3f}, with theirs {with_theirs[-1]:.3f}, apart by at most {difference.max():.4f}")
    assert difference[0] < 1e-2
    last = max(1, len(difference) // 10)
    assert abs(with_ours[-last:].mean() - with_theirs[-last:].mean()) < 0.05
    assert difference.max() < 0.25
    assert with_ours[-1] < with_ours[0] - (1.5 if size["steps"] >= 100 else 0.5)


def test_a_small_gpt_on_a_cpu():
    check_same_curve("cpu", steps=12, width=64, heads=4, blocks=2, batch=4, tokens=64)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_small_gpt_on_a_gpu():
    check_same_curve("cuda", steps=200, width=256, heads=4, blocks=4, batch=16, tokens=256)
