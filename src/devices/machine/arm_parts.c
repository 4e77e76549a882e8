/* SPDX-License-Identifier: MIT
 *
 * Names of Arm processors: rows of arm_parts.def. */
#include "devices/machine/machine_parts.h"

const char *dti_arm_vendor(uint64_t implementer)
{
    switch (implementer) {
#define ARM_VENDOR(number, name) \
    case number:                 \
        return name;
#define ARM_PART(...)
#include "devices/machine/arm_parts.def"
#undef ARM_VENDOR
#undef ARM_PART
    default:
        return NULL;
    }
}

const char *dti_arm_model(uint64_t implementer, uint64_t part)
{
    static const struct {
        unsigned implementer, part;
        char name[20];
    } rows[] = {
#define ARM_VENDOR(...)
#define ARM_PART(vendor, number, what) {vendor, number, what},
#include "devices/machine/arm_parts.def"
#undef ARM_VENDOR
#undef ARM_PART
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].implementer == implementer && rows[i].part == part)
            return rows[i].name;
    }
    return NULL;
}
