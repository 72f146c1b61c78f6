#include "allocator.h"

// Looked up by jemalloc under this name. Four arenas for each core, its own choice, hold more memory than
// the few busy threads need.
const char *malloc_conf = "narenas:2,dirty_decay_ms:500";
