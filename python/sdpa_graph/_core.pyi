"""The contents of the compiled module, for type checkers; test/python/test_stubs.py compares it with the module."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, overload

class cudnnGraphNotSupportedError(Exception): ...

class _Numbered(Enum):
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

class data_type(_Numbered):
    NOT_SET = 0
    FLOAT = 1
    DOUBLE = 2
    HALF = 3
    INT8 = 4
    INT32 = 5
    INT8x4 = 6
    UINT8 = 7
    UINT8x4 = 8
    INT8x32 = 9
    BFLOAT16 = 10
    INT64 = 11
    BOOLEAN = 12
    FP8_E4M3 = 13
    FP8_E5M2 = 14
    FAST_FLOAT_FOR_FP8 = 15
    FP8_E8M0 = 16
    FP4_E2M1 = 17
    INT4 = 18
    COMPLEX_FP32 = 19
    COMPLEX_FP64 = 20

class heur_mode(_Numbered):
    A = 0
    B = 1
    FALLBACK = 2
    OPENSOURCE = 3

class build_plan_policy(_Numbered):
    HEURISTICS_CHOICE = 0
    ALL = 1

class diagonal_alignment(_Numbered):
    TOP_LEFT = 0
    BOTTOM_RIGHT = 1

class attention_implementation(_Numbered):
    AUTO = 0
    COMPOSITE = 1
    UNIFIED = 2

class tensor_reordering(_Numbered):
    NONE = 0
    INT8x32 = 1
    F16x16 = 2
    F8_128x4 = 3

class behavior_note(_Numbered):
    NOT_SET = 0
    RUNTIME_COMPILATION = 1
    REQUIRES_FILTER_INT8x32_REORDER = 2
    REQUIRES_BIAS_INT8x32_REORDER = 3
    SUPPORTS_CUDA_GRAPH_NATIVE_API = 4
    CUBLASLT_DEPENDENCY = 5

class numerical_note(_Numbered):
    NOT_SET = 0
    TENSOR_CORE = 1
    DOWN_CONVERT_INPUTS = 2
    REDUCED_PRECISION_REDUCTION = 3
    FFT = 4
    NONDETERMINISTIC = 5
    WINOGRAD = 6
    WINOGRAD_TILE_4x4 = 7
    WINOGRAD_TILE_6x6 = 8
    WINOGRAD_TILE_13x13 = 9
    STRICT_NAN_PROP = 10

class reduction_mode(_Numbered):
    NOT_SET = 0
    ADD = 1
    MUL = 2
    MIN = 3
    MAX = 4
    AMAX = 5
    AVG = 6
    NORM1 = 7
    NORM2 = 8
    MUL_NO_ZEROS = 9

class reshape_mode(_Numbered):
    NOT_SET = 0
    VIEW_ONLY = 1
    LOGICAL = 2

class rewrite_policy(_Numbered):
    AUTO = 0
    OFF = 1

class shape_policy(_Numbered):
    EXACT = 0
    CLASSES = 1
    AUTO = 2

class rewrite(_Numbered):
    SLICES = 0
    FEW_QUERIES = 1
    BANDS = 2
    NEIGHBORHOOD_BAND = 3

class pointwise_mode(_Numbered):
    NOT_SET = 0
    ADD = 1
    MUL = 2
    SQRT = 3
    MAX = 4
    MIN = 5
    RELU_FWD = 6
    TANH_FWD = 7
    SIGMOID_FWD = 8
    ELU_FWD = 9
    GELU_FWD = 10
    SOFTPLUS_FWD = 11
    SWISH_FWD = 12
    RELU_BWD = 13
    TANH_BWD = 14
    SIGMOID_BWD = 15
    ELU_BWD = 16
    GELU_BWD = 17
    SOFTPLUS_BWD = 18
    SWISH_BWD = 19
    ERF = 20
    IDENTITY = 21
    GELU_APPROX_TANH_BWD = 22
    GELU_APPROX_TANH_FWD = 23
    GEN_INDEX = 24
    BINARY_SELECT = 25
    EXP = 26
    LOG = 27
    NEG = 28
    MOD = 29
    POW = 30
    ABS = 31
    CEIL = 32
    COS = 33
    FLOOR = 34
    RSQRT = 35
    SIN = 36
    LOGICAL_NOT = 37
    TAN = 38
    SUB = 39
    ADD_SQUARE = 40
    DIV = 41
    CMP_EQ = 42
    CMP_NEQ = 43
    CMP_GT = 44
    CMP_GE = 45
    CMP_LT = 46
    CMP_LE = 47
    LOGICAL_AND = 48
    LOGICAL_OR = 49
    RECIPROCAL = 50

class knob_type(_Numbered):
    NOT_SET = 0
    SWIZZLE = 1
    TILE_SIZE = 2
    EDGE = 3
    MULTIPLY = 4
    SPLIT_K_BUF = 5
    TILEK = 6
    STAGES = 7
    REDUCTION_MODE = 8
    SPLIT_K_SLC = 9
    IDX_MODE = 10
    SPECFILT = 11
    KERNEL_CFG = 12
    WORKSPACE = 13
    TILE_CGA_M = 14
    TILE_CGA_N = 15
    BLOCK_SIZE = 16
    OCCUPANCY = 17
    ARRAY_SIZE_PER_THREAD = 18
    SPLIT_COLS = 19
    TILE_ROWS = 20
    TILE_COLS = 21
    LOAD_SIZE = 22
    CTA_COUNT = 23
    STREAM_K = 24
    SPLIT_P_SLC = 25
    TILE_M = 26
    TILE_N = 27
    WARP_SPEC_CFG = 28
    SWAP_AB = 29
    INPUT_TMA_ENABLE = 30
    OUTPUT_TMA_ENABLE = 31

class scalar_type(_Numbered):
    RUNTIME_PARAM = 0
    COMPILE_TIME_CONST = 1

class norm_forward_phase(_Numbered):
    NOT_SET = 0
    INFERENCE = 1
    TRAINING = 2

class moe_grouped_matmul_mode(_Numbered):
    NOT_SET = 0
    NONE = 1
    GATHER = 2
    SCATTER = 3
    COMBINE = 4

class cuda_graph_retention(_Numbered):
    PER_GRAPH = 0
    NONE = 1

# Other names, for the classes below that have members with these names.
_DataType = data_type
_ReshapeMode = reshape_mode

class tensor:
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    def get_alignment(self) -> int: ...
    def get_data_type(self) -> data_type: ...
    def get_dim(self) -> list[int]: ...
    def get_has_compile_time_constant(self) -> bool: ...
    def get_is_pass_by_value(self) -> bool: ...
    def get_is_virtual(self) -> bool: ...
    def get_name(self) -> str: ...
    def get_ragged_offset_multiplier(self) -> int: ...
    def get_reordering_type(self) -> tensor_reordering: ...
    def get_stride(self) -> list[int]: ...
    def get_uid(self) -> int: ...
    def get_vector_count(self) -> int: ...
    def get_vector_dimension(self) -> int: ...
    def set_alignment(self, alignment: int) -> tensor: ...
    def set_data_type(self, data_type: Any = ...) -> tensor: ...
    def set_dim(self, dim: Sequence[int]) -> tensor: ...
    def set_is_pass_by_value(self, is_pass_by_value: bool) -> tensor: ...
    def set_is_virtual(self, is_virtual: bool) -> tensor: ...
    def set_name(self, name: str) -> tensor: ...
    def set_output(self, is_output: bool) -> tensor: ...
    def set_ragged_offset(self, ragged_offset: tensor) -> tensor: ...
    def set_ragged_offset_multiplier(self, elements: int) -> tensor: ...
    def set_reordering_type(self, reordering_type: tensor_reordering) -> tensor: ...
    def set_stride(self, stride: Sequence[int]) -> tensor: ...
    def set_uid(self, uid: int) -> tensor: ...
    def set_vector_count_and_dimension(self, count: int, dimension: int) -> tensor: ...

class kernel_cache:
    def __repr__(self) -> str: ...
    def deserialize(self, json: str) -> None: ...
    def serialize(self) -> str: ...

class device_properties:
    def __repr__(self) -> str: ...
    def serialize(self) -> str: ...

class stored_plan:
    def __init__(self, data: Any) -> None: ...
    def __str__(self) -> str: ...
    @property
    def cudnn_version(self) -> int: ...
    @property
    def device(self) -> str: ...
    @property
    def graph(self) -> str: ...
    @property
    def kernels(self) -> list[str]: ...
    @property
    def name(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def workspace_size(self) -> int: ...

class knob:
    @property
    def max_value(self) -> int: ...
    @property
    def min_value(self) -> int: ...
    @property
    def stride(self) -> int: ...
    @property
    def type(self) -> knob_type: ...

class memory:
    def __init__(self, object: Any) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def data_type(self) -> _DataType: ...
    @property
    def dim(self) -> list[int]: ...
    @property
    def is_on_gpu(self) -> bool: ...
    @property
    def is_read_only(self) -> bool: ...
    @property
    def stride(self) -> list[int]: ...

_Tensor = tensor

class Graph_base:
    @staticmethod
    def _option_names(arg0: str) -> list[str]: ...
    def __init__(
        self,
        target: str,
        name: str,
        io_data_type: Any,
        intermediate_data_type: Any,
        compute_data_type: Any,
        handle: int | None,
    ) -> None: ...
    def __repr__(self) -> str: ...
    def _draw_plan(self, is_svg: bool) -> str: ...
    def _draw_window(self, query: Sequence[int], is_svg: bool) -> str: ...
    def _execute_with_ptrs(self, ptrs: Sequence[int], workspace_ptr: int = 0, handle: int | None = None) -> None: ...
    def _get_variant_pack_uids_sorted(self) -> list[int]: ...
    def _prepare_variant_pack_template(self) -> None: ...
    def _runs_on_host(self) -> bool: ...
    def _sdpa(self, arg0: Sequence[_Tensor], arg1: dict) -> list: ...
    def _sdpa_backward(self, arg0: Sequence[_Tensor], arg1: dict) -> list: ...
    def _sdpa_fp8(self, arg0: Sequence[_Tensor], arg1: dict) -> list: ...
    def _sdpa_fp8_backward(self, arg0: Sequence[_Tensor], arg1: dict) -> list: ...
    def _set_device_properties(self, arg0: device_properties) -> None: ...
    def _set_dynamic_shape_enabled(self, arg0: bool) -> None: ...
    def _set_kernel_cache(self, arg0: kernel_cache) -> None: ...
    def _set_override_shape_enabled(self, arg0: bool) -> None: ...
    def _set_sm_count(self, arg0: int) -> None: ...
    def _set_sm_version(self, arg0: int) -> None: ...
    def _workspace_if_built(self, index: int) -> int | None: ...
    def abs(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def add(self, a: _Tensor, b: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def add(self, input0: _Tensor, input1: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def add_square(self, a: _Tensor, b: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def add_square(self, input0: _Tensor, input1: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def _advice(self) -> tuple[str, str]: ...
    def _check(self) -> tuple[str, str]: ...
    def autotune(
        self,
        tensor_to_device_buffer: Mapping[Any, Any] | Sequence[Any],
        workspace: Any = None,
        handle: int | None = None,
    ) -> None: ...
    def bias(self, input: _Tensor, bias: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def binary_select(
        self, input0: _Tensor, input1: _Tensor, mask: _Tensor, compute_data_type: Any = ..., name: str = ""
    ) -> _Tensor: ...
    def build(self, heuristics: Sequence[heur_mode] | None = None) -> None: ...
    def build_operation_graph(self) -> None: ...
    def build_plan_at_index(self, index: int) -> None: ...
    def build_plans(self, policy: build_plan_policy = ...) -> None: ...
    def ceil(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def check_support(self) -> None: ...
    def cmp_eq(self, input: _Tensor, comparison: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def cmp_ge(self, input: _Tensor, comparison: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def cmp_gt(self, input: _Tensor, comparison: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def cmp_le(self, input: _Tensor, comparison: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def cmp_lt(self, input: _Tensor, comparison: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def cmp_neq(self, input: _Tensor, comparison: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def cos(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def create_execution_plan(self, engine_id: int, knobs: Mapping[knob_type, int] | None = None) -> None: ...
    def create_execution_plans(self, heuristics: Sequence[heur_mode] | None = None) -> None: ...
    def deselect_behavior_notes(self, notes: Sequence[behavior_note]) -> None: ...
    def deselect_engines(self, engine_names: Sequence[str]) -> None: ...
    def deselect_numeric_notes(self, notes: Sequence[numerical_note]) -> None: ...
    def deselect_workspace_greater_than(self, workspace_limit: int) -> None: ...
    @overload
    def deserialize(self, pyobj: Any) -> None: ...
    @overload
    def deserialize(self, handle_: int, pyobj: Any) -> None: ...
    @overload
    def div(self, a: _Tensor, b: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def div(self, input0: _Tensor, input1: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def elu(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def elu_backward(self, loss: _Tensor, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def erf(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def execute(
        self,
        tensor_to_device_buffer: Mapping[Any, Any] | Sequence[Any],
        workspace: Any = None,
        handle: int | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
        tensor_uids: Sequence[int] | None = None,
    ) -> None: ...
    def execute_plan_at_index(
        self,
        tensor_to_device_buffer: Mapping[Any, Any] | Sequence[Any],
        workspace: Any = None,
        index: int = 0,
        handle: int | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
        tensor_uids: Sequence[int] | None = None,
    ) -> None: ...
    def exp(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def floor(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def gelu(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def gelu_approx_tanh(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def gelu_approx_tanh_backward(
        self, loss: _Tensor, input: _Tensor, compute_data_type: Any = ..., name: str = ""
    ) -> _Tensor: ...
    def gelu_backward(self, loss: _Tensor, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def gen_index(self, input: _Tensor, axis: int, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def get_autotune_workspace_size(self) -> int: ...
    def get_behavior_notes(self) -> list[behavior_note]: ...
    def get_behavior_notes_for_plan_at_index(self, index: int) -> list[behavior_note]: ...
    def get_engine_count(self) -> int: ...
    def get_execution_plan_count(self) -> int: ...
    def get_knobs_for_engine(self, engine_id: int) -> list[knob]: ...
    def get_plan_name_at_index(self, index: int) -> str: ...
    def get_workspace_size(self) -> int: ...
    def get_workspace_size_plan_at_index(self, index: int) -> int: ...
    def identity(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def key(self) -> int: ...
    def leaky_relu(
        self,
        input: _Tensor,
        negative_slope: float,
        compute_data_type: Any = ...,
        name: str = "",
    ) -> _Tensor: ...
    def leaky_relu_backward(
        self, loss: _Tensor, input: _Tensor, negative_slope: float, compute_data_type: Any = ..., name: str = ""
    ) -> _Tensor: ...
    def log(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def logical_and(self, a: _Tensor, b: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def logical_and(
        self, input0: _Tensor, input1: _Tensor, compute_data_type: Any = ..., name: str = ""
    ) -> _Tensor: ...
    def logical_not(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def logical_or(self, a: _Tensor, b: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def logical_or(self, input0: _Tensor, input1: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def matmul(
        self,
        A: _Tensor,
        B: _Tensor,
        compute_data_type: Any = ...,
        padding: float = 0.0,
        name: str = "",
    ) -> _Tensor: ...
    def max(self, input0: _Tensor, input1: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def min(self, input0: _Tensor, input1: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def mod(self, input0: _Tensor, input1: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def mul(self, a: _Tensor, b: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def mul(self, input0: _Tensor, input1: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def neg(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def neighborhood_attention(
        self,
        q: _Tensor,
        k: _Tensor,
        v: _Tensor,
        kernel_size: Sequence[int],
        dilation: Sequence[int] | None = None,
        is_causal: Sequence[bool] | None = None,
        attn_scale: float | None = None,
        rel_pos_bias: _Tensor | None = None,
        generate_stats: bool = False,
        compute_data_type: Any = ...,
        name: str = "",
    ) -> list[_Tensor | None]: ...
    def neighborhood_attention_backward(
        self,
        q: _Tensor,
        k: _Tensor,
        v: _Tensor,
        o: _Tensor,
        dO: _Tensor,
        stats: _Tensor,
        kernel_size: Sequence[int],
        dilation: Sequence[int] | None = None,
        is_causal: Sequence[bool] | None = None,
        attn_scale: float | None = None,
        rel_pos_bias: _Tensor | None = None,
        dRel_pos_bias: _Tensor | None = None,
        compute_data_type: Any = ...,
        name: str = "",
    ) -> list[_Tensor]: ...
    def neighborhood_av(
        self,
        attn: _Tensor,
        v: _Tensor,
        kernel_size: Sequence[int],
        dilation: Sequence[int] | None = None,
        is_causal: Sequence[bool] | None = None,
        compute_data_type: Any = ...,
        name: str = "",
    ) -> _Tensor: ...
    def neighborhood_av_backward(
        self,
        dO: _Tensor,
        attn: _Tensor,
        v: _Tensor,
        kernel_size: Sequence[int],
        dilation: Sequence[int] | None = None,
        is_causal: Sequence[bool] | None = None,
        compute_data_type: Any = ...,
        name: str = "",
    ) -> list[_Tensor]: ...
    def neighborhood_qk(
        self,
        q: _Tensor,
        k: _Tensor,
        kernel_size: Sequence[int],
        dilation: Sequence[int] | None = None,
        is_causal: Sequence[bool] | None = None,
        rel_pos_bias: _Tensor | None = None,
        compute_data_type: Any = ...,
        name: str = "",
    ) -> _Tensor: ...
    def neighborhood_qk_backward(
        self,
        dAttn: _Tensor,
        q: _Tensor,
        k: _Tensor,
        kernel_size: Sequence[int],
        dilation: Sequence[int] | None = None,
        is_causal: Sequence[bool] | None = None,
        dRel_pos_bias: _Tensor | None = None,
        compute_data_type: Any = ...,
        name: str = "",
    ) -> list[_Tensor]: ...
    def populate_cuda_graph(
        self, handle: int, variant_pack: Mapping[int, int], workspace: int, cuda_graph: int
    ) -> None: ...
    def pow(self, input0: _Tensor, input1: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def print_candidates(self) -> str: ...
    def query_tensor_attributes_of_uid(self, uid: int) -> _Tensor: ...
    def reciprocal(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def reduction(
        self, input: _Tensor, mode: reduction_mode, compute_data_type: Any = ..., name: str = ""
    ) -> _Tensor: ...
    def relu(
        self,
        input: _Tensor,
        negative_slope: float | None = None,
        lower_clip: float | None = None,
        upper_clip: float | None = None,
        compute_data_type: Any = ...,
        name: str = "",
    ) -> _Tensor: ...
    def relu_backward(
        self,
        loss: _Tensor,
        input: _Tensor,
        negative_slope: float | None = None,
        lower_clip: float | None = None,
        upper_clip: float | None = None,
        compute_data_type: Any = ...,
        name: str = "",
    ) -> _Tensor: ...
    def reshape(self, input: _Tensor, name: str = "", reshape_mode: _ReshapeMode = ...) -> _Tensor: ...
    def rsqrt(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def scale(self, input: _Tensor, scale: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def select_behavior_notes(self, notes: Sequence[behavior_note]) -> None: ...
    def select_numeric_notes(self, notes: Sequence[numerical_note]) -> None: ...
    def serialize(self, *, as_bytes: bool = False, include_kernels: bool = True) -> list[int] | bytes: ...
    def set_rewrites(self, rewrites: rewrite_policy | Sequence[rewrite]) -> None: ...
    def set_workspace_limit(self, bytes: int) -> None: ...
    def sigmoid(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def sigmoid_backward(
        self, loss: _Tensor, input: _Tensor, compute_data_type: Any = ..., name: str = ""
    ) -> _Tensor: ...
    def sin(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def slice(
        self, input: _Tensor, slices: Sequence[slice] = ..., compute_data_type: Any = ..., name: str = ""
    ) -> _Tensor: ...
    def softplus(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def softplus_backward(
        self, loss: _Tensor, input: _Tensor, compute_data_type: Any = ..., name: str = ""
    ) -> _Tensor: ...
    def sqrt(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def sub(self, a: _Tensor, b: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    @overload
    def sub(self, input0: _Tensor, input1: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def swish(
        self,
        input: _Tensor,
        swish_beta: float | None = None,
        compute_data_type: Any = ...,
        name: str = "",
    ) -> _Tensor: ...
    def swish_backward(
        self,
        loss: _Tensor,
        input: _Tensor,
        compute_data_type: Any = ...,
        swish_beta: float | None = None,
        name: str = "",
    ) -> _Tensor: ...
    def tan(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def tanh(self, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def tanh_backward(self, loss: _Tensor, input: _Tensor, compute_data_type: Any = ..., name: str = "") -> _Tensor: ...
    def tensor(
        self,
        dim: Sequence[int],
        stride: Sequence[int] | None = None,
        data_type: Any = ...,
        is_virtual: bool = False,
        is_pass_by_value: bool = False,
        ragged_offset: _Tensor | None = None,
        reordering_type: tensor_reordering | None = ...,
        name: str = "",
        uid: int | None = -1,
        ragged_offset_multiplier: int = 1,
        alignment_value: int = 1,
    ) -> _Tensor: ...
    @overload
    def tensor_like(self, input: _Tensor, name: str = "") -> _Tensor: ...
    @overload
    def tensor_like(self, pyobj: Any, name: str = "") -> _Tensor: ...
    def tensor_scalar(self, value: float, scalar_type: scalar_type = ..., name: str = "") -> _Tensor: ...
    def to_json(self) -> str: ...
    def transpose(
        self, input: _Tensor, permutation: Sequence[int], compute_data_type: Any = ..., name: str = ""
    ) -> _Tensor: ...
    def update_cuda_graph(
        self, handle: int, variant_pack: Mapping[int, int], workspace: int, cuda_graph: int
    ) -> None: ...
    def validate(self) -> None: ...

class _Attention_options:
    def __init__(
        self,
        scale: float,
        left_bound: int | None,
        right_bound: int | None,
        is_bottom_right: bool,
        has_alibi: bool,
        softcap: float | None,
        dropout_p: float,
        is_deterministic: bool,
        longest_q: int,
        longest_kv: int,
        policy: shape_policy,
    ) -> None: ...

def _attention_backward(
    tensors: Mapping[str, Any],
    options: _Attention_options,
    workspace: Callable[[list[int]], Any],
    target: str | None = None,
) -> None: ...
def _attention_forward(
    tensors: Mapping[str, Any],
    options: _Attention_options,
    workspace: Callable[[list[int]], Any],
    target: str | None = None,
) -> None: ...
def _register_torch_operators() -> bool: ...
def _set_policy_of_operators(policy: int) -> None: ...
def plan_counts() -> dict[str, int]: ...
def set_plan_store(folder: str, frozen: bool = False) -> None: ...

class _Flash_numbers:
    max_seqlen_q: int
    max_seqlen_k: int
    p_dropout: float
    returns_softmax: bool
    def __init__(
        self,
        max_seqlen_q: int,
        max_seqlen_k: int,
        p_dropout: float,
        softmax_scale: float,
        is_causal: bool,
        window_left: int,
        window_right: int,
        softcap: float,
        is_deterministic: bool,
        returns_softmax: bool,
    ) -> None: ...

def _check_target(target: str) -> None: ...
def _data_type_of(dtype: Any) -> data_type: ...
def _flash_backward(
    tensors: Mapping[str, Any], numbers: _Flash_numbers, workspace: Callable[[list[int]], Any]
) -> None: ...
def _flash_forward(
    tensors: Mapping[str, Any], numbers: _Flash_numbers, workspace: Callable[[list[int]], Any]
) -> None: ...
def _in_python(text: str) -> str: ...
def _set_package_folders(folders: Sequence[str]) -> None: ...
def _neighborhood(
    function: str,
    tensors: Mapping[str, Any],
    kernel_size: list[int],
    dilation: list[int],
    is_causal: list[bool],
    scale: float,
    is_deterministic: bool,
    workspace: Callable[[list[int]], Any],
) -> None: ...
def backend_version() -> int: ...
def backend_version_string() -> str: ...
def create_device_properties(source: int | str = 0) -> device_properties: ...
def create_handle() -> int: ...
def create_kernel_cache() -> kernel_cache: ...
def describe_runtime() -> str: ...
def destroy_handle(handle: int) -> None: ...
def device_names() -> list[str]: ...
def get_last_error_string() -> str: ...
def get_stream(handle: int) -> int: ...
def set_stream(handle: int, stream: int) -> None: ...

__version__: str = "0.1.0"
