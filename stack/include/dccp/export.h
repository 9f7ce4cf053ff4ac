// Marks the symbols that the shared library exports; everything else has hidden visibility.
// DCCP_HIDDEN is for a class inside an exported one.
#pragma once

#if defined(__GNUC__)
#define DCCP_EXPORT __attribute__((visibility("default")))
#define DCCP_HIDDEN __attribute__((visibility("hidden")))
#else
#define DCCP_EXPORT
#define DCCP_HIDDEN
#endif
