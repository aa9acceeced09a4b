// The statements of docs/reference/support-matrix*.md about one kind of GPU with one cuDNN: which groups' passes to
// expect there.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace sdpa_test {

std::string capability_text(int compute_capability);  // "9.0" of 90

class SupportMatrixColumn {
   public:
    // Reads the text of such a file, for a compute capability such as "9.0". Nothing where the file has no such column
    // or is of another cuDNN, such as "9.19.0".
    static std::optional<SupportMatrixColumn> read(std::string const& text, std::string const& cudnn_version,
                                                   std::string const& compute_capability);
    // The same from the file of docs/ that has it.
    static std::optional<SupportMatrixColumn> find(std::size_t cudnn_version, int compute_capability);

    // Ids of the limits that refuse a group's pass, as "s12 s20": none where an engine supports it. Nothing where the
    // matrix does not know.
    std::optional<std::string> limits_of(std::string const& group, bool is_backward) const;

   private:
    std::map<std::string, std::string> cells_[2];  // forward, backward
};

}  // namespace sdpa_test
