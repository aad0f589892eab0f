"""The matrix: which tables are written to prove the readers by."""

import itertools
import os
import random

from case import VERSIONS, case, contents, names, rows_of
from nests import nested
from settings import packed, steered


def flat():
    """Every type, without nesting."""
    shapes = [("none", "empty"), ("none", "one"), ("all", "one"), ("none", "page"), ("some", "page"), ("all", "page"),
              ("none", "pages"), ("some", "pages"), ("all", "pages")]
    for name in names():
        turn = itertools.cycle(contents(name))
        for version in VERSIONS:
            for nulls, pages in shapes:
                c = next(turn) if pages in ("page", "pages") and nulls != "all" else contents(name)[0]
                yield case("flat", ["leaf", name, c], version, nulls, pages, rows_of(name, c))


def blobs():
    """Blobs of both kinds."""
    for version in VERSIONS:
        for nulls in ("none", "some", "all"):
            for pages in ("one", "page", "pages", "empty"):
                yield case("blob", ["leaf", "large_binary", "huge"], version, nulls, pages, 40, {"blob": "true"})
    for content in ("inline", "packed", "dedicated", "external", "slices", "mixed", "empty", "tiny", "stray"):
        for nulls in ("none", "some"):
            for pages in ("one", "page", "pages"):
                yield case("blob2", ["leaf", "blob2", content], "2.2", nulls, pages, 30)
        yield case("blob2", ["struct", ["leaf", "blob2", content], ["leaf", "i32", "small"]], "2.2", "none", "page", 30)


def big():
    """Rows that go on for many chunks, and pages of the sizes that Lance makes by itself."""
    x = lambda n, c: ["leaf", n, c]
    for spec, rows in ((["long", x("i32", "small")], 60), (["long", x("string", "short")], 30), (["long", x("i64", "runs")], 60), (["long", x("bool", "wide")], 60),
                       (["long", ["struct", x("i16", "wide"), x("string", "few")]], 30), (["long", ["list", x("i32", "small")]], 30),
                       (["list", ["long", x("f32", "wide")]], 12), (["long", x("v_f32_128", "wide")], 6), (["struct", ["long", x("u8", "few")], x("i32", "sorted")], 60),
                       (["long", x("binary", "long")], 3)):
        for version in VERSIONS:
            for nulls, pages in (("none", "page"), ("some", "page"), ("some", "pages")):
                yield case("big", spec, version, nulls, pages, rows)
    yield from (case("big", spec, "2.2", "some", "page", rows) for spec, rows in ((["map", ["long", x("i32", "small")]], 30), (["long", ["map", x("i32", "small")]], 12),
                                                                                  (["long", ["fsl", 2, ["struct", x("i32", "wide"), x("f64", "few")]]], 12)))
    for spec, rows in ((x("i64", "wide"), 1_500_000), (x("i32", "small"), 1_500_000), (x("bool", "wide"), 3_000_000), (x("f64", "runs"), 1_500_000), (x("string", "few"), 400_000),
                       (x("v_f32_128", "wide"), 40_000), (x("fsb40", "wide"), 300_000), (["list", x("i32", "small")], 600_000), (["struct", x("i32", "sorted"), x("u8", "wide")], 800_000)):
        for version in VERSIONS:
            for nulls in ("none", "some"):
                yield case("big", spec, version, nulls, "page", rows)


def chance():
    """Whatever comes: random nests with random settings."""
    settings = [{}, {}, {}, {"compression": "lz4"}, {"compression": "zstd"}, {"structural-encoding": "fullzip"}, {"structural-encoding": "miniblock"},
                {"dict-divisor": "1", "dict-size-ratio": "1.0"}, {"rle-threshold": "1.0"}, {"bss": "on", "compression": "lz4"}, {"minichunk-size": "512"}]
    kinds = [(n, c) for n in names() if n not in ("json", "null") for c in contents(n) if c != "huge"]
    for seed in range(CHANCE):
        rng = random.Random(seed)
        version = rng.choice(("2.2", "2.2", "2.1", "2.0"))

        def spec(depth):
            kind = rng.choice(["leaf"] + ["struct", "list", "large", "list"] * (depth > 0) + ["map", "fsl"] * (depth > 0 and version == "2.2"))
            if kind == "leaf":
                return ["leaf", *rng.choice(kinds)]
            if kind == "fsl":
                return ["fsl", rng.randint(1, 4), ["struct"] + [spec(depth - 1) for _ in range(rng.randint(1, 2))]]
            return [kind] + [spec(depth - 1) for _ in range(rng.randint(1, 3) if kind == "struct" else 1)]

        yield case("chance", spec(3), version, rng.choice(("none", "some", "some", "outer", "leaf", "empty", "all")),
                   rng.choice(("page", "page", "pages", "one")), rng.choice((50, 300, 1500)), rng.choice(settings))


CHANCE = int(os.environ.get("SEAWEED_LANCE_CHANCE", "500"))


def nothing():
    """Lists of a fixed size of which nothing is there, their items included."""
    for name in names():
        if name.startswith("v_"):
            for version, pages in itertools.product(VERSIONS, ("page", "pages")):
                yield case("flat", ["leaf", name, "holes"], version, "all", pages, 100)


def older():
    """What older releases write: a part of everything above."""
    everything = [*flat(), *nested(), *steered(), *packed()]
    for release, step, versions in (("10.0.0", 9, VERSIONS), ("4.0.2", 11, ("2.0", "2.1"))):
        for c in everything[::step]:
            if "json" in c["name"] and c["pages"] == "pages":
                continue  # the file writer of these releases does not turn it into the binary form
            v = c["version"] if c["version"] in versions else versions[-1]
            yield case(c["group"], c["spec"], v, c["nulls"], c["pages"], c["rows"], c["meta"], release)


    # Pages of a constant within another encoding come from releases before 2.
    for name in ("v_f32_128", "v_f32_4", "v_f16_200"):
        for nulls, pages in (("all", "page"), ("some", "page"), ("all", "pages")):
            yield case("flat", ["leaf", name, "holes"], "2.1", nulls, pages, 60, None, "1.0.4")


def large():
    """Chunks of more values than usual, which an environment variable asks for."""
    env = "LANCE_MINIBLOCK_MAX_VALUES=32768"
    for k in (["leaf", "bool", "wide"], ["leaf", "u8", "wide"], ["leaf", "i32", "small"], ["leaf", "string", "few"], ["leaf", "i64", "runs"],
              ["list", ["leaf", "bool", "wide"]], ["leaf", "string", "short"]):
        for version in ("2.1", "2.2"):
            for nulls in ("none", "some"):
                yield case("large", k, version, nulls, "page", 40000, {}, env=env)


def cells():
    """All cases, each once, in a fixed order."""
    seen, out = set(), []
    for c in itertools.chain(flat(), nested(), steered(), packed(), blobs(), nothing(), big(), chance(), large(), older()):
        if c["name"] not in seen:
            seen.add(c["name"])
            out.append(c)
    return out
