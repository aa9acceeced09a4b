// The compiled code of kernels. A process compiles each once, whatever the shapes.
#pragma once

#include "core/result.h"
#include "cuda/module.h"

#include <cudnn_frontend/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::kernels {

// All that the code depends on.
struct CodeName {
    std::string kernel;   // its source is device/<kernel>.cu, with the functions <kernel>_vectors and _elements
    DataType_t from, to;  // types of the elements
    bool is_wide;         // threads are counted in 64 bits
    int compute_capability;

    std::string text() const;  // with a digest of the sources
};

class Code {
   public:
    Code(CodeName name, std::string cubin) : name_(std::move(name)), cubin_(std::move(cubin)) {}

    CodeName const& name() const { return name_; }
    std::string const& cubin() const { return cubin_; }
    // Loads the code on the first call.
    Result<CUkernel> function(bool by_vectors) const;

   private:
    error_t load() const;

    CodeName name_;
    std::string cubin_;
    mutable std::mutex mutex_;
    mutable std::shared_ptr<cuda::Module const> module_;
    mutable CUkernel vectors_ = nullptr, elements_ = nullptr;
};

// From what the process has compiled, else by NVRTC.
Result<std::shared_ptr<Code const>> find_code(CodeName const& name);
// The same, with the cubin where there is none yet.
std::shared_ptr<Code const> find_code(CodeName const& name, std::string_view cubin);

// What the compiler says of the code: registers, and bytes that are spilled. Compiles anew.
Result<std::string> compiler_log(CodeName const& name);

}  // namespace cudnn_frontend::kernels
