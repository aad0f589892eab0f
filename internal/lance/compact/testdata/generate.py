"""Writes the tables of this folder with pylance: python generate.py."""

import os
import shutil

import lance
import pyarrow as pa
from lance import Blob, DatasetBasePath, blob_array, blob_field

HERE = os.path.dirname(os.path.abspath(__file__))
# Base paths are absolute in a manifest.
WORK = "/tmp/lance-compact-fixtures"


def value(i, size):
    """Bytes that tell which value they are."""
    return (b"%d:" % i) * (size // len(b"%d:" % i)) + b"x" * (size % len(b"%d:" % i))


def first_kind(version):
    """Blobs of the first kind: at the top, and inside of a struct; null and empty ones, before and behind all others."""
    f = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    fields = [pa.field("id", pa.int64()), f]
    if version != "2.0":
        fields.append(pa.field("st", pa.struct([pa.field("n", pa.int32()), pa.field("in", f.type, metadata=f.metadata)])))
    schema = pa.schema(fields)
    name = f"{WORK}/blobs_" + version.replace(".", "")
    for k in range(4):
        sizes = [None, 0, 3, 900, 64, 1, 0, None] if k % 2 else [0, 7, None, 65, 2000, None, 5, 0]
        b = [None if n is None else value(10 * k + i, n) for i, n in enumerate(sizes)]
        columns = [pa.array(range(10 * k, 10 * k + 8), pa.int64()), pa.array(b, f.type)]
        if version != "2.0":
            columns.append(pa.array([None if i == 4 else {"n": i, "in": b[-1 - i]} for i in range(8)], fields[2].type))
        lance.write_dataset(pa.table(columns, schema=schema), name, mode="append" if k else "create", data_storage_version=version)
    ds = lance.dataset(name)
    ds.delete("id in (3, 13, 14, 30, 31, 32, 33, 34, 35, 36, 37)")
    ds = lance.dataset(name)
    ds.add_columns(pa.schema([pa.field("later", pa.int32())]))


def second_kind():
    """Blobs of the second kind: inline, packed in several files, alone in a file, outside, null and empty; two columns, and one
    inside of a struct."""
    os.makedirs(f"{WORK}/outside", exist_ok=True)
    with open(f"{WORK}/outside/o.bin", "wb") as f:
        f.write(b"0123456789" * 5)
    b = blob_field("b", inline_size_threshold=100, dedicated_size_threshold=4000, pack_file_size_threshold=2500)
    c = blob_field("c", inline_size_threshold=10, dedicated_size_threshold=300)
    fields = [pa.field("id", pa.int64()), b, c, pa.field("st", pa.struct([pa.field("n", pa.int32()), blob_field("in")]))]
    out = f"file://{WORK}/outside/o.bin"
    for k in range(4):
        v = lambda i, n: value(10 * k + i, n)
        values = [v(0, 50), None, v(2, 700), v(3, 800), v(4, 5000), Blob.empty(), out, Blob.from_uri(out, 3, 4), v(8, 1900), v(9, 101), v(10, 4001), v(11, 7)]
        if k % 2:
            values = values[::-1]
        if k == 3:
            values = [Blob.empty(), None] * 6
        others = [None if i % 3 == 0 else v(20 + i, 40 * i) for i in range(12)]
        inside = pa.StructArray.from_arrays([pa.array(range(12), pa.int32()), blob_array([None if i % 4 == 3 else v(40 + i, i * i) for i in range(12)])],
                                            fields=list(fields[3].type), mask=pa.array([i == 5 for i in range(12)]))
        t = pa.table([pa.array(range(20 * k, 20 * k + 12), pa.int64()), blob_array(values), blob_array(others), inside], schema=pa.schema(fields))
        kw = {} if k else {"initial_bases": [DatasetBasePath(f"file://{WORK}/outside", name="outside")], "data_storage_version": "2.2"}
        lance.write_dataset(t, f"{WORK}/blobs_22", mode="append" if k else "create", **kw)
    ds = lance.dataset(f"{WORK}/blobs_22")
    ds.delete("id in (3, 4, 7, 27)")


def dictionaries(version):
    """Dictionaries with 8-bit keys: two fragments whose words fit these together, and two more with others."""
    name = f"{WORK}/words_" + version.replace(".", "")
    for k, (low, high) in enumerate([(0, 100), (20, 120), (100, 200), (150, 200)]):
        words = [f"w{i}" for i in range(low, high)]
        keys = [(7 * i) % len(words) for i in range(120)]
        if k % 2:
            words, keys[11] = words[::-1], None
        d = pa.DictionaryArray.from_arrays(pa.array(keys, pa.int8()), pa.array(words))
        t = pa.table({"id": pa.array(range(120 * k, 120 * k + 120), pa.int64()), "d": d})
        lance.write_dataset(t, name, mode="append" if k else "create", data_storage_version=version)


def nested_dictionaries(version):
    """The same inside of a list of structs: the words of the first two fragments have no keys together, those of the last two have."""
    name = f"{WORK}/words_in_" + version.replace(".", "")
    for k, (low, high) in enumerate([(0, 100), (100, 200), (120, 200)]):
        words = [f"w{i}" for i in range(low, high)]
        keys = [None if k == 2 and i == 3 else (7 * i) % len(words) for i in range(120)]
        d = pa.DictionaryArray.from_arrays(pa.array(keys, pa.int8()), pa.array(words))
        items = pa.StructArray.from_arrays([pa.array(range(120), pa.int32()), d], names=["n", "d"])
        c = pa.ListArray.from_arrays(pa.array(range(0, 121, 3), pa.int32()), items)
        t = pa.table({"id": pa.array(range(40 * k, 40 * k + 40), pa.int64()), "c": c})
        lance.write_dataset(t, name, mode="append" if k else "create", data_storage_version=version)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    first_kind("2.0")
    first_kind("2.1")
    second_kind()
    for v in ("2.0", "2.1", "2.2"):
        dictionaries(v)
        nested_dictionaries(v)
    for name in sorted(os.listdir(WORK)):
        shutil.rmtree(f"{HERE}/{name}", ignore_errors=True)
        shutil.copytree(f"{WORK}/{name}", f"{HERE}/{name}", ignore=shutil.ignore_patterns("*.json"))


if __name__ == "__main__":
    main()
