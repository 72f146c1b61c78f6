#ifndef NEWSWIRE_ALLOCATIONS_H
#define NEWSWIRE_ALLOCATIONS_H

#include <stdint.h>

/// How often memory was asked for in this process so far. Only programs that link this count; glibc only, elsewhere 0.
uint64_t allocations_so_far(void);

#endif
