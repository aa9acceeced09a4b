// How fused attention divides its workspace.
#pragma once

#include "core/dims.h"

#include <cstdint>

namespace cudnn_frontend::cpu {

using core::saturating_add;
using core::saturating_multiply;

inline std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

// Allocates aligned pieces of a workspace from a starting offset on.
// Without a workspace it only adds up their sizes.
class Arena {
   public:
    Arena(void* workspace, std::int64_t offset) : used_(offset) {
        if (workspace == nullptr) return;
        auto const address = reinterpret_cast<std::uintptr_t>(workspace);
        base_ = static_cast<char*>(workspace) + (kAlignment - address % kAlignment) % kAlignment;
    }

    template <class T>
    T* take(std::int64_t rows, std::int64_t columns) {
        T* const piece = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
        std::int64_t const count = saturating_multiply(rows, columns);
        std::int64_t const bytes = saturating_multiply(count, static_cast<std::int64_t>(sizeof(T)));
        used_ = saturating_add(used_, saturating_add(bytes, kAlignment - 1) / kAlignment * kAlignment);
        return piece;
    }

    // The offset after the last piece: a multiple of the alignment.
    std::int64_t used() const { return used_; }

    // The workspace that holds `used` bytes at any alignment.
    static std::int64_t workspace_bytes(std::int64_t used) { return saturating_add(used, kAlignment); }

   private:
    static constexpr std::int64_t kAlignment = 64;
    char* base_ = nullptr;
    std::int64_t used_;
};

}  // namespace cudnn_frontend::cpu
