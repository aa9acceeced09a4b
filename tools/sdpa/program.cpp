// The program sdpa.
#include "command_line.h"

int main(int argc, char** argv) { return sdpa::run_command_line(argc, argv, {"/proc/self/exe"}); }
