#!/usr/bin/env python3
"""Whether there is a GPU that CUDA can use. Prints why not, in a sentence, and fails then; asks the driver alone."""

import ctypes
import sys

NO_DEVICE = 100


def missing():
    """Why there is no usable GPU; empty where there is one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "libcuda.so.1, which comes with NVIDIA's driver, cannot be loaded"
    code = driver.cuInit(0)
    if code == NO_DEVICE:
        return "NVIDIA's driver finds no GPU"
    if code != 0:
        return f"NVIDIA's driver does not start (cuInit returned {code}); nvidia-smi may say why"
    count = ctypes.c_int()
    code = driver.cuDeviceGetCount(ctypes.byref(count))
    return "" if code == 0 and count.value > 0 else "NVIDIA's driver finds no GPU"


def main():
    reason = missing()
    if reason:
        print(reason)
    return bool(reason)


if __name__ == "__main__":
    sys.exit(main())
