#include "build.h"

#ifndef NEWSWIRE_COMMIT
#define NEWSWIRE_COMMIT ""
#endif

const char *newswire_commit(void) { return NEWSWIRE_COMMIT; }
