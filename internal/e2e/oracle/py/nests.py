"""Cases of nested columns."""

import itertools

from case import VERSIONS, case, contents, names, text

L = None  # the place of the leaf
NESTS = [
    ["struct", L], ["list", L], ["large", L], ["map", L], ["struct", L, L],
    ["list", ["struct", L, L]], ["struct", ["list", L], L], ["list", ["list", L]], ["struct", ["struct", L]],
    ["map", ["struct", L]], ["large", ["list", L]], ["map", ["list", L]], ["list", ["map", L]], ["struct", ["map", L]],
    ["fsl", 3, ["struct", L, L]], ["list", ["fsl", 2, ["struct", L]]], ["struct", ["fsl", 2, ["struct", L]]],
    ["list", ["list", ["list", L]]], ["list", ["struct", ["list", L], L]], ["struct", ["list", ["struct", L, L]], L],
    ["struct", ["struct", ["struct", L]]], ["map", ["list", ["struct", L]]], ["list", ["struct", ["struct", L], ["list", L]]],
    ["large", ["struct", ["large", L]]], ["fsl", 2, ["struct", ["list", L], L]], ["struct", ["list", ["list", L]]],
    ["map", ["map", L]], ["fsl", 2, ["struct", ["fsl", 2, ["struct", L]]]],
]


def fill(shape, turn):
    """The shape with leaves put in."""
    if shape is L:
        name = next(turn)
        c = contents(name)
        fill.count += 1
        return ["leaf", name, c[fill.count % len(c)]]
    return [s if isinstance(s, (str, int)) else fill(s, turn) for s in shape[:1]] + [
        s if isinstance(s, (str, int)) else fill(s, turn) for s in shape[1:]]


fill.count = 0


def nested():
    """Every shape with leaves in turn, so that each type is met below most shapes."""
    fill.count = 0
    common = ["i32", "string", "f64", "v_f32_4", "bool", "binary", "dict_i32_string", "ts_us", "u8"]
    rare = itertools.cycle([n for n in names() if n not in common and n not in ("null", "json")])
    usual = itertools.cycle(common)
    for shape in NESTS:
        versions = ("2.2",) if text(["x", fill_probe(shape)]).find("map") >= 0 or "fsl" in str(shape) else VERSIONS
        for version in versions:
            for nulls, pages in (("none", "page"), ("some", "page"), ("some", "pages"), ("all", "page"), ("leaf", "page"), ("empty", "page"),
                                 ("some", "one"), ("outer", "pages"), ("all", "one"), ("none", "empty")):
                times = 2 if pages != "empty" and nulls in ("none", "some") else 1
                if len(versions) == 1:
                    times += 1
                for k in range(times):
                    spec = fill(shape, usual if k == 0 else rare)
                    rows = 400 if "long" in str(spec) or "huge" in str(spec) or "v_" in str(spec) else 900
                    yield case("nested", spec, version, nulls, pages, min(rows, 60) if "huge" in str(spec) else rows)


def fill_probe(shape):
    return ["leaf", "i32", "wide"] if shape is L else [s if isinstance(s, (str, int)) else fill_probe(s) for s in shape]
