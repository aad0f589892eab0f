"""A case of the matrix: a dict, whose name says everything about it, and from whose name alone its values follow."""

import leaves

VERSIONS = ("2.0", "2.1", "2.2")
INTS = ("wide", "small", "const", "runs", "few", "sorted", "outlier")
FLOATS = ("wide", "small", "const", "runs", "few")
TEXTS = ("short", "few", "long", "const", "mixed", "blank", "same_length", "runs")
BYTES = TEXTS + ("huge",)
EXTENSIONS = ("bf16", "json", "uuid", "point")


def contents(name):
    if name in ("string", "large_string"):
        return TEXTS
    if name in ("binary", "large_binary"):
        return BYTES
    if name == "bool":
        return ("wide", "runs", "const")
    if name[0] == "f" and name[1:] in ("16", "32", "64"):
        return FLOATS
    if name.startswith("dict_"):
        return ("small", "few", "runs", "nullword", "const")
    if name.startswith(("v_", "vv_")):
        return ("wide", "holes", "small", "const") if not name.startswith("vv") else ("wide", "holes", "const")
    if name.startswith("fsb"):
        return ("wide", "few", "const", "runs")
    if name in EXTENSIONS or name == "null":
        return ("wide",)
    return INTS


def rows_of(name, content):
    """Rows of a page: more than one chunk of a mini-block, where that costs little."""
    if content == "huge" or name in ("v_f64_80", "vv_u8_4_100", "v_u8_700", "fsb300"):
        return 60
    if content in ("long", "mixed") or name in ("v_f32_128", "v_f16_200", "v_i64_40"):
        return 300
    if name.startswith("v") or name in ("json", "point"):
        return 600
    if name in ("bool", "i8", "u8"):
        return 9000
    return 2500


def case(group, spec, version, nulls, pages, rows, meta=None, release="14.0.2", env=None):
    m = meta or {}
    words = [group, text(spec), "nulls=" + nulls, "pages=" + pages, "v" + version]
    words += ["%s=%s" % (k.removeprefix("lance-encoding:"), m[k]) for k in sorted(m)]
    if release != "14.0.2":
        words.append("by " + release)
    if env:
        words.append(env)
    return {"name": " ".join(words), "group": group, "spec": spec, "version": version, "nulls": nulls, "pages": pages,
            "rows": rows, "meta": {"lance-encoding:" + k if not k.startswith("lance-") else k: v for k, v in m.items()},
            "release": release, "env": env or ""}


def text(spec):
    if spec[0] == "leaf":
        return spec[1] + "/" + spec[2]
    return spec[0] + "(" + ",".join(str(s) if isinstance(s, int) else text(s) for s in spec[1:]) + ")"


def names():
    return list(leaves.TYPES) + list(EXTENSIONS)
