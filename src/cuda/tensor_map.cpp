#include "cuda/tensor_map.h"

#include "cuda/driver_table.h"

namespace cudnn_frontend::cuda {

Result<CUtensorMap> encode(BoxedTensor const& tensor, void* start) {
    constexpr std::uint32_t kColumns = 64, kSteps[] = {1, 1, 1, 1};
    std::uint32_t const box[] = {kColumns, tensor.box_rows, tensor.box_heads, 1};
    bool const is_half = tensor.type == DataType_t::HALF;
    CUtensorMap map;
    SDPA_GRAPH_TRY(ask("describing a tensor to the copy engine", [&](Driver const& cuda) {
        return cuda.encode_tensor_map(
            &map, is_half ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            static_cast<std::uint32_t>(tensor.dims.size()), start, tensor.dims.data(), tensor.strides.data(), box,
            kSteps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    }));
    return map;
}

}  // namespace cudnn_frontend::cuda
