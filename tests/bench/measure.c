/* SPDX-License-Identifier: MIT
 *
 * Runs commands in turn and prints a line per run: index of the command, nanoseconds, nanoseconds
 * of CPU time, peak resident set size in KiB, wait status. It is a separate, small program because
 * Linux counts the memory of the parent in the child's peak, and a script interpreter uses more
 * memory than the programs measured here.
 *
 *     measure ROUNDS STDIN COMMAND [ARGUMENT...] [--- COMMAND [ARGUMENT...]]... */
#define _DEFAULT_SOURCE /* wait4() */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* POSIX requires programs to declare it. */
extern char **environ;

enum { COMMANDS_MAX = 8 };

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static long long nanoseconds(struct timeval time)
{
    return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL;
}

static void run(int index, char **command, const posix_spawn_file_actions_t *actions)
{
    struct rusage usage;
    pid_t child;
    int status;
    const long long start = now();
    if (posix_spawn(&child, command[0], actions, NULL, command, environ) != 0)
        die(command[0]);
    if (wait4(child, &status, 0, &usage) != child)
        die("wait4");
    printf("%d %lld %lld %ld %d\n", index, now() - start,
           nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime), usage.ru_maxrss, status);
}

int main(int argc, char **argv)
{
    char **commands[COMMANDS_MAX];
    posix_spawn_file_actions_t actions;
    int count = 0;
    if (argc < 4) {
        fprintf(stderr, "usage: %s ROUNDS STDIN COMMAND... [--- COMMAND...]\n", argv[0]);
        return 2;
    }
    commands[count++] = argv + 3;
    for (int i = 3; i < argc && count < COMMANDS_MAX; i++) {
        if (strcmp(argv[i], "---") == 0) {
            argv[i] = NULL;
            commands[count++] = argv + i + 1;
        }
    }
    if (posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 0, argv[2], O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) != 0)
        die("posix_spawn_file_actions");
    for (long round = strtol(argv[1], NULL, 10); round > 0; round--) {
        for (int i = 0; i < count; i++)
            run(i, commands[i], &actions);
    }
    posix_spawn_file_actions_destroy(&actions);
    return 0;
}
