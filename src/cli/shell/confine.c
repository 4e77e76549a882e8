/* SPDX-License-Identifier: MIT
 *
 * What a command line names, as the rules of a sandbox. Everything is decided by the words of the
 * command line, before a byte of a file is read. */
#include "cli/shell/confine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/net/remote.h"
#include "io/sandbox/sandbox.h"
#include "io/scratch.h"
#include "util/run/mathematics.h"
#include "util/text/ascii.h"

const struct dti_choice dti_sandbox_choices[] = {
    {.name = "auto",
     .value = DTI_SANDBOX_AUTO,
     .help = "as far as the system and the command allow (the default)"},
    {.name = "always",
     .value = DTI_SANDBOX_ALWAYS,
     .help = "also without files; fail if any part of it is missing"},
    {.name = "never", .value = DTI_SANDBOX_NEVER, .help = "never"},
    {.name = NULL},
};

static bool allowed;

void dti_confine_allow(void)
{
    /* what a preloaded library does is not known: fakeroot has sockets, valgrind makes code */
    const char *const preloaded = getenv("LD_PRELOAD");
    allowed = !preloaded || preloaded[0] == '\0';
}

/* Options that are not names of input. */
enum role { INPUT, OUTPUT, DEVICE };
static const struct {
    char name[16];
    unsigned char role;
} roles[] = {{"output", OUTPUT}, {"attest", OUTPUT},
             {"svg", OUTPUT},    {"measurements", OUTPUT}, /* or an input, which it may be, too */
             {"device", DEVICE}, {"fit", DEVICE}};

/* Commands that look at the machine and load other engines. */
static const char unconfined[][8] = {"bench", "devices"};

struct confinement {
    const struct dti_command *command;
    const void *args;
    char **operands;
    int operand_count;
    const char *why_not; /* what cannot be in a sandbox, or NULL */
    bool files, network, system;
    struct dti_sandbox sandbox;
};

/* A word of the command line, which need not be a path. */
typedef void take_fn(struct confinement *confinement, enum role role, const char *word);

static enum role role_of(const struct dti_option *option)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (strcmp(dti_option_name(option), roles[i].name) == 0)
            return (enum role)roles[i].role;
    }
    return INPUT;
}

static void each_value(struct confinement *confinement, const struct dti_option *option,
                       take_fn *take)
{
    const void *const value = (const char *)confinement->args + option->offset;
    const char *const *items = value;
    size_t count = 1;
    if (option->kind == DTI_OPTION_LIST) {
        items = ((const struct dti_option_list *)value)->items;
        count = ((const struct dti_option_list *)value)->count;
    } else if (option->kind != DTI_OPTION_TEXT && option->kind != DTI_OPTION_FILE) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (items[i])
            take(confinement, role_of(option), items[i]);
    }
}

struct taking {
    struct confinement *confinement;
    take_fn *take;
};
static void take_file(void *context, const char *path)
{
    const struct taking *const taking = context;
    taking->take(taking->confinement, INPUT, path);
}

static void each_word(struct confinement *confinement, take_fn *take)
{
    const struct dti_command *const command = confinement->command;
    struct taking taking = {confinement, take};
    for (const struct dti_option *option = command->options;
         option && option->kind != DTI_OPTION_END; option++)
        each_value(confinement, option, take);
    if (command->files)
        command->files(confinement->operands, confinement->operand_count, take_file, &taking);
    else
        for (int i = 0; i < confinement->operand_count; i++)
            take(confinement, INPUT, confinement->operands[i]);
}

static void survey(struct confinement *confinement, enum role role, const char *word)
{
    if (role == DEVICE) {
        confinement->system |= strcmp(word, "cpu") == 0;
        if (strcmp(word, "cpu") != 0 && !dti_ascii_digit(word[0]))
            confinement->why_not = "a device needs its driver";
    } else if (dti_is_address(word)) {
        confinement->files = confinement->network = true;
    } else if (role == INPUT && (strcmp(word, "-") == 0 || access(word, F_OK) == 0)) {
        confinement->files = true;
    }
}

static void allow(struct confinement *confinement, enum role role, const char *word)
{
    if (role != DEVICE && strcmp(word, "-") != 0 && !dti_is_address(word))
        dti_sandbox_allow(&confinement->sandbox, word,
                          role == OUTPUT ? DTI_SANDBOX_WRITE : DTI_SANDBOX_READ);
}

/* Files that variables of the environment name for libcurl and for its certificates. */
static void allow_environment(struct confinement *confinement)
{
    static const char variables[][16] = {"DTINFO_LIBCURL", "SSL_CERT_FILE", "SSL_CERT_DIR",
                                         "CONDA_PREFIX"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *const path = getenv(variables[i]);
        if (path && path[0] != '\0')
            dti_sandbox_allow(&confinement->sandbox, path, DTI_SANDBOX_SYSTEM);
    }
}

/* What is loaded when it is needed, and then could not be. Who needs it reports a failure. */
static void load_libraries(const struct confinement *confinement)
{
    const struct dti_mathematics *functions;
    if (confinement->command->writes)
        (void)dti_mathematics_get(&functions, NULL);
    if (confinement->network)
        dti_remote_prepare();
}

static void enter(struct confinement *confinement, bool all_or_nothing)
{
    struct dti_sandbox *const sandbox = &confinement->sandbox;
    load_libraries(confinement);
    dti_sandbox_begin(sandbox, confinement->network);
    each_word(confinement, allow);
    dti_sandbox_allow(sandbox, dti_scratch_folder(), DTI_SANDBOX_SCRATCH);
    if (confinement->network)
        allow_environment(confinement);
    if (confinement->system) {
        dti_sandbox_allow(sandbox, "/proc", DTI_SANDBOX_SYSTEM);
        dti_sandbox_allow(sandbox, "/sys", DTI_SANDBOX_SYSTEM);
    }
    if (all_or_nothing && sandbox->lacks)
        dti_sandbox_leave_out(sandbox);
    else
        dti_sandbox_enter(sandbox);
}

enum dti_status dti_confine(const struct dti_command *command, const void *args, int when,
                            char **operands, int operand_count, struct dti_error *reterr)
{
    struct confinement confinement = {
        .command = command, .args = args, .operands = operands, .operand_count = operand_count};
    const bool always = when == DTI_SANDBOX_ALWAYS;
    if (when == DTI_SANDBOX_NEVER || (!always && (!allowed || !command->reads)))
        return DTI_OK;
    if (!allowed)
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "--sandbox always: not with a preloaded library; unset LD_PRELOAD");
    each_word(&confinement, survey);
    for (size_t i = 0; i < sizeof unconfined / sizeof *unconfined; i++) {
        if (strcmp(command->name, unconfined[i]) == 0)
            confinement.why_not = "this command looks at the whole machine";
    }
    if (always && confinement.why_not)
        return dti_fail(reterr, DTI_UNAVAILABLE, "--sandbox always: %s, which a sandbox keeps out",
                        confinement.why_not);
    if (confinement.why_not || (!always && !confinement.files))
        return DTI_OK;
    enter(&confinement, always);
    if (always && confinement.sandbox.lacks)
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "--sandbox always: this machine or build lacks %s; --sandbox auto takes "
                        "what there is",
                        confinement.sandbox.lacks);
    return DTI_OK;
}

void dti_confine_describe(FILE *out)
{
    struct dti_sandbox sandbox;
    dti_sandbox_begin(&sandbox, false);
    (void)fprintf(out, "sandbox    %s%s\n", sandbox.lacks ? "lacks " : "complete",
                  sandbox.lacks ? sandbox.lacks : "");
    dti_sandbox_leave_out(&sandbox);
}
