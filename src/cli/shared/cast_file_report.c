/* SPDX-License-Identifier: MIT
 *
 * Parts of the reports on casts of files: what was written, where the report goes, what was lost.
 */
#include <string.h>

#include "cli/shared/cast_file.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/tensor_cells.h"

struct dti_cast_output dti_cast_file_output(const struct dti_cast_file *file)
{
    return (struct dti_cast_output){.path = file->out_path,
                                    .cast = file->cast,
                                    .dry_run = file->tensors->dry_run,
                                    .text = file->to_text,
                                    .text_bytes = file->output_bytes};
}

bool dti_cast_file_aside(const struct dti_cast_file *file)
{
    return file->to_stdout && !file->tensors->dry_run;
}

struct dti_line dti_cast_file_line(const struct dti_cast_file *file)
{
    const struct dti_context *const cx = file->cx;
    const bool aside = dti_cast_file_aside(file);
    return (struct dti_line){.out = aside ? cx->err : cx->out,
                             .colour = aside ? cx->colour_error : cx->colour};
}

static void put(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

void dti_cast_file_head(const struct dti_cast_file *file, uint64_t input_bytes,
                        struct dti_line *line)
{
    static const char gap[] = "   ";
    const struct dti_file_cast *const cast = file->cast;
    char path[DTI_QUOTE_SIZE], text[DTI_TEXT_SIZE], cell[DTI_PLURAL_SIZE];
    put(line, strcmp(file->path, "-") == 0 ? "standard input" : dti_human_path(path, file->path));
    put(line, " -> ");
    if (!file->out_path)
        put(line, dti_container_name(file->target.kind));
    else
        put(line, file->to_stdout ? "standard output" : dti_human_path(path, file->out_path));
    put(line, gap);
    put(line, dti_plural_words(cell, cast->tensor_count, "tensor"));
    const size_t shards = cast->files.count - cast->files.has_index;
    if (file->target.kind == DTI_CONTAINER_SHARDED) {
        put(line, " in ");
        put(line, dti_plural_words(cell, shards, "file"));
    }
    put(line, gap);
    put(line, dti_human_bytes(text, input_bytes));
    put(line, " -> ");
    if (file->to_text && file->tensors->dry_run)
        put(line, "text");
    else
        put(line, dti_human_bytes(text, file->to_text ? file->output_bytes : cast->output_bytes));
    if (file->tensors->dry_run)
        put(line, "   (nothing is written)");
    dti_line_end(line);
}

enum dti_status dti_cast_file_table(struct dti_table *table, bool whole,
                                    const struct dti_cast_file *file, struct dti_error *reterr)
{
    const struct dti_line line = dti_cast_file_line(file);
    return dti_table_finish(table, whole, line.out, line.colour, reterr);
}

void dti_cast_file_losses(const struct dti_cast_file *file, struct dti_loss_summary *ret,
                          struct dti_line *line)
{
    const struct dti_file_cast *const cast = file->cast;
    char place[DTI_LOSS_PLACE_SIZE] = "";
    dti_loss_summarize(&cast->loss, ret);
    if (ret->max_absolute > 0) {
        const struct dti_file_cast_tensor *const worst = &cast->tensors[cast->max_tensor];
        dti_loss_place(place, &cast->container->tensors[worst->source], worst->loss.max_index);
    }
    dti_loss_human_counts(ret, line);
    dti_loss_human_errors(ret, place, line);
}
