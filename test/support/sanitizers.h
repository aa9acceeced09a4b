// Whether a sanitizer is in this program, for tests of what it changes.
#pragma once

namespace sdpa_test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kIsUnderSanitizer = true;
#elif defined(__has_feature)
constexpr bool kIsUnderSanitizer = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
constexpr bool kIsUnderSanitizer = false;
#endif

}  // namespace sdpa_test
