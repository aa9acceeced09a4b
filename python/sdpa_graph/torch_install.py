"""torch's own functions of attention, served by this library where it can: sdpa_graph.torch.install()."""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

from . import _core
from .torch_arguments import is_transformed

_KINDS = ("cpu", "cuda")
_TYPES = (torch.float16, torch.bfloat16)
_PLAIN = (torch.Tensor, torch.nn.Parameter)
Devices = str | torch.device | Sequence[str | torch.device]
_MOST_WIDTH = 256
_TRIED_ROWS = 64

_lock = threading.RLock()
_installed: tuple[str, ...] | None = None  # the devices of install()
_blocks: list[list[str]] = []  # those of installed(), whose last one counts
_devices: tuple[str, ...] = ()  # those that are served
_originals: dict[tuple[Any, str], tuple[Callable[..., Any], Callable[..., Any]]] = {}  # and what replaces them
_counts: Counter[str] = Counter()
_backward_reasons: dict[tuple[Any, ...], str | None] = {}


def install(devices: Devices = ("cuda",)) -> None:
    """Lets torch.nn.functional.scaled_dot_product_attention, and torch.nn.attention.varlen.varlen_attn where there is one,
    run on this library for tensors of these devices. What it does not serve runs as before: install_counts() says why."""
    global _installed
    with _lock:
        _installed = tuple(_names(devices))
        _replace_or_restore()


def uninstall() -> None:
    """Gives torch its functions back, in blocks of installed(), too."""
    global _installed
    with _lock:
        _installed = None
        _blocks.clear()
        _replace_or_restore()


@contextlib.contextmanager
def installed(devices: Devices = ("cuda",)) -> Iterator[None]:
    """install() for a block, after which all is as before. Blocks may be in each other, and in several threads at a time:
    the one that began last counts."""
    block = _names(devices)
    with _lock:
        _blocks.append(block)
        _replace_or_restore()
    try:
        yield
    finally:
        with _lock:
            _blocks[:] = [other for other in _blocks if other is not block]
            _replace_or_restore()


def _names(devices: Devices) -> list[str]:
    given = devices if isinstance(devices, Iterable) and not isinstance(devices, str) else [devices]
    return [_kind(device) for device in given]


def _kind(device: Any) -> str:
    """Calls are served by kind of device, so that an index is refused and not forgotten."""
    name = str(device)
    if name not in _KINDS or not isinstance(device, (str, torch.device)):
        kinds = " and ".join(map(repr, _KINDS))
        instead = "; all devices of a kind are served, without an index" if ":" in name else ""
        raise ValueError(f"devices has {device!r}: the kinds of device {kinds} are possible{instead}")
    return name


def _replace_or_restore() -> None:
    global _devices
    _devices = tuple(_blocks[-1]) if _blocks else _installed or ()
    if _blocks or _installed is not None:
        _replace(torch.nn.functional, "scaled_dot_product_attention", _attention)
        with contextlib.suppress(ImportError):
            from torch.nn.attention import varlen

            _replace(varlen, "varlen_attn", _varlen)
        return
    for (module, name), (original, replacement) in _originals.items():
        if getattr(module, name) is replacement:  # and not that of another program, which calls ours
            setattr(module, name, original)
        _forget_in_scripts(replacement)
    _originals.clear()


def install_counts() -> dict[str, int]:
    """How many calls were served since the process began, under "served"; and how many torch served, by the reason."""
    return dict(_counts)


def _replace(module: Any, name: str, serve: Callable[..., Any]) -> None:
    original = getattr(module, name)
    if (module, name) in _originals:
        if original is not _originals[module, name][0]:
            return
        _forget_in_scripts(_originals[module, name][1])

    def replacement(*args: Any, **options: Any) -> Any:
        return serve(original, *args, **options)

    # functools.wraps would have torch.jit look for the source of the original, which a builtin does not have. Pickles hold
    # the module and the name, and so find the function that is there when they are read.
    replacement.__module__, replacement.__name__, replacement.__qualname__ = module.__name__, name, name
    replacement.__doc__ = original.__doc__
    with contextlib.suppress(TypeError, ValueError):
        replacement.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
    _originals[module, name] = original, replacement
    _know_in_scripts(replacement, original)
    setattr(module, name, replacement)


def _know_in_scripts(replacement: Callable[..., Any], original: Callable[..., Any]) -> None:
    """Lets torch.jit.script compile calls of torch's own operator, as it does without a replacement."""
    operator = torch.jit._builtins._find_builtin(original)
    if operator is not None:
        torch.jit._builtins._register_builtin(replacement, operator)


def _forget_in_scripts(replacement: Callable[..., Any]) -> None:
    """Torch's table holds the function's id, which another object may get."""
    torch.jit._builtins._get_builtin_table().pop(id(replacement), None)


def _run(reason: str | None, original: Callable[[], Any], ours: Callable[[], Any]) -> Any:
    if reason is None:
        try:
            result = ours()
        except _core.cudnnGraphNotSupportedError as error:
            reason = f"refused: {getattr(error, 'rule', None) or 'no engine'}"
        else:
            _counts["served"] += 1
            return result
    _counts[reason] += 1
    return original()


def _attention(
    original: Callable[..., Any],
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    from .torch import scaled_dot_product_attention

    options = {"dropout_p": dropout_p, "is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    reason = "attn_mask" if attn_mask is not None else _reason(4, query, key, value)
    if reason is None and not 0.0 <= dropout_p < 1.0:
        reason = "dropout_p"
    if reason is None and _is_broadcast(query.shape, key.shape, value.shape, enable_gqa):
        reason = "broadcast"
    if reason is None and torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (query, key, value)):
        reason = _reason_of_backward((query, key, value), options)
    return _run(
        reason,
        lambda: original(query, key, value, attn_mask, **options),
        lambda: scaled_dot_product_attention(query, key, value, **options),
    )


def _reason_of_backward(tensors: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    """Why backward of such a call is refused, though forward may not be; found out by one on other memory."""
    if torch.compiler.is_compiling() or (tensors[0].is_cuda and torch.cuda.is_current_stream_capturing()):
        return None
    query = tensors[0]
    sizes = [(tensor.shape[1], tensor.shape[2] == 1, tensor.shape[3]) for tensor in tensors]
    is_deterministic = torch.are_deterministic_algorithms_enabled()
    key = (query.device, query.dtype, *sizes, options["is_causal"], options["dropout_p"] > 0, is_deterministic)
    if key not in _backward_reasons:
        # The trial has a thread of its own, since hooks of saved tensors, such as those of checkpoints, are a thread's.
        found: list[str | None] = []
        trial = threading.Thread(target=lambda: found.append(_try_backward(tensors, options)))
        trial.start()
        trial.join()
        _backward_reasons[key] = found[0] if found else None
    return _backward_reasons[key]


def _try_backward(tensors: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    from .torch import scaled_dot_product_attention

    device = tensors[0].device
    try:
        with torch.random.fork_rng([device] if device.type == "cuda" else []), torch.enable_grad():
            inputs = [torch.zeros_like(tensor.detach()[:1, :, :_TRIED_ROWS]).requires_grad_() for tensor in tensors]
            result = scaled_dot_product_attention(*inputs, **options)
            torch.autograd.grad(result, inputs, torch.zeros_like(result))
    except _core.cudnnGraphNotSupportedError as error:
        return f"backward refused: {getattr(error, 'rule', None) or 'no engine'}"
    except Exception:  # of memory, for example: the call itself will say
        return None
    return None


def _varlen(original: Callable[..., Any], *args: Any, **options: Any) -> Any:
    from .flash_attn import flash_attn_varlen_func

    bound = inspect.signature(original).bind(*args, **options)
    bound.apply_defaults()
    given = dict(bound.arguments)
    inputs = [given.pop(name) for name in ("query", "key", "value", "cu_seq_q", "cu_seq_k", "max_q", "max_k")]
    is_causal, window = given.pop("is_causal", False), tuple(given.pop("window_size", None) or (-1, -1))
    scale = given.pop("scale", None)
    more = [name for name, found in given.items() if found is not None and found is not False]
    reason = more[0] if more else _reason(3, *inputs[:3])
    is_deterministic = torch.are_deterministic_algorithms_enabled()
    return _run(
        reason,
        lambda: original(*args, **options),
        lambda: flash_attn_varlen_func(
            *inputs, softmax_scale=scale, causal=is_causal, window_size=window, deterministic=is_deterministic
        ),
    )


def _is_broadcast(query: torch.Size, key: torch.Size, value: torch.Size, enable_gqa: bool) -> bool:
    has_one_batch = query[0] == key[0] == value[0]
    return not (has_one_batch and (enable_gqa or query[1] == key[1] == value[1]))


def _reason(dims: int, query: Any, key: Any, value: Any) -> str | None:
    """Why torch serves the call; None if this library does."""
    if not all(type(tensor) in _PLAIN for tensor in (query, key, value)):
        return "a subclass of Tensor"
    if not torch.compiler.is_compiling():
        if any(is_transformed(tensor) for tensor in (query, key, value)):
            return "functorch"
        if torch._C._get_tracing_state() is not None:
            return "traced"
    if query.device.type not in _devices:
        return f"on {query.device.type}"
    if query.dtype not in _TYPES or query.dtype != key.dtype or query.dtype != value.dtype:
        return f"of {query.dtype}"
    if not query.dim() == key.dim() == value.dim() == dims:
        return f"not {dims} dims"
    if any(tensor.shape[-1] % 8 or not 0 < tensor.shape[-1] <= _MOST_WIDTH for tensor in (query, key, value)):
        return "head dim"
    if 0 in query.shape or 0 in key.shape:
        return "no elements"
    # The functions behind those of torch.backends.cuda, which torch.compile does not trace.
    if not (torch._C._get_flash_sdp_enabled() or torch._C._get_cudnn_sdp_enabled()):
        return "fused attention is disabled"
    return None
