/* SPDX-License-Identifier: MIT
 *
 * The text of a progress bar. */
#include <string.h>

#include "cli/shared/progress.h"
#include "unit.h"
#include "util/text/utf8.h"

static const char *name(void *context, uint64_t done, size_t *ret_length)
{
    const char *const text = context;
    *ret_length = strlen(text);
    return done > 0 ? text : NULL;
}

static void a_bar_has_rate_rest_and_name(void)
{
    enum { MIB = 1 << 20 };
    static const struct {
        uint64_t total, done;
        int64_t ms;
        size_t columns;
        const char *units, *name, *want;
    } cases[] = {
        {100, 0, 500, 79, "bytes", NULL, "  [..........]   0 %"},
        {100 * MIB, 50 * MIB, 2000, 79, "bytes", NULL,
         "  [#####.....]  50 %  25.00 MiB/s  0:03 left"},
        {100 * MIB, 50 * MIB, 2000, 79, "bytes", "wte", /* and the current item */
         "  [#####.....]  50 %  25.00 MiB/s  0:03 left  wte"},
        {UINT64_MAX, 1 << 30, 1000, 79, "bytes", NULL, "  [..........]   0 %  1.00 GiB/s"},
        {100, 100, 1000, 79, "elements", NULL, "  [##########] 100 %  100 elements/s"},
        {0, 5000, 1000, 79, "elements", NULL, "  5000 elements  5000 elements/s"},
        {100, 50, 1000, 20, "bytes", "wte", "  [#####.....]  50 %"},
        {100, 50, 1000, 50, "bytes", "model.layers.0.weight",
         "  [#####.....]  50 %  50 bytes/s  0:02 left"},
        {100, 50, 1000, 59, "bytes", "model.layers.0.weight",
         "  [#####.....]  50 %  50 bytes/s  0:02 left  model.layer..."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[DTI_PROGRESS_SIZE], context[64];
        struct dti_progress progress = {
            .total = cases[i].total, .units = cases[i].units, .columns = cases[i].columns};
        if (cases[i].name) {
            (void)snprintf(context, sizeof context, "%s", cases[i].name);
            progress.name = name;
            progress.name_context = context;
        }
        dti_progress_words(text, &progress, cases[i].done, cases[i].ms);
        CHECK_STR(text, cases[i].want);
        CHECK(dti_utf8_columns(text, strlen(text)) <= cases[i].columns);
    }
}

UNIT_MAIN(a_bar_has_rate_rest_and_name)
