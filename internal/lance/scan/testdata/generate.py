"""Writes the tables of this folder, and what pylance reads of them and of the
module's shared tables: python generate.py FOLDER-OF-THE-SHARED-TABLES."""

import os
import shutil
import sys

import lance
import pyarrow as pa
from lance import Blob, DatasetBasePath, blob_array, blob_field

HERE = os.path.dirname(os.path.abspath(__file__))
# Base paths are absolute in a manifest.
WORK = "/tmp/lance-scan-fixtures"
ROWS = ["_rowaddr", "_rowid", "_row_created_at_version", "_row_last_updated_at_version"]


def write(name, table, **kw):
    return lance.write_dataset(table, f"{WORK}/{name}", **kw)


def expect(path, name, **kw):
    """The newest version as pylance reads it, with all the columns about rows."""
    ds = lance.dataset(path)
    columns = [f.name for f in ds.schema]
    t = ds.scanner(columns=columns + ROWS, **kw).to_table()
    t = t.select(columns + ROWS).combine_chunks()
    # Extension types as what they are stored as.
    fields = [f.with_type(f.type.storage_type) if isinstance(f.type, pa.BaseExtensionType) else f for f in t.schema]
    arrays = [a.combine_chunks() for a in t.columns]
    arrays = [a.storage if isinstance(a, pa.ExtensionArray) else a for a in arrays]
    t = pa.table(arrays, schema=pa.schema(fields, metadata=t.schema.metadata))
    with pa.ipc.new_file(f"{HERE}/{name}.arrow", t.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as w:
        w.write_table(t)


def nested():
    """Children added to a struct: one in a file of its own, one nowhere."""
    st = pa.struct([pa.field("a", pa.int32()), pa.field("in", pa.struct([pa.field("x", pa.string())]))])
    first = pa.table({"id": pa.array(range(6), pa.int64()), "st": pa.array(
        [{"a": 1, "in": {"x": "p"}}, None, {"a": None, "in": None}, {"a": 4, "in": {"x": None}}, None, {"a": 6, "in": {"x": ""}}], st)})
    ds = write("nested", first, data_storage_version="2.2")

    def more(batch):
        values = [{"e": i, "in": {"y": [i, None]}} if i % 2 else None for i in range(batch.num_rows)]
        t = pa.struct([pa.field("e", pa.int64()), pa.field("in", pa.struct([pa.field("y", pa.list_(pa.int16()))]))])
        return pa.record_batch({"st": pa.array(values, t)})

    ds.add_columns(more, read_columns=["id"])
    ds.add_columns(pa.schema([pa.field("st", pa.struct([pa.field("nowhere", pa.float32())]))]))
    ds = lance.dataset(f"{WORK}/nested")
    lance.write_dataset(pa.table({"id": pa.array([6, 7], pa.int64()), "st": pa.array([None, {
        "a": 7, "in": {"x": "z", "y": [1]}, "e": 70, "nowhere": 0.5}], ds.schema.field("st").type)}), ds, mode="append")
    ds = lance.dataset(f"{WORK}/nested")
    ds.delete("id = 3")


def rewritten():
    """A column that a merge rewrote in place, columns dropped and added, stable row ids."""
    t = pa.table({"id": pa.array(range(30), pa.int64()), "a": pa.array([f"a{i}" for i in range(30)]), "b": pa.array(range(30), pa.int32()),
                  "gone": pa.array(range(30), pa.int8())})
    ds = write("rewritten", t, data_storage_version="2.1", max_rows_per_file=10, enable_stable_row_ids=True)
    b = ds.merge_insert("id").when_matched_update_all()
    if hasattr(b, "write_mode"):
        b = b.write_mode("rewrite_columns")
    b.execute(pa.table({"id": pa.array([3, 4, 12], pa.int64()), "b": pa.array([300, None, 1200], pa.int32())}))
    ds = lance.dataset(f"{WORK}/rewritten")
    ds.drop_columns(["gone"])
    ds.add_columns({"c": "id * 2"})
    ds.add_columns(pa.schema([pa.field("d", pa.list_(pa.utf8()))]))
    ds = lance.dataset(f"{WORK}/rewritten")
    ds.update({"a": "'updated'"}, where="id in (5, 25)")
    ds = lance.dataset(f"{WORK}/rewritten")
    ds.delete("id % 7 = 0")


def packed():
    for v in ("2.1", "2.2"):
        pk = pa.field("pk", pa.struct([pa.field("a", pa.int32()), pa.field("b", pa.float32()), pa.field("c", pa.int16())]),
                      metadata={"lance-encoding:packed": "true"})
        t = pa.table([pa.array(range(5), pa.int64()), pa.array([{"a": i, "b": i / 2, "c": -i} for i in range(5)], pk.type)],
                     schema=pa.schema([pa.field("id", pa.int64()), pk]))
        write("packed_" + v.replace(".", ""), t, data_storage_version=v)


def blobs():
    for v in ("2.0", "2.1"):
        f = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
        t = pa.table([pa.array(range(6), pa.int64()), pa.array([b"abc", None, b"", b"x" * 3000, b"e", b"f"], f.type)],
                     schema=pa.schema([pa.field("id", pa.int64()), f]))
        ds = write("blob_" + v.replace(".", ""), t, data_storage_version=v)
        ds.delete("id = 4")
    os.makedirs(f"{WORK}/outside", exist_ok=True)
    with open(f"{WORK}/outside/o.bin", "wb") as f:
        f.write(b"0123456789" * 5)
    values = [b"inline", None, b"p" * 700, b"q" * 800, b"d" * 5000, Blob.empty(), f"file://{WORK}/outside/o.bin",
              Blob.from_uri(f"file://{WORK}/outside/o.bin", 3, 4), b"last"]
    f = blob_field("b", inline_size_threshold=100, dedicated_size_threshold=4000)
    t = pa.table([pa.array(range(len(values)), pa.int64()), blob_array(values)], schema=pa.schema([pa.field("id", pa.int64()), f]))
    ds = write("blob_22", t, data_storage_version="2.2", initial_bases=[DatasetBasePath(f"file://{WORK}/outside", name="outside")])
    ds.delete("id = 3")


def bases():
    """Data files in two other bases, one of them laid out like a table."""
    for name in ("plain", "rooted"):
        os.makedirs(f"{WORK}/{name}", exist_ok=True)
    t = pa.table({"id": pa.array(range(10), pa.int64()), "s": pa.array([f"s{i}" for i in range(10)])})
    ds = write("bases", t, data_storage_version="2.1", initial_bases=[
        DatasetBasePath(f"file://{WORK}/plain", name="plain"), DatasetBasePath(f"file://{WORK}/rooted", name="rooted", is_dataset_root=True)])
    for name in ("plain", "rooted"):
        lance.write_dataset(t, ds, mode="append", target_bases=[name])
        ds = lance.dataset(f"{WORK}/bases")
    ds.delete("id = 2")
    # A clone names its source, deletion files included.
    ds = lance.dataset(f"{WORK}/bases")
    ds.shallow_clone(f"{WORK}/clone", ds.version)
    c = lance.dataset(f"{WORK}/clone")
    lance.write_dataset(t.slice(0, 3), c, mode="append")


def mixed():
    """Data files of two versions."""
    t = pa.table({"id": pa.array(range(12), pa.int64()), "l": pa.array([[i, i + 1] if i % 3 else None for i in range(12)], pa.list_(pa.int32()))})
    ds = write("mixed", t, data_storage_version="2.0", max_rows_per_file=4)
    ds.optimize.compact_files(data_storage_version="2.2")
    lance.write_dataset(t.slice(0, 4), lance.dataset(f"{WORK}/mixed"), mode="append")


def main(shared):
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    for make in (nested, rewritten, packed, blobs, bases, mixed):
        make()
    for name in sorted(os.listdir(WORK)):
        for old in (f"{HERE}/{name}", f"{HERE}/{name}.arrow"):
            shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(f"{WORK}/{name}", f"{HERE}/{name}", ignore=shutil.ignore_patterns("*.json"))
        if os.path.isdir(f"{WORK}/{name}/_versions"):
            expect(f"{WORK}/{name}", name)
            if name.startswith("blob"):
                expect(f"{WORK}/{name}", name + "_bytes", blob_handling="all_binary")
    for name in sorted(os.listdir(shared)):
        if os.path.isdir(f"{shared}/{name}/_versions") and name != "detached":
            expect(f"{shared}/{name}", "shared_" + name)


if __name__ == "__main__":
    main(sys.argv[1])
