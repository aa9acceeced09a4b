"""torch's own functions on this library."""

import inspect
import pickle
import sys
import threading

import pytest

torch = pytest.importorskip("torch")

from sdpa_graph.torch import install, install_counts, installed, uninstall  # noqa: E402

F = torch.nn.functional
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
OTHER = "cpu" if DEVICE == "cuda" else "cuda"
ORIGINAL = F.scaled_dot_product_attention


def counted(name, call):
    before = install_counts().get(name, 0)
    result = call()
    return result, install_counts().get(name, 0) - before


def refusing_in_backward(refuse):
    """Attention whose gradient is refused."""

    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, k, v):
            return ORIGINAL(q, k, v)

        @staticmethod
        def backward(ctx, grad):
            refuse()

    return lambda q, k, v, **options: Attention.apply(q, k, v)


def losses_of(model, loss_of, rate):
    """The losses of ten steps."""
    model = model.to(DEVICE, torch.bfloat16).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    found = []
    for _ in range(10):
        loss = loss_of(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def inputs(dtype=torch.bfloat16, shape=(2, 3, 40, 16)):
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=generator).to(DEVICE, dtype).requires_grad_() for _ in range(3)]


def test_calls_are_served_and_equal():
    q, k, v = inputs()
    expected = ORIGINAL(q, k, v, is_causal=True)
    grads = torch.autograd.grad(expected.sum(), (q, k, v))
    with installed(devices=[DEVICE]):
        found, served = counted("served", lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True))
        found_grads = torch.autograd.grad(found.sum(), (q, k, v))
    assert served == 1
    torch.testing.assert_close(found, expected, atol=2e-2, rtol=2e-2)
    for a, b in zip(found_grads, grads):
        torch.testing.assert_close(a, b, atol=4e-2, rtol=4e-2)
    assert F.scaled_dot_product_attention is ORIGINAL


def test_calls_whose_backward_is_refused_are_left_to_torch(monkeypatch):
    from sdpa_graph import _core, torch_install

    def refuse(*arguments):
        raise _core.cudnnGraphNotSupportedError("no backward")

    monkeypatch.setattr(torch_install, "_backward_reasons", {})
    monkeypatch.setattr("sdpa_graph.torch.scaled_dot_product_attention", refusing_in_backward(refuse))
    q, k, v = inputs()
    with installed(devices=[DEVICE]):
        call = lambda: F.scaled_dot_product_attention(q, k, v)
        found, left = counted("backward refused: no engine", call)
        assert left == 1 and counted("backward refused: no engine", call)[1] == 1
        torch.testing.assert_close(found, ORIGINAL(q, k, v))
        with torch.no_grad():
            assert counted("served", call)[1] == 1


@pytest.mark.parametrize(
    "change, reason",
    [
        (lambda q, k, v: ((q, k, v), {"attn_mask": torch.ones(40, 40, dtype=torch.bool, device=DEVICE)}), "attn_mask"),
        (lambda q, k, v: ((q[0], k[0], v[0]), {}), "not 4 dims"),
        (lambda q, k, v: ((q.double(), k.double(), v.double()), {}), "of torch.float64"),
        (lambda q, k, v: ((q[..., :12], k[..., :12], v[..., :12]), {}), "head dim"),
    ],
)
def test_what_is_not_served_runs_as_before(change, reason):
    args, options = change(*inputs())
    with installed(devices=[DEVICE]):
        found, passed_on = counted(reason, lambda: F.scaled_dot_product_attention(*args, **options))
    assert passed_on == 1
    torch.testing.assert_close(found, ORIGINAL(*args, **options))


def test_batches_of_functorch_run_as_before():
    q, k, v = (torch.randn(2, 3, 2, 8, 16).to(DEVICE, torch.bfloat16) for _ in range(3))
    with installed(devices=[DEVICE]):
        _, passed_on = counted("functorch", lambda: torch.vmap(F.scaled_dot_product_attention)(q, k, v))
    assert passed_on == 1


def test_tensors_of_other_devices_are_not_served():
    with installed(devices=[OTHER]):
        _, passed_on = counted(f"on {DEVICE}", lambda: F.scaled_dot_product_attention(*inputs()))
    assert passed_on == 1


def test_an_unchanged_model_trains_to_the_same_losses():
    def losses():
        torch.manual_seed(3)
        layer = torch.nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, batch_first=True)
        model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        data = torch.randn(4, 24, 32).to(DEVICE, torch.bfloat16)
        return losses_of(model, lambda model: (model(data).float() - data.float().flip(1)).square().mean(), rate=0.1)

    expected = losses()
    with installed(devices=[DEVICE]):
        found, served = counted("served", losses)
    assert served == 20
    assert found == pytest.approx(expected, rel=2e-2)
    assert found[-1] < found[0]


def test_packed_sequences_are_served():
    varlen = pytest.importorskip("torch.nn.attention.varlen")
    ends = torch.tensor([0, 24, 40], dtype=torch.int32, device=DEVICE)
    q, k, v = (x.transpose(1, 2).reshape(-1, 3, 16)[:40] for x in inputs())
    with installed(devices=[DEVICE]):
        found, served = counted("served", lambda: varlen.varlen_attn(q, k, v, ends, ends, 24, 24))
    assert served == 1
    for first, last in ((0, 24), (24, 40)):
        one = [x[first:last].transpose(0, 1)[None] for x in (q, k, v)]
        torch.testing.assert_close(found[first:last].transpose(0, 1)[None], ORIGINAL(*one), atol=2e-2, rtol=2e-2)


def llama():
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "vocab_size": 128}
    config = transformers.LlamaConfig(**sizes, num_attention_heads=4, num_key_value_heads=2)
    model = transformers.LlamaForCausalLM._from_config(config, attn_implementation="sdpa")
    tokens = torch.randint(128, (3, 33), device=DEVICE)
    return model, lambda model: model(input_ids=tokens, labels=tokens).loss


def vision_transformer():
    timm = pytest.importorskip("timm")
    sizes = {"img_size": 32, "patch_size": 8, "embed_dim": 64, "depth": 2, "num_heads": 4}
    model = timm.models.VisionTransformer(**sizes, num_classes=10)
    images, labels = torch.randn(8, 3, 32, 32).to(DEVICE, torch.bfloat16), torch.arange(8, device=DEVICE)
    return model, lambda model: torch.nn.functional.cross_entropy(model(images).float(), labels)


@pytest.mark.parametrize("make", [llama, vision_transformer])
def test_models_of_other_packages_train_to_the_same_losses(make):
    def losses():
        torch.manual_seed(5)
        return losses_of(*make(), rate=0.005)

    expected = losses()
    with installed(devices=[DEVICE]):
        found, served = counted("served", losses)
    assert served == 20
    assert found == pytest.approx(expected, rel=2e-2)


def is_served():
    q, k, v = inputs()
    return counted("served", lambda: F.scaled_dot_product_attention(q, k, v))[1] == 1


def test_blocks_leave_all_as_it_was_before():
    with installed(DEVICE):
        with installed([OTHER]):
            assert not is_served()
        assert is_served()
    assert F.scaled_dot_product_attention is ORIGINAL
    install(DEVICE)
    try:
        with installed([OTHER]):
            pass
        assert is_served()
    finally:
        uninstall()
    assert F.scaled_dot_product_attention is ORIGINAL


def test_blocks_of_threads():
    done = []

    def run():
        for _ in range(200):
            with installed(DEVICE):
                pass
        done.append(True)

    threads = [threading.Thread(target=run) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert done == [True] * 4
    assert F.scaled_dot_product_attention is ORIGINAL


def test_replacements_by_other_programs_stay(monkeypatch):
    monkeypatch.setattr(F, "scaled_dot_product_attention", ORIGINAL)  # which the end of the test restores
    with installed(DEVICE):
        ours = F.scaled_dot_product_attention
        theirs = lambda *args, **options: ours(*args, **options)  # noqa: E731
        monkeypatch.setattr(F, "scaled_dot_product_attention", theirs)
    assert F.scaled_dot_product_attention is theirs
    assert not is_served()


def test_install_replaces_what_a_program_restored():
    install(DEVICE)
    F.scaled_dot_product_attention = ORIGINAL
    try:
        install(DEVICE)
        assert is_served()
    finally:
        uninstall()
    assert F.scaled_dot_product_attention is ORIGINAL


def test_compiled_functions_are_traced_whole():
    q, k, v = inputs()
    with installed(DEVICE), torch.no_grad():
        run = torch.compile(lambda q, k, v: F.scaled_dot_product_attention(q, k, v), fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(run(q, k, v), ORIGINAL(q, k, v), atol=2e-2, rtol=2e-2)


def test_the_plain_formula_that_a_program_asks_for():
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = inputs()
    with installed(DEVICE), sdpa_kernel(SDPBackend.MATH):
        gradient = torch.autograd.grad(F.scaled_dot_product_attention(q, k, v).sum(), q, create_graph=True)[0]
        torch.autograd.grad(gradient.sum(), q)


@pytest.mark.parametrize("devices", [torch.device(DEVICE), [torch.device(DEVICE)], (OTHER, DEVICE)])
def test_devices_of_torch_are_accepted(devices):
    with installed(devices):
        assert is_served()


@pytest.mark.parametrize("device", ["gpu", "CPU", "cuda:1", torch.device("cuda", 1), "cpu:0", 3, None])
def test_devices_that_are_unknown_or_have_an_index_are_refused(device):
    for given in (device, [DEVICE, device]):
        for function in (install, lambda given: installed(given).__enter__()):
            with pytest.raises(ValueError, match="devices has .*: the kinds of device 'cpu' and 'cuda' are possible"):
                function(given)
    assert F.scaled_dot_product_attention is ORIGINAL


class Scripted(torch.nn.Module):
    def forward(self, q: torch.Tensor):
        return F.scaled_dot_product_attention(q, q, q)


@pytest.mark.filterwarnings("ignore")
def test_scripts_call_torchs_own_operator():
    q, known = inputs()[0], len(torch.jit._builtins._get_builtin_table())
    with installed(DEVICE):
        scripted = torch.jit.script(Scripted())
        torch.jit.script(torch.nn.MultiheadAttention(16, 2))
        torch.testing.assert_close(scripted(q), ORIGINAL(q, q, q))
    assert len(torch.jit._builtins._get_builtin_table()) == known


def test_pickles_name_the_function_that_is_there():
    with installed(DEVICE):
        ours = F.scaled_dot_product_attention
        data = pickle.dumps(ours)
        assert pickle.loads(data) is ours
    assert pickle.loads(data) is ORIGINAL
    assert ours.__name__ == ORIGINAL.__name__ and ours.__doc__ == ORIGINAL.__doc__


def test_signatures_are_those_of_torch():
    varlen = pytest.importorskip("torch.nn.attention.varlen")
    expected = inspect.signature(varlen.varlen_attn)
    with installed(DEVICE):
        assert inspect.signature(varlen.varlen_attn) == expected
