/* SPDX-License-Identifier: MIT
 *
 * Processor architectures and the facts about them: rows of architectures.def, and rows of
 * capabilities.def for their compute capability and instruction sets. */
#include "devices/machine/architecture.h"

#include <string.h>

#include "util/text/ascii.h"
#include "util/text/nearest.h"

_Static_assert(DTI_INSTRUCTION_COUNT <= 64, "a set of instruction sets has 64 bits");

#define NAMES(...)  \
    {               \
        __VA_ARGS__ \
    }
#define GENERATIONS true
#define FEATURES    false
const struct dti_architecture_family dti_architecture_groups[] = {
#define ARCHITECTURE_GROUP(id, name_, kind, names_) \
    [DTI_GROUP_##id] = {.name = name_, .generations = (kind), .names = names_},
#include "devices/machine/architectures.def"
#undef ARCHITECTURE_GROUP
};

#define HAS(instruction) (UINT64_C(1) << DTI_HAS_##instruction)
const struct dti_architecture dti_architectures[] = {
#define ARCHITECTURE(id, group_, generation_, name_, compute_, sets, source, names_) \
    {.group = DTI_GROUP_##group_,                                                    \
     .generation = generation_,                                                      \
     .name = name_,                                                                  \
     .compute = (compute_),                                                          \
     .instructions = (sets),                                                         \
     .consists_of = source,                                                          \
     .names = names_},
#include "devices/machine/architectures.def"
#undef ARCHITECTURE
};
const size_t dti_architecture_count = sizeof dti_architectures / sizeof *dti_architectures;

enum architecture_id {
#define ARCHITECTURE(id, ...) ARCHITECTURE_##id,
#include "devices/machine/architectures.def"
#undef ARCHITECTURE
};

enum {
#define ARCHITECTURE(id, group, ...) GROUP_OF_##id = DTI_GROUP_##group,
#include "devices/machine/architectures.def"
#undef ARCHITECTURE
};

static const struct {
    enum architecture_id first, last;
    enum dti_dtype dtype;
    enum dti_capability capability;
    char source[108];
} facts[] = {
#define FACT(first, last, dtype, capability, source) \
    {ARCHITECTURE_##first, ARCHITECTURE_##last, DTI_##dtype, DTI_CAPABLE_##capability, source},
#include "devices/machine/architectures.def"
#undef FACT
};

#define FACT(first, last, dtype, capability, source)              \
    _Static_assert(ARCHITECTURE_##first <= ARCHITECTURE_##last && \
                       GROUP_OF_##first == GROUP_OF_##last,       \
                   "a fact is about successive architectures of a group");
#include "devices/machine/architectures.def"
#undef FACT

const char *dti_architecture_fact(const struct dti_architecture *architecture, enum dti_dtype dtype,
                                  enum dti_capability capability)
{
    const size_t id = (size_t)(architecture - dti_architectures);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (facts[i].dtype == dtype && facts[i].capability == capability && facts[i].first <= id &&
            id <= facts[i].last)
            return facts[i].source;
    }
    const char *const source = dti_instruction_fact(architecture->instructions, dtype, capability);
    return source ? source : dti_compute_fact(architecture->compute, dtype, capability);
}

bool dti_architecture_supports(const struct dti_architecture *architecture, enum dti_dtype dtype)
{
    return dti_architecture_fact(architecture, dtype, DTI_CAPABLE_ARITHMETIC) ||
           dti_architecture_fact(architecture, dtype, DTI_CAPABLE_MATRIX) ||
           dti_architecture_fact(architecture, dtype, DTI_CAPABLE_CONVERSION);
}

static bool is_filler(char c)
{
    return c == ' ' || c == '-' || c == '_';
}

static bool same(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (is_filler(*a))
            a++;
        while (is_filler(*b))
            b++;
        if (*a == '\0' || dti_ascii_lower(*a) != dti_ascii_lower(*b))
            return *a == *b;
    }
}

static bool one_of(const char names[DTI_ARCHITECTURE_NAMES][16], const char *word)
{
    for (size_t i = 0; names[i][0] != '\0'; i++) {
        if (same(names[i], word))
            return true;
    }
    return false;
}

bool dti_architecture_is(const struct dti_architecture *architecture, const char *word)
{
    const struct dti_architecture_family *const group =
        &dti_architecture_groups[architecture->group];
    return same("all", word) || same(architecture->name, word) ||
           same(architecture->generation, word) || one_of(architecture->names, word) ||
           same(group->name, word) || one_of(group->names, word);
}

static void offer_all(struct dti_nearest *nearest, const char names[DTI_ARCHITECTURE_NAMES][16])
{
    for (size_t i = 0; names[i][0] != '\0'; i++)
        dti_nearest_offer(nearest, names[i]);
}

enum dti_status dti_architecture_unknown(const char *word, struct dti_error *reterr)
{
    const size_t length = strlen(word);
    struct dti_nearest nearest;
    struct dti_format format;
    if (dti_format_lookup(word, &format, NULL, NULL) == DTI_OK)
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_SUPPORTS,
                               "%s is a dtype, not an architecture", DTI_QUOTED(word, length));
    dti_nearest_init(&nearest, word, length);
    for (size_t i = 0; i < dti_architecture_count; i++) {
        dti_nearest_offer(&nearest, dti_architectures[i].generation);
        dti_nearest_offer(&nearest, dti_architectures[i].name);
        offer_all(&nearest, dti_architectures[i].names);
    }
    for (size_t i = 0; i < DTI_GROUP_COUNT; i++) {
        dti_nearest_offer(&nearest, dti_architecture_groups[i].name);
        offer_all(&nearest, dti_architecture_groups[i].names);
    }
    (void)dti_fail_word(reterr, DTI_USAGE, word, length, "unknown architecture %s",
                        DTI_QUOTED(word, length));
    dti_nearest_suggest(&nearest, reterr);
    return DTI_USAGE;
}
