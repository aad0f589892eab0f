#!/usr/bin/env python3
"""Writes the files of this folder with the release of Lance that runs it.

    python -m venv env && env/bin/pip install pylance==14.0.2 pyarrow==26.0.1 numpy==2.4.6
    env/bin/python generate.py DIRECTORY

For each NAME there is NAME.lance, a data file of version 2.0 with a page for
each batch, and NAME.arrow, the rows it holds. Lance has to read the rows back.
"""

import datetime
import decimal
import os
import random
import sys

import lance
import numpy as np
import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

ROWS = 110  # of a batch; dictionaries are tried for pages of 100 rows and more
# What is null in each batch.
BATCHES = ["some", "none", "all", "some", "none"]


def nulled(values, kind, salt=0):
    if kind == "all":
        return [None] * len(values)
    if kind == "none":
        return list(values)
    rng = random.Random(salt)
    return [None if rng.random() < 0.3 else v for v in values]


def ints(bits, signed, k):
    rng = random.Random(k * 100 + bits)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return [rng.choice([low, high, 0, 1, rng.randint(low, high)]) for _ in range(ROWS)]


def fixed(k, kind):
    rng = np.random.default_rng(k)
    cols = {}
    for bits in (8, 16, 32, 64):
        cols["i%d" % bits] = pa.array(nulled(ints(bits, True, k), kind, bits), getattr(pa, "int%d" % bits)())
        cols["u%d" % bits] = pa.array(nulled(ints(bits, False, k), kind, bits + 1), getattr(pa, "uint%d" % bits)())
    odd = [float("nan"), -0.0, float("inf"), float("-inf"), 5e-324]
    floats = [odd[i % 9] if i % 9 < 5 else v for i, v in enumerate(rng.standard_normal(ROWS))]
    cols["f16"] = pa.array([None if v is None else np.float16(v) for v in nulled(floats, kind, 1)], pa.float16())
    cols["f32"] = pa.array(nulled(floats, kind, 2), pa.float32())
    cols["f64"] = pa.array(nulled(floats, kind, 3), pa.float64())
    cols["bool"] = pa.array(nulled([bool(v & 1) for v in ints(8, False, k)], kind, 4), pa.bool_())
    long = ints(64, True, k)
    cols["date32"] = pa.array(nulled(ints(32, True, k), kind, 5), pa.int32()).cast(pa.date32())
    cols["date64"] = pa.array(nulled([v // 86400000 // 1000 * 86400000 for v in long], kind, 6), pa.int64()).cast(pa.date64(), safe=False)
    cols["time32"] = pa.array(nulled([v % 86400 for v in long], kind, 7), pa.int32()).cast(pa.time32("s"))
    cols["time64"] = pa.array(nulled([v % 86400000000000 for v in long], kind, 8), pa.int64()).cast(pa.time64("ns"))
    cols["ts"] = pa.array(nulled(long, kind, 9), pa.int64()).cast(pa.timestamp("us", "Europe/Paris"))
    cols["dur"] = pa.array(nulled(long, kind, 10), pa.int64()).cast(pa.duration("ms"))
    cols["dec"] = pa.array(nulled([decimal.Decimal(v) / 100 for v in ints(32, True, k)], kind, 11), pa.decimal128(20, 2))
    cols["dec256"] = pa.array(nulled([decimal.Decimal(v) / 100 for v in ints(32, True, k)], kind, 12), pa.decimal256(50, 2))
    cols["fsb"] = pa.array(nulled([bytes([i, k, i]) for i in range(ROWS)], kind, 13), pa.binary(3))
    cols["null"] = pa.nulls(ROWS)
    return pa.table(cols)


def word(i, k):
    return "".join(chr(97 + (i * 7 + j + k) % 26) for j in range((i * 5 + k) % 14)) + ("é" if i % 11 == 0 else "")


def strings(k, kind):
    words = [word(i, k) for i in range(ROWS)]
    few = ["", "red", "green", "a longer colour"][: 4 - k % 2]
    sentences = ["the %s and the %s of %d" % (word(i, 1), word(i // 3, 2), i) for i in range(ROWS)]
    raw = [bytes(ints(8, False, i)[: i % 9]) for i in range(ROWS)]
    fields, cols = [], []

    def add(name, t, values, salt=0, **meta):
        fields.append(pa.field(name, t, metadata={"lance-encoding:" + m: v for m, v in meta.items()} or None))
        cols.append(pa.array(nulled(values, kind, salt), t))

    add("text", pa.string(), words)
    add("large", pa.large_string(), words, 1)
    add("bin", pa.binary(), raw, 2)
    add("largebin", pa.large_binary(), raw, 3)
    add("few", pa.string(), [few[i % len(few)] for i in range(ROWS)], 4)
    add("same", pa.string(), ["x"] * ROWS, 5)
    add("empty", pa.string(), [""] * ROWS, 6)
    add("zstd", pa.string(), sentences, 7, compression="zstd")
    add("lz4", pa.large_string(), sentences, 8, compression="lz4")
    # FSST panics on a page that is all null.
    t = pa.string()
    fields.append(pa.field("fsst", t, metadata={"lance-encoding:compression": "fsst"}))
    cols.append(pa.array(nulled(sentences, "none" if kind == "all" else kind, 9), t))
    return pa.Table.from_arrays(cols, schema=pa.schema(fields))


def lists(k, kind):
    n = ROWS
    inner = pa.struct([pa.field("a", pa.int32()), pa.field("t", pa.list_(pa.string()))])
    vec = pa.list_(pa.float32(), 5)
    f = lambda i: [None if (i + j) % 4 == 0 else i + j for j in range(i % 5)]
    cols = {
        "list": pa.array(nulled([f(i) for i in range(n)], kind, 1), pa.list_(pa.int32())),
        "large": pa.array(nulled([f(i) for i in range(n)], kind, 2), pa.large_list(pa.int64())),
        "text": pa.array(nulled([[word(i, j) for j in range(i % 3)] for i in range(n)], kind, 3), pa.list_(pa.string())),
        "lists": pa.array(nulled([[None if j == 1 else f(i + j) for j in range(i % 4)] for i in range(n)], kind, 4),
                          pa.list_(pa.large_list(pa.int16()))),
        "structs": pa.array(nulled([[{"a": None if j == 1 else i, "t": ["x%d" % i] * j} for j in range(i % 3)] for i in range(n)], kind, 5),
                            pa.list_(inner)),
        "vecs": pa.array(nulled([[[i + j / 2] * 5 for j in range(i % 3)] for i in range(n)], kind, 6), pa.list_(vec)),
        "bools": pa.array(nulled([[i % 2 == 0, None, True][: i % 4] for i in range(n)], kind, 7), pa.list_(pa.bool_())),
        "empty": pa.array(nulled([[] for i in range(n)], kind, 8), pa.list_(pa.int8())),
    }
    # Structs are never null here: 2.0 drops their validity.
    rows = [{"i": i, "d": {"x": f(i), "y": word(i, k)}} for i in range(n)]
    deep = pa.struct([pa.field("i", pa.int64()), pa.field("d", pa.struct([pa.field("x", pa.list_(pa.int32())), pa.field("y", pa.string())]))])
    cols["deep"] = pa.array(rows, deep)
    return pa.table(cols)


def vectors(k, kind):
    n = ROWS
    rng = np.random.default_rng(k)

    def fsl(t, dim, of, salt):
        return pa.array(nulled([[of(i, j) for j in range(dim)] for i in range(n)], kind, salt), pa.list_(t, dim))

    fields = [
        pa.field("p", pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.float64()), pa.field("z", pa.uint8()),
                                 pa.field("v", pa.list_(pa.float32(), 3)), pa.field("h", pa.int16())]),
                 metadata={"packed": "true"}),
        pa.field("blob", pa.large_binary(), metadata={"lance-encoding:blob": "true"}),
    ]
    cols = {
        "f32": fsl(pa.float32(), 7, lambda i, j: float(rng.random()), 1),
        "i8": fsl(pa.int8(), 3, lambda i, j: i % 100 - j, 2),
        "holes": fsl(pa.float64(), 3, lambda i, j: None if (i + j) % 5 == 0 else i / 7, 3),
        "bools": fsl(pa.bool_(), 3, lambda i, j: (i + j) % 3 == 0, 4),
        "nested": pa.array(nulled([[[i, None], None if i % 3 else [1, 2], [3, i]] for i in range(n)], kind, 5),
                           pa.list_(pa.list_(pa.int16(), 2), 3)),
        "p": pa.array([{"x": i, "y": i / 3, "z": i % 256, "v": [i, 1, 2], "h": -i} for i in range(n)], fields[0].type),
        "blob": pa.array(nulled([b"" if i % 4 == 0 else b"blob %d" % i * (i % 3) for i in range(n)], kind, 6), pa.large_binary()),
    }
    schema = pa.schema([pa.field(n, c.type) for n, c in cols.items() if n not in ("p", "blob")] + fields)
    return pa.Table.from_arrays(list(cols.values()), schema=schema)


def dictionaries(k, kind):
    n = ROWS
    some = ["red", "green", "blue", "", "black"][: 2 + k]
    if k % 2:
        some = some[::-1]

    def of(values, key, t, salt):
        return pa.array(nulled(values, kind, salt), t).dictionary_encode().cast(pa.dictionary(key, t))

    same = pa.DictionaryArray.from_arrays(pa.array(nulled([i % 3 for i in range(n)], kind, 1), pa.int8()), pa.array(["a", "b", "c"]))
    return pa.table({
        "same": same,
        "text": of([some[i % len(some)] for i in range(n)], pa.int8(), pa.string(), 2),
        "wide": of([some[i % len(some)] for i in range(n)], pa.uint32(), pa.large_string(), 3),
        "ints": of([i % 7 + k for i in range(n)], pa.int16(), pa.int64(), 4),
        "many": of([k * n + i for i in range(n)], pa.uint16(), pa.int32(), 5),
    })


def same(a, b):
    if pa.types.is_dictionary(a.type):
        a, b = a.cast(a.type.value_type), b.cast(b.type.value_type)
    return a.combine_chunks().equals(b.combine_chunks()) or str(a.to_pylist()) == str(b.to_pylist())


def main(out):
    os.makedirs(out, exist_ok=True)
    for make in (fixed, strings, lists, vectors, dictionaries):
        parts = [make(k, kind) for k, kind in enumerate(BATCHES)]
        table = pa.concat_tables(parts)
        path = os.path.join(out, make.__name__ + ".lance")
        with LanceFileWriter(path, table.schema, version="2.0", data_cache_bytes=1) as w:
            for p in parts:
                w.write_batch(p.combine_chunks())
        back = LanceFileReader(path).read_all(batch_size=ROWS * len(BATCHES)).to_table()
        for i, (a, b) in enumerate(zip(table.columns, back.columns)):
            # Lance before 10 loses blobs when it reads several pages.
            old = int(lance.__version__.split(".")[0]) < 10
            if not same(a, b) and not (old and table.schema.field(i).name == "blob"):
                raise SystemExit("%s of %s: Lance reads something else\n%s\n%s" % (table.schema.field(i), path, a.to_pylist()[:9], b.to_pylist()[:9]))
        with pa.ipc.new_file(os.path.join(out, make.__name__ + ".arrow"), table.schema,
                             options=pa.ipc.IpcWriteOptions(compression="zstd", unify_dictionaries=True)) as w:
            for b in table.unify_dictionaries().combine_chunks().to_batches():
                w.write_batch(b)
        print(make.__name__, "made by", lance.__version__, os.path.getsize(path))


if __name__ == "__main__":
    main(sys.argv[1])
