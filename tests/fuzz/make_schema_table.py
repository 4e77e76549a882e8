#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the schemas of JSON documents as C tables for a fast check: the members of an object, which of them are
required, the types of their values, and the allowed words of an enum.

    make_schema_table.py SCHEMAS TESTS OUTPUT      TESTS: the folder of checker.py

Alternatives (anyOf) become one row: the members of all of them, required if all of them require it.
"""
import json
import pathlib
import sys

TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"]
MOST_MEMBERS = 64  # per object: the check uses one bit for each
NOTHING = 0xffff


def kind(value):
    names = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", type(None): "null"}
    return names[type(value)]


class Tables:
    def __init__(self):
        self.nodes, self.members, self.words, self.known, self.roots = [], [], [], {}, []

    def alternatives(self, root, schema):
        """Resolves references and anyOf: a list of schemas, one of which must hold."""
        if "$ref" in schema:
            target = root
            for key in schema["$ref"].lstrip("#/").split("/"):
                target = target[key]
            return self.alternatives(root, target)
        if "anyOf" in schema:
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "description")}
            return [dict(rest, **dict(one, required=rest.get("required", []) + one.get("required", [])))
                    for choice in schema["anyOf"] for one in self.alternatives(root, choice)]
        return [schema]

    @staticmethod
    def types_and_words(one):
        if "const" in one or "enum" in one:
            values = one.get("enum", [one.get("const")])
            return {kind(value) for value in values}, [value for value in values if isinstance(value, str)]
        named = one["type"] if isinstance(one["type"], list) else [one["type"]]
        return set(named), None

    def node(self, root, schemas):
        """The table row of values that match one of the schemas."""
        ones = [one for schema in schemas for one in self.alternatives(root, schema)]
        key = (root["title"], json.dumps(ones, sort_keys=True))
        if key in self.known:
            return self.known[key]
        number = self.known[key] = len(self.nodes)
        self.nodes.append(None)
        types, words = set(), []
        for one in ones:
            more, some = self.types_and_words(one)
            types |= more
            if "string" in more:
                words = None if some is None or words is None else words + some
        items = [one["items"] for one in ones if "items" in one]
        objects = [one for one in ones if "properties" in one]
        names = list(dict.fromkeys(name for one in objects for name in one["properties"]))
        rows = [(name, self.node(root, [one["properties"][name] for one in objects if name in one["properties"]]),
                 all(name in one.get("required", []) for one in objects)) for name in names]
        assert len(rows) <= MOST_MEMBERS and ("object" not in types or rows), names
        items_node = self.node(root, items) if items else NOTHING
        words = sorted(set(words or []))
        self.nodes[number] = (sum(1 << TYPES.index(name) for name in types), len(self.members), len(rows),
                              items_node, len(self.words), len(words))
        self.members += rows
        self.words += words
        return number

    def write(self, path):
        with open(path, "w", encoding="ascii") as out:
            def rows(head, lines):
                out.write(head + " = {\n" + "".join("    {%s},\n" % line for line in lines) + "};\n")
            rows("static const struct schema_node schema_nodes[]",
                 ["0x%x, %d, %d, %d, %d, %d" % node for node in self.nodes])
            rows("static const struct schema_member schema_members[]",
                 ["%s, %d, %d, %s" % (json.dumps(name), len(name), node, str(required).lower())
                  for name, node, required in self.members])
            rows("static const struct schema_word schema_words[]",
                 ["%s, %d" % (json.dumps(word), len(word)) for word in self.words])
            rows("static const struct schema_root schema_roots[]",
                 ["%s, %d" % (json.dumps(name), node) for name, node in self.roots])


def main():
    schemas, tests, output = sys.argv[1:]
    sys.path.insert(0, tests)
    import checker
    tables = Tables()
    for title, root in sorted(checker.load(pathlib.Path(schemas)).items()):
        tables.roots.append((title, tables.node(root, [root])))
    tables.write(output)


if __name__ == "__main__":
    main()
