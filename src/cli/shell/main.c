/* SPDX-License-Identifier: MIT
 *
 * The process around a command line: its standard streams and its exit. */
#include <unistd.h>

#include "cli/shell/command.h"
#include "cli/shell/standard.h"
#include "dtinfo/gpu.h"

int main(int argc, char **argv)
{
    dti_standard_open();
    const int code =
        dti_command_line(argc > 0 ? argv + 1 : argv, argc > 0 ? argc - 1 : 0, stdout, stderr);
    if (dti_gpu_hangs())
        _exit(code); /* exit handlers would wait for the driver */
    return code;
}
