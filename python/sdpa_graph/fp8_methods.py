"""Attention on 8-bit tensors: methods of graphs, with a scale for each tensor (FP8) or for each 32 numbers (MXFP8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._core import Graph_base, attention_implementation, data_type, diagonal_alignment, tensor
from .attention_options import check_stats, options_of

NOT_SET = data_type.NOT_SET
ScoreModifier = Callable[[Any, tensor], tensor]

_FORWARD = ("q", "k", "v", "descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o")
_BACKWARD = (
    *("q", "k", "v", "o", "dO", "stats"),
    *("descale_q", "descale_k", "descale_v", "descale_o", "descale_dO", "descale_s", "descale_dP"),
    *("scale_s", "scale_dQ", "scale_dK", "scale_dV", "scale_dP"),
)
_MX_FORWARD = ("q", "k", "v", "descale_q", "descale_k", "descale_v")
_MX_BACKWARD = (
    *("q", "q_T", "k", "k_T", "v", "o_f16", "dO_f16", "dO", "dO_T", "stats"),
    *("descale_q", "descale_q_T", "descale_k", "descale_k_T", "descale_v", "descale_dO", "descale_dO_T"),
)


class Fp8_methods(Graph_base):
    """Options have the names of the existing package, some of which differ from sdpa()'s: left_bound, right_bound,
    sliding_window and fn are its diagonal_band_left_bound, diagonal_band_right_bound, sliding_window_length and
    score_mod."""

    def sdpa_fp8(
        self,
        q: tensor,
        k: tensor,
        v: tensor,
        descale_q: tensor,
        descale_k: tensor,
        descale_v: tensor,
        descale_s: tensor,
        scale_s: tensor,
        scale_o: tensor,
        is_inference: bool | None = None,
        attn_scale: float | tensor | None = None,
        bias: tensor | None = None,
        use_alibi_mask: bool = False,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        sliding_window: int | None = None,
        diagonal_alignment: diagonal_alignment = diagonal_alignment.TOP_LEFT,
        left_bound: int | None = None,
        right_bound: int | None = None,
        dropout: tuple[Any, ...] | None = None,
        rng_dump: tensor | None = None,
        paged_attention_k_table: tensor | None = None,
        paged_attention_v_table: tensor | None = None,
        paged_attention_max_seq_len_kv: int | None = None,
        compute_data_type: Any = NOT_SET,
        name: str = "",
        fn: ScoreModifier | None = None,
        generate_stats: bool | None = None,
        score_max: tensor | None = None,
        score_sum_exp: tensor | None = None,
        sink_token: tensor | None = None,
        *,
        unfuse_fma: bool = False,
        implementation: attention_implementation = attention_implementation.AUTO,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        cu_seq_len_q: tensor | None = None,
        cu_seq_len_kv: tensor | None = None,
        stats_use_log2: bool = False,
    ) -> list[tensor | None]:
        """Attention on FP8 tensors, with a scale for each: [O, Stats, Amax_S, Amax_O]."""
        given = locals()
        check_stats("sdpa_fp8", is_inference, generate_stats)
        return self._sdpa_fp8([given[name] for name in _FORWARD], options_of(given, _FORWARD, "sdpa_fp8"))

    def sdpa_fp8_backward(
        self,
        q: tensor,
        k: tensor,
        v: tensor,
        o: tensor,
        dO: tensor,
        stats: tensor,
        descale_q: tensor,
        descale_k: tensor,
        descale_v: tensor,
        descale_o: tensor,
        descale_dO: tensor,
        descale_s: tensor,
        descale_dP: tensor,
        scale_s: tensor,
        scale_dQ: tensor,
        scale_dK: tensor,
        scale_dV: tensor,
        scale_dP: tensor,
        attn_scale: float | tensor | None = None,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        diagonal_alignment: diagonal_alignment = diagonal_alignment.TOP_LEFT,
        left_bound: int | None = None,
        right_bound: int | None = None,
        use_deterministic_algorithm: bool = False,
        dropout: tuple[Any, ...] | None = None,
        compute_data_type: Any = NOT_SET,
        name: str = "",
        sink_token: tensor | None = None,
        dSink_token: tensor | None = None,
        *,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        bias: tensor | None = None,
        use_alibi_mask: bool = False,
        sliding_window: int | None = None,
        fn: ScoreModifier | None = None,
        score_mod_bprop: ScoreModifier | None = None,
        cu_seq_len_q: tensor | None = None,
        cu_seq_len_kv: tensor | None = None,
        stats_use_log2: bool = False,
    ) -> list[tensor]:
        """The gradient of sdpa_fp8(): [dQ, dK, dV, Amax_dQ, Amax_dK, Amax_dV, Amax_dP]. The existing package does not
        have the options from bias on."""
        given = locals()
        options = options_of(given, _BACKWARD, "sdpa_fp8_backward")
        return self._sdpa_fp8_backward([given[name] for name in _BACKWARD], options)

    def sdpa_mxfp8(
        self,
        q: tensor,
        k: tensor,
        v: tensor,
        descale_q: tensor,
        descale_k: tensor,
        descale_v: tensor,
        attn_scale: float | tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        diagonal_alignment: diagonal_alignment = diagonal_alignment.TOP_LEFT,
        diagonal_band_left_bound: int | None = None,
        diagonal_band_right_bound: int | None = None,
        compute_data_type: Any = NOT_SET,
        name: str = "",
        generate_stats: bool | None = None,
        sink_token: tensor | None = None,
        unfuse_fma: bool = False,
        *,
        implementation: attention_implementation = attention_implementation.AUTO,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        cu_seq_len_q: tensor | None = None,
        cu_seq_len_kv: tensor | None = None,
        paged_attention_k_table: tensor | None = None,
        paged_attention_v_table: tensor | None = None,
        paged_attention_max_seq_len_kv: int | None = None,
        is_inference: bool | None = None,
        bias: tensor | None = None,
        use_alibi_mask: bool = False,
        sliding_window_length: int | None = None,
        dropout: tuple[Any, ...] | None = None,
        rng_dump: tensor | None = None,
        score_mod: ScoreModifier | None = None,
        score_max: tensor | None = None,
        score_sum_exp: tensor | None = None,
        stats_use_log2: bool = False,
    ) -> list[tensor | None]:
        """Attention on FP8 tensors with FP8_E8M0 scales for each 32 numbers, in the order F8_128x4: [O, Stats, Amax_O].
        The existing package does not have the options from is_inference on."""
        given = locals()
        check_stats("sdpa_mxfp8", is_inference, generate_stats)
        return self._sdpa_fp8([given[name] for name in _MX_FORWARD], options_of(given, _MX_FORWARD, "sdpa_mxfp8"))

    def sdpa_mxfp8_backward(
        self,
        q: tensor,
        q_T: tensor,
        k: tensor,
        k_T: tensor,
        v: tensor,
        o_f16: tensor,
        dO_f16: tensor,
        dO: tensor,
        dO_T: tensor,
        stats: tensor,
        descale_q: tensor,
        descale_q_T: tensor,
        descale_k: tensor,
        descale_k_T: tensor,
        descale_v: tensor,
        descale_dO: tensor,
        descale_dO_T: tensor,
        attn_scale: float | tensor | None = None,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        diagonal_alignment: diagonal_alignment = diagonal_alignment.TOP_LEFT,
        left_bound: int | None = None,
        right_bound: int | None = None,
        use_deterministic_algorithm: bool = False,
        dropout: tuple[Any, ...] | None = None,
        compute_data_type: Any = NOT_SET,
        name: str = "",
        sink_token: tensor | None = None,
        dSink_token: tensor | None = None,
        *,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        bias: tensor | None = None,
        use_alibi_mask: bool = False,
        sliding_window: int | None = None,
        fn: ScoreModifier | None = None,
        score_mod_bprop: ScoreModifier | None = None,
        cu_seq_len_q: tensor | None = None,
        cu_seq_len_kv: tensor | None = None,
        stats_use_log2: bool = False,
    ) -> list[tensor]:
        """The gradient of sdpa_mxfp8(): [dQ, dK, dV, Amax_dQ, Amax_dK, Amax_dV]. q_T, k_T and dO_T are q, k and dO
        quantized along the sequence. The existing package does not have the options from bias on."""
        given = locals()
        options = options_of(given, _MX_BACKWARD, "sdpa_mxfp8_backward")
        return self._sdpa_fp8_backward([given[name] for name in _MX_BACKWARD], options)
