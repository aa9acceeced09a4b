"""Where the running interpreter's packages are: NVIDIA's own among them have cuDNN and NVRTC."""

from __future__ import annotations

import os
import sys


def package_folders() -> list[str]:
    """The folders of sys.path with packages of NVIDIA's, in order. They are searched before all other places, as torch
    does: a process that holds a second cuDNN beside torch's cannot use both."""
    folders = filter(os.path.isabs, sys.path)
    return [folder for folder in folders if os.path.isdir(os.path.join(folder, "nvidia"))]
