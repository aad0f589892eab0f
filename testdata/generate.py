#!/usr/bin/env python3
"""Writes the tables of this folder with the release of Lance that runs it.

    python -m venv env && env/bin/pip install pylance==14.0.2 pyarrow==26.0.1 numpy==2.4.6
    env/bin/python testdata/generate.py [TABLE …]

A table that is there already is left alone; remove its folder to make it anew.
Each one is read back before it gets its place.
"""

import datetime
import decimal
import os
import shutil
import sys

import lance
import numpy as np
import pyarrow as pa

HERE = os.path.dirname(os.path.abspath(__file__))
# Manifests of branches hold the absolute path of their table, which must be one
# that stands for no machine.
WORK = "/tmp/lance-fixtures"

TABLES = {}


def table(release, name=None):
    def wrap(f):
        TABLES.setdefault(release, {})[name or f.__name__] = f
        return f

    return wrap


def slim(start, n):
    """id, a small vector and a text."""
    rng = np.random.default_rng(start)
    vec = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(n * 8, dtype=np.float32)), 8)
    words = ["row %d of a table" % i if i % 7 else ("" if i % 2 else None) for i in range(start, start + n)]
    return pa.table({"id": pa.array(range(start, start + n), pa.int64()), "vec": vec, "text": pa.array(words)})


def types(start, n, version):
    """One column of nearly every type that the file version takes."""
    rng = np.random.default_rng(start)
    some = lambda v: [None if i % 5 == 4 else x for i, x in enumerate(v)]
    rows = range(start, start + n)
    utc = datetime.timezone.utc
    cols = {
        "id": pa.array(rows, pa.int64()),
        "i8": pa.array(some([i % 100 for i in rows]), pa.int8()),
        "u32": pa.array(rows, pa.uint32()),
        "f16": pa.array(rng.random(n).astype(np.float16)),
        "f64": pa.array(some([float("nan") if i % 6 == 0 else -0.0 if i % 6 == 1 else i / 3 for i in rows]), pa.float64()),
        "flag": pa.array(some([i % 2 == 0 for i in rows]), pa.bool_()),
        "dec": pa.array(some([decimal.Decimal(i) / 4 for i in rows]), pa.decimal128(12, 2)),
        "ts": pa.array([datetime.datetime(2024, 1, 1, tzinfo=utc) + datetime.timedelta(seconds=i) for i in rows],
                       pa.timestamp("us", "UTC")),
        "day": pa.array(some([datetime.date(2024, 1, 1)] * n), pa.date32()),
        "text": pa.array(some(["" if i % 3 == 0 else "word %d" % i for i in rows])),
        "few": pa.array(["abc"[i % 3] * 5 for i in rows], pa.large_string()),
        "bin": pa.array(some([bytes([i % 256]) * (i % 9) for i in rows]), pa.binary()),
        "fixed": pa.array([i.to_bytes(16, "big") for i in rows], pa.binary(16)),
        "vec": pa.FixedSizeListArray.from_arrays(pa.array(rng.random(n * 128, dtype=np.float32)), 128),
        "list": pa.array(some([list(range(i % 4)) for i in rows]), pa.list_(pa.int32())),
        "lists": pa.array(some([[[1.5] * (i % 3)] * (i % 2) for i in rows]), pa.list_(pa.list_(pa.float32()))),
        "struct": pa.StructArray.from_arrays(
            [pa.array(rows, pa.int32()), pa.array(some(["s%d" % i for i in rows]))], ["a", "b"]),
        "dict": pa.array(some(["red", "green", "blue"] * n)[:n]).dictionary_encode(),
        "null": pa.array([None] * n, pa.int32()),
    }
    if version == "2.2":
        cols["map"] = pa.array([[("k%d" % j, i) for j in range(i % 3)] for i in rows], pa.map_(pa.string(), pa.int32()))
    return pa.table(cols)


def appends(uri, count, rows, make=slim, **kw):
    for i in range(count):
        lance.write_dataset(make(i * rows, rows), uri, mode="append" if i else "create", **(kw if i == 0 else {}))
    return lance.dataset(uri)


@table("14.0.2")
def many_appends(uri):
    appends(uri, 40, 25).tags.create("fifth", 5)


@table("14.0.2")
def types_22(uri, version="2.2"):
    appends(uri, 3, 20, lambda a, n: types(a, n, version), data_storage_version=version)


@table("14.0.2")
def types_21(uri):
    types_22(uri, "2.1")


@table("14.0.2")
def types_20(uri):
    types_22(uri, "2.0")


@table("14.0.2")
def v1_names(uri):
    appends(uri, 5, 10, enable_v2_manifest_paths=False)


@table("14.0.2")
def deletions(uri):
    ds = appends(uri, 5, 20)
    ds.delete("id >= 20 and id < 40")
    ds.delete("id % 7 = 3")
    ds.delete("id = 99")


@table("14.0.2")
def deletion_bitmap(uri):
    ids = lambda a, n: pa.table({"id": pa.array(range(a, a + n), pa.int64())})
    appends(uri, 2, 12000, ids).delete("id % 2 = 1 and id < 12000")


@table("14.0.2")
def stable_ids(uri):
    ds = appends(uri, 5, 20, enable_stable_row_ids=True)
    ds.update({"text": "'changed'"}, where="id % 10 = 4")
    lance.dataset(uri).delete("id % 10 = 7")
    lance.write_dataset(slim(100, 20), uri, mode="append")
    lance.dataset(uri).optimize.compact_files(num_threads=1)
    lance.write_dataset(slim(120, 20), uri, mode="append")
    lance.dataset(uri).update({"text": "'again'"}, where="id >= 110 and id < 130")


@table("14.0.2")
def branched(uri):
    ds = appends(uri, 4, 10)
    ds.tags.create("cut", 3)
    b = ds.create_branch("work", 3)
    b = lance.write_dataset(slim(500, 10), b, mode="append")
    b.delete("id = 3 or id = 505")
    c = ds.create_branch("work/more", ("work", None))
    lance.write_dataset(slim(600, 10), c, mode="append")
    lance.write_dataset(slim(40, 10), uri, mode="append")


@table("14.0.2")
def indexed(uri):
    ds = appends(uri, 4, 20)
    ds.create_scalar_index("id", "BTREE")
    lance.write_dataset(slim(80, 20), uri, mode="append")


@table("14.0.2")
def columns_changed(uri):
    ds = appends(uri, 3, 10)
    ds.add_columns({"twice": "id * 2"})
    lance.dataset(uri).add_columns(pa.field("later", pa.string()))
    ds = lance.dataset(uri)
    t = slim(30, 10).append_column("twice", pa.array(range(60, 80, 2), pa.int64()))
    lance.write_dataset(t.append_column("later", pa.array(["x"] * 10)), uri, mode="append")
    lance.dataset(uri).drop_columns(["text"])
    lance.dataset(uri).alter_columns({"path": "twice", "name": "double"})


@table("14.0.2")
def configured(uri):
    ds = appends(uri, 2, 10)
    ds.update_config({"team": "search"})
    lance.dataset(uri).update_metadata({"k": "v"})
    lance.dataset(uri).update_schema_metadata({"schema": "note"})
    lance.dataset(uri).replace_field_metadata("text", {"note": "é"})


@table("14.0.2")
def detached(uri):
    from lance.fragment import write_fragments

    ds = appends(uri, 2, 10)
    frags = write_fragments(slim(20, 10), uri)
    lance.LanceDataset.commit(uri, lance.LanceOperation.Append(frags), read_version=ds.version, detached=True)


@table("14.0.2")
def no_rows(uri):
    lance.write_dataset(slim(0, 1).schema.empty_table(), uri)


@table("14.0.2")
def blobs_21(uri):
    field = pa.field("blob", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    schema = pa.schema([pa.field("id", pa.int64()), field])
    values = [b"p0", b"", None, b"p3" * 100]
    make = lambda a, n: pa.table([pa.array(range(a, a + n), pa.int64()), pa.array(values, pa.large_binary())], schema=schema)
    appends(uri, 2, 4, make, data_storage_version="2.1")


@table("10.0.0", "lance_10")
@table("4.0.2", "lance_4")
@table("1.0.4", "lance_1")
@table("0.39.0", "lance_0")
def by_default(uri):
    """What the release writes when nothing is asked for."""
    ds = appends(uri, 5, 10)
    ds.delete("id = 13 or id = 44")
    lance.dataset(uri).create_scalar_index("id", "BTREE")
    lance.write_dataset(slim(50, 10), uri, mode="append")


def read_back(uri):
    ds = lance.dataset(uri)
    ds.validate()
    if ds.to_table().num_rows != ds.count_rows():
        raise SystemExit("%s: scan and count differ" % uri)
    for v in ds.versions():
        ds.checkout_version(v["version"]).to_table()


def main():
    mine = TABLES.get(lance.__version__)
    if mine is None:
        raise SystemExit("no tables are of Lance %s, only of %s" % (lance.__version__, ", ".join(TABLES)))
    for name in sys.argv[1:] or mine:
        place = os.path.join(HERE, name)
        if os.path.exists(place):
            print(name, "is there")
            continue
        uri = os.path.join(WORK, name)
        shutil.rmtree(uri, ignore_errors=True)
        os.makedirs(WORK, exist_ok=True)
        mine[name](uri)
        read_back(uri)
        shutil.move(uri, place)
        print(name, "made by", lance.__version__)


if __name__ == "__main__":
    main()
