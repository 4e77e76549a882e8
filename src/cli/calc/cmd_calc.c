/* SPDX-License-Identifier: MIT
 *
 * dtinfo calc: an expression computed in dtypes, with every operation rounded, next to its true
 * value. */
#include <stdlib.h>
#include <string.h>

#include "calc/parse/tree.h"
#include "calc/truth/truth.h"
#include "cli/calc/calc_job.h"
#include "cli/shared/operand_kinds.h"
#include "io/output.h"
#include "requests/option_rows.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

enum { SUBNORMALS_KEEP, SUBNORMALS_FLUSH };

static const struct dti_choice subnormal_choices[] = {
    {"keep", SUBNORMALS_KEEP, "as IEEE 754 does (the default)"},
    {"flush", SUBNORMALS_FLUSH, "subnormal results become zero"},
    {.name = NULL},
};

static const struct dti_choice order_choices[] = {
    {"sequential", DTI_CALC_SEQUENTIAL, "from the first element to the last (the default)"},
    {"pairwise", DTI_CALC_PAIRWISE, "halves, and their sum"},
    {"blocked", DTI_CALC_BLOCKED, "blocked:N: blocks of N elements, then their sums"},
    {"kahan", DTI_CALC_KAHAN, "sequentially, with Kahan's compensation"},
    {.name = NULL},
};

static const struct dti_choice true_choices[] = {
    {"auto", DTI_CALC_TRUTH_AUTO, "up to 65536 elements (the default)"},
    {"always", DTI_CALC_TRUTH_YES, "of lists of any length; this may take long"},
    {"never", DTI_CALC_TRUTH_NO, "not at all"},
    {.name = NULL},
};

static const struct dti_choice fail_choices[] = {
    {"overflow", 1 << DTI_CALC_OVERFLOW, "a result is beyond the dtype's range"},
    {"nan", 1 << DTI_CALC_NAN, "NaN from operands that are none"},
    {"divide-by-zero", 1 << DTI_CALC_DIVIDE_BY_ZERO, "a number is divided by zero"},
    {"to-zero", 1 << DTI_CALC_TO_ZERO, "a result that is not zero became zero"},
    {"subnormal", 1 << DTI_CALC_SUBNORMAL, "an inexact result is subnormal"},
    {"underflow", 1 << DTI_CALC_TO_ZERO | 1 << DTI_CALC_SUBNORMAL, "to-zero or subnormal"},
    {"absorbed", 1 << DTI_CALC_ABSORBED, "a + b is a, though b is not zero"},
    {"cancellation", 1 << DTI_CALC_CANCELLATION, "half or more of the leading bits cancel"},
    {"inexact", FAIL_INEXACT, "an operation was rounded"},
    {"invalid", FAIL_INVALID | 1 << DTI_CALC_NAN, "nan, or the dtype lacks a NaN or infinity"},
    {.name = NULL},
};

static const struct dti_option options[] = {
    OPT_CHOICE('r', "round", struct calc_args, policy.recipe.round, policy.recipe.round_given,
               "MODE", dti_choice_round,
               "rounding mode of every operation; integers truncate quotients by default",
               .matters = true, DTI_MORE(.group = "rounding")),
    DTI_ROW_OVERFLOW(struct calc_args, policy.recipe.overflow),
    DTI_ROW_NAN(struct calc_args, policy.recipe.nan),
    OPT_CHOICE(0, "subnormals", struct calc_args, subnormals, subnormals_given, "POLICY",
               subnormal_choices, "what to store for subnormal results"),
    OPT_UINT(0, "seed", struct calc_args, policy.recipe.seed, policy.recipe.seed_given, 0,
             UINT64_MAX, "N", "seed of rand, randn and --round stochastic"),
    OPT_DTYPE(0, "accumulate", struct calc_args, accumulate, "DTYPE",
              "compute sums, products and functions such as softmax in this dtype, and round the "
              "result; rowmax, min and max alone, which round nothing, stay in their dtype",
              .matters = true, DTI_MORE(.group = "lists")),
    OPT_LIST(0, "order", struct calc_args, order, "ORDER", order_choices,
             "how to add up a list: sequential, pairwise, blocked:N or kahan", .matters = true),
    OPT_FLAG(0, "fma", struct calc_args, fma, "round a*b + c once, in dot and matmul too",
             .matters = true),
    DTI_ROW_ASSUME(struct calc_args, assume),
    OPT_FLAG(0, "steps", struct calc_args, steps, "show every operation and its error",
             .matters = true, DTI_MORE(.group = "output")),
    DTI_ROW_OUTPUT(struct calc_args, output,
                   "write the result to a .npy, .npz or .safetensors file"),
    DTI_ROW_FORCE(struct calc_args, force, ""),
    OPT_CHOICE(0, "true-value", struct calc_args, true_value, true_value_given, "WHEN",
               true_choices, "when to compute the true value"),
    DTI_ROW_FAIL_ON(struct calc_args, policy.fail_on, fail_choices),
    DTI_ROW_PROGRESS(struct calc_args, progress, "show a progress bar for each long operation"),
    OPT_END,
};

/* "blocked:16" */
static enum dti_status read_order(struct dti_calc_options *ret, const char *text,
                                  struct dti_error *reterr)
{
    const size_t length = strcspn(text, ":");
    if (dti_calc_order_read(text, &ret->order, &ret->block))
        return DTI_OK;
    dti_fail_word(reterr, DTI_USAGE, text, strlen(text),
                  "--order takes sequential, pairwise, blocked:N (N from 1 on) or kahan; got %s",
                  DTI_QUOTED(text, strlen(text)));
    if (!dti_choice_find(order_choices, text, length))
        dti_choices_suggest(order_choices, text, length, reterr);
    return DTI_USAGE;
}

static enum dti_status check_accumulator(const struct calc_job *job, struct dti_error *reterr)
{
    const char *const name = job->options.accumulate.name;
    for (size_t i = 0; i < job->cast.target_count; i++) {
        const struct dti_format *const dtype = &job->cast.targets[i].dtype;
        if (dti_calc_drops_fractions(dtype, &job->options.accumulate))
            return dti_fail_word(reterr, DTI_WRONG_KIND, name, strlen(name),
                                 "--accumulate %s drops the fractions of %s; use a float dtype "
                                 "such as fp32",
                                 name, dtype->name);
    }
    return DTI_OK;
}

static enum dti_status read_options(struct calc_job *job, struct dti_error *reterr)
{
    const struct calc_args *const args = job->args;
    struct dti_dtype_operand operand;
    enum dti_status status = DTI_OK;
    job->options = (struct dti_calc_options){
        .policy = dti_recipe_policy(&args->policy.recipe),
        .round_given = args->policy.recipe.round_given,
        .flush = args->subnormals == SUBNORMALS_FLUSH,
        .fma = args->fma,
        .block = 1,
        .truth = (enum dti_calc_truths)args->true_value,
        .steps = args->steps,
        .load = dti_calc_load,
        .load_context = &job->files,
    };
    job->files.open = &job->open;
    status = dti_level_choose(getenv("DTINFO_CPU"), &job->files.level, reterr);
    if (status == DTI_OK && args->order)
        status = read_order(&job->options, args->order, reterr);
    if (status == DTI_OK && args->assume) {
        status = dti_dtype_operand_read(args->assume, NULL, job->cx, &operand, reterr);
        if (status == DTI_OK) {
            job->assume = operand.format;
            job->open.assume = &job->assume;
        }
    }
    if (status == DTI_OK && args->accumulate) {
        status = dti_dtype_operand_read(args->accumulate, NULL, job->cx, &operand, reterr);
        if (status == DTI_OK && operand.format.kind == DTI_KIND_COMPLEX)
            return dti_fail(reterr, DTI_WRONG_KIND, "--accumulate takes real dtypes; %s is complex",
                            operand.format.name);
        if (status == DTI_OK) {
            job->options.accumulates = true;
            job->options.accumulate = operand.format;
            status = check_accumulator(job, reterr);
        }
    }
    return status;
}

static bool is_dtype(const char *text)
{
    struct dti_format format;
    return dti_format_lookup(text, &format, NULL, NULL) == DTI_OK;
}

/* Rejects words between the expression and the dtype: "to", another dtype. */
static enum dti_status check_misplaced_word(char **operands, int count, struct dti_error *reterr)
{
    const char *const other = count > 2 ? operands[count - 2] : "";
    if (strcmp(other, "to") == 0 || strcmp(other, "as") == 0 || strcmp(other, "in") == 0)
        return dti_fail_word(reterr, DTI_USAGE, other, strlen(other),
                             "leave out '%s': the dtype follows the expression, as in 'dtinfo calc "
                             "256+1 bf16'",
                             other);
    if (count > 2 && is_dtype(other))
        return dti_fail_word(reterr, DTI_USAGE, other, strlen(other),
                             "%s is one operand too many; several dtypes are joined by commas, as "
                             "in 'dtinfo calc 256+1 bf16,fp16'",
                             DTI_QUOTED(other, strlen(other)));
    return DTI_OK;
}

/* Requires an expression, then a dtype, with nothing between them. */
static enum dti_status check_operands(char **operands, int count, struct dti_error *reterr)
{
    const char *const last = count > 0 ? operands[count - 1] : NULL;
    if (!last)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to compute; give an expression and a dtype, as in 'dtinfo calc "
                        "256+1 bf16'");
    if (count == 1 && is_dtype(last))
        return dti_fail(reterr, DTI_USAGE,
                        "the expression is missing before %s, as in 'dtinfo calc 256+1 bf16'",
                        DTI_QUOTED(last, strlen(last)));
    if (count == 1 || (!is_dtype(last) && dti_operand_is_number(last) && !is_dtype(operands[0])))
        return dti_fail(reterr, DTI_USAGE,
                        "the dtype is missing after %s, as in 'dtinfo calc 256+1 bf16'",
                        DTI_QUOTED(last, strlen(last)));
    if (is_dtype(operands[0]) && !is_dtype(last) && strcmp(last, "all") != 0 && !strchr(last, ','))
        return dti_fail(reterr, DTI_USAGE,
                        "expected an expression, got the dtype %s; the dtype comes last, as in "
                        "'dtinfo calc 256+1 bf16'",
                        DTI_QUOTED(operands[0], strlen(operands[0])));
    return check_misplaced_word(operands, count, reterr);
}

/* For an expression that does not parse: if the shell expanded its * to file names, the error
 * explains that. */
static void explain_files(char **operands, int count, struct dti_error *error)
{
    for (int i = 0; count > 1 && i < count; i++) {
        if (dti_operand_is_file(operands[i])) {
            dti_fail_word(error, DTI_BAD_VALUE, operands[i], strlen(operands[i]),
                          "%s is a file; write '@' in front of it, or quote the '*' that it comes "
                          "from, as in 'dtinfo calc \"2 * 3\" bf16'",
                          DTI_QUOTED(operands[i], strlen(operands[i])));
            return;
        }
    }
}

/* Joins the operands before the dtype with blanks: an expression need not be quoted if the shell
 * does not change it. */
static char *join(char **operands, int count)
{
    size_t length = 1;
    for (int i = 0; i < count; i++)
        length += strlen(operands[i]) + 1;
    char *const text = dti_malloc(length);
    if (!text)
        return NULL;
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, length - used, "%s%s", i > 0 ? " " : "", operands[i]);
    return text;
}

static enum dti_status check_targets(const struct calc_job *job, struct dti_error *reterr)
{
    for (size_t i = 0; i < job->cast.target_count; i++) {
        const struct dti_format *const dtype = &job->cast.targets[i].dtype;
        if (dtype->kind == DTI_KIND_COMPLEX)
            return dti_fail_word(reterr, DTI_WRONG_KIND, dtype->name, strlen(dtype->name),
                                 "expressions are real, and %s is complex; use '%s'", dtype->name,
                                 dti_format_get(dtype->component)->name);
    }
    return DTI_OK;
}

static enum dti_status show_pages(struct calc_job *job, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->cast.target_count && status == DTI_OK; i++) {
        struct dti_calc_result result;
        status = dti_calc_job_run(job, i, &result, reterr);
        if (status != DTI_OK)
            break;
        if (job->cx->quiet && !job->args->output) {
            dti_calc_values_print(job->cx->out, &result.value);
        } else if (!job->cx->quiet) {
            if (i > 0)
                (void)fputc('\n', job->cx->out);
            status = dti_calc_human(job, &result, reterr);
            if (status == DTI_OK && job->args->steps)
                status = dti_calc_human_steps(job, &result, reterr);
        }
        dti_calc_result_free(&result);
    }
    return status;
}

/* The results of a document, one for each of some targets; stops at the first error. */
struct calc_results {
    struct calc_job *job;
    size_t first, end;
    enum dti_status status;
    struct dti_error *error;
};

static void put_results(void *context, struct dti_json *json)
{
    struct calc_results *const results = context;
    struct calc_job *const job = results->job;
    for (size_t i = results->first; i < results->end && results->status == DTI_OK; i++) {
        struct dti_calc_result result;
        results->status = dti_calc_job_run(job, i, &result, results->error);
        if (results->status != DTI_OK)
            return;
        dti_put_calc_result(json, NULL, &result);
        dti_calc_result_free(&result);
    }
}

static enum dti_status answer(struct calc_job *job, size_t first, size_t end,
                              struct dti_error *reterr)
{
    struct calc_results results = {job, first, end, DTI_OK, reterr};
    const struct dti_calc_answer document = {.text = job->text,
                                             .length = job->length,
                                             .options = &job->options,
                                             .put = put_results,
                                             .context = &results,
                                             .output = job->args->output ? &job->written : NULL,
                                             .warnings = &job->cast.warnings};
    dti_document_calc(job->cx->json, &document);
    return results.status == DTI_OK ? dti_document_write(job->cx->json, job->cx->out, reterr)
                                    : results.status;
}

/* --jsonl: a document for each dtype. */
static enum dti_status answer_all(struct calc_job *job, struct dti_error *reterr)
{
    const size_t count = job->cast.target_count;
    enum dti_status status = DTI_OK;
    if (job->cx->output == DTI_OUTPUT_JSON)
        return answer(job, 0, count, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = answer(job, i, i + 1, reterr);
    return status;
}

static enum dti_status parse(struct calc_job *job, struct dti_error *reterr)
{
    const enum dti_status status = dti_calc_parse(&job->tree, job->text, job->length, reterr);
    if (status == DTI_BAD_VALUE)
        explain_files(job->operands, job->operand_count, reterr);
    return status;
}

static enum dti_status compute(void *context, struct dti_error *reterr)
{
    struct calc_job *const job = context;
    enum dti_status status = check_targets(job, reterr);
    if (status == DTI_OK)
        status = read_options(job, reterr);
    if (status == DTI_OK)
        status = parse(job, reterr);
    if (status == DTI_OK && job->args->output)
        status = dti_calc_output_open(job, reterr);
    if (status != DTI_OK)
        return status;
    if (job->cx->output != DTI_OUTPUT_HUMAN)
        return answer_all(job, reterr);
    if (job->cast.target_count == 1 || job->cx->quiet || job->args->steps)
        return show_pages(job, reterr);
    return dti_calc_human_table(job, reterr);
}

/* A command's files(). */
static void find_files(char **operands, int count, void (*take)(void *context, const char *path),
                       void *context)
{
    char *const text = count > 1 ? join(operands, count - 1) : NULL;
    struct dti_calc_tree *tree;
    if (text && strchr(text, '@') && dti_calc_parse(&tree, text, strlen(text), NULL) == DTI_OK) {
        for (size_t i = 0; i < tree->node_count; i++) {
            if (tree->nodes[i].kind == DTI_NODE_FILE)
                take(context, tree->nodes[i].path);
        }
        dti_calc_tree_free(tree);
        (void)dti_multi_load(NULL);
    }
    dti_free(text);
}

static enum dti_status run_calc(const void *args_, char **operands, int count,
                                struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct calc_args *const args = args_;
    struct calc_job job = {
        .args = args, .cx = cx, .operands = operands, .operand_count = count - 1};
    struct dti_policy_args policy = args->policy;
    policy.recipe.seed_given = false; /* --seed also seeds random numbers */
    enum dti_status status = check_operands(operands, count, reterr);
    if (status == DTI_OK)
        status = dti_cast_job_init(&job.cast, &policy, &cx->asker, operands[count - 1], reterr);
    if (status != DTI_OK)
        return status;
    job.text = join(operands, count - 1);
    job.length = job.text ? strlen(job.text) : 0;
    status = job.text ? dti_calc_guarded(compute, &job, reterr) : dti_no_memory(reterr);
    if (job.written.path)
        status = dti_output_report_end(cx, job.written.path, status, reterr);
    dti_output_discard(job.output);
    dti_calc_tree_free(job.tree);
    dti_free(job.text);
    dti_cast_job_free(&job.cast);
    if (status == DTI_OK && (job.happened & (unsigned)args->policy.fail_on) != 0)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", ""); /* the answer shows the event */
    return status;
}

const struct dti_command dti_command_calc = {
    .name = "calc",
    .group = "ask",
    .summary = "compute an expression in any dtype and show what went wrong",
    .reads = true,
    .writes = true,
    .writes_none = DTI_TRAIT_BARE | DTI_TRAIT_FOLDER | DTI_TRAIT_REMADE,
    .synopsis = "EXPR DTYPE[,DTYPE...]",
    .details = "Every number and every operation is rounded once, correctly, to the dtype; the\n"
               "true value stands next to the result. EXPR has numbers (10k is 10000), + - * /\n"
               "^, names (x = 1e4; x*x - inf), lists [1, 2, 3], linspace(a, b, n),\n"
               "arange(a, b, step), repeat(x, n), rand(n), randn(n, m), files @x.npy and\n"
               "@model.safetensors:name, and functions: abs sqrt rsqrt exp exp2 expm1 log log2\n"
               "log1p sin cos tan tanh erf sigmoid relu silu gelu floor ceil round neg min max\n"
               "fma, sum prod mean var norm dot matmul count, and of each row rowsum rowmax\n"
               "rowcount softmax logsumexp layernorm. Quote EXPR: the shell interprets * and (.\n"
               "DTYPE is as in 'dtinfo cast'. -q prints only the result.",
    .examples = "dtinfo calc '10k*10k - inf' fp16\n"
                "dtinfo calc 256+1 bf16,fp16,fp32\n"
                "dtinfo calc 'softmax([-20, 0, 5])' fp16 --steps\n"
                "dtinfo calc 'sum(repeat(1, 1000))' bf16 --accumulate fp32\n"
                "dtinfo calc 'x = linspace(0, 1, 1000); dot(x, x)' fp32,bf16\n"
                "dtinfo calc '1/3 + 1/3 + 1/3' all\n",
    .schema = "dtinfo.calc/1",
    .operands = DTI_OPERANDS_VALUE_DTYPE,
    .files = find_files,
    .options = options,
    .args_size = sizeof(struct calc_args),
    .run = run_calc,
};
