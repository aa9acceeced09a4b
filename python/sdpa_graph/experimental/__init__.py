"""The modules that the existing package calls experimental."""

from . import ops  # noqa: F401
