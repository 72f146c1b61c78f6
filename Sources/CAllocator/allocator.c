#include "allocator.h"

// jemalloc looks up this name. Its default, four arenas per core, uses more memory than the few busy threads need.
const char *malloc_conf = "narenas:2,dirty_decay_ms:500";
