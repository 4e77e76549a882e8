/* SPDX-License-Identifier: MIT
 *
 * The machine of the page that computes: one thread, no signals, no devices, no files and no
 * addresses. Stands in for what the program has of these; what a command of values never gets to
 * is in absent.txt. */
#include <sys/mman.h>

#include "cli/shared/progress.h"
#include "containers/container.h"
#include "convert/cross_check.h"
#include "convert/device_parts.h"
#include "convert/runner.h"
#include "devices/gpu/gpu.h"
#include "files/rewrite/rewrite.h"
#include "io/output.h"
#include "io/sandbox/sandbox.h"
#include "io/scratch.h"
#include "io/window.h"
#include "util/run/parallel.h"

/* threads */

size_t dti_cpu_count(void)
{
    return 1;
}

void dti_team_free(struct dti_team *team)
{
    (void)team; /* none was made */
}

size_t dti_team_size(const struct dti_team *team)
{
    (void)team;
    return 1;
}

/* The C library declares it, and has none. */
int madvise(void *address, size_t size, int advice)
{
    (void)address;
    (void)size;
    (void)advice;
    return 0;
}

/* devices */

bool dti_gpu_hangs(void)
{
    return false;
}

enum dti_status dti_runner_open(struct dti_runner **ret, const struct dti_device_choice *choice,
                                struct dti_error *reterr)
{
    *ret = NULL;
    return choice->kind == DTI_DEVICE_CUDA
               ? dti_fail(reterr, DTI_UNAVAILABLE, "this page has no devices")
               : DTI_OK;
}

void dti_runner_close(struct dti_runner *runner)
{
    (void)runner;
}

const char *dti_runner_device(const struct dti_runner *runner)
{
    (void)runner;
    return "cpu";
}

const char *dti_runner_reason(const struct dti_runner *runner)
{
    (void)runner;
    return "";
}

void dti_device_plan_free(struct dti_device_plan *plan)
{
    (void)plan;
}

void dti_cross_check_free(struct dti_cross_check *cross_check)
{
    (void)cross_check;
}

/* files */

bool dti_container_is(const char *path)
{
    (void)path;
    return false;
}

void dti_window_allow(bool allow)
{
    (void)allow;
}

bool dti_output_is_standard(const char *path)
{
    (void)path;
    return false;
}

void dti_output_discard(struct dti_output_file *output)
{
    (void)output;
}

/* No kind of file: lists of them in --help are empty. */
const char *dti_container_words(size_t index)
{
    (void)index;
    return NULL;
}

const struct dti_gguf_type *dti_encode_type(size_t index)
{
    (void)index;
    return NULL;
}

/* The answer comes at once. */
bool dti_progress_wanted(enum dti_progress_when when, const struct dti_command_context *cx,
                         bool to_screen)
{
    (void)when;
    (void)cx;
    (void)to_screen;
    return false;
}

void dti_progress_end(struct dti_progress *progress)
{
    (void)progress;
}

/* A browser keeps the page from everything already. */
void dti_sandbox_begin(struct dti_sandbox *ret, bool network)
{
    *ret = (struct dti_sandbox){.lacks = "Linux", .rules = -1, .network = network};
}

void dti_sandbox_allow(struct dti_sandbox *sandbox, const char *path, enum dti_sandbox_use use)
{
    (void)sandbox;
    (void)path;
    (void)use;
}

void dti_sandbox_enter(struct dti_sandbox *sandbox)
{
    (void)sandbox;
}

void dti_sandbox_leave_out(struct dti_sandbox *sandbox)
{
    (void)sandbox;
}

const char *dti_scratch_folder(void)
{
    return "/";
}
