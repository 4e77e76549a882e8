/* SPDX-License-Identifier: MIT
 *
 * Which processors support which dtype natively: a table of architectures and facts about them
 * (architectures.def, capabilities.def). No device is accessed. A fact that is not in the table
 * is unknown. */
#ifndef DEVICES_MACHINE_ARCHITECTURE_H
#define DEVICES_MACHINE_ARCHITECTURE_H

#include "devices/machine/capability.h"

enum dti_architecture_group {
#define ARCHITECTURE_GROUP(id, ...) DTI_GROUP_##id,
#include "devices/machine/architectures.def"
#undef ARCHITECTURE_GROUP
    DTI_GROUP_COUNT
};

enum { DTI_ARCHITECTURE_NAMES = 7 }; /* "" ends the aliases */
/* A vendor's product line, or an instruction set architecture. */
struct dti_architecture_family {
    char name[12];    /* "AMD CDNA" */
    bool generations; /* each replaces its predecessors; else processors have a subset */
    char names[DTI_ARCHITECTURE_NAMES][16]; /* aliases */
};
extern const struct dti_architecture_family dti_architecture_groups[];

struct dti_architecture {
    enum dti_architecture_group group;
    char generation[16];                    /* "Ampere": not unique */
    char name[16];                          /* "Ampere 8.0", unique */
    unsigned compute;                       /* compute capability x 10, or 0 */
    uint64_t instructions;                  /* bit set of 1 << enum dti_instruction */
    char consists_of[84];                   /* the source of that set, "" if the name implies it */
    char names[DTI_ARCHITECTURE_NAMES][16]; /* aliases such as "a100" */
};
extern const struct dti_architecture dti_architectures[];
extern const size_t dti_architecture_count;

/* The source of the fact that an architecture has a capability for a dtype (static); NULL if the
 * table has no such fact. */
const char *dti_architecture_fact(const struct dti_architecture *architecture, enum dti_dtype dtype,
                                  enum dti_capability capability);
/* Whether there is any fact about the dtype. */
bool dti_architecture_supports(const struct dti_architecture *architecture, enum dti_dtype dtype);

/* Whether a word names the architecture, its generation or its group, or is "all". Case, blanks,
 * '-' and '_' are ignored: "sm80", "SM_80", "sapphire-rapids". */
bool dti_architecture_is(const struct dti_architecture *architecture, const char *word);
/* The error for a word that names no architecture, with similar names. */
enum dti_status dti_architecture_unknown(const char *word, struct dti_error *reterr);

#endif
