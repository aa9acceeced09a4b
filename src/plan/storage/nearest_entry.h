// The entry of a plan store that is most like one that it does not have.
#pragma once

#include <filesystem>
#include <string>

namespace cudnn_frontend::plan {

// The parts of its key in which the nearest other entry differs, such as "cuDNN 91400 in place of cuDNN 91900"; empty
// where the store has none. It reads the keys of up to some hundred files.
std::string difference_from_nearest(std::filesystem::path const& store, std::string const& key);

// The same for two keys: their lines, and the parts of the first one, which is the environment.
std::string key_difference(std::string const& found, std::string const& expected);

}  // namespace cudnn_frontend::plan
