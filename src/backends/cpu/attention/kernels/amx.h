// Whether this process may use AMX, the processor's instructions for products of matrices.
#pragma once

namespace cudnn_frontend::cpu {

enum class AmxState {
    Usable,
    NoInstructions,  // the processor has none for BFLOAT16
    NotEnabled,      // the system, or the virtual machine, does not keep the registers
    NoPermission     // the kernel refused them to this process
};

// Asks the kernel for permission, once in a process.
AmxState amx_state();

// The reason why it cannot be used; empty where it can.
char const* why_no_amx(AmxState state);

}  // namespace cudnn_frontend::cpu
