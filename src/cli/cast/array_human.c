/* SPDX-License-Identifier: MIT
 *
 * What an array cast lost, for people: three lines, and one more for each thing worth saying. */
#include <string.h>

#include "cli/cast/array.h"
#include "cli/shared/choices.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "dtinfo/table.h"

static void put(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

static void put_dtype(const struct dti_format *format, const struct dti_layout *layout, bool text,
                      struct dti_line *line)
{
    if (!text && format->width < 8)
        dti_line_print(line, DTI_STYLE_PLAIN, "%s (packing %s)", format->name,
                       dti_choice_name(dti_choice_packing, (int)layout->packing));
    else
        dti_line_print(line, DTI_STYLE_PLAIN, "%s%s", format->name, text ? " as text" : "");
}

/* in.bin -> out.bin   268435456 fp32 -> bf16   1.00 GiB -> 512.00 MiB */
static void put_head(const struct cast_array *array, struct dti_line *line)
{
    const struct dti_request *request = &array->request;
    char from[DTI_QUOTE_SIZE], to[DTI_QUOTE_SIZE], read[DTI_TEXT_SIZE], written[DTI_TEXT_SIZE];
    dti_line_print(line, DTI_STYLE_PLAIN, "%s -> %s   %llu ",
                   strcmp(array->path, "-") == 0 ? "standard input"
                                                 : dti_human_path(from, array->path),
                   array->to_stdout ? "standard output" : dti_human_path(to, array->out_path),
                   (unsigned long long)array->elements);
    if (array->from_text)
        put(line, array->elements == 1 ? "number" : "numbers");
    else
        put_dtype(&request->src, &request->src_layout, false, line);
    put(line, " -> ");
    put_dtype(&request->cast.dst, &request->dst_layout, array->to_text, line);
    dti_line_print(line, DTI_STYLE_PLAIN, "   %s -> %s\n",
                   dti_human_bytes(read, array->input_bytes),
                   dti_human_bytes(written, array->output_bytes));
}

static void put_machine(const struct cast_array *array, struct dti_line *line)
{
    char kernels[DTI_PLAN_TEXT_SIZE];
    dti_line_print(line, DTI_STYLE_DIM, "  level %s   %zu thread%s   %s\n",
                   dti_level_name(array->level), array->threads, array->threads == 1 ? "" : "s",
                   array->plan ? dti_plan_describe_device(array->plan, kernels) : "from text");
}

void dti_cast_array_human(struct cast_array *array, const struct dti_loss_summary *loss)
{
    const bool aside = array->to_stdout;
    struct dti_line line = {.out = aside ? array->cx->err : array->cx->out,
                            .colour = aside ? array->cx->colour_error : array->cx->colour};
    const struct dti_request *const request = &array->request;
    char place[64];
    (void)snprintf(place, sizeof place, "element %llu", (unsigned long long)loss->max_index);
    put_head(array, &line);
    dti_loss_human_counts(loss, &line);
    dti_loss_human_errors(loss, place, &line);
    dti_loss_human_policies(&request->cast, request->rule, &line);
    dti_cast_device_human(&array->job.device, &line);
    if (array->cx->verbose)
        put_machine(array, &line);
    dti_loss_human_hint(&request->cast, request->rule, loss, &line);
}
