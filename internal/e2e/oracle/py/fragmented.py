"""Tables of many fragments to be compacted, what reading the result takes, and whether two hold the same rows."""

import functools
import os
import time

import lance
import numpy as np
import pyarrow as pa


@functools.cache
def hay():
    """Text of a few thousand words, some of them far more often than others."""
    rng = np.random.default_rng(5)
    letters = np.array(list("eeetttaaoinshrdlucmfwypvbgkqjxz"))
    words = ["".join(rng.choice(letters, k)) for k in rng.integers(2, 10, 3000)]
    return " ".join(words[int(k)] for k in 3000 * rng.random(100_000) ** 3)


def texts(rng, sizes):
    """Strings of words, of these sizes in bytes."""
    text = hay()
    at = rng.integers(0, len(text) - int(max(sizes)), len(sizes))
    return pa.array([text[a:a + s] for a, s in zip(at.tolist(), sizes.tolist())])


def offsets(rng, low, high, n):
    """Of lists of low to high - 1 items."""
    return np.concatenate([[0], np.cumsum(rng.integers(low, high, n))]).astype(np.int32)


def plain(rng, first, n, version):
    """128-d vectors, integers and strings."""
    return pa.table({
        "id": pa.array(np.arange(first, first + n)),
        "vector": pa.FixedSizeListArray.from_arrays(pa.array(rng.standard_normal(n * 128, np.float32)), 128),
        "count": pa.array(rng.integers(0, 1000, n).astype(np.int32)),
        "key": pa.array(["item-%d" % k for k in rng.integers(0, 1 << 40, n)]),
        "title": texts(rng, rng.integers(10, 60, n)),
    })


def mixed(rng, first, n, version):
    """12 columns of what tables have in them."""
    ends = offsets(rng, 0, 6, n)
    return pa.table({
        "id": pa.array(np.arange(first, first + n)),
        "i8": pa.array(rng.integers(0, 100, n).astype(np.int8)),
        "i16": pa.array(rng.integers(-500, 500, n).astype(np.int16), mask=rng.random(n) < 0.1),
        "i32": pa.array(rng.integers(0, 1 << 20, n).astype(np.int32)),
        "f64": pa.array(rng.standard_normal(n)),
        "flag": pa.array(rng.random(n) < 0.3),
        "ts": pa.array(1_700_000_000_000_000 + np.arange(first, first + n) * 1_000_000 + rng.integers(0, 900_000, n), pa.timestamp("us")),
        "word": pa.array(["word %x" % k for k in rng.integers(0, 1 << 30, n)], mask=rng.random(n) < 0.05),
        "text": texts(rng, rng.integers(40, 200, n)),
        "tag": pa.array(["category %d" % k for k in rng.integers(0, 20, n)]),
        "vector": pa.FixedSizeListArray.from_arrays(pa.array(rng.standard_normal(n * 32, np.float32)), 32),
        "list": pa.ListArray.from_arrays(ends, pa.array(rng.integers(0, 100_000, ends[-1]).astype(np.int32))),
    })


def nested(rng, first, n, version):
    """Nested lists, strings of 1 to 2,000 bytes, and columns of few distinct values."""
    outer = offsets(rng, 0, 5, n)
    inner = offsets(rng, 0, 4, int(outer[-1]))
    pairs = offsets(rng, 0, 5, n)
    items = int(pairs[-1])
    numbers = pa.array(rng.integers(0, 1000, int(inner[-1])).astype(np.int32))
    return pa.table({
        "id": pa.array(np.arange(first, first + n)),
        "text": texts(rng, rng.integers(1, 2001, n)),
        "tag": pa.array(["category %d" % k for k in rng.integers(0, 20, n)]),
        "code": pa.array(rng.integers(0, 8, n).astype(np.int32), mask=rng.random(n) < 0.1),
        "lists": pa.ListArray.from_arrays(outer, pa.ListArray.from_arrays(inner, numbers)),
        "pairs": pa.ListArray.from_arrays(pairs, pa.StructArray.from_arrays(
            [pa.array(rng.integers(0, 99, items)), pa.array(["w%d" % k for k in rng.integers(0, 5000, items)])], names=["a", "b"])),
    })


def large(rng, first, n, version):
    """1.5 MB of binary a row."""
    return pa.table({
        "id": pa.array(np.arange(first, first + n)),
        "bytes": pa.array([rng.bytes(1_500_000) for _ in range(n)], pa.binary()),
    })


SHAPES = {f.__name__: f for f in (plain, mixed, nested, large)}


def fragmented(uri, shape, fragments, rows, version, deleted=None):
    """So many fragments of so many rows. deleted is "scattered", a part of the rows at random; "block", one range
    of rows in the middle; or "tenth", every tenth row."""
    make = SHAPES[shape]
    rng = np.random.default_rng(7)
    first = make(rng, 0, rows, version)

    def stream():
        yield from first.combine_chunks().to_batches()
        for k in range(1, fragments):
            yield from make(rng, k * rows, rows, version).combine_chunks().to_batches()

    ds = lance.write_dataset(pa.RecordBatchReader.from_batches(first.schema, stream()), uri,
                             data_storage_version=version, max_rows_per_file=rows)
    if len(ds.get_fragments()) != fragments:
        raise AssertionError("%d fragments" % len(ds.get_fragments()))
    total = fragments * rows
    if deleted == "scattered":
        gone = sorted(rng.choice(total, max(1, total // 1000), replace=False).tolist())
        ds.delete("id in (%s)" % ",".join(map(str, gone)))
    elif deleted == "block":
        ds.delete("id >= %d and id < %d" % (total * 475 // 1000, total * 525 // 1000))
    elif deleted == "tenth":
        ds.delete("id % 10 = 3")
    return {"rows": ds.count_rows()}


def rewritten(uri, to, version):
    """The same rows as one write makes them of the table's batches."""
    ds = lance.dataset(uri)
    lance.write_dataset(ds.scanner().to_reader(), to, data_storage_version=version)


def same_rows(a, b):
    """Raises unless two tables have the same rows in the same order."""
    x, y = lance.dataset(a), lance.dataset(b)
    x.validate()
    n = x.count_rows()
    if n != y.count_rows() or x.schema != y.schema:
        raise AssertionError("%d rows of %s, should be %d of %s" % (n, x.schema, y.count_rows(), y.schema))
    size = sum(f.file_size_bytes or 0 for g in y.get_fragments() for f in g.data_files())
    step = max(1, int(n * 32e6 / max(size, 1)))
    for at in range(0, n, step):
        if not x.to_table(offset=at, limit=step).equals(y.to_table(offset=at, limit=step)):
            raise AssertionError("rows %d to %d differ" % (at, at + step))


def extent(uri):
    """Fragments of the newest version, and the size of their data files."""
    fragments = lance.dataset(uri).get_fragments()
    return {"Fragments": len(fragments),
            "Bytes": sum(os.path.getsize(os.path.join(uri, "data", f.path)) for g in fragments for f in g.data_files())}


def measure_reads(tables, rounds, take=1000):
    """Seconds that a scan and a take of random rows need, of each table in turns: [scan, take] for each run of each."""
    rng = np.random.default_rng(3)
    rows = lance.dataset(tables[0]).count_rows()
    out = [[] for _ in tables]
    for k in range(-1, rounds):
        picks = rng.choice(rows, min(take, rows), replace=False).tolist()
        for i in range(len(tables)):
            i = (i + k) % len(tables)
            ds = lance.dataset(tables[i])
            start = time.monotonic()
            n = sum(b.num_rows for b in ds.to_batches())
            scanned = time.monotonic() - start
            if n != rows:
                raise AssertionError("%s: %d rows of %d" % (tables[i], n, rows))
            ds = lance.dataset(tables[i])
            start = time.monotonic()
            ds.take(picks)
            taken = time.monotonic() - start
            if k >= 0:  # the first is to warm up
                out[i].append([scanned, taken])
    return out
