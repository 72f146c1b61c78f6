#include "allocations.h"

#include <stdatomic.h>
#include <stddef.h>

// A program's own malloc replaces the library's in the whole process. glibc provides the original under another name.
static atomic_uint_fast64_t count;

uint64_t allocations_so_far(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

#ifdef __GLIBC__
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void note(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    note();
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    note();
    return __libc_realloc(old, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    note();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : 12;
}
#endif
