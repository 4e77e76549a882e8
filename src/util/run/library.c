/* SPDX-License-Identifier: MIT
 *
 * Loads optional libraries; no other file does. */
#include "util/run/library.h"
#include "util/run/allocate.h"
#include "util/run/process_environment.h"

#include <dlfcn.h>
#include <fenv.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

struct dti_library {
    void *handle;
    char name[];
};

/* True under setuid or file capabilities: the caller, who lacks our privileges, chose the
 * environment. */
static bool has_privileges_of_another(void)
{
#ifdef AT_SECURE
    return getauxval(AT_SECURE) != 0;
#else
    return getuid() != geteuid() || getgid() != getegid();
#endif
}

/* Reports dlerror()'s text without the library name that our message already begins with. */
static enum dti_status explain(const char *name, const char *text, struct dti_error *reterr)
{
    char quoted_name[DTI_QUOTE_SIZE], quoted[DTI_QUOTE_SIZE];
    const size_t length = strlen(name);
    const char *words = name;
    if (strchr(name, '/')) /* a path from the environment */
        words = dti_quote(quoted_name, name, length);
    if (!text)
        text = "unknown cause";
    /* glibc: "NAME: cannot open shared object file: No such file or directory"; musl: "Error
     * loading shared library NAME: No such file or directory". A dependency of NAME may be
     * missing too. */
    const char *const at = strstr(text, name);
    if (at && strstr(text, "No such file") && !strstr(text, "needed by"))
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s: not found", words);
    if (at == text && strncmp(text + length, ": ", 2) == 0)
        text += length + 2;
    return dti_fail(reterr, DTI_UNAVAILABLE, "%s: cannot be loaded: %s", words,
                    dti_quote(quoted, text, strlen(text)));
}

static atomic_uint opening;

bool dti_library_is_opening(void)
{
    return atomic_load(&opening) > 0;
}

/* A named pipe would block the loader, and with it every other load. */
static bool is_no_file(const char *name)
{
    struct stat about = {0};
    return strchr(name, '/') && stat(name, &about) == 0 && !S_ISREG(about.st_mode);
}

/* The thread's rounding mode and subnormal handling. Where it takes an instruction, <fenv.h> is not
 * used: glibc keeps fegetenv() in libm, which is loaded when it is asked for (mathematics.h). */
#if defined __GNUC__ && defined __x86_64__
#define DTI_KEEPS_REGISTERS 1
static void read_registers(uint64_t state[2])
{
    unsigned short x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    state[0] = __builtin_ia32_stmxcsr();
    state[1] = x87;
}
static void write_registers(const uint64_t state[2])
{
    const unsigned short x87 = (unsigned short)state[1];
    __builtin_ia32_ldmxcsr((unsigned)state[0]);
    __asm__ volatile("fldcw %0" : : "m"(x87));
}
#elif defined __GNUC__ && defined __aarch64__
#define DTI_KEEPS_REGISTERS 1
static void read_registers(uint64_t state[2])
{
    __asm__ volatile("mrs %0, fpcr" : "=r"(state[0]));
}
static void write_registers(const uint64_t state[2])
{
    __asm__ volatile("msr fpcr, %0" : : "r"(state[0]));
}
#endif

/* Libraries built with fast-math may change it. */
static void *open_keeping_arithmetic(const char *name)
{
#ifdef DTI_KEEPS_REGISTERS
    uint64_t before[2];
    read_registers(before);
#else
    fenv_t before;
    const bool kept = fegetenv(&before) == 0;
#endif
    atomic_fetch_add(&opening, 1);
    void *const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    atomic_fetch_sub(&opening, 1);
#ifdef DTI_KEEPS_REGISTERS
    write_registers(before);
#else
    if (kept)
        (void)fesetenv(&before);
#endif
    return handle;
}

static enum dti_status open_one(struct dti_library **ret, const char *name,
                                struct dti_error *reterr)
{
    const size_t size = strlen(name) + 1;
    char quoted[DTI_QUOTE_SIZE];
    if (is_no_file(name))
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s: not a regular file",
                        dti_quote(quoted, name, size - 1));
    struct dti_library *const library = dti_process_malloc(sizeof *library + size);
    if (!library)
        return dti_no_memory(reterr);
    memcpy(library->name, name, size);
    library->handle = open_keeping_arithmetic(name);
    if (!library->handle) {
        dti_process_free(library);
        return explain(name, dlerror(), reterr);
    }
    *ret = library;
    return DTI_OK;
}

enum dti_status dti_library_open(struct dti_library **ret, const char *const *names,
                                 const char *variable, struct dti_error *reterr)
{
    if (has_privileges_of_another())
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "%s: not loaded because the program runs with another user's privileges",
                        names[0]);
    const char *const chosen = variable ? dti_environment(variable) : NULL;
    if (chosen) {
        char quoted[DTI_QUOTE_SIZE];
        if (!strchr(chosen, '/'))
            return dti_fail(reterr, DTI_UNAVAILABLE,
                            "%s is %s, which is not a path: it has no slash", variable,
                            dti_quote(quoted, chosen, strlen(chosen)));
        return open_one(ret, chosen, reterr);
    }
    /* if none exists, report the first */
    enum dti_status status = open_one(ret, names[0], reterr);
    for (size_t i = 1; status == DTI_UNAVAILABLE && names[i]; i++) {
        if (open_one(ret, names[i], NULL) == DTI_OK)
            status = DTI_OK;
    }
    return status;
}

const char *dti_library_name(const struct dti_library *library)
{
    return library->name;
}

const char *dti_library_find(const struct dti_library *library,
                             const struct dti_library_function *rows, size_t count, void *functions)
{
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        /* function and data pointers have the same size wherever dlsym() exists */
        void *const found = dlsym(library->handle, rows[i].name);
        memcpy((char *)functions + rows[i].offset, &found, sizeof found);
        if (!found && rows[i].required && !missing)
            missing = rows[i].name;
    }
    return missing;
}

void dti_library_close(struct dti_library *library)
{
    dti_process_free(library);
}
