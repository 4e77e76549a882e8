#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the members of documents with reviewed tables: one per document and one for shared objects, a line per member.

usage: documents.py SCHEMAS TABLES

Columns: path, type, "null" if it may be null, "optional" if it may be missing, unit, allowed values (words, a
pattern, the minimum). A change here can break scripts that rely on the member.
"""
import json
import pathlib
import sys

# Objects shared by several documents; their lines are in common.tsv.
SHARED = {"number", "neighbour", "fields", "warning"}


class Flat:
    def __init__(self, folder):
        self.files = {path.name: json.loads(path.read_text(encoding="utf-8"))
                      for path in pathlib.Path(folder).glob("*.json") if not path.name.startswith("check-")}
        self.lines = {}

    def resolve(self, node, home):
        while "$ref" in node:
            where, _, pointer = node["$ref"].partition("#")
            home = where or home
            target = self.files[home]
            for part in pointer.strip("/").split("/"):
                target = target[part]
            if home == "common.schema.json" and part in SHARED:
                return {"type": "common " + part}, home
            node = dict(target, **{key: value for key, value in node.items() if key != "$ref"})
        return node, home

    @staticmethod
    def values(node):
        if "const" in node:
            return json.dumps(node["const"])
        if "enum" in node:
            return "|".join(word for word in node["enum"] if word is not None)
        return node.get("pattern") or (f">={node['minimum']}" if "minimum" in node else "")

    def value(self, node, home):
        """Returns the type in words, whether it may be null, its values, and the object whose members follow."""
        node, home = self.resolve(node, home)
        if "anyOf" in node and "type" not in node:
            others = [one for one in node["anyOf"] if one != {"type": "null"}]
            kind, null, values, inner = self.value(others[0], home)
            return kind, null or len(others) < len(node["anyOf"]), values, inner
        if "enum" in node or "const" in node:
            return "string", None in node.get("enum", []), self.values(node), None
        kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
        null = "null" in kinds
        kind, = [one for one in kinds if one != "null"]
        if kind == "array":
            kind, _, values, inner = self.value(node["items"], home)
            return kind + "[]", null, values, inner
        return kind, null, self.values(node), (node, home) if "properties" in node else None

    def members(self, document, prefix, node, home):
        for key, member in node["properties"].items():
            kind, null, values, inner = self.value(member, home)
            path = prefix + key
            line = (path, kind, "null" if null else "", "" if key in node["required"] else "optional",
                    self.resolve(member, home)[0].get("unit", ""), values)
            self.lines.setdefault(document, []).append(line)
            if inner:
                self.members(document, path + kind[kind.find("["):] * ("[" in kind) + ".", *inner)

    def all(self):
        for name in sorted(self.files):
            if name == "common.schema.json":
                for shared in sorted(SHARED & set(self.files[name]["$defs"])):
                    self.members("common", shared + ".", self.files[name]["$defs"][shared], name)
            else:
                self.members(name.split(".")[1], "", self.files[name], name)
        return {name: ["\t".join(column or "-" for column in line) for line in lines]
                for name, lines in self.lines.items()}


def differences(name, made, reviewed):
    """Yields the problems of a table; either of the two may be empty."""
    for line in sorted(set(made) ^ set(reviewed)):
        yield f"{name}.tsv: {'lacks' if line in made else 'has what is no member any more'}: " + line.replace("\t", " | ")
    if made != reviewed and not set(made) ^ set(reviewed):
        yield f"{name}.tsv: the order of members changed"


def main():
    made = Flat(sys.argv[1]).all()
    reviewed = {path.stem: path.read_text(encoding="utf-8").splitlines()[1:] for path in pathlib.Path(sys.argv[2]).glob("*.tsv")}
    wrong = [text for name in sorted(made.keys() | reviewed.keys())
             for text in differences(name, made.get(name, []), reviewed.get(name, []))]
    print("\n".join([*wrong, f"{sum(map(len, made.values()))} members"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
