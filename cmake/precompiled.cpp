// The target that owns the precompiled headers needs a source of its own; the headers are listed in
// internal_flags.cmake.
