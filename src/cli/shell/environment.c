/* SPDX-License-Identifier: MIT
 *
 * The table of DTINFO_* variables and the check against it. */
#include <stdio.h>
#include <string.h>

#include "cli/shell/environment.h"
#include "dtinfo/gpu.h"
#include "dtinfo/nearest.h"

static const struct dti_choice cpu_levels[] = {
    {.name = "none", .help = "the same as scalar"},
#define LEVEL(id, level_name, architecture, what) \
    {.name = level_name, .help = what " (" architecture ")"},
#include "dtinfo/levels.def"
#undef LEVEL
    {.name = NULL},
};

static const struct dti_choice ways_to_read[] = {
    {.name = "auto", .help = "whichever is faster, measured with the first pieces of a large file"},
    {.name = "map", .help = "through mapped windows"},
    {.name = "copy", .help = "copied into buffers"},
    {.name = NULL},
};

/* A name without a slash would be searched in the library folders. */
static enum dti_status check_path(const struct dti_variable *variable, const char *value,
                                  struct dti_error *reterr)
{
    if (strchr(value, '/'))
        return DTI_OK;
    return dti_fail_word(reterr, DTI_BAD_ENVIRONMENT, value, strlen(value),
                         "environment variable %s takes a path with a slash; got %s",
                         variable->name, DTI_QUOTED(value, strlen(value)));
}

static enum dti_status check_timeout(const struct dti_variable *variable, const char *value,
                                     struct dti_error *reterr)
{
    double seconds;
    (void)variable;
    return dti_gpu_timeout_parse(value, &seconds, reterr);
}

const struct dti_variable dti_variables[] = {
    {.name = "DTINFO_CPU",
     .help = "the highest CPU level that array kernels may use; a level above this machine's has "
             "no effect, one of another architecture is an error",
     .choices = cpu_levels},
    {.name = "DTINFO_CUDA_TIMEOUT",
     .help = "the timeout in seconds (0.001 to 86400, default 30) for calls of the CUDA driver and "
             "for work on a device",
     .check = check_timeout},
    {.name = "DTINFO_LIBCUDA",
     .help = "the path of the CUDA driver's library, instead of libcuda.so.1",
     .check = check_path},
    {.name = "DTINFO_LIBCURL",
     .help = "the path of libcurl, instead of libcurl.so.4",
     .check = check_path},
    {.name = "DTINFO_LIBGMP",
     .help = "the path of GMP's library, instead of libgmp.so.10",
     .check = check_path},
    {.name = "DTINFO_LIBMPFR",
     .help = "the path of MPFR's library, instead of libmpfr.so.6",
     .check = check_path},
    {.name = "DTINFO_LIBNVML",
     .help = "the path of NVIDIA's management library, instead of libnvidia-ml.so.1",
     .check = check_path},
    {.name = "DTINFO_READ",
     .help = "how the data of tensors are read from files; results are the same",
     .choices = ways_to_read},
};
const size_t dti_variable_count = sizeof dti_variables / sizeof dti_variables[0];

static const char prefix[] = "DTINFO_";

/* Appends a name to a comma-separated list, which has room for it. */
static void list_name(char list[256], const char *name)
{
    const size_t used = strlen(list);
    snprintf(list + used, 256 - used, "%s%s", used > 0 ? ", " : "", name);
}

static enum dti_status unknown_variable(const char *name, size_t length, struct dti_error *reterr)
{
    char list[256] = "";
    struct dti_nearest nearest;
    dti_nearest_init(&nearest, name, length);
    for (size_t i = 0; i < dti_variable_count; i++) {
        list_name(list, dti_variables[i].name);
        dti_nearest_offer(&nearest, dti_variables[i].name);
    }
    dti_fail_word(reterr, DTI_BAD_ENVIRONMENT, name, length,
                  "unknown environment variable %s; the variables are %s", DTI_QUOTED(name, length),
                  list);
    for (size_t i = 0; i < nearest.count; i++)
        dti_error_suggest(reterr, nearest.names[i]);
    return DTI_BAD_ENVIRONMENT;
}

static enum dti_status check_value(const struct dti_variable *variable, const char *value,
                                   struct dti_error *reterr)
{
    char list[DTI_CHOICES_SIZE];
    const size_t length = strlen(value);
    if (variable->check)
        return variable->check(variable, value, reterr);
    if (dti_choice_find(variable->choices, value, length))
        return DTI_OK;
    dti_fail_word(reterr, DTI_BAD_ENVIRONMENT, value, length,
                  "environment variable %s takes one of %s; got %s", variable->name,
                  dti_choices_list(list, variable->choices), DTI_QUOTED(value, length));
    dti_choices_suggest(variable->choices, value, length, reterr);
    return DTI_BAD_ENVIRONMENT;
}

static const struct dti_variable *find_variable(const char *name, size_t length)
{
    for (size_t i = 0; i < dti_variable_count; i++) {
        if (strlen(dti_variables[i].name) == length &&
            memcmp(dti_variables[i].name, name, length) == 0)
            return &dti_variables[i];
    }
    return NULL;
}

enum dti_status dti_environment_check(char *const *environment, struct dti_error *reterr)
{
    for (; environment && *environment; environment++) {
        const char *const entry = *environment;
        if (strncmp(entry, prefix, sizeof prefix - 1) != 0)
            continue;
        const size_t length = strcspn(entry, "=");
        const struct dti_variable *const variable = find_variable(entry, length);
        if (!variable)
            return unknown_variable(entry, length, reterr);
        const char *const value = entry[length] == '=' ? entry + length + 1 : "";
        const enum dti_status status = check_value(variable, value, reterr);
        if (status != DTI_OK)
            return status;
    }
    return DTI_OK;
}
