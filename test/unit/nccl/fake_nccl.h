// How tests choose results of the stand-in for NCCL.
#pragma once

extern "C" {
// Every call of that name returns the result from now on. Also "asynchronous", the state that work on the GPU is in,
// and "version", the number of the release.
void fake_nccl_set(char const* call, int result);
// Frees all communicators, too: no rank may still run.
void fake_nccl_reset();
// The communicators since the last reset that were neither destroyed nor aborted, and those that were aborted.
int fake_nccl_open();
int fake_nccl_aborted();
}
