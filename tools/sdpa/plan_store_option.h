// The option --store of the subcommands that write to a plan store.
#pragma once

#include <string>

namespace sdpa {

// Makes the folder the process's plan store; an empty one stands for that of SDPA_GRAPH_PLAN_STORE. Returns the folder;
// empty where there is none. Throws Failure where nothing may or can be written there.
std::string choose_plan_store(std::string const& folder);

}  // namespace sdpa
