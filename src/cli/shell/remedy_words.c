/* SPDX-License-Identifier: MIT
 *
 * Option names for remedies: the only place where messages from lower layers get them. */
#include "cli/shell/command.h"

#include <stdio.h>

#include "files/transcode/file_transcode.h"

/* %s is the text; a row without it replaces the text. */
static const char words[DTI_REMEDY_COUNT][128] = {
    [DTI_REMEDY_REPLACE] = "%s; --force replaces it",
    [DTI_REMEDY_REPLACE_AGAIN] = "%s; run it again with --force",
    [DTI_REMEDY_OUTPUT_FILE] = "%s; use -o with the name of a file",
    [DTI_REMEDY_OTHER_OUTPUT] = "%s; use -o with another name",
    [DTI_REMEDY_REMOVE_FILE] = "%s; remove it, or use -o with another name",
    [DTI_REMEDY_REMOVE_LINK] = "%s; remove the link, or use -o with another name",
    [DTI_REMEDY_MEASURE_LESS] = "%s; measure a smaller --size",
    [DTI_REMEDY_CAST_LESS] = "%s; give a smaller --size",
    [DTI_REMEDY_SAY_KIND] = "%s; for raw codes give --from DTYPE",
    [DTI_REMEDY_CAST_FIRST] = "%s; 'dtinfo cast' with --from and --as npy converts it to an array",
    [DTI_REMEDY_CAST_RAW] =
        "%s; raw codes have no scales to apply: 'dtinfo cast' with --from casts them",
    [DTI_REMEDY_ACCEPT_TRAILING] = "%s; --lenient reads it anyway",
    [DTI_REMEDY_READ_REST] = "%s; --lenient reads the rest of this file",
    [DTI_REMEDY_ASSUME_OTHER] = "%s; --assume overrides it",
    [DTI_REMEDY_ASSUME_1_BYTE] = "%s; give --assume fp8_e4m3fn (or another 1-byte dtype)",
    [DTI_REMEDY_ASSUME_2_BYTES] = "%s; give --assume bf16 (or another 2-byte dtype)",
    [DTI_REMEDY_ASSUME_4_BYTES] = "%s; give --assume fp32 (or another 4-byte dtype)",
    [DTI_REMEDY_ASSUME_8_BYTES] = "%s; give --assume fp64 (or another 8-byte dtype)",
    [DTI_REMEDY_USE_CPU] = "%s; use --device cpu or auto",
    [DTI_REMEDY_DOCUMENT_A_LINE] = "%s; --jsonl needs less",
    [DTI_REMEDY_SAY_BITS] = "%s; give --bits",
    [DTI_REMEDY_CHOOSE_BITS] = "%s; choose one with --bits",
    [DTI_REMEDY_READ_8_BITS] = "%s; --bits 8 reads it as uint8",
    [DTI_REMEDY_SAY_BLOCK] = "%s; give --block",
    [DTI_REMEDY_SAY_BITS_OR_BLOCK] = "%s; choose one with --bits or --block",
    [DTI_REMEDY_OVERRIDE_CONFIG] = "%s; --bits or --block overrides it",
    [DTI_REMEDY_KEEP_OR_OVERRIDE] =
        "%s; --keep leaves it unchanged, --bits or --block overrides that",
    [DTI_REMEDY_SAY_LAYOUT] = "%s; choose one with --layout",
    [DTI_REMEDY_LAYOUT_WITH_NAMES] = "%s; --layout compressed-tensors supports it",
    [DTI_REMEDY_LAYOUT_WITH_ZEROS] =
        "%s; leave out the options that need them, or use --layout compressed-tensors",
    [DTI_REMEDY_COMPUTE] = "%s; 'dtinfo calc' computes expressions",
    [DTI_REMEDY_SUPPORTS] = "%s; --supports DTYPE lists the architectures that compute with it",
    [DTI_REMEDY_LIST_DTYPES] = "%s; 'dtinfo list' shows them all",
    [DTI_REMEDY_LIST_FUNCTIONS] = "%s; 'dtinfo help calc' lists them",
    [DTI_REMEDY_LIST_TENSORS] = "%s; 'dtinfo inspect' lists its tensors",
    [DTI_REMEDY_READ_TEXT] = "%s; 'dtinfo cast' reads numbers in text",
    [DTI_REMEDY_QUANTIZE_GGUF] = "%s: 'dtinfo quant' writes some of them, to .gguf files only",
    [DTI_REMEDY_QUANTIZE_MIX] = "%s: 'dtinfo quant' writes them one by one, to .gguf files only",
    [DTI_REMEDY_QUANTIZE_BLOCKS] = "%s; use 'dtinfo quant' for it",
    [DTI_REMEDY_QUANTIZE_OR_ELEMENTS] =
        "%s; use 'dtinfo quant' for it, or the dtype of its elements",
    [DTI_REMEDY_STORE_NUMBERS] = "%s; 'dtinfo cast' stores numbers in it",
    [DTI_REMEDY_KV_DTYPE] = "%s; give --kv-dtype",
    [DTI_REMEDY_CONTEXT] = "%s; give --context TOKENS",
    [DTI_REMEDY_KV_LIKE] = "%s; --kv-like TYPE computes it by the rule of another, such as llama",
    [DTI_REMEDY_KEEP] = "%s; --keep leaves it unchanged",
    [DTI_REMEDY_COMPLETE] =
        "%s; add what is missing, or quantize it again: 'dtinfo check --quantized' lists all",
    [DTI_REMEDY_READ_STORED] =
        "%s; add what is missing or quantize it again, or read what is stored with --raw",
    [DTI_REMEDY_NO_COPY] = "%s; --no-copy leaves it out",
    [DTI_REMEDY_RUN_PARTS] = "%s; run the --part that writes them",
    [DTI_REMEDY_REPLACE_PARTS] = "%s; run the --part that writes them again, with --force",
    [DTI_REMEDY_KEEP_ALL] = "%s; --keep leaves them unchanged",
    [DTI_REMEDY_KEEP_INSTEAD] = "%s; keep it with --keep",
    [DTI_REMEDY_PAD_OR_KEEP] = "%s; --pad pads rows with zeros, --keep leaves it unchanged",
    [DTI_REMEDY_CAST_INTEGERS] = "%s; --ints casts them",
    [DTI_REMEDY_CAST_OR_LEAVE_OUT] = "%s; cast it too, or leave it out with --select",
    [DTI_REMEDY_SET_KEY] =
        "%s; --set KEY=VALUE states it, --template MODEL.gguf takes it from another file",
    [DTI_REMEDY_ADD_TOKENIZER] =
        "%s; --template MODEL.gguf takes it from another file, --set-from FILE.json states it",
    [DTI_REMEDY_SET_ARCHITECTURE] = "%s; --set general.architecture=NAME states one, --template "
                                    "MODEL.gguf takes all from another file",
    [DTI_REMEDY_LEAVE_OUT] = "%s; leave it out with --select",
    [DTI_REMEDY_SELECT_ONE] = "%s; select it with --select NAME",
    [DTI_REMEDY_SELECT_OTHERS] = "%s; --select writes the others",
    [DTI_REMEDY_DEQUANTIZE] = "%s; 'dtinfo quant --dequant' converts them to floats",
    [DTI_REMEDY_DEQUANTIZE_OR_SELECT] =
        "%s; 'dtinfo quant --dequant' converts them to floats, --select writes the others",
    [DTI_REMEDY_FLOATS] = "%s; --to bf16 makes floats of it",
    [DTI_REMEDY_FLOATS_OR_KEEP] = "%s; --to bf16 makes floats of it, --keep leaves it unchanged",
    [DTI_REMEDY_ZEROS_AS_THEY_ARE] =
        "%s; --to " DTI_TRANSCODE_PLAIN_ZEROS " stores zero points as they are",
    [DTI_REMEDY_ZEROS_OR_COMPRESSED] = "%s; --to " DTI_TRANSCODE_PLAIN_ZEROS
                                       " and --to compressed-tensors store zero points as they are",
    [DTI_REMEDY_LAYOUT_WITH_ORDER] =
        "%s; --to " DTI_TRANSCODE_PLAIN_ZEROS
        " and --to compressed-tensors do, --to bf16 makes floats of it, --keep "
        "leaves it unchanged",
    [DTI_REMEDY_SCALES_OF_16_BITS] =
        "%s; --scale-dtype fp16 or bf16 rounds them, --to bf16 makes floats of it, --keep leaves "
        "it unchanged",
    [DTI_REMEDY_QUANTIZE] = "%s; 'dtinfo quant' stores floats as integers with scales",
    [DTI_REMEDY_APPLY_SCALES] = "%s; 'quant --dequant' applies scales",
    [DTI_REMEDY_CORRECT_OPTION] = "--%s",
    [DTI_REMEDY_CORRECT_SELECT] = "--select %s",
    [DTI_REMEDY_CORRECT_CAST] = "--cast-only %s",
    [DTI_REMEDY_CORRECT_QUANT] = "--quant-only %s",
    [DTI_REMEDY_CORRECT_ONLY] = "--only %s",
    [DTI_REMEDY_CORRECT_KEEP] = "--keep %s",
    [DTI_REMEDY_CORRECT_FUSED] = "--fused: %s",
    [DTI_REMEDY_KEEP_MATRIX] = "%s; --keep with all that are fused leaves them unchanged",
    [DTI_REMEDY_FUSED] = "%s; --fused A,B names modules that are fused",
    [DTI_REMEDY_ALLOW_SELECT] = "--select %s; --allow-unmatched accepts that",
    [DTI_REMEDY_ALLOW_CAST] = "--cast-only %s; --allow-unmatched accepts that",
    [DTI_REMEDY_ALLOW_QUANT] = "--quant-only %s; --allow-unmatched accepts that",
    [DTI_REMEDY_ALLOW_ONLY] = "--only %s; --allow-unmatched accepts that",
    [DTI_REMEDY_ALLOW_KEEP] = "--keep %s; --allow-unmatched accepts that",
    [DTI_REMEDY_CORRECT_TYPE] = "--type %s",
    [DTI_REMEDY_ALLOW_TYPE] = "--type %s; --allow-unmatched accepts that",
    [DTI_REMEDY_OTHER_TYPE] =
        "%s; --type 'NAME=q8_0' gives it a type with blocks of 32, --keep leaves it unchanged",
    [DTI_REMEDY_NAME_TYPES] = "%s; --type 'GLOB=TYPE' names tensors that get a type",
    [DTI_REMEDY_TYPE_OR_KEEP] =
        "%s; --type 'NAME=bf16' gives it another type, --keep leaves it unchanged",
    [DTI_REMEDY_TYPE_OF_FLOATS] = "%s; --type 'NAME=bf16' makes floats of it",
    [DTI_REMEDY_WRITE_RAW] = "%s; --as raw writes the codes of one tensor",
    [DTI_REMEDY_SATURATE] = "%s; --overflow saturate stores the largest number instead",
    [DTI_REMEDY_SAY_PACKING] = "%s; give --packing low or high",
    [DTI_REMEDY_SAY_INPUT_PACKING] = "%s; give --from-packing low or high, or keep it with --keep",
    [DTI_REMEDY_DROP_PACKING] =
        "--packing is for codes of less than 8 bits, and there are none: leave it out",
    [DTI_REMEDY_DROP_INPUT_PACKING] =
        "--from-packing is for codes of less than 8 bits in files that do not define their "
        "packing, and there are none: leave it out",
    [DTI_REMEDY_DROP_PACKING_OR_RAW] = "%s; leave out --packing, or use --as raw",
};

static const char *put(char *buffer, size_t size, enum dti_remedy remedy, const char *text)
{
    if (words[remedy][0] == '\0')
        return text;
    (void)snprintf(buffer, size, words[remedy], text);
    return buffer;
}

const char *dti_remedy_words(char buffer[DTI_REMEDY_WORDS], enum dti_remedy remedy,
                             const char *text)
{
    return put(buffer, DTI_REMEDY_WORDS, remedy, text);
}

const char *dti_note_words(char buffer[DTI_REMEDY_WORDS], const struct dti_note *note)
{
    return dti_remedy_words(buffer, note->remedy, note->text);
}

const char *dti_error_words(char buffer[DTI_ERROR_TEXT], const struct dti_error *error)
{
    return put(buffer, DTI_ERROR_TEXT, error->remedy, error->text);
}

const char *dti_status_words(enum dti_status status)
{
    return status == DTI_ANSWER_NO ? "the answer is no, or a --fail-on condition was met"
                                   : dti_status_meaning(status);
}
