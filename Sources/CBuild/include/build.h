#pragma once

/// The commit that the program was built from; empty if the build did not know it.
const char *newswire_commit(void);
