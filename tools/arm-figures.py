#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how many instructions, and cycles on an Arm core, kernels take for an element; needs no such machine, but a cross
compiler and llvm-mca, which knows Neoverse V2 from version 17 on. A row names instructions that only one inner loop of its
source has. Cycles are those of data in the first cache.

    tools/arm-figures.py [--mca llvm-mca-19] [--cpu neoverse-v2] [--compiler aarch64-linux-gnu-gcc]
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# what; source; function; elements of one turn of the loop; instructions that it has, and (-) has not
ROWS = [
    ('fp32 to bf16', 'cast', 'dti_fp32_to_bf16_neon', 16, 'raddhn'),
    ('fp32 to bf16, FEAT_BF16', 'bf16_neonbf16', 'dti_fp32_to_bf16_neonbf16', 16, 'bfcvtn -fcmeq'),
    ('fp32 to fp16', 'cast', 'dti_fp32_to_fp16_neon', 16, 'fcvtn -fcmeq'),
    ('fp64 to fp32', 'cast', 'dti_fp64_to_fp32_neon', 16, 'fcvtn -fcmeq'),
    ('fp32 to fp8_e4m3fn', 'small', 'dti_fp32_to_small_neon', 16, 'mla -cmhi'),
    ('fp32 to int8', 'integers', 'run_int8', 16, 'fcvtns'),
    ('bf16 to fp32', 'cast', 'dti_bf16_to_fp32_neon', 16, 'shll'),
    ('fp16 to fp32', 'cast', 'dti_fp16_to_fp32_neon', 16, 'fcvtl'),
    ('fp8 to fp32', 'table', 'dti_table_neon', 16, 'st4 movi'),
    ('fp8 to fp16', 'table', 'dti_table_neon', 16, 'st2'),
    ('int8 to fp32', 'table_integers', 'dti_table_integers_neon', 16, 'sxtl -fcvtn -uzp2 -uxtl'),
    ('int8 to bf16', 'table_integers', 'dti_table_integers_neon', 16, 'sxtl uzp2 -uxtl'),
    ('int8 to fp16', 'table_integers', 'dti_table_integers_neon', 16, 'sxtl fcvtn -uxtl'),
    ('int8 to fp16, FEAT_FP16', 'table_neonfp16', 'dti_table_neonfp16', 16, 'sxtl'),
    ('stats of fp32', 'stats', 'go_unshifted', 16, 'fmla'),
    ('loss, plain numbers', 'loss_f32', 'add_plain', 16, 'fmla -addv'),
    ('loss, small numbers', 'loss_f32', 'add_small', 16, 'fmla -addv'),
    ('loss, any numbers, ratio 1', 'loss_any', 'dti_loss_any_neon', 4, 'fcvtl ldp'),
    ('loss, any numbers', 'loss_any', 'dti_loss_any_neon', 4, 'fcvtl fcvtl2 mov'),
]


def inner_loops(assembly, function):
    """The loops of a function without a loop or a call in them."""
    lines, labels, current, found = [], {}, None, []
    for line in assembly.splitlines():
        if match := re.match(r'([a-z]\w*):', line):
            current, lines, labels = match[1], [], {}
        elif match := re.match(r'(\.L\w+):', line):
            labels[match[1]] = len(lines)
        elif re.match(r'\t[a-z]', line) and current == function:
            lines.append(line.strip())
            match = re.match(r'(?:b[a-z.]*|[ct]bn?z)\s(?:.*, )?(\.L\w+)$', lines[-1])
            if match and match[1] in labels:
                body = lines[labels[match[1]]:]
                if not any(re.match(r'(b|bl|ret|cbn?z|tbn?z)\b', each) or each.startswith('b.') for each in body[:-1]):
                    found.append(body)
    return found


def wanted(body, words):
    names = {line.split()[0] for line in body}
    return all((word[1:] not in names) if word[0] == '-' else word in names for word in words.split())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--mca', default='llvm-mca-19')
    parser.add_argument('--cpu', default='neoverse-v2')
    parser.add_argument('--compiler', default='aarch64-linux-gnu-gcc')
    args = parser.parse_args()
    print(f'{"":32}instructions   cycles an element, {args.cpu}')
    with tempfile.TemporaryDirectory() as folder:
        for what, source, function, elements, words in ROWS:
            name = source if '_neon' in source else source + '_neon'
            extension = re.search('(bf16|fp16)$', source)
            output = pathlib.Path(folder, name + '.s')
            if not output.exists():
                subprocess.run([args.compiler, '-std=c11', '-O3', '-ffp-contract=off', '-DDTI_HAVE_NEON', '-D_POSIX_C_SOURCE=200809L',
                                '-Iinclude', '-Isrc', *([f'-march=armv8.2-a+{extension[1]}'] if extension else []), '-S',
                                f'src/kernels/arm/{name}.c', '-o', output], cwd=ROOT, check=True)
            loops = [body for body in inner_loops(output.read_text(), function) if wanted(body, words)]
            body = loops[0]
            assert all(len(other) == len(body) for other in loops), (what, [len(other) for other in loops])
            text = '\n'.join(line for line in body if not re.match(r'b[a-z]|b\.|cbn?z', line) or line.startswith(('bf', 'bi', 'bs')))
            report = subprocess.run([args.mca, '-mtriple=aarch64', f'-mcpu={args.cpu}', '-mattr=+bf16,+fullfp16', '-iterations=1000'],
                                    input=text, capture_output=True, text=True, check=True).stdout
            cycles = int(re.search(r'Total Cycles:\s+(\d+)', report)[1]) / 1000
            print(f'{what:32}{len(body) / elements:12.2f}   {cycles / elements:6.2f}')


if __name__ == '__main__':
    main()
