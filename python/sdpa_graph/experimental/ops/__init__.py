"""Operators of torch. Importing this does not import torch; using them does."""

from . import sdpa  # noqa: F401
