/* SPDX-License-Identifier: MIT
 *
 * Parts of the reports on casts of files: where the report goes, its head, what was lost. */
#include <string.h>

#include "cli/shared/cast_file.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/tensor_cells.h"

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

void dti_cast_file_head(const struct dti_cast_file *file, uint64_t input_bytes,
                        struct dti_line *line)
{
    const struct dti_file_cast *const cast = file->cast;
    const bool dry_text = file->to_text && file->tensors->dry_run;
    char from[DTI_QUOTE_SIZE], to[DTI_QUOTE_SIZE], read[DTI_TEXT_SIZE], written[DTI_TEXT_SIZE];
    char tensors[DTI_PLURAL_SIZE], shards[DTI_PLURAL_SIZE];
    dti_line_print(line, DTI_STYLE_PLAIN, "%s -> %s   %s",
                   strcmp(file->path, "-") == 0 ? "standard input"
                                                : dti_human_path(from, file->path),
                   !file->out_path   ? dti_container_name(file->target.kind)
                   : file->to_stdout ? "standard output"
                                     : dti_human_path(to, file->out_path),
                   dti_plural_words(tensors, cast->tensor_count, "tensor"));
    if (file->target.kind == DTI_CONTAINER_SHARDED)
        dti_line_print(line, DTI_STYLE_PLAIN, " in %s",
                       dti_plural_words(shards, cast->files.count - cast->files.has_index, "file"));
    dti_human_bytes(written, file->to_text ? file->output_bytes : cast->output_bytes);
    dti_line_print(line, DTI_STYLE_PLAIN, "   %s -> %s", dti_human_bytes(read, input_bytes),
                   dry_text ? "text" : written);
    if (file->tensors->dry_run)
        dti_line_put(line, DTI_STYLE_PLAIN, "   (nothing is written)");
    dti_line_end(line);
}

enum dti_status dti_cast_file_table(struct dti_table *table, bool whole,
                                    const struct dti_cast_file *file, struct dti_error *reterr)
{
    struct dti_context cx = *file->cx;
    if (dti_cast_file_aside(file)) { /* stderr has no page */
        cx.out = cx.err;
        cx.colour = cx.colour_error;
        cx.limit = 0;
    }
    return dti_table_finish(table, whole, &cx, reterr);
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
