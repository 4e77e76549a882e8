/* SPDX-License-Identifier: MIT
 *
 * The JSON output of every command, with texts from the input as operands, option values, file
 * names, tensor and member names, metadata and dtypes. For every input, each output line is one
 * document of strict JSON with exactly the members of its schema.
 *
 * The first byte selects one of the command lines below, or all of them; the second selects the
 * output form. The texts follow, separated by the byte 0x1e. */
#include <string.h>

#include "fuzz_command.h"
#include "fuzz_texts.h"
#include "schema_check.h"

const char *const dti_fuzz_words[] = {
    "0@",
    "1A",
    "9B",
    "C@",
    "H@",
    "Q ",
    "X@",
    "ZH",
    "aA",
    "c@",
    "f@",
    "k@",
    "m@",
    "\x1e",
    "\x1e",
    "\"",
    "\\",
    "\"}],\"x\":[{\"y\":\"",
    "'",
    "a\"b",
    "\n",
    "\x1b[2J",
    "\x7f",
    "\xff",
    "\xc3\xa9",
    "\xe2\x80\xae",
    "\xed\xa0\x80",
    "\\u0000",
    ",",
    "*",
    "?",
    "[",
    "(",
    "bf16",
    "fp16,",
    "int8",
    "1",
    "-0.5",
    "1e400",
    "nan",
    "0x1p-3",
    "1/3",
    "7B",
    "2x3",
    "<f4",
    "|V2",
    "('a','<f4')",
    "cpu",
    "no",
    "=",
    "--json",
    "x",
    "{",
    "}",
    "]",
    ":",
    ".",
    "%s",
    "%n",
    NULL,
};

enum { INPUT_MAX = 4096, LINE_MAX_LENGTH = 3 * INPUT_MAX, FRONT = 2 };
enum { STDIN_MAX = 64 }; /* each line becomes a document */
enum { FORM_LINES = 1, FORM_VERBOSE = 2, FORM_QUIET = 4, FORM_RAW = 8 };

/* $0 to $3: a text. @s @p @d @z @o @g @i: the path of a file built from the texts. @n: the path of
 * an array whose name is a text; @o has none. @x: a path that does not exist. A line that begins
 * with '<' reads text 0 from standard input. Texts that cast and quant could take for --output
 * follow "--" or an option name. No line makes bench measure. */
static const char *const lines[] = {
    "list $0",
    "list --$0",
    "--color $0 list",
    "x$0 $1",
    "--version",
    "finfo -- $0 $1",
    "finfo bf16 --like $0",
    "finfo bf16 fp16 --field $0",
    "finfo -q bf16 $0",
    "iinfo -- $0",
    "iinfo int8 --style $0",
    "bits -- $0",
    "bits -- $0 $1",
    "bits 0x40 $0",
    "bits 0.1 bf16,$0 fp16",
    "calc -- $0) bf16", /* a syntax error: evaluation could take long */
    "calc 256+1 bf16,$0 --steps",
    "calc sum(1/[3,7,1e9]) fp16 --order $0 --accumulate $1",
    "cast -- $0 bf16",
    "cast -- 1 $0",
    "cast -- $0 $1 $2",
    "cast 0.1 fp16,$0",
    "cast 0.1 fp16 --via $0",
    "cast 0.1 fp16 --like $0 --stacks",
    "cast 0.1 fp16 --round $0 --seed $1",
    "cast 0.1 fp16 --digits $0 --fail-on $1",
    "cast 0.1 fp16 --device cpu$0",
    "<cast - bf16,int8",
    "<cast - bf16 --from text -o @x --force",
    "<cast - bf16 --from $1 -o @x --force --report",
    "quant -- $0 $1 $2 int8",
    "quant 1 2 -- $0",
    "quant 1 -2 int8 --scale $0 --zero-point $1",
    "quant 1 -2 nvfp4 --tensor-scale $0 --like $1",
    "mem -- $0",
    "mem 7B bf16 --fit $0",
    "mem 7B --train $0 --states $1",
    "mem 7B --train adam --dtype $0 --gradients $1 --master $2",
    "mem @s @z $0",
    "mem @g bf16 --keep $0 --only $1 -v",
    "mem @g --context 4k --kv-like llama --kv-dtype $0 --fit $1",
    "mem @g $0 --context $1 --batch 3 -v",
    "devices --device $0",
    "devices --arch -- $0",
    "devices --supports $0 -- $1",
    "devices --device cpu --sysroot $0",
    "bench x$0",
    "bench cast x$0:bf16 --level $1",
    "bench copy --size x$0",
    "bench matmul --engine x$0",
    "bench --list",
    "bench cast --list --baseline @x",
    "inspect @s --only $2 --stats",
    "inspect @p @d --histogram --each",
    "inspect @z @o --grep $2 --stats",
    "inspect @g @i @x",
    "inspect @n --from $1 --assume $2",
    "inspect @s @z --sort $2 --reverse",
    "inspect @n --from fp32 --sort $0 --shape $1",
    "inspect @s --lenient --metadata",
    "compare @s @z --only $2",
    "explain @s @n --max-memory 1MiB",
    "explain @g @n",
    "verify @s @s --recipe @p",
    "advise @s --fit 1MB --menu stored,nvfp4,int8 --keep $2",
    "advise @g --fit $0 --weights @p --menu q8_0,$1",
    "advise @n --fit 1MB --menu $0 --measurements @p",
    "quant @s --plan @p --dry-run",
    "compare @g @n --ignore-missing --atol $0",
    "compare @d @p --max-ulp $0",
    "check @s @z @i --valid --no-nan",
    "check @g @d --dtype $0 --shape $1",
    "check @n --fits $0 --max-abs $1 --only $2",
    "cast @s bf16 --dry-run --keep $2 --only $3",
    "cast @z fp16 -o @x --select $2",
    "cast @n fp8_e4m3fn -o @x.npy --force --assume $0",
    "cast @g fp16 -o @x.safetensors --force",
    "quant @s int8 -o @x.safetensors --force --keep $2",
    "quant @n mxfp4 --dry-run --pad --layout $0",
    "quant @s fp32 --dequant --dry-run --only $2",
    "quant @g bf16 --dequant -o @x.safetensors --force",
    "quant @z int4 --dry-run --per $0 --block $1",
    "transcode @s --to modelopt --dry-run --only $2",
    "transcode @s --to compressed-tensors -o @x.safetensors --force --keep $2",
    "transcode @s --to $0 --dry-run",
    "check @p --valid --only $0",
    "check @s @z --quantized --only $0",
    "transcode @s --reconcile --fused $0,$1 --dry-run --only $2",
    "transcode @s --reconcile -o @x.safetensors --force --keep $2",
    "check @s --quantized --fused $0,$1",
};

enum { LINES = sizeof lines / sizeof *lines };

/* $ and a digit expand to a text, @ and a letter to the path of a file. */
static char *expand(char *to, char sign, char letter, const void *context)
{
    const struct texts *const texts = context;
    if (sign == '@')
        return to + snprintf(to, FUZZ_PATH, "%s", make_file(letter, texts));
    const size_t number = (size_t)(letter - '0');
    for (size_t i = 0; i < texts->length[number] && texts->text[number][i]; i++)
        *to++ = texts->text[number][i];
    return to;
}

/* Each line is a document; without --jsonl there is only one. */
static void check_documents(const struct fuzz_answer *answer, bool several)
{
    const char *at = answer->out, *const end = at + answer->out_length;
    REQUIRE(at < end && end[-1] == '\n');
    while (at < end) {
        const char *const newline = memchr(at, '\n', (size_t)(end - at));
        schema_check(at, (size_t)(newline - at));
        at = newline + 1;
        REQUIRE(several || at == end);
    }
}

/* Help is text, whatever else is asked for: "list --$0" may become "list --help", "list $0" may
 * become "list -h" or "list -qh", where letters after the h do not count. */
static bool asks_for_help(char *const *words, int count)
{
    bool asks = false;
    for (int i = 0; i < count; i++) {
        const bool letters = words[i][0] == '-' && words[i][1] != '-';
        asks = asks || (letters ? strchr(words[i], 'h') != NULL : strcmp(words[i], "--help") == 0);
    }
    return asks;
}

static void run_line(const char *line, const struct texts *texts, uint8_t form)
{
    static char text[LINE_MAX_LENGTH];
    static char json[] = "--json", jsonl[] = "--jsonl", verbose[] = "-v", quiet[] = "-q";
    char *words[FUZZ_WORDS];
    struct fuzz_answer answer;
    int count = 0;
    words[count++] = form & FORM_LINES ? jsonl : json;
    if (form & FORM_VERBOSE)
        words[count++] = verbose;
    else if (form & FORM_QUIET)
        words[count++] = quiet;
    fuzz_prepare();
    if (*line == '<') {
        const size_t length = texts->length[0];
        fuzz_write("in", texts->text[0], length < STDIN_MAX ? length : STDIN_MAX);
        const int fd = open(fuzz_path("in"), O_RDONLY);
        REQUIRE(fd >= 0 && dup2(fd, STDIN_FILENO) >= 0 && close(fd) == 0);
        line++;
    }
    count += fuzz_words(line, expand, texts, text, words + count);
    fuzz_command(words, count, &answer);
    if (!asks_for_help(words, count))
        check_documents(&answer, form & FORM_LINES);
    fuzz_answer_free(&answer);
    (void)fuzz_empty(fuzz_folder());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < FRONT || size > INPUT_MAX)
        return 0;
    const struct texts texts =
        split_texts((const char *)data + FRONT, size - FRONT, data[1] & FORM_RAW);
    for (size_t i = 0; i < LINES; i++) {
        if (data[0] == FUZZ_ALL || (uint8_t)(data[0] - '0') % LINES == i)
            run_line(lines[i], &texts, data[1]);
    }
    return 0;
}
