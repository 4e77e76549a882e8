/* SPDX-License-Identifier: MIT
 *
 * The table of container kinds. */
#include "dtinfo/container.h"

static const struct {
    const char *name, *extension;
    bool written;
} kinds[DTI_CONTAINER_COUNT] = {
#define CONTAINER(id, kind_name, kind_extension, is_written) \
    [DTI_CONTAINER_##id] = {.name = kind_name, .extension = kind_extension, .written = is_written},
#include "dtinfo/containers.def"
#undef CONTAINER
};

const char *dti_container_name(enum dti_container_kind kind)
{
    return kinds[kind].name;
}

const char *dti_container_extension(enum dti_container_kind kind)
{
    return kinds[kind].extension;
}

bool dti_container_is_written(enum dti_container_kind kind)
{
    return kinds[kind].written;
}
