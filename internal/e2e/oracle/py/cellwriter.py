"""Writes the cases of cells.py, each as a table with what must be read from it in an Arrow file beside it."""

import json
import os
import shutil
import zlib

import lance
import numpy as np
import pyarrow as pa

import canon
import grown

from lance.file import LanceFileWriter
from lance.fragment import FragmentMetadata, write_fragments


def batches(c):
    """The record batches of a case: "id" and the column "c"."""
    rng = np.random.default_rng(zlib.crc32(c["name"].encode()))
    grower = grown.Grower(rng, c["nulls"], c["meta"], c["version"] == "2.0")
    sizes = {"empty": [], "one": [1], "page": [c["rows"]]}.get(c["pages"])
    if sizes is None:
        n = c["rows"] // 3
        sizes = [n, 1, 2 * n - n // 2, n // 2]
    field = grower.top("c", c["spec"])
    schema = pa.schema([pa.field("id", pa.int64()), field])
    out, first = [], 0
    for n in sizes:
        values = grower.grow(c["spec"], n)
        out.append(pa.record_batch([pa.array(range(first, first + n), pa.int64()), values], schema=schema))
        first += n
    return schema, out


def write(c, uri):
    """One fragment; several pages come from a writer that keeps nothing back."""
    schema, bs = batches(c)
    version = c["version"]
    if len(bs) < 2 or "blob" in str(c["meta"]):
        mode = "create"
        for b in bs or [pa.RecordBatch.from_pylist([], schema=schema)]:
            lance.write_dataset(pa.Table.from_batches([b]), uri, schema=schema, data_storage_version=version, mode=mode)
            mode = "append"
        return pa.Table.from_batches(bs, schema=schema)
    lance.write_dataset(pa.Table.from_batches(bs[:1]).slice(0, 0), uri, schema=schema, data_storage_version=version)
    append_pages(uri, schema, bs, version)
    return pa.Table.from_batches(bs, schema=schema)


def append_pages(uri, schema, bs, version):
    """One fragment with a page for each batch."""
    ds = lance.dataset(uri)
    f = write_fragments(pa.Table.from_batches(bs[:1]), ds)[0].to_json()
    path = os.path.join(uri, "data", f["files"][0]["path"])
    os.remove(path)
    with LanceFileWriter(path, schema, data_cache_bytes=1, version=version) as w:
        for b in bs:
            w.write_batch(b)
    f["files"][0]["file_size_bytes"] = os.path.getsize(path)
    f["physical_rows"] = sum(b.num_rows for b in bs)
    op = lance.LanceOperation.Append([FragmentMetadata.from_json(json.dumps(f))])
    lance.LanceDataset.commit(uri, op, read_version=ds.version)


def same(a, b):
    """Whether two tables hold the same, bit for bit."""
    if a.num_rows != b.num_rows or a.column_names != b.column_names:
        return False
    return all(canon.rows(x) == canon.rows(y) for x, y in zip(a.columns, b.columns))


def store(table, path, compression=None):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.OSFile(path, "wb") as f, pa.ipc.new_stream(f, table.schema, options=options) as w:
        w.write_table(table)


def one(c, root, compression=None):
    """Status: "ok"; "unwritten" (Lance refuses to write); "unread" (Lance can't read what it wrote); "differs"
    (Lance reads something else than was written). want.arrow is what Lance reads, written.arrow what was written."""
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    uri = os.path.join(root, "t")
    out = {"name": c["name"], "status": "ok", "reason": ""}
    try:
        written = write_blobs(c, uri) if c["group"] == "blob2" else write(c, uri)
    except BaseException as e:
        return dict(out, status="unwritten", reason="%s: %s" % (type(e).__name__, e))
    try:
        ds = lance.dataset(uri)
        read = read_all(ds)
    except BaseException as e:
        store(written, os.path.join(root, "want.arrow"), compression)
        return dict(out, status="unread", reason="%s: %s" % (type(e).__name__, e))
    store(read, os.path.join(root, "want.arrow"), compression)
    if "blob" in c["group"]:
        store(ds.to_table(blob_handling="all_binary"), os.path.join(root, "bytes.arrow"), compression)
    elif not same(read, written):
        store(written, os.path.join(root, "written.arrow"))
        return dict(out, status="differs")
    return out


def read_all(ds):
    """Every row. Lance counts rows of a fixed-size list of structs wrongly when another column is read with it."""
    try:
        return ds.to_table()
    except Exception as e:
        if "differing lengths" not in str(e):
            raise
    columns = [ds.to_table(columns=[n]).column(0) for n in ds.schema.names]
    return pa.Table.from_arrays(columns, schema=ds.schema)


def write_blobs(c, uri):
    """Blobs of the second kind. Sizes decide whether they lie in the file, packed with others, or alone."""
    from lance import DatasetBasePath  # of later releases only

    rng = np.random.default_rng(zlib.crc32(c["name"].encode()))
    nested = c["spec"][0] == "struct"
    content = c["spec"][1][2] if nested else c["spec"][2]
    # Beside the table and one of its bases, or somewhere that it knows nothing of.
    base, stray = uri + ".base", uri + ".stray"
    for d in (base, stray):
        os.makedirs(d)
        with open(os.path.join(d, "blob.bin"), "wb") as f:
            f.write(rng.bytes(5000))
    outside = os.path.join(stray if content == "stray" else base, "blob.bin")
    limits = {"inline_size_threshold": 100, "dedicated_size_threshold": 1000, "pack_file_size_threshold": 900} if content == "tiny" else {}
    size = {"inline": (0, 300), "packed": (70_000, 80_000), "dedicated": (4_200_000, 4_300_000)}

    def value(i, kind):
        if kind == "mixed":
            kind = ("inline", "packed", "external", "slices", "empty", "inline", "dedicated")[i % 7]
        if kind == "tiny":
            return rng.bytes(int((30, 300, 1500)[i % 3] + rng.integers(0, 50)))
        if kind in ("external", "stray"):
            return lance.Blob.from_uri("file://" + outside)
        if kind == "slices":
            return lance.Blob.from_uri("file://" + outside, 10 + i, 100 + i)
        if kind == "empty":
            return b""
        return rng.bytes(int(rng.integers(*size[kind])))

    rows = {"one": 1, "page": 3 if content == "dedicated" else 14, "pages": 5 if content == "dedicated" else c["rows"]}[c["pages"]]
    values = [None if c["nulls"] == "some" and i % 4 == 3 else value(i, content) for i in range(rows)]
    col = lance.blob_array(values)
    field = lance.blob_field("c", **limits)
    if nested:
        field = pa.field("c", pa.struct([lance.blob_field("a", **limits), pa.field("b", pa.int32())]))
        col = pa.StructArray.from_arrays([col, pa.array(range(rows), pa.int32())], fields=list(field.type))
    t = pa.Table.from_arrays([pa.array(range(rows), pa.int64()), col], schema=pa.schema([pa.field("id", pa.int64()), field]))
    parts = [t] if c["pages"] != "pages" else [t.slice(0, rows // 2), t.slice(rows // 2)]
    for i, p in enumerate(parts):
        more = {} if i else {"initial_bases": [DatasetBasePath(base, "beside", is_dataset_root=False)]}
        lance.write_dataset(p, uri, mode="append" if i else "create", data_storage_version="2.2",
                            allow_external_blob_outside_bases=content == "stray", **more)
    return t


def cases():
    import cells

    return [{k: c[k] for k in ("name", "group", "release", "env", "version", "pages", "nulls")} for c in cells.cells()]


CELLS = {}


def cell(name):
    import cells

    if not CELLS:
        CELLS.update((c["name"], c) for c in cells.cells())
    return CELLS[name]


def write_cells(root, names):
    """Writes cases by name below root, in folders named by their numbers in the list."""
    return [one(cell(n), os.path.join(root, str(i))) for i, n in enumerate(names)]
