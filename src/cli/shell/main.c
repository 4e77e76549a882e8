/* SPDX-License-Identifier: MIT
 *
 * The process around a command line: its standard streams and its exit. */
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/shell/command.h"
#include "cli/shell/confine.h"
#include "cli/shell/standard.h"
#include "devices/gpu/gpu.h"

/* The header of a file may take megabytes. Freeing it would raise glibc's dynamic mmap threshold,
 * so that lists of tensors come from the heap, which keeps the holes they leave. Fixed thresholds
 * prevent that. */
static void return_large_blocks(void)
{
#ifdef __GLIBC__
    enum { LARGE = 512 << 10 };
    (void)mallopt(M_MMAP_THRESHOLD, LARGE);
    (void)mallopt(M_TRIM_THRESHOLD, LARGE);
#endif
}

int main(int argc, char **argv)
{
    return_large_blocks();
    dti_standard_open();
    dti_confine_allow();
    const int code =
        dti_command_line(argc > 0 ? argv + 1 : argv, argc > 0 ? argc - 1 : 0, stdout, stderr);
    if (dti_gpu_hangs())
        _exit(code); /* exit handlers would wait for the driver */
    return code;
}
