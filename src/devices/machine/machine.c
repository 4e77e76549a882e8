/* SPDX-License-Identifier: MIT
 *
 * Describes a machine's processors from CPUID, /proc and /sys. */
#define _DEFAULT_SOURCE /* getauxval() is not in POSIX */
#include "devices/machine/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#endif

#include "devices/machine/machine_parts.h"
#include "util/errno_text.h"
#include "util/run/parallel.h"

#if defined __x86_64__
static const enum dti_isa isa_here = DTI_ISA_X86_64;
#elif defined __aarch64__
static const enum dti_isa isa_here = DTI_ISA_AARCH64;
#else
static const enum dti_isa isa_here = DTI_ISA_OTHER;
#endif

static const struct dti_machine unknown = {
    .family = DTI_UNKNOWN,
    .model_number = DTI_UNKNOWN,
    .stepping = DTI_UNKNOWN,
    .sockets = DTI_UNKNOWN,
    .cores = DTI_UNKNOWN,
    .threads = DTI_UNKNOWN,
    .performance_cpus = DTI_UNKNOWN,
    .efficiency_cpus = DTI_UNKNOWN,
    .allowed_cpus = DTI_UNKNOWN,
    .base_hz = DTI_UNKNOWN,
    .max_hz = DTI_UNKNOWN,
    .memory_bytes = DTI_UNKNOWN,
    .available_bytes = DTI_UNKNOWN,
    .memory_limit_bytes = DTI_UNKNOWN,
};

/* What the C library reports, for facts missing in the files. */
static void ask_system(struct dti_machine *machine)
{
    struct utsname about;
    machine->isa = isa_here;
    if (uname(&about) >= 0)
        dti_text_copy(machine->architecture, sizeof machine->architecture, about.machine,
                      strlen(about.machine));
    machine->allowed_cpus = dti_cpu_count();
}

static void name_architecture(struct dti_machine *machine)
{
    const char *const name = machine->isa == DTI_ISA_X86_64    ? "x86_64"
                             : machine->isa == DTI_ISA_AARCH64 ? "aarch64"
                                                               : "";
    if (machine->architecture[0] == '\0')
        dti_text_copy(machine->architecture, sizeof machine->architecture, name, strlen(name));
}

static void instructions(struct dti_machine *machine, const struct dti_root *root,
                         const struct dti_cpuid_reader *reader, const struct dti_buffer *flags)
{
    const uint64_t *words = NULL;
#if defined __aarch64__ && defined __linux__
    const uint64_t reported[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    if (!root->recorded)
        words = reported;
#else
    (void)root;
#endif
    if (machine->isa == DTI_ISA_X86_64)
        dti_instructions_x86(machine, reader, flags);
    else if (machine->isa == DTI_ISA_AARCH64)
        dti_instructions_arm(machine, words, flags);
}

static enum dti_status open_root(struct dti_root *ret, const char *path, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    *ret = (struct dti_root){.recorded = path != NULL};
    ret->fd = open(path ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!path || ret->fd >= 0)
        return DTI_OK; /* without a root folder, nothing is known */
    const int reason = errno;
    (void)dti_fail(reterr, DTI_BAD_INPUT, "%s: %s; a recording is a folder with 'proc' and 'sys'",
                   dti_quote(quoted, path, strlen(path)), dti_errno_text(reason));
    dti_error_argument(reterr, path, strlen(path));
    return DTI_BAD_INPUT;
}

enum dti_status dti_machine_read(struct dti_machine *ret, const char *root_path,
                                 struct dti_error *reterr)
{
    struct dti_root root;
    struct dti_machine machine = unknown;
    struct dti_cpuid_reader reader;
    struct dti_buffer flags;
    enum dti_status status = open_root(&root, root_path, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&flags);
    const bool has_cpuid = dti_cpuid_open(&reader, &root);
    if (!root.recorded)
        ask_system(&machine);
    else if (has_cpuid)
        machine.isa = DTI_ISA_X86_64;
    if (has_cpuid)
        dti_machine_cpuid(&machine, &reader);
    dti_machine_proc(&machine, &root, &flags);
    instructions(&machine, &root, has_cpuid ? &reader : NULL, &flags);
    name_architecture(&machine);
    dti_machine_topology(&machine, &root);
    dti_machine_memory(&machine, &root);
    if (root.fd >= 0)
        (void)close(root.fd);
    const bool no_memory = flags.failed;
    dti_buffer_free(&flags);
    if (no_memory)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (machine.isa == DTI_ISA_NONE) {
        char quoted[DTI_QUOTE_SIZE];
        (void)dti_fail(
            reterr, DTI_BAD_INPUT,
            "%s is not a recording of a machine: it has neither 'cpuid' nor 'proc/cpuinfo'",
            dti_quote(quoted, root_path, strlen(root_path)));
        dti_error_argument(reterr, root_path, strlen(root_path));
        return DTI_BAD_INPUT;
    }
    *ret = machine;
    return DTI_OK;
}
