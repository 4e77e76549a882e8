/* SPDX-License-Identifier: MIT
 *
 * Runs tests in a child process, for state that exists once per process: loaded libraries, a
 * driver, the environment. The child's output is returned as text. */
#ifndef DTINFO_TESTS_CHILD_H
#define DTINFO_TESTS_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SECONDS = 120, CHILD_OUTPUT = 4096 };

struct child_result {
    int status; /* of waitpid() */
    char output[CHILD_OUTPUT];
};

/* Runs body(out, context) in a child, which then exits as main() does: with _exit() if leaves()
 * returns true, else with exit(). */
static inline void child_run(struct child_result *ret, void (*body)(FILE *out, const void *context),
                             const void *context, bool (*leaves)(void))
{
    int ends[2];
    size_t length = 0;
    memset(ret, 0, sizeof *ret);
    ret->status = -1;
    fflush(NULL);
    if (pipe(ends) != 0)
        return;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        alarm(CHILD_SECONDS);
        FILE *const out = fdopen(ends[1], "w");
        if (!out)
            _exit(99);
        body(out, context);
        fclose(out);
        fflush(NULL);
        if (leaves && leaves())
            _exit(0);
        exit(0);
    }
    close(ends[1]);
    for (;;) {
        const ssize_t got = read(ends[0], ret->output + length, CHILD_OUTPUT - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    ret->output[length] = '\0';
    close(ends[0]);
    if (child < 0 || waitpid(child, &ret->status, 0) != child)
        ret->status = -1;
}

#endif
