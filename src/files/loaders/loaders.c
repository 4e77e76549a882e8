/* SPDX-License-Identifier: MIT
 *
 * Finds rows of loader_rules.def, and compares releases: loaders.h. */
#include "files/loaders/loaders.h"

#include <stdint.h>
#include <string.h>

#include "util/text/ascii.h"
#include "util/text/glob.h"
#include "util/text/row_texts.h"

const struct dti_loader_row dti_loaders[DTI_LOADERS] = {
#define LOADER(id, name, program, examined) {name, program, examined},
#include "files/loaders/loader_rules.def"
#undef LOADER
};

static const struct loader_texts {
#define LOADER_RULE(loader, topic, verdict, subject, lacks, has, gone, note, source) \
    char DTI_ROW_TEXT[sizeof(subject "\0" lacks "\0" has "\0" gone "\0" note "\0" source)];
#include "files/loaders/loader_rules.def"
#undef LOADER_RULE
} texts = {
#define LOADER_RULE(loader, topic, verdict, subject, lacks, has, gone, note, source) \
    subject "\0" lacks "\0" has "\0" gone "\0" note "\0" source,
#include "files/loaders/loader_rules.def"
#undef LOADER_RULE
};

static const struct loader_row {
    unsigned char loader, topic, verdict;
    uint16_t text;
} rules[] = {
#define LOADER_RULE(loader_, topic_, verdict_, ...)                    \
    {DTI_LOADER_##loader_, DTI_LOADER_##topic_, DTI_LOADER_##verdict_, \
     offsetof(struct loader_texts, DTI_ROW_TEXT)},
#include "files/loaders/loader_rules.def"
#undef LOADER_RULE
};
_Static_assert(sizeof texts <= UINT16_MAX, "offsets of texts have 16 bits");

const char *dti_loader_topic_word(size_t topic)
{
    static const char *const words[] = {"kind",  "config", "method", "layout",
                                        "dtype", "gguf",   "arch"};
    return topic < DTI_LOADER_TOPICS ? words[topic] : NULL;
}

const char *dti_loader_verdict_word(size_t verdict)
{
    static const char *const words[] = {"unknown", "loads", "refuses", "misreads"};
    return verdict < DTI_LOADER_VERDICTS ? words[verdict] : NULL;
}

enum dti_loader dti_loader_named(const char *name, size_t length)
{
    size_t at = 0;
    while (at < DTI_LOADERS && !dti_text_is(name, length, dti_loaders[at].name))
        at++;
    return (enum dti_loader)at;
}

bool dti_loader_rule(size_t index, struct dti_loader_rule *ret)
{
    if (index >= sizeof rules / sizeof *rules)
        return false;
    const struct loader_row *const rule = &rules[index];
    const char **const columns[] = {&ret->subject, &ret->lacks, &ret->has,
                                    &ret->gone,    &ret->note,  &ret->source};
    const char *text = (const char *)&texts + rule->text;
    ret->loader = (enum dti_loader)rule->loader;
    ret->topic = (enum dti_loader_topic)rule->topic;
    ret->verdict = (enum dti_loader_verdict)rule->verdict;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        *columns[i] = text;
        text = dti_text_after(text);
    }
    return true;
}

bool dti_loader_release_read(const char *text, size_t length, struct dti_loader_release *ret)
{
    enum { MOST = 1000000000 };
    size_t at = length > 0 && (text[0] == 'v' || text[0] == 'b');
    *ret = (struct dti_loader_release){.given = true};
    for (size_t i = 0; i < sizeof ret->number / sizeof *ret->number; i++) {
        const size_t begin = at;
        for (; at < length && dti_ascii_digit(text[at]) && ret->number[i] < MOST / 10; at++)
            ret->number[i] = 10 * ret->number[i] + (unsigned)(text[at] - '0');
        if (at == begin)
            return false;
        if (at == length)
            return true;
        if (text[at++] != '.')
            return false;
    }
    return false;
}

int dti_loader_release_compare(const struct dti_loader_release *a,
                               const struct dti_loader_release *b)
{
    for (size_t i = 0; i < sizeof a->number / sizeof *a->number; i++) {
        if (a->number[i] != b->number[i])
            return a->number[i] < b->number[i] ? -1 : 1;
    }
    return 0;
}

/* Compares with a release of a row; 1 for an empty one. */
static int against(const struct dti_loader_release *release, const char *text)
{
    struct dti_loader_release other;
    return dti_loader_release_read(text, strlen(text), &other)
               ? dti_loader_release_compare(release, &other)
               : 1;
}

/* What the row says of the release. */
static void date(struct dti_loader_ruling *ruling, const struct dti_loader_release *release)
{
    const struct dti_loader_rule *const rule = &ruling->rule;
    const char *const examined = dti_loaders[rule->loader].examined;
    ruling->ground = DTI_LOADER_RULED;
    ruling->verdict = rule->verdict;
    if (rule->gone[0] != '\0' && (!release->given || against(release, rule->gone) >= 0))
        ruling->ground = DTI_LOADER_GONE;
    else if (release->given && rule->lacks[0] != '\0' && against(release, rule->lacks) <= 0)
        ruling->ground = DTI_LOADER_TOO_OLD;
    else if (release->given && rule->verdict != DTI_LOADER_UNKNOWN &&
             against(release, rule->has[0] != '\0' ? rule->has : examined) < 0)
        ruling->ground = DTI_LOADER_UNDATED;
    if (ruling->ground == DTI_LOADER_UNDATED)
        ruling->verdict = DTI_LOADER_UNKNOWN;
    else if (ruling->ground != DTI_LOADER_RULED)
        ruling->verdict = DTI_LOADER_REFUSES;
}

void dti_loader_judge(struct dti_loader_ruling *ret, enum dti_loader loader,
                      const struct dti_loader_release *release, enum dti_loader_topic topic,
                      const char *subject)
{
    *ret = (struct dti_loader_ruling){.verdict = DTI_LOADER_UNKNOWN, .ground = DTI_LOADER_NO_RULE};
    for (size_t i = 0; dti_loader_rule(i, &ret->rule); i++) {
        if (ret->rule.loader == loader && ret->rule.topic == topic &&
            dti_glob_list_match(ret->rule.subject, subject, strlen(subject))) {
            date(ret, release);
            return;
        }
    }
}
