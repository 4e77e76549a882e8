/* SPDX-License-Identifier: MIT
 *
 * Output files and signals, in a process that has signal handlers of its own. */
#include <signal.h>

#include "io/output.h"
#include "unit.h"

static volatile sig_atomic_t handled;

static void handle(int number)
{
    handled = number;
}

static void a_handler_of_the_process_stays(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        CHECK(signal(signals[i], handle) != SIG_ERR);
    dti_output_guard_signals();
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        handled = 0;
        CHECK(raise(signals[i]) == 0);
        CHECK_I64(handled, signals[i]);
    }
}

UNIT_MAIN(a_handler_of_the_process_stays)
