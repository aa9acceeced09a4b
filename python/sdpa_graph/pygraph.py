"""The graph of the existing package's Python interface: what a program builds, plans and runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._core import (
    attention_implementation,
    data_type,
    device_properties,
    diagonal_alignment,
    kernel_cache,
    tensor,
)
from .drawn_graph import Drawn_graph
from .graph_picture import graph_picture
from .pictures import Picture
from .report import Report
from .targets import default_target
from .tuning import Plans, Progress, build_all, plans_of

NOT_SET = data_type.NOT_SET
ScoreModifier = Callable[[Any, tensor], tensor]


class pygraph(Drawn_graph):
    """A graph of tensors and nodes. `target` is "cuda", "cpu", "cpu:4" (threads), "reference" or "offline:h100"."""

    def __init__(
        self,
        name: str = "test_graph",
        io_data_type: Any = NOT_SET,
        intermediate_data_type: Any = NOT_SET,
        compute_data_type: Any = NOT_SET,
        handle: int | None = None,
        sm_count: int | None = None,
        sm_version: int | None = None,
        kernel_cache: kernel_cache | None = None,
        device_property: device_properties | None = None,
        is_dynamic_shape_enabled: bool = False,
        is_override_shape_enabled: bool = False,
        *,
        target: str | None = None,
    ) -> None:
        target = target or default_target()
        super().__init__(target, name, io_data_type, intermediate_data_type, compute_data_type, handle)
        self._target = target
        if sm_count is not None:
            self._set_sm_count(sm_count)
        if sm_version is not None:
            self._set_sm_version(sm_version)
        if kernel_cache is not None:
            self._set_kernel_cache(kernel_cache)
        if device_property is not None:
            self._set_device_properties(device_property)
        self._set_dynamic_shape_enabled(is_dynamic_shape_enabled or kernel_cache is not None)
        self._set_override_shape_enabled(is_override_shape_enabled)

    @property
    def target(self) -> str:
        return self._target

    def __reduce__(self) -> Any:
        raise TypeError("a graph cannot be pickled: serialize() stores it with its plan, to_json() without")

    def check(self) -> Report:
        """Every fault of the graph at once; an empty text where there is none."""
        return Report(*self._check())

    def advice(self) -> Report:
        """What is legal and probably not meant."""
        return Report(*self._advice())

    def plans(self) -> Plans:
        """The candidates, best first, once there are some."""
        return plans_of(self)

    def build_all_plans(self, progress: Progress | None = None) -> dict[int, str]:
        """Builds every candidate, one after the other, with a progress bar on a terminal: what autotune() chooses from.
        Returns why the others could not be built, by index. `progress` is called as (done, count, what) instead."""
        return build_all(self, progress)

    def plot(self) -> Picture:
        """The nodes in the order in which they run, with their tensors."""
        return graph_picture(self.to_json())

    def _repr_html_(self) -> str:
        return str(self.plot()) + self.plans()._repr_html_()

    def sdpa(
        self,
        q: tensor,
        k: tensor,
        v: tensor,
        is_inference: bool | None = None,
        attn_scale: float | tensor | None = None,
        bias: tensor | None = None,
        block_mask: tensor | None = None,
        use_alibi_mask: bool = False,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        sliding_window_length: int | None = None,
        diagonal_alignment: diagonal_alignment = diagonal_alignment.TOP_LEFT,
        diagonal_band_left_bound: int | None = None,
        diagonal_band_right_bound: int | None = None,
        dropout: tuple[Any, ...] | None = None,
        rng_dump: tensor | None = None,
        paged_attention_k_table: tensor | None = None,
        paged_attention_v_table: tensor | None = None,
        paged_attention_max_seq_len_kv: int | None = None,
        compute_data_type: Any = NOT_SET,
        name: str = "",
        score_mod: ScoreModifier | None = None,
        generate_stats: bool | None = None,
        implementation: attention_implementation = attention_implementation.AUTO,
        score_max: tensor | None = None,
        score_sum_exp: tensor | None = None,
        sink_token: tensor | None = None,
        unfuse_fma: bool = False,
        **more: Any,
    ) -> list[tensor | None]:
        """Attention forward: [O, Stats], where Stats is None unless it was asked for. `more` are options that the
        existing package does not have: cu_seq_len_q, cu_seq_len_kv, stats_use_log2, max_total_seq_len_q and _kv."""
        options = _options(locals(), "q", "k", "v")
        if (is_inference is None) == (generate_stats is None):
            raise RuntimeError("sdpa: exactly one of generate_stats and is_inference is needed")
        return self._sdpa([q, k, v], options)

    def sdpa_backward(
        self,
        q: tensor,
        k: tensor,
        v: tensor,
        o: tensor,
        dO: tensor,
        stats: tensor,
        attn_scale: float | tensor | None = None,
        bias: tensor | None = None,
        dBias: tensor | None = None,
        use_alibi_mask: bool = False,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        sliding_window_length: int | None = None,
        diagonal_alignment: diagonal_alignment = diagonal_alignment.TOP_LEFT,
        diagonal_band_left_bound: int | None = None,
        diagonal_band_right_bound: int | None = None,
        dropout: tuple[Any, ...] | None = None,
        rng_dump: tensor | None = None,
        use_deterministic_algorithm: bool = False,
        compute_data_type: Any = NOT_SET,
        name: str = "",
        score_mod: ScoreModifier | None = None,
        score_mod_bprop: ScoreModifier | None = None,
        sink_token: tensor | None = None,
        dSink_token: tensor | None = None,
        **more: Any,
    ) -> list[tensor]:
        """Attention backward: [dQ, dK, dV]. `more` as in sdpa()."""
        return self._sdpa_backward([q, k, v, o, dO, stats], _options(locals(), "q", "k", "v", "o", "dO", "stats"))

    def sdpa_fp8(
        self,
        q: tensor,
        k: tensor,
        v: tensor,
        descale_q: tensor,
        descale_k: tensor,
        descale_v: tensor,
        descale_s: tensor | None = None,
        scale_s: tensor | None = None,
        scale_o: tensor | None = None,
        **options: Any,
    ) -> list[tensor | None]:
        """Attention on 8-bit tensors: [O, Stats, Amax_S, Amax_O]. Without descale_s, scale_s and scale_o the others are
        scales for blocks of 32 numbers (MXFP8), and the result is [O, Stats, Amax_O]. Options are those of sdpa()."""
        inputs = [q, k, v, descale_q, descale_k, descale_v]
        per_tensor = [descale_s, scale_s, scale_o]
        given = [scale for scale in per_tensor if scale is not None]
        if given and len(given) < len(per_tensor):
            raise RuntimeError("sdpa_fp8: descale_s, scale_s and scale_o are needed together, or none of them")
        return self._sdpa_fp8(inputs + given, _options(options))

    def sdpa_fp8_backward(self, *inputs: tensor, **options: Any) -> list[tensor]:
        """The gradient of sdpa_fp8(): q, k, v, o, dO, stats, then descale_q, _k, _v, _o, _dO, _s, _dP, scale_s, _dQ,
        _dK, _dV, _dP, which gives [dQ, dK, dV, Amax_dQ, Amax_dK, Amax_dV, Amax_dP]. With scales for blocks: q, q_T, k,
        k_T, v, o_f16, dO_f16, dO, dO_T, stats, descale_q, _q_T, _k, _k_T, _v, _dO, _dO_T, which gives the same without
        Amax_dP."""
        if len(inputs) not in (17, 18):
            raise TypeError(f"sdpa_fp8_backward: {len(inputs)} tensors: 18 are needed, or 17 with scales for blocks")
        return self._sdpa_fp8_backward(list(inputs), _options(options))


def _options(given: dict[str, Any], *others: str) -> dict[str, Any]:
    """The options of a call by name: its local names, but for the graph itself and what is no option."""
    options = {**given, **given.get("more", {})}
    for name in ("self", "more", *others):
        options.pop(name, None)
    _check_bounds(options)
    # In the library an alignment that is set counts, and here the default would undo what a mask says.
    if options.get("diagonal_alignment") == diagonal_alignment.TOP_LEFT:
        del options["diagonal_alignment"]
    return options


def _check_bounds(options: dict[str, Any]) -> None:
    """Options that the existing package refuses together. The library takes them as shorthands of one another."""
    is_causal = options.get("use_causal_mask"), options.get("use_causal_mask_bottom_right")
    if all(is_causal):
        raise RuntimeError("sdpa: use_causal_mask and use_causal_mask_bottom_right are two masks; set one of them")
    if any(is_causal) and options.get("diagonal_band_right_bound") is not None:
        raise RuntimeError("sdpa: a causal mask is a right bound of 0; set either it or diagonal_band_right_bound")
    if options.get("sliding_window_length") is not None and options.get("diagonal_band_left_bound") is not None:
        raise RuntimeError("sdpa: sliding_window_length is the left bound; set either it or diagonal_band_left_bound")
