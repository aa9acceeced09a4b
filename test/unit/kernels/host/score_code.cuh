// The modifiers with which the host's kernels are compiled. Macros choose one, so this file may be read several times.
#if defined(NAMED_MODIFIERS) && defined(OF_BOUNDS)
#include "named_modifier_bounds.inc"
#elif defined(NAMED_MODIFIERS)
#include "named_modifier_codes.inc"
#elif defined(OF_BOUNDS)
#include "documents_bounds.inc"
#elif defined(HIDES_BLOCKS)
#include "documents_code.inc"
#else
#include "softcap_code.inc"
#ifdef HAS_SHORT_SCORE
#include "softcap_short_score.inc"
#endif
#endif
