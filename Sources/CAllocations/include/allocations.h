#ifndef NEWSWIRE_ALLOCATIONS_H
#define NEWSWIRE_ALLOCATIONS_H

#include <stdint.h>

/// The number of allocations in this process. Counted only in programs that link this, and only with glibc; otherwise 0.
uint64_t allocations_so_far(void);

#endif
