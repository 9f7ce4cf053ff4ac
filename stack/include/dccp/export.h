// Marks the symbols that the shared library exports; everything else has hidden visibility.
#pragma once

#if defined(__GNUC__)
#define DCCP_EXPORT __attribute__((visibility("default")))
#else
#define DCCP_EXPORT
#endif
