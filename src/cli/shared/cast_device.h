/* SPDX-License-Identifier: MIT
 *
 * --device of a cast: where arrays and files are cast, and who is asked about values. A value is
 * cast exactly in any case; a device that was demanded casts it too, and must agree. */
#ifndef DTINFO_CLI_CAST_DEVICE_H
#define DTINFO_CLI_CAST_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/shell/option.h"
#include "dtinfo/cross_check.h"
#include "dtinfo/rewrite.h"
#include "dtinfo/runner.h"
#include "dtinfo/table.h"

struct dti_cast_job;

struct dti_cast_device {
    struct dti_device_wish wish;
    struct dti_runner *runner;      /* NULL: the CPU */
    char begun[DTI_DEVICE_ID_SIZE]; /* where the work began; "" before */
    bool asks;                      /* numbers one by one: the device is a cross-check */
    /* a cross-check: */
    uint64_t numbers, asked;
    const char *why_not; /* why one of them was not asked about, or NULL */
    const char *why_cpu; /* why nobody was: --device auto */
    /* arrays and files: */
    size_t plans, plans_there; /* how many there are, and how many of them the device does */
    const char *why_plans;     /* why it does not do one of them */
    char reason[768];          /* dti_cast_device_reason() */
};

/* What completion offers. */
extern const struct dti_choice dti_choice_device[];

/* The option's text (NULL: the CPU); nothing is opened. Fails with DTI_USAGE, or DTI_UNAVAILABLE
 * for a device that is not made for this system. */
enum dti_status dti_cast_device_read(struct dti_cast_device *ret, const char *text,
                                     struct dti_error *reterr);
/* For arrays and files. Fails with DTI_UNAVAILABLE where a device was demanded that is not there.
 */
enum dti_status dti_cast_device_open(struct dti_cast_device *device, struct dti_error *reterr);
/* For numbers one by one, which with `auto` are not worth a driver. */
enum dti_status dti_cast_device_open_cross_check(struct dti_cast_device *device,
                                                 struct dti_error *reterr);
void dti_cast_device_close(struct dti_cast_device *device);

/* Gives an array's plan to the device; and those of a file, which have been given to it. */
enum dti_status dti_cast_device_take(struct dti_cast_device *device, struct dti_plan *plan,
                                     struct dti_error *reterr);
void dti_cast_device_plans(struct dti_cast_device *device, const struct dti_rewrite *cast);
/* Threads that should bring blocks: `wanted` where that is not 0 or the work is the CPU's. */
size_t dti_cast_device_threads(const struct dti_cast_device *device, size_t wanted);

/* Asks about n numbers, the first of which is element `index`. */
enum dti_status dti_cast_device_ask(struct dti_cast_device *device,
                                    struct dti_cross_check *cross_check,
                                    const struct dti_stored_number *numbers, size_t n,
                                    uint64_t index, struct dti_error *reterr);

/* "cuda:0", or "cpu", also after the device was left. */
const char *dti_cast_device_name(const struct dti_cast_device *device);
/* Why it is the CPU, or not the device alone; NULL when there is nothing to say. */
const char *dti_cast_device_reason(struct dti_cast_device *device);

/* Says on stderr, and among the warnings of JSON, that a device was left. */
void dti_cast_device_warn(struct dti_cast_job *job);
/* "  device cuda:0", where --device was given. */
void dti_cast_device_human(struct dti_cast_device *device, struct dti_line *line);

#endif
