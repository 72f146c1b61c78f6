#pragma once

/// jemalloc's settings, which only jemalloc reads.
extern const char *malloc_conf;
