// The start and the end of an exchange between the ranks of a group, as steps of a program.
#pragma once

#include "group/transport.h"
#include "plan/seam/backend.h"

#include <memory>
#include <vector>

namespace cudnn_frontend::plan {

// Both get a pointer for each piece: those that are sent, then those that are received.
std::shared_ptr<Executable const> make_exchange_start(std::shared_ptr<group::Transport> transport,
                                                      std::shared_ptr<rewrite::Pieces const> pieces);
std::shared_ptr<Executable const> make_exchange_end(std::shared_ptr<group::Transport> transport,
                                                    std::shared_ptr<rewrite::Pieces const> pieces);
std::vector<rewrite::Place> places_of(rewrite::Pieces const& pieces);

}  // namespace cudnn_frontend::plan
