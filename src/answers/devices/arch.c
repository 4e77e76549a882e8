/* SPDX-License-Identifier: MIT
 *
 * Architectures and their dtypes: see arch.h. */
#include "answers/devices/arch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/rows.h"
#include "util/run/allocate.h"

const enum dti_capability dti_arch_capabilities[] = {DTI_CAPABLE_ARITHMETIC, DTI_CAPABLE_MATRIX,
                                                     DTI_CAPABLE_CONVERSION, DTI_CAPABLE_SOFTWARE};

static bool is_named(const struct dti_arch_answer *answer,
                     const struct dti_architecture *architecture)
{
    for (size_t i = 0; i < answer->name_count; i++) {
        if (dti_architecture_is(architecture, answer->names[i]))
            return true;
    }
    return answer->name_count == 0;
}

/* Formats outside the table, such as e3m4, have no facts. */
static bool supports(const struct dti_architecture *architecture, const struct dti_format *format)
{
    return format->id < DTI_DTYPE_COUNT && dti_architecture_supports(architecture, format->id);
}

static bool is_shown(const struct dti_arch_answer *answer,
                     const struct dti_architecture *architecture)
{
    for (size_t i = 0; i < answer->dtype_count; i++) {
        if (supports(architecture, &answer->dtypes[i].format))
            return is_named(answer, architecture);
    }
    return answer->dtype_count == 0 && is_named(answer, architecture);
}

static enum dti_status check_name(const char *name, struct dti_error *reterr)
{
    for (size_t i = 0; i < dti_architecture_count; i++) {
        if (dti_architecture_is(&dti_architectures[i], name))
            return DTI_OK;
    }
    return dti_architecture_unknown(name, reterr);
}

enum dti_status dti_arch_find(struct dti_arch_answer *answer, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < answer->name_count && status == DTI_OK; i++)
        status = check_name(answer->names[i], reterr);
    if (status != DTI_OK)
        return status;
    answer->shown = dti_calloc(dti_architecture_count, sizeof *answer->shown);
    if (!answer->shown)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < dti_architecture_count; i++) {
        if (is_shown(answer, &dti_architectures[i]))
            answer->shown[answer->count++] = &dti_architectures[i];
    }
    return DTI_OK;
}

void dti_arch_free(struct dti_arch_answer *answer)
{
    dti_free(answer->shown);
}

bool dti_arch_shows(const struct dti_arch_answer *answer, enum dti_dtype dtype)
{
    for (size_t i = 0; i < answer->dtype_count; i++) {
        if (answer->dtypes[i].format.id == dtype)
            return true;
    }
    return answer->dtype_count == 0;
}

/* The first architecture of a group that supports the dtype, if all later ones do, too; else the
 * end of the table. */
static size_t first_of_rest(enum dti_architecture_group group, const struct dti_format *format)
{
    size_t first = dti_architecture_count;
    for (size_t i = 0; i < dti_architecture_count; i++) {
        if (dti_architectures[i].group != group)
            continue;
        const bool does = supports(&dti_architectures[i], format);
        if (does && first == dti_architecture_count)
            first = i;
        else if (!does && first < dti_architecture_count)
            return dti_architecture_count;
    }
    return first;
}

static bool begins_generation(size_t at)
{
    return at == 0 || dti_architectures[at - 1].group != dti_architectures[at].group ||
           strcmp(dti_architectures[at - 1].generation, dti_architectures[at].generation) != 0;
}

static bool ends_group(size_t at)
{
    return at + 1 == dti_architecture_count ||
           dti_architectures[at + 1].group != dti_architectures[at].group;
}

void dti_arch_summary(struct dti_buffer *text, const struct dti_arch_answer *answer,
                      enum dti_architecture_group group, const struct dti_format *format)
{
    const size_t first = first_of_rest(group, format), length = text->length;
    if (answer->name_count == 0 && first < dti_architecture_count) {
        const struct dti_architecture *const from = &dti_architectures[first];
        if (first == 0 || dti_architectures[first - 1].group != group) {
            dti_buffer_puts(text, "all");
            return;
        }
        if (dti_architecture_groups[group].generations && !ends_group(first)) {
            dti_buffer_puts(text, begins_generation(first) ? from->generation : from->name);
            dti_buffer_puts(text, " and newer");
            return;
        }
    }
    for (size_t i = 0; i < answer->count; i++) {
        if (answer->shown[i]->group != group || !supports(answer->shown[i], format))
            continue;
        dti_buffer_puts(text, text->length > length ? ", " : "");
        dti_buffer_puts(text, answer->shown[i]->name);
    }
}

struct fact_shown {
    const struct dti_format *format;
    const char *capability, *source;
};

struct architecture_shown {
    const struct dti_arch_answer *answer;
    const struct dti_architecture *architecture;
};

struct support_shown {
    const struct dti_arch_answer *answer;
    const struct dti_format *format;
};

struct group_shown {
    const struct support_shown *support;
    enum dti_architecture_group group;
};

/* Precomputed values for the rows in arch.def. */
struct architecture_facts {
    const struct dti_arch_answer *answer;
    const struct dti_architecture *of;
    const char *group;
    size_t name_count;
    const char *compute, *instructions_source; /* or NULL */
    char room[DTI_TEXT_SIZE];
};
struct arch_group {
    const char *name;
    const char *architectures; /* or NULL */
    struct dti_buffer text;
};

DTI_WORDS(fact_words, "arithmetic", "matrix", "conversion")

static size_t count_names(const char names[DTI_ARCHITECTURE_NAMES][16])
{
    size_t count = 0;
    while (names[count][0] != '\0')
        count++;
    return count;
}

static void fill_architecture(struct architecture_facts *ret,
                              const struct architecture_shown *shown)
{
    const struct dti_architecture *const of = shown->architecture;
    *ret = (struct architecture_facts){
        .answer = shown->answer,
        .of = of,
        .group = dti_architecture_groups[of->group].name,
        .name_count = count_names(of->names),
        .instructions_source = of->consists_of[0] != '\0' ? of->consists_of : NULL,
    };
    (void)snprintf(ret->room, sizeof ret->room, "%u.%u", of->compute / 10, of->compute % 10);
    ret->compute = of->compute > 0 ? ret->room : NULL;
}

static void make_group(struct arch_group *ret, struct dti_json *json,
                       const struct group_shown *shown)
{
    ret->name = dti_architecture_groups[shown->group].name;
    dti_buffer_init(&ret->text);
    dti_arch_summary(&ret->text, shown->support->answer, shown->group, shown->support->format);
    if (ret->text.failed)
        dti_json_out_of_memory(json);
    ret->architectures = ret->text.length > 0 ? ret->text.data : NULL;
}

static void free_group(struct arch_group *group)
{
    dti_buffer_free(&group->text);
}

static void put_instructions(struct dti_json *json, const struct dti_architecture *architecture)
{
    for (unsigned i = 0; i < DTI_INSTRUCTION_COUNT; i++) {
        if ((architecture->instructions >> i & 1) != 0)
            dti_json_string(json, NULL, dti_instruction_name((enum dti_instruction)i));
    }
}

static void put_facts(struct dti_json *json, const struct architecture_facts *facts);

#define DTI_ROWS "answers/devices/arch.def"
#include "answers/rows.h"

static void put_facts(struct dti_json *json, const struct architecture_facts *facts)
{
    for (unsigned i = 0; i < DTI_DTYPE_COUNT; i++) {
        const enum dti_dtype dtype = (enum dti_dtype)i;
        for (size_t k = 0; dti_arch_capabilities[k] != DTI_CAPABLE_SOFTWARE; k++) {
            const enum dti_capability capability = dti_arch_capabilities[k];
            const char *const source = dti_architecture_fact(facts->of, dtype, capability);
            if (source && dti_arch_shows(facts->answer, dtype))
                dti_put_arch_fact(json, NULL,
                                  &(struct fact_shown){dti_format_get(dtype),
                                                       dti_capability_name(capability), source});
        }
    }
}
