// Attention as a kernel of PyTorch's operator _scaled_dot_product_fused_attention_overrideable.
#pragma once

namespace binding {

// False where PyTorch, which has to be imported, lacks the functions that this needs.
bool register_torch_operators();

}  // namespace binding
