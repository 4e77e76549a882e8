/* SPDX-License-Identifier: MIT
 *
 * libdtinfo: number formats, exact casts between any two of them, quantization, and the files that
 * hold tensors.
 *
 *     struct dti_error error;
 *     struct dti_context *context = NULL;
 *     struct dti_caster *caster = NULL;
 *     const struct dti_format *fp32 = NULL, *bf16 = NULL;
 *     enum dti_status status = dti_context_new(&context, NULL, &error);
 *     if (!status)
 *         status = dti_format_find(context, "fp32", &fp32, NULL, &error);
 *     if (!status)
 *         status = dti_format_find(context, "bf16", &bf16, NULL, &error);
 *     if (!status)
 *         status = dti_caster_new(&caster, context,
 *                                 &(struct dti_cast_spec){.size = sizeof(struct dti_cast_spec),
 *                                                         .src = fp32, .dst = bf16}, &error);
 *     if (!status)
 *         status = dti_caster_run(caster, numbers_bf16, numbers_fp32, count, NULL, &error);
 *     if (status)
 *         fprintf(stderr, "%s\n", error.text);
 *     dti_caster_free(caster);
 *     dti_context_free(context);
 *
 * Errors. A function that can fail returns an enum dti_status, DTI_OK on success, and on failure
 * fills the struct dti_error that is its last parameter (NULL is fine). Results called ret_... are
 * written on success only.
 *
 * Structs. One that is passed to the library begins with `size`, which the caller sets to its
 * sizeof: members are added at its end, and 0 is the default of each member, so that a program
 * keeps working with later versions. All others are opaque, or say that they never change. Numbers
 * of enumerators never change; new ones are added at the end.
 *
 * Threads. A context, and everything made with it, can be used from several threads at the
 * same time, except where a function says otherwise. Objects made with a context must be
 * freed before it.
 *
 * Processes. After fork() without exec(), the child may use contexts with `threads` = 1 and no task
 * callback that no thread was using at the time, and make new ones.
 *
 * Manners. The library prints nothing, ends nothing, installs no signal handlers, reads no
 * environment variables and no locale, and keeps no state outside of contexts except for tables
 * that are computed once. Texts are UTF-8 without control characters: names from files are escaped
 * in messages. */
#ifndef DTINFO_H
#define DTINFO_H

#include "dtinfo/array.h" /* casts, statistics and comparisons of arrays; expressions */
#include "dtinfo/base.h"  /* version, errors, contexts */
#include "dtinfo/block.h" /* quantization: codes with scales */
#include "dtinfo/dtype.h" /* number formats; single numbers */
#include "dtinfo/file.h"  /* files of tensors */

#endif
