/* SPDX-License-Identifier: MIT
 *
 * The fake driver's script, its call counters, and the report at exit. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_cuda.h"

enum { RULES_MAX = 16, NAMES_MAX = 64 };

/* One rule: fail=NAME:N:CODE or hang=NAME:N */
struct rule {
    bool hangs;
    char name[48]; /* "*": any call */
    unsigned from; /* from the n-th call on, counted from 1 */
    bool later;    /* also every later call */
    CUresult code;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct fake_script script = {.devices = 2, .version = 13020};
static struct rule rules[RULES_MAX];
static size_t rule_count;
static bool is_read;
static struct {
    const char *name;
    unsigned count;
} counts[NAMES_MAX];
struct fake_totals fake_totals;

void fake_mistake(const char *what, const char *which)
{
    fprintf(stderr, "pretend CUDA driver: %s: %s\n", what, which);
    abort();
}

static uint64_t read_number(const char *text, const char **ret_end)
{
    uint64_t number = 0;
    if (!isdigit((unsigned char)*text))
        fake_mistake("a number is wanted", text);
    for (; isdigit((unsigned char)*text); text++)
        number = number * 10 + (uint64_t)(*text - '0');
    *ret_end = text;
    return number;
}

static uint64_t read_size(const char *text)
{
    uint64_t size = read_number(text, &text);
    for (const char *unit = "KMG"; *unit != '\0'; unit++) {
        size *= 1024;
        if (*text == *unit)
            return size;
    }
    return size >> 30;
}

static void read_rule(const char *text, bool hangs)
{
    if (rule_count == RULES_MAX)
        fake_mistake("too many rules", text);
    struct rule *const rule = &rules[rule_count++];
    const size_t length = strcspn(text, ":");
    if (length >= sizeof rule->name || text[length] != ':')
        fake_mistake("no rule", text);
    memcpy(rule->name, text, length);
    rule->hangs = hangs;
    rule->from = (unsigned)read_number(text + length + 1, &text);
    if (*text == '+') {
        rule->later = true;
        text++;
    }
    if (!hangs) {
        if (*text != ':')
            fake_mistake("no code in rule", rule->name);
        rule->code = (CUresult)read_number(text + 1, &text);
    }
    if (*text != '\0')
        fake_mistake("more than a rule", text);
}

static bool begins(const char *word, const char *key, const char **ret_value)
{
    const size_t length = strlen(key);
    if (strncmp(word, key, length) != 0)
        return false;
    *ret_value = word + length;
    return true;
}

static void read_word(const char *word)
{
    const char *value;
    if (begins(word, "devices=", &value))
        script.devices = (unsigned)read_number(value, &value);
    else if (begins(word, "count=", &value))
        script.count = (unsigned)read_number(value, &value);
    else if (begins(word, "version=", &value))
        script.version = (unsigned)read_number(value, &value);
    else if (begins(word, "memory=", &value))
        script.memory = read_size(value);
    else if (begins(word, "fail=", &value))
        read_rule(value, false);
    else if (begins(word, "hang=", &value))
        read_rule(value, true);
    else if (begins(word, "report=", &value))
        snprintf(script.report, sizeof script.report, "%s", value);
    else if (begins(word, "trace=", &value))
        snprintf(script.trace, sizeof script.trace, "%s", value);
    else if (strcmp(word, "stub") == 0)
        read_rule("cuInit:1+:34", false);
    else
        fake_mistake("unknown word in FAKE_CUDA", word);
    if (script.devices > FAKE_DEVICES_MAX)
        fake_mistake("too many devices", word);
}

static void read_script(void)
{
    const char *const text = getenv("FAKE_CUDA");
    char copy[2048], *rest = copy;
    is_read = true;
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    while (*rest != '\0') {
        char *const word = rest;
        rest += strcspn(rest, ",");
        if (*rest == ',')
            *rest++ = '\0';
        read_word(word);
    }
}

const struct fake_script *fake_script(void)
{
    if (!is_read)
        read_script();
    return &script;
}

static unsigned count_name(const char *name)
{
    size_t i = 0;
    while (i < NAMES_MAX && counts[i].name && strcmp(counts[i].name, name) != 0)
        i++;
    if (i == NAMES_MAX)
        fake_mistake("too many names", name);
    counts[i].name = name;
    return ++counts[i].count;
}

static const struct rule *find_rule(const char *name, unsigned time, bool hangs)
{
    for (size_t i = 0; i < rule_count; i++) {
        const struct rule *const rule = &rules[i];
        const bool any = strcmp(rule->name, "*") == 0;
        const unsigned now = any ? (unsigned)fake_totals.calls : time;
        if (rule->hangs == hangs && (any || strcmp(rule->name, name) == 0) &&
            (now == rule->from || (rule->later && now > rule->from)))
            return rule;
    }
    return NULL;
}

static void trace(const char *function)
{
    FILE *const file = script.trace[0] != '\0' ? fopen(script.trace, "a") : NULL;
    if (file) {
        fprintf(file, "%s\n", function);
        fclose(file);
    }
}

void fake_wait_for_ever(void)
{
    pthread_mutex_unlock(&mutex);
    for (;;)
        pause();
}

CUresult fake_enter(const char *function)
{
    pthread_mutex_lock(&mutex);
    (void)fake_script();
    fake_totals.calls++;
    const unsigned time = count_name(function);
    trace(function);
    if (find_rule(function, time, true)) {
        fake_wait_for_ever();
    }
    const struct rule *const rule = find_rule(function, time, false);
    if (!rule)
        return CUDA_SUCCESS;
    return fake_current() ? fake_fault(fake_current(), rule->code) : rule->code;
}

CUresult fake_leave(CUresult result)
{
    pthread_mutex_unlock(&mutex);
    return result;
}

/* fake_event_hangs() is called first and counts the event. */
CUresult fake_event_result(const char *what)
{
    unsigned time = 0;
    for (size_t i = 0; i < NAMES_MAX && counts[i].name; i++)
        time = strcmp(counts[i].name, what) == 0 ? counts[i].count : time;
    for (size_t i = 0; i < rule_count; i++) {
        if (!rules[i].hangs && strcmp(rules[i].name, what) == 0 &&
            (time == rules[i].from || (rules[i].later && time > rules[i].from)))
            return rules[i].code;
    }
    return CUDA_SUCCESS;
}

bool fake_event_hangs(const char *what)
{
    const unsigned time = count_name(what);
    for (size_t i = 0; i < rule_count; i++) {
        if (rules[i].hangs && strcmp(rules[i].name, what) == 0 && time == rules[i].from)
            return true;
    }
    return false;
}

__attribute__((destructor)) static void write_report(void)
{
    if (!is_read || script.report[0] == '\0')
        return;
    for (size_t i = 0; i < FAKE_DEVICES_MAX; i++) {
        fake_totals.leaked_contexts += fake_devices[i].retained;
        fake_streams_discard(&fake_devices[i]);
        fake_memory_discard(&fake_devices[i]);
        fake_modules_discard(&fake_devices[i]);
    }
    FILE *const file = fopen(script.report, "w");
    if (!file)
        fake_mistake("cannot write the report", script.report);
    const struct fake_totals *const t = &fake_totals;
    const struct {
        const char *name;
        uint64_t value;
    } lines[] = {
        {"calls", t->calls},
        {"leaked_blocks", t->leaked_blocks},
        {"leaked_bytes", t->leaked_bytes},
        {"leaked_pinned", t->leaked_pinned},
        {"leaked_streams", t->leaked_streams},
        {"leaked_events", t->leaked_events},
        {"leaked_modules", t->leaked_modules},
        {"leaked_contexts", t->leaked_contexts},
        {"overruns", t->overruns},
        {"peak_bytes", t->peak_bytes},
        {"peak_pinned_bytes", t->peak_pinned_bytes},
        {"most_busy_streams", t->most_busy_streams},
        {"kernels", t->kernels},
        {"copied_bytes", t->copied_bytes},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        fprintf(file, "%s %llu\n", lines[i].name, (unsigned long long)lines[i].value);
    for (size_t i = 0; i < NAMES_MAX && counts[i].name; i++)
        fprintf(file, "%s %u\n", counts[i].name, counts[i].count);
    fclose(file);
}
