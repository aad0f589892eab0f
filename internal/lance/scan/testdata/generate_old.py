"""Blobs of the second kind as Lance wrote them up to 8.0, and what today's pylance reads of them:

    PYTHON-WITH-PYLANCE-4.0.2 generate_old.py write_4
    PYTHON-WITH-PYLANCE-8.0.1 generate_old.py write_8
    PYTHON-WITH-PYLANCE-14.0.2 generate_old.py expect
"""

import os
import shutil
import sys

import lance
import pyarrow as pa
from lance import Blob, DatasetBasePath, blob_array, blob_field

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = "/tmp/lance-scan-fixtures-old"


def write(name, columns, fields, **kw):
    t = pa.table(columns, schema=pa.schema(fields))
    return lance.write_dataset(t, f"{WORK}/{name}", data_storage_version="2.2", **kw)


def write_4():
    """All kinds of blobs at the top; a fragment of nulls alone, one of empty ones alone; one row is deleted."""
    dedicated = {"lance-encoding:blob-dedicated-size-threshold": "66000"}
    b = blob_field("b").with_metadata(dedicated)
    outside = f"file://{WORK}/outside/o.bin"
    os.makedirs(f"{WORK}/outside", exist_ok=True)
    with open(f"{WORK}/outside/o.bin", "wb") as f:
        f.write(b"0123456789" * 5)
    parts = [
        [b"inline", None, b"p" * 65537, b"q" * 65538, b"d" * 66001, Blob.empty(), outside, Blob(uri=outside, position=3, size=4), b"last", None],
        [None, None, None],
        [b"", b"", b""],
    ]
    n = 0
    for i, values in enumerate(parts):
        ids = pa.array(range(n, n + len(values)), pa.int64())
        kw = {"mode": "append"} if i else {"initial_bases": [DatasetBasePath(f"file://{WORK}/outside", name="outside")]}
        write("blob_22_old", [ids, blob_array(values)], [pa.field("id", pa.int64()), b], **kw)
        n += len(values)
    lance.dataset(f"{WORK}/blob_22_old").delete("id = 3")


def write_8():
    """Blobs in structs, which 8.0 was the first to write: behind another column, and as the first one."""
    n = 8
    b = blob_array([b"p%d" % i if i % 3 else (None if i % 2 else b"") for i in range(n)])
    m = pa.array([str(i) for i in range(n)])
    nulls = pa.array([i in (2, 5) for i in range(n)])
    ids = pa.array(range(n), pa.int64())
    behind = pa.StructArray.from_arrays([m, b], fields=[pa.field("m", pa.string()), blob_field("b")], mask=nulls)
    deep = pa.StructArray.from_arrays([behind, ids], fields=[pa.field("s", behind.type), pa.field("k", pa.int64())], mask=pa.array([i == 7 for i in range(n)]))
    full = blob_array([b"p%d" % i for i in range(n)])
    lead = pa.StructArray.from_arrays([full, m], fields=[blob_field("b"), pa.field("m", pa.string())], mask=nulls)
    write("blob_22_nested_old", [ids, behind, deep, lead],
          [pa.field("id", pa.int64()), pa.field("s", behind.type), pa.field("d", deep.type), pa.field("lead", lead.type)])
    first = pa.StructArray.from_arrays([b, m], fields=[blob_field("b"), pa.field("m", pa.string())], mask=nulls)
    write("blob_22_misread", [ids, first], [pa.field("id", pa.int64()), pa.field("s", first.type)])


def expect():
    from generate import expect as write_expectation

    for name in sorted(os.listdir(WORK)):
        if name != "outside":  # which is there already
            shutil.rmtree(f"{HERE}/{name}", ignore_errors=True)
            shutil.copytree(f"{WORK}/{name}", f"{HERE}/{name}", ignore=shutil.ignore_patterns("*.json"))
        if name in ("blob_22_old", "blob_22_nested_old"):
            write_expectation(f"{WORK}/{name}", name)
            write_expectation(f"{WORK}/{name}", name + "_bytes", blob_handling="all_binary")


if __name__ == "__main__":
    if sys.argv[1] != "expect":
        os.makedirs(WORK, exist_ok=True)
    {"write_4": write_4, "write_8": write_8, "expect": expect}[sys.argv[1]]()
