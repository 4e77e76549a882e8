/* SPDX-License-Identifier: MIT
 *
 * --plan of `quant`: the formats of single tensors, as `advise` wrote them. They become what --type
 * would say, with names instead of patterns. */
#include <string.h>

#include "answers/advise/member_reader.h"
#include "files/scan/file_digest.h"
#include "requests/quant/quant_args.h"
#include "util/run/allocate.h"

struct plan_reading {
    struct dti_member_reader reader;
    struct dti_quant_plan_file *plan;
    const char *formats[QUANT_TARGETS_MAX];
    size_t format_count;
    bool schema, writes, channels;
};

static uint32_t number_of(struct plan_reading *reading, const char *format)
{
    size_t at = 0;
    while (at < reading->format_count && strcmp(reading->formats[at], format) != 0)
        at++;
    if (at == QUANT_TARGETS_MAX)
        dti_members_refuse(&reading->reader, "the plan has too many formats");
    else if (strpbrk(format, ",=*") || format[0] == '\0')
        dti_members_refuse(&reading->reader, "a format is not the name of one");
    else if (at == reading->format_count)
        reading->formats[reading->format_count++] = format;
    return (uint32_t)at;
}

static bool grow(struct dti_named_types *named)
{
    const size_t count = named->count;
    if (count > 0 && (count & (count - 1)) != 0)
        return true;
    const size_t room = count > 0 ? 2 * count : 1;
    struct dti_named_type *const list = dti_realloc(named->list, room * sizeof *list);
    if (list)
        named->list = list;
    return list != NULL;
}

static void read_tensor(struct plan_reading *reading)
{
    struct dti_member_reader *const reader = &reading->reader;
    struct dti_quant_plan_file *const plan = reading->plan;
    struct dti_named_type named = {.name = NULL};
    const char *format = NULL;
    if (!dti_members_object(reader))
        return;
    while (dti_members_next(reader)) {
        if (dti_members_is(reader, "name"))
            named.name = dti_members_text(reader, &plan->pool, &named.length);
        else if (dti_members_is(reader, "name_hex"))
            dti_members_hex(reader, &plan->pool, &named.name, &named.length);
        else if (dti_members_is(reader, "format"))
            format = dti_members_text(reader, &plan->pool, NULL);
        else
            dti_members_skip(reader);
    }
    if (!named.name || !format)
        dti_members_refuse(reader, "a tensor lacks its name or its format");
    else if (reader->status == DTI_OK)
        named.type = number_of(reading, format);
    if (reader->status != DTI_OK)
        return;
    if (!grow(&plan->named)) {
        reader->status = dti_no_memory(reader->reterr);
        return;
    }
    plan->named.list[plan->named.count++] = named;
}

/* "compressed-tensors"; null: gguf */
static void read_layout(struct plan_reading *reading)
{
    struct dti_quant_plan_file *const plan = reading->plan;
    const char *const name = dti_members_text(&reading->reader, &plan->pool, NULL);
    int at = 0;
    while (name && at < DTI_LAYOUT_COUNT &&
           strcmp(dti_quant_layout_name((enum dti_quant_layout)at), name) != 0)
        at++;
    if (at == DTI_LAYOUT_COUNT)
        dti_members_refuse(&reading->reader, "the layout is none that quant writes");
    else if (name)
        plan->args.recipe.layout = at;
    plan->args.recipe.layout_given = name != NULL;
}

static void read_members(struct plan_reading *reading)
{
    struct dti_member_reader *const reader = &reading->reader;
    struct dti_quant_plan_file *const plan = reading->plan;
    (void)dti_members_object(reader);
    while (dti_members_next(reader)) {
        if (dti_members_is(reader, "schema")) {
            dti_members_schema(reader, "dtinfo.advise_plan/1");
            reading->schema = true;
        } else if (dti_members_is(reader, "writes")) {
            const char *const word = dti_members_text(reader, &plan->pool, NULL);
            plan->choice.gguf = word && strcmp(word, "gguf") == 0;
            reading->writes = plan->choice.gguf || (word && strcmp(word, "safetensors") == 0);
        } else if (dti_members_is(reader, "layout")) {
            read_layout(reading);
        } else if (dti_members_is(reader, "per")) {
            const char *const word = dti_members_text(reader, &plan->pool, NULL);
            reading->channels = word && strcmp(word, "channel") == 0;
            if (word && !reading->channels && strcmp(word, "tensor") != 0)
                dti_members_refuse(reader, "per is neither tensor nor channel");
        } else if (dti_members_is(reader, "tensors") && dti_members_list(reader)) {
            while (dti_members_element(reader))
                read_tensor(reading);
        } else {
            dti_members_skip(reader);
        }
    }
    if (!reading->schema || !reading->writes)
        dti_members_refuse(reader, "this is no plan of dtinfo");
    else if (plan->named.count == 0)
        dti_members_refuse(reader, "this plan quantizes nothing: all tensors stay as they are");
}

/* What --type would have. */
static enum dti_status settle(struct plan_reading *reading, struct dti_error *reterr)
{
    struct dti_quant_plan_file *const plan = reading->plan;
    const size_t twice = dti_named_types_sort(&plan->named);
    struct dti_digest digest;
    if (twice < plan->named.count)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s names tensor %s twice", reading->reader.label,
                        DTI_QUOTED(plan->named.list[twice].name, plan->named.list[twice].length));
    for (size_t i = 0; i < reading->format_count; i++) {
        if (reading->channels && !dti_block_lookup(reading->formats[i])) {
            plan->args.recipe.rules.per = DTI_PER_CHANNEL;
            plan->args.recipe.per_given = true;
        }
        dti_buffer_puts(&plan->types, i > 0 ? ",*=" : "*=");
        dti_buffer_puts(&plan->types, reading->formats[i]);
    }
    if (plan->types.failed)
        return dti_no_memory(reterr);
    dti_digest_bytes(reading->reader.text.data, reading->reader.text.length, &digest);
    plan->args.plan = dti_digest_spell(plan->digest, &digest); /* of a divided run: not the path */
    plan->args.types = plan->types.data;
    plan->args.choice = &plan->choice;
    plan->choice.named = &plan->named;
    plan->dtype = reading->formats[0];
    return DTI_OK;
}

enum dti_status dti_quant_plan_read(struct dti_quant_plan_file *ret, const struct quant_args *args,
                                    const char *dtype, struct dti_error *reterr)
{
    struct plan_reading reading = {.plan = ret};
    const char *const option = dti_quant_given(args, "type layout per dequant quant-only");
    *ret = (struct dti_quant_plan_file){.args = *args, .named = {.source = args->plan}};
    dti_buffer_init(&ret->types);
    if (option || dtype)
        return dti_fail(reterr, DTI_USAGE,
                        "--plan says what becomes of each tensor; leave out %s%s",
                        option ? "--" : "the dtype", option ? option : "");
    dti_members_open(&reading.reader, args->plan, "a plan", reterr);
    read_members(&reading);
    enum dti_status status = reading.reader.status;
    if (status == DTI_OK)
        status = settle(&reading, reterr);
    dti_members_close(&reading.reader);
    return status;
}

void dti_quant_plan_file_free(struct dti_quant_plan_file *plan)
{
    dti_free(plan->named.list);
    dti_buffer_free(&plan->types);
    dti_pool_free(&plan->pool);
}
