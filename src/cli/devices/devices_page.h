/* SPDX-License-Identifier: MIT
 *
 * The parts of the page of `devices`. */
#ifndef DTINFO_CLI_DEVICES_PAGE_H
#define DTINFO_CLI_DEVICES_PAGE_H

#include "answers/arch.h"
#include "answers/devices.h"
#include "cli/shell/command.h"
#include "dtinfo/buffer.h"
#include "dtinfo/spell.h"

/* arch_human.c: --arch and --supports. */
enum dti_status dti_arch_human(const struct dti_context *cx, const struct dti_arch_answer *answer,
                               struct dti_error *reterr);
/* The head of a dtype's column, "e4m3fn" for fp8_e4m3fn. */
const char *dti_devices_column(enum dti_dtype dtype);

/* devices_details.c: with -v, rows of two columns: name and value. */
struct dti_table;
void dti_devices_cpu_details(struct dti_table *table, const struct dti_devices_answer *answer);
void dti_devices_gpu_details(struct dti_table *table, const struct dti_gpu_facts *gpu);

/* devices_details.c: append facts to a text, separated by commas, without one after '('. Unknown
 * facts add nothing. */
void dti_devices_count(struct dti_buffer *text, const char *before, uint64_t number,
                       const char *one, const char *many); /* "family 6", "2 cores" */
void dti_devices_bytes(struct dti_buffer *text, const char *before, uint64_t bytes,
                       const char *after); /* "23.54 GiB free" */
void dti_devices_words(struct dti_buffer *text, const char *before, const char *foreign);

const char *dti_devices_size(char buffer[DTI_TEXT_SIZE], uint64_t bytes); /* "48 KiB" */
/* "L1d", "L2" */
enum { DEVICES_CACHE_SIZE = 16 };
const char *dti_devices_cache(char buffer[DEVICES_CACHE_SIZE], const struct dti_cache_facts *cache);

#endif
