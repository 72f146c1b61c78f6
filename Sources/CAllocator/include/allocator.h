#pragma once

/// jemalloc's settings; nobody else reads them.
extern const char *malloc_conf;
