/* SPDX-License-Identifier: MIT
 *
 * The program of a layer's unit tests. Each group runs by its name in its own process, because some
 * change process-wide state: signal handlers, the environment, a driver.
 *
 *   test_core           names the groups, one a line
 *   test_core number    runs the tests of test_number.c
 */
#include "unit.h"
#ifdef UNIT_READS_FILES
#include "io/window.h"
#endif
#include "util/run/process_environment.h"

static struct unit_group *groups;

void dti_unit_add(struct unit_group *group)
{
    group->next = groups;
    groups = group;
}

/* The length of a group's name, "number" in "../tests/unit/test_number.c". */
static size_t group_name(const struct unit_group *group, const char **ret_name)
{
    const char *const slash = strrchr(group->file, '/');
    *ret_name = (slash ? slash + 1 : group->file) + strlen("test_");
    return strcspn(*ret_name, ".");
}

int main(int argc, char **argv)
{
    dti_environment_use(true);
#ifdef UNIT_READS_FILES
    dti_window_allow(true);
#endif
    for (const struct unit_group *group = groups; group; group = group->next) {
        const char *name;
        const size_t length = group_name(group, &name);
        if (argc != 2)
            printf("%.*s\n", (int)length, name);
        else if (strlen(argv[1]) == length && memcmp(argv[1], name, length) == 0)
            return group->run();
    }
    if (argc == 2)
        fprintf(stderr, "%s: no group of tests is named '%s'\n", argv[0], argv[1]);
    return argc == 1 ? 0 : 2;
}
