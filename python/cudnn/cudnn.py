"""The module name `cudnn`, served by sdpa_graph.

A module, not a package: where the existing package is installed as well, that one comes first, and neither overwrites
the other's files. `python -m sdpa_graph.which` says which is in use.
"""

from sdpa_graph.which import use_as_cudnn

use_as_cudnn()
