"""The places of the running interpreter's packages: NVIDIA's own packages have cuDNN and NVRTC."""

from __future__ import annotations

import os
import sys


def package_folders() -> list[str]:
    """The folders of sys.path with packages of NVIDIA's, in order, and the libraries of a conda environment. They are
    searched before all other places, as torch does: a process that loads a second cuDNN next to torch's cannot use
    both."""
    folders = [folder for folder in filter(os.path.isabs, sys.path) if os.path.isdir(os.path.join(folder, "nvidia"))]
    is_conda = os.path.isdir(os.path.join(sys.prefix, "conda-meta"))
    return [*folders, os.path.join(sys.prefix, "lib")] if is_conda else folders
