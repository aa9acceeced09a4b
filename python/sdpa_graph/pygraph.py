"""The graph of the existing package's Python interface, which a program builds, plans and runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._core import (
    attention_implementation,
    cuda_graph_retention,
    data_type,
    device_properties,
    diagonal_alignment,
    kernel_cache,
    tensor,
)
from .attention_options import check_stats, options_of
from .drawn_graph import Drawn_graph
from .fp8_methods import Fp8_methods
from .graph_picture import graph_picture
from .missing_nodes import Missing_nodes
from .pictures import Picture
from .report import Explanation, Report, Verification
from .targets import default_target
from .tuning import Plans, Progress, build_all, plans_of

NOT_SET = data_type.NOT_SET
ScoreModifier = Callable[[Any, tensor], tensor]


class pygraph(Drawn_graph, Fp8_methods, Missing_nodes):
    """A graph of tensors and nodes. `target` is "cuda", "cpu", "cpu:4" (threads), "reference" or "offline:h100".
    cuda_graph_retention and is_cuda_graph_replay_expected are the existing package's; they have no effect here."""

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
        cuda_graph_retention: cuda_graph_retention | None = None,
        *,
        is_cuda_graph_replay_expected: bool = False,
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
        """Lists every fault of the graph at once; the text is empty if there is none."""
        return Report(*self._check())

    def advice(self) -> Report:
        """Findings about the graph that are legal and probably not meant."""
        return Report(*self._advice())

    def explain(self, target: str | None = None, search_milliseconds: int = 0) -> Explanation:
        """Whether the graph has a plan for the target, by default its own, and what is against it. Where it has none, the
        nearest graphs that have one are searched for so long."""
        return Explanation(*self._explain(target or self.target, search_milliseconds))

    def verify(
        self,
        tensor_to_device_buffer: Mapping[Any, Any] | Sequence[Any],
        most_scores: int | None = None,
        search_seconds: float = 10.0,
    ) -> Verification:
        """Compares the results of a run, in the memory of its pack, with the reference, and searches for the mistake that
        explains wrong ones. Of graphs with more than so many scores a sample is compared."""
        return Verification(*self._verify(tensor_to_device_buffer, most_scores, search_seconds))

    def plans(self) -> Plans:
        """The candidates, best first, once they have been made."""
        return plans_of(self)

    def build_all_plans(self, progress: Progress | None = None) -> dict[int, str]:
        """Builds every candidate, one after the other, with a progress bar on a terminal, so that autotune() can choose
        from them. Returns why the others could not be built, by index. `progress` is called as (done, count, what)
        instead."""
        return build_all(self, progress)

    def plot(self) -> Picture:
        """The nodes in the order in which they run, with their tensors."""
        return graph_picture(self.to_json(version=1))

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
        *,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        cu_seq_len_q: tensor | None = None,
        cu_seq_len_kv: tensor | None = None,
        stats_use_log2: bool = False,
    ) -> list[tensor | None]:
        """Attention forward: [O, Stats], where Stats is None unless it was asked for."""
        given = locals()
        check_stats("sdpa", is_inference, generate_stats)
        return self._sdpa([q, k, v], options_of(given, ("q", "k", "v"), "sdpa"))

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
        *,
        cu_seq_len_q: tensor | None = None,
        cu_seq_len_kv: tensor | None = None,
        stats_use_log2: bool = False,
    ) -> list[tensor]:
        """Attention backward: [dQ, dK, dV]."""
        options = options_of(locals(), ("q", "k", "v", "o", "dO", "stats"), "sdpa_backward")
        return self._sdpa_backward([q, k, v, o, dO, stats], options)

    # Older names of the two methods.
    scaled_dot_product_flash_attention = sdpa
    scaled_dot_product_flash_attention_backward = sdpa_backward
