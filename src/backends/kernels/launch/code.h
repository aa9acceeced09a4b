// The compiled code of kernels. A process compiles each once, whatever the shapes.
#pragma once

#include "core/result.h"
#include "cuda/module.h"
#include "cuda/nvrtc.h"

#include <cudnn_frontend/types.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::kernels {

// Everything that the code depends on.
struct CodeName {
    std::string source;                  // device/*/<source>.cu
    std::vector<std::string> functions;  // the kernels in it
    std::vector<std::string> defines;    // the macros it is compiled with, such as X=half
    cuda::Architecture architecture;
    std::string score_code;  // written for a graph, the file of that name that the source includes; empty where none is

    std::string text() const;  // in one line, with a digest of the sources
};

// A type of elements, as the sources call it.
char const* element_name(DataType_t type);

class Code : public std::enable_shared_from_this<Code> {
   public:
    Code(CodeName name, std::string cubin) : name_(std::move(name)), cubin_(std::move(cubin)) {}

    CodeName const& name() const { return name_; }
    std::string const& cubin() const { return cubin_; }
    // Finds a function by its place in the name's list. Loads the code on the first call; later calls find it loaded.
    Result<CUkernel> function(std::size_t number) const;

   private:
    CodeName name_;
    std::string cubin_;
    mutable std::mutex mutex_;
    mutable std::shared_ptr<cuda::Module const> module_;
    mutable std::vector<CUkernel> functions_;
};

// Returns code that the process has compiled, else compiles it with NVRTC.
Result<std::shared_ptr<Code const>> find_code(CodeName const& name);
// The same, with this cubin if there is no code yet. The cubin comes from outside, so that others find it only once it
// is loaded.
std::shared_ptr<Code const> find_code(CodeName const& name, std::string_view cubin);

// Code from storage, which its name identifies.
Result<std::shared_ptr<Code const>> stored_code(CodeName const& name, std::string_view stored);
// The input of stored_code().
std::string to_store(Code const& code);

// The compiler's report on the code: registers, and bytes that are spilled. Compiles anew.
Result<std::string> compiler_log(CodeName const& name);

}  // namespace cudnn_frontend::kernels
