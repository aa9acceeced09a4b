// A static object that is never destroyed: destructors of a program's own static objects may still use it.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace cudnn_frontend::core {

// The object is in place, so that making it allocates nothing but what the object itself does.
template <class T>
class Immortal {
   public:
    template <class... Arguments>
    explicit Immortal(Arguments&&... arguments) {
        ::new (static_cast<void*>(memory_)) T(std::forward<Arguments>(arguments)...);
    }
    Immortal(Immortal const&) = delete;
    Immortal& operator=(Immortal const&) = delete;

    T const& operator*() const { return *std::launder(reinterpret_cast<T const*>(memory_)); }

   private:
    alignas(T) std::byte memory_[sizeof(T)];
};

}  // namespace cudnn_frontend::core
