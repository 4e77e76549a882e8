# SPDX-License-Identifier: MIT
"""Tables and pictures of the site, from what the program says of itself."""

import html
import json
import math
import os
import re
import subprocess

# Floats of the picture, in its order, and the exponents of two that its axis shows.
SHOWN = ["fp32", "tf32", "bf16", "fp16", "fp8_e5m2", "fp8_e4m3fn", "fp8_e5m2fnuz", "fp8_e4m3fnuz", "fp8_e3m4", "fp8_e8m0", "fp6_e3m2",
         "fp6_e2m3", "fp4_e2m1", "hif8", "posit16", "posit8"]
FIRST, LAST, STEP = -150, 130, 32
NAMES, AXIS, PRECISION, ROW = 118, 440, 170, 22 # widths of the columns of the picture, height of a row
OUTCOMES = {"refuse": "refused by", "misread": "misread by", "slow": "loaded slowly by", "none": "loaded right by"}
KINDS = [("float", "Floats"), ("unsigned_float", "Floats without a sign"), ("int", "Signed integers"), ("uint", "Unsigned integers"),
         ("bool", "Truth values"), ("complex", "Complex numbers")]


def sentence(text):
    """A text as a sentence. Names such as config.json stay as they are."""
    first = text[:1].upper() if re.match(r"[a-z]+[ ,]", text) else text[:1]
    return html.escape(first + text[1:]) + "."


def table(heads, rows):
    """An HTML table in a box of its own, which scrolls where it is too wide. Cells are HTML."""
    head = "".join(f"<th>{cell}</th>" for cell in heads)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def exponent(number):
    """The base 2 logarithm of a limit."""
    mantissa, power = math.frexp(float.fromhex(number["hexfloat"]))
    return math.log2(mantissa) + power


def across(power):
    """Where a power of two is in the picture."""
    return NAMES + (power - FIRST) / (LAST - FIRST) * AXIS


class Facts:
    """The program's own tables."""

    def __init__(self, program):
        self.program = program
        self.own = self.ask("__introspect")
        self.lists = self.ask("list", "--json")
        self.spelled = self.spellings()
        self.version = self.lists["dtinfo"]
        self.markers = {"ranges": self.ranges, "rules": self.rules, "rounds": self.rounds}

    def spellings(self):
        """The largest and the smallest number of each float, as the program's table has them."""
        lines = self.run("list", "--all", "--columns", "dtype,max,smallest").split("\n")
        return {words[0]: words[1:] for words in map(str.split, lines) if len(words) == 3}

    def ask(self, *words):
        """A document of the program."""
        return json.loads(self.run(*words))

    def run(self, *words):
        """What the program prints."""
        environment = {"PATH": os.defpath, "LC_ALL": "C"}
        environment |= {name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")}
        return subprocess.run([self.program, *words], stdout=subprocess.PIPE, env=environment, encoding="utf-8", check=True).stdout

    def ranges(self):
        """The picture of ranges and precision."""
        limits = {row["dtype"]: row for row in self.ask("info", *SHOWN, "--json")["results"]}
        height, width = ROW * (len(SHOWN) + 2), NAMES + AXIS + PRECISION
        out = [f'<figure class="scroll"><svg viewBox="0 0 {width} {height}" role="img" aria-label="Range and precision of '
               f'{len(SHOWN)} formats">']
        for power in range(FIRST // STEP * STEP + STEP, LAST + 1, STEP):
            x = across(power)
            out.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{ROW}" y2="{height - ROW}"/>'
                       f'<text class="mark" text-anchor="middle" x="{x:.1f}" y="{height - 6}">2<tspan dy="-4" font-size="9">{power}'
                       f'</tspan></text>')
        out.append(f'<text class="mark" x="{NAMES}" y="14">smallest to largest number</text>'
                   f'<text class="mark" x="{NAMES + AXIS + 14}" y="14">significant bits</text>')
        for place, name in enumerate(SHOWN, 1):
            out += self.bar(name, limits[name], place * ROW + 3)
        out.append("</svg><figcaption>The muted end of a bar: subnormal numbers, with fewer significant bits the closer they are to "
                   'zero. fp64 reaches from <span class="line">2<sup>-1074</sup></span> to 2<sup>1024</sup> with 53 significant bits. '
                   "Drawn from <code>dtinfo info --json</code>.</figcaption></figure>")
        return "\n".join(out)

    @staticmethod
    def bar(name, row, y):
        """A format's row of the picture."""
        normal, largest = exponent(row["smallest_normal"]), exponent(row["max"])
        least = exponent(row["smallest_subnormal"]) if row["smallest_subnormal"] else normal
        middle, tall = y + ROW / 2, ROW - 8
        yield f'<text x="0" y="{middle:.1f}">{name}</text>'
        if least < normal:
            yield (f'<rect class="subnormal" x="{across(least):.1f}" y="{y}" width="{across(normal) - across(least):.1f}" '
                   f'height="{tall}"/>')
        yield f'<rect class="normal" x="{across(normal):.1f}" y="{y}" width="{across(largest) - across(normal):.1f}" height="{tall}"/>'
        for bit in range(row["precision"]):
            yield f'<rect class="bit" x="{NAMES + AXIS + 14 + 5 * bit}" y="{y}" width="4" height="{tall}"/>'
        yield f'<text x="{NAMES + AXIS + 20 + 5 * row["precision"]}" y="{middle:.1f}">{row["precision"]}</text>'

    def rules(self):
        """A card for each rule of check --quantized."""
        cards = []
        for rule in self.own["lint_rules"]:
            known = {}
            for row in self.own["lint_effects"]:
                if row["rule"] == rule["rule"] and row["outcome"] in OUTCOMES:
                    known.setdefault(OUTCOMES[row["outcome"]], []).append(row["loader"])
            effects = "; ".join(f"{outcome} {', '.join(dict.fromkeys(loaders))}" for outcome, loaders in known.items())
            cards.append(f'<li><a href="quantized-checks.html#{rule["rule"]}"><code>{rule["rule"]}</code></a><br>'
                         f'{sentence(rule["about"])}<br><b>Do:</b> {html.escape(rule["remedy"])}.'
                         + (f'<br><small>{sentence(effects)}</small>' if effects else "") + "</li>")
        return ('<h2>All rules of --quantized</h2>\n<ul class="cards">\n' + "\n".join(cards) + "\n</ul>")

    def rounds(self):
        """The rounding modes of cast, as choices of a field."""
        cast = next(row for row in self.own["commands"] if row["name"] == "cast")
        modes = next(row for row in cast["options"] if row["long"] == "round")["choices"]
        return '<option value="">the default</option>' + "".join(f"<option>{mode['name']}</option>" for mode in modes)

    def limit(self, row, name, place):
        """A limit of a dtype: short, and exact where the pointer rests."""
        if not row[name]:
            return ""
        return f'<span class="line" title="{row[name]["exact"]}">{self.spelled[row["dtype"]][place]}</span>'

    def cells(self, row):
        """A dtype's row of the tables."""
        names = {}
        for other in row["names"]:
            names.setdefault(other["name"], []).append(other["system"])
        listed = ", ".join(f'<span title="{html.escape(", ".join(systems))}">{html.escape(name)}</span>' for name, systems in names.items())
        fields = ""
        if row["part"]:
            fields = f'2 x {row["part"]}'
        elif row["kind"].endswith("float"):
            fields = " ".join(f'{row[f"{field}_bits"]}{letter}' for field, letter in (("sign", "s"), ("exponent", "e"), ("mantissa", "m")))
        special = [word for word, there in (("inf", row["has_inf"]), ("nan", row["has_nan"]), ("-0", row["has_minus_zero"])) if there]
        return [f'<code id="{row["dtype"]}">{row["dtype"]}</code>', str(row["bits"]), f'<span class="line">{fields}</span>',
                self.limit(row, "max", 0), self.limit(row, "smallest", 1),
                f'<span class="line">{" ".join(special)}</span>', listed]

    def formats(self):
        """The page of all formats."""
        out = ["<h1>Formats</h1>", "<p>Made from <code>dtinfo list --json</code>. A format that is not listed has a name too: "
               "<code>[u]eXmY[fn|fnuz][bBIAS]</code>, <code>intN</code> or <code>uintN</code>. "
               '<a href="which-dtype.html">Which dtype when</a> has their ranges.</p>']
        for kind, title in KINDS:
            rows = [self.cells(row) for row in self.lists["dtypes"] if row["kind"] == kind]
            out += [f'<h2 id="kind-{kind}">{title}</h2>', table(["dtype", "bits", "fields", "largest", "smallest", "has", "elsewhere"], rows)]
        out += ['<h2 id="blocks">Blocks with a scale</h2>', table(["format", "element", "scale", "elements", "bytes", "bits per weight", ""], [
            [f'<code>{row["name"]}</code>', row["element"], html.escape(str(row["scale"] or "")), str(row["block_elements"] or ""),
             str(row["block_bytes"] or ""), str(row["bits_per_weight"] or ""), html.escape(row["summary"] or "")]
            for row in self.lists["block_formats"]])]
        out += ['<h2 id="gguf">Types of GGUF</h2>', table(["type", "elements", "bytes", "elements of a scale", "bits per weight"], [
            [f'<code>{row["name"]}</code>', str(row["block_elements"]), str(row["block_bytes"]), str(row["group_elements"] or ""),
             str(row["bits_per_weight"])] for row in self.lists["gguf_types"]])]
        return "\n".join(out)
