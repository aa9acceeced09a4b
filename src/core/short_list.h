// A list of a few elements, without an allocation.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <utility>

namespace cudnn_frontend::core {

// A list of at most kMost elements; its owner keeps to the limit.
template <class T, std::size_t kMost>
class ShortList {
   public:
    ShortList() = default;
    ShortList(std::initializer_list<T> elements) {
        for (T const& element : elements) push_back(element);
    }

    void push_back(T element) {
        assert(size_ < kMost);
        elements_[size_++] = std::move(element);
    }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T const& operator[](std::size_t i) const { return elements_[i]; }
    T& operator[](std::size_t i) { return elements_[i]; }
    T const* data() const { return elements_.data(); }
    T const* begin() const { return elements_.data(); }
    T const* end() const { return elements_.data() + size_; }

   private:
    std::array<T, kMost> elements_{};
    std::size_t size_ = 0;
};

}  // namespace cudnn_frontend::core
