/* SPDX-License-Identifier: MIT
 *
 * The parts of the page of `devices`. */
#ifndef DTINFO_CLI_DEVICES_PAGE_H
#define DTINFO_CLI_DEVICES_PAGE_H

#include "answers/devices.h"
#include "cli/shell/command.h"
#include "dtinfo/buffer.h"
#include "dtinfo/spell.h"

enum dti_status dti_devices_human(const struct dti_devices_answer *answer,
                                  const struct dti_context *cx, struct dti_error *reterr);

/* devices_details.c: with -v, rows of two columns: what, and what of it. */
struct dti_table;
void dti_devices_cpu_details(struct dti_table *table, const struct dti_devices_answer *answer);
void dti_devices_gpu_details(struct dti_table *table, const struct dti_gpu_facts *gpu);

/* devices_words.c: texts, at the end of a buffer. */
void dti_devices_number(struct dti_buffer *text, uint64_t number);
void dti_devices_count(struct dti_buffer *text, uint64_t number, const char *one, const char *many);
void dti_devices_bytes(struct dti_buffer *text, uint64_t bytes);     /* "48 KiB", "23.54 GiB" */
void dti_devices_hertz(struct dti_buffer *text, uint64_t hertz);     /* "2.60 GHz" */
void dti_devices_safe(struct dti_buffer *text, const char *foreign); /* escaped */
void dti_devices_model(struct dti_buffer *text, const struct dti_machine *machine);
/* "L1d", "L2" */
void dti_devices_cache(struct dti_buffer *text, const struct dti_cache_facts *cache);

#endif
