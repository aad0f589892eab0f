"""Cases of encodings that the metadata of fields ask for."""

from case import VERSIONS, case, rows_of

SMALLER = [("i32", "small"), ("i64", "few"), ("i64", "sorted"), ("f32", "wide"), ("f64", "few"), ("f64", "runs"), ("string", "short"), ("string", "long"),
           ("large_string", "few"), ("binary", "huge"), ("large_binary", "short"), ("fsb16", "few"), ("dec38", "small"), ("bool", "runs"),
           ("dict_i32_string", "few"), ("v_f32_4", "const"), ("v_f32_128", "wide"), ("v_u8_16", "holes"), ("i16", "runs"), ("u8", "few")]
BELOW = [["list", ["leaf", "i32", "few"]], ["list", ["leaf", "string", "short"]], ["struct", ["leaf", "f64", "wide"], ["leaf", "string", "long"]],
         ["list", ["struct", ["leaf", "i64", "runs"], ["leaf", "string", "few"]]]]


def steered():
    """Encodings asked for by the metadata of fields."""
    def each(metas, kinds, versions=("2.1", "2.2"), shapes=(("none", "page"), ("some", "pages"))):
        for m in metas:
            for k in kinds:
                spec = list(k) if isinstance(k, list) else ["leaf", *k]
                for v in versions:
                    for nulls, pages in shapes:
                        rows = rows_of(spec[1], spec[2]) if spec[0] == "leaf" else 500
                        yield case("steered", spec, v, nulls, pages, rows, m)

    some = (("some", "page"),)
    yield from each([{"compression": "lz4"}, {"compression": "zstd"}], SMALLER + BELOW)
    yield from each([{"compression": "none"}, {"compression": "zstd", "compression-level": "9"}], SMALLER[::3] + BELOW, shapes=some)
    yield from each([{"compression": "lz4"}, {"compression": "zstd"}, {"compression": "none"}],
                    [("string", "short"), ("binary", "huge"), ("large_string", "long"), ("i32", "small")], ("2.0",), some)
    text_kinds = [("string", "short"), ("string", "long"), ("large_string", "mixed"), ("binary", "short"), ("large_binary", "long"), ("string", "few")]
    yield from each([{"compression": "fsst"}], text_kinds + [["list", ["leaf", "string", "short"]]])
    yield from each([{"compression": "fsst"}], text_kinds[:2], ("2.0",), some)
    dicts = [("string", "few"), ("large_string", "runs"), ("binary", "few"), ("i64", "few"), ("f64", "few"), ("i32", "few"), ("fsb16", "few"), ("dec38", "few")]
    yield from each([{"dict-divisor": "1", "dict-size-ratio": "1.0"}, {"dict-divisor": "1000000"}, {"dict-size-ratio": "0.01"}], dicts, shapes=some)
    yield from each([{"dict-divisor": "2", "dict-size-ratio": "0.99", "dict-values-compression": v} for v in ("lz4", "zstd", "none")],
                    [("string", "few"), ("i64", "few"), ("large_binary", "few")], shapes=some)
    runs = [("i8", "runs"), ("i16", "runs"), ("i32", "runs"), ("i64", "runs"), ("u64", "runs"), ("f32", "runs"), ("f64", "runs"), ("date32", "runs"), ("i32", "few"), ("f16", "runs")]
    yield from each([{"rle-threshold": "1.0"}, {"rle-threshold": "0.01"}], runs, shapes=(("none", "page"), ("some", "page")))
    yield from each([{"rle-threshold": "0.9", "compression": "lz4"}], runs[:4], shapes=some)
    floats = [("f32", "wide"), ("f64", "wide"), ("f32", "small"), ("f64", "sorted"), ("i32", "sorted"), ("i64", "wide"), ("f16", "small")]
    yield from each([{"bss": "on", "compression": "lz4"}, {"bss": "auto", "compression": "zstd"}, {"bss": "off", "compression": "zstd"}], floats)
    structural = SMALLER[:9] + SMALLER[11:] + BELOW + [["list", ["list", ["leaf", "string", "mixed"]]], ["list", ["leaf", "v_f32_128", "holes"]],
                                                       ["large", ["leaf", "fsb40", "wide"]], ("f16", "wide"), ("bool", "wide")]
    yield from each([{"structural-encoding": "fullzip"}], structural, shapes=(("none", "page"), ("some", "pages"), ("some", "page")))
    yield from each([{"structural-encoding": "miniblock"}], [("string", "long"), ("v_f32_128", "wide"), ("v_f32_128", "holes"), ("large_binary", "long"), ("v_f16_200", "wide")] + BELOW)
    yield from each([{"structural-encoding": "fullzip", "compression": c} for c in ("lz4", "zstd", "fsst", "none")],
                    [("string", "short"), ("large_string", "long"), ("binary", "huge"), ("i32", "small")] + BELOW[:2], shapes=some)
    yield from each([{"minichunk-size": s} for s in ("128", "1024", "16384", "32768")], [("i32", "wide"), ("string", "short"), ("f64", "small")] + BELOW[:2], shapes=some)


def packed():
    """Structs whose fields share one column."""
    x = lambda n, c="wide": ["leaf", n, c]
    fixed = [["packed", x("i32"), x("f32")], ["packed", x("u8"), x("i64"), x("f16")], ["packed", x("i32"), x("v_f32_4")], ["packed", x("date32", "small"), x("fsb7")], ["packed", x("i64")]]
    variable = [["packed", x("i32"), x("string", "short")], ["packed", x("string", "few"), x("large_binary", "short"), x("f64")], ["packed", x("binary", "huge"), x("u8")],
                ["packed", x("string", "long"), x("v_f32_4")]]
    for spec in fixed + variable:
        for version in VERSIONS:
            for nulls, pages in (("none", "page"), ("none", "pages"), ("none", "one"), ("outer", "page"), ("some", "page"), ("all", "page")):
                if nulls != "none" and version == "2.0":
                    continue
                yield case("packed", spec, version, nulls, pages, 60 if "huge" in str(spec) else 700)
    for spec in (["list", fixed[0]], ["list", variable[0]], ["struct", fixed[0], x("i32")], ["struct", variable[0], x("i32")], ["fsl", 2, fixed[0]]):
        for version in ("2.1", "2.2"):
            for nulls in ("none", "some"):
                yield case("packed", spec, version, nulls, "page", 500)
    for m in ({"compression": "zstd"}, {"compression": "lz4"}):
        for spec in (fixed[1], variable[0], variable[1]):
            yield case("packed", spec, "2.2", "none", "page", 700, m)
