"""Tables of the matrix made ready for a compaction, and what has become of them.

A table is the folder "t" that write_cells made; beside it lies "asmade", a copy of what was made ready, on
which Lance shows what it can do itself.
"""

import os

import canon
import cellwriter
import disk
import judge
import lance
import pyarrow as pa

try:
    import lance.arrow  # noqa: F401  which makes its extension types known: not only from some table on
except ImportError:
    pass

WAYS = ("joined", "deleted", "filled", "pruned")


def state(uri):
    """Rows, column by column and in order, and the schema."""
    ds = lance.dataset(uri)
    ds.validate()
    t = whole(ds)
    t.validate(full=True)
    if len(t) != ds.count_rows():
        raise AssertionError("scan gave %d rows, count %d" % (len(t), ds.count_rows()))
    return {
        "rows": len(t),
        "columns": {n: canon.column(canon.rows(t.column(n))) for n in t.column_names},
        "schema": judge.schema(ds),
        "fragments": len(ds.get_fragments()),
    }


def whole(ds):
    kw = {"blob_handling": "all_binary"} if judge.blob_columns(ds.schema) else {}
    try:
        return ds.scanner(**kw).to_table()
    except Exception as e:
        if "differing lengths" not in str(e):
            raise
    # Lance counts rows of a fixed-size list of structs wrongly when another column is read with it.
    columns = [ds.scanner(columns=[n], **kw).to_table().column(0) for n in ds.schema.names]
    return pa.Table.from_arrays(columns, names=ds.schema.names)


def prepare(name, root, way):
    """More fragments: the same rows again ("joined"), without the column under test ("filled"), or the same with
    rows deleted from both ("deleted"); or rows deleted from the only one ("pruned"). Answers with the state, or with why there is none."""
    c, uri = cellwriter.cell(name), os.path.join(root, "t")
    if c["rows"] > 50_000:
        return {"reason": "too many rows to look at one by one"}
    try:
        if c["group"] != "blob2" and way != "pruned":
            schema, bs = cellwriter.batches(c)
            t = pa.Table.from_batches(bs, schema=schema)
            if len(t) == 0 and way == "filled":
                t = pa.table({"id": pa.array([1, 2], pa.int64())})
            lance.write_dataset(t.select(["id"]) if way == "filled" else t, uri, mode="append")
        if way in ("deleted", "pruned") or c["group"] == "blob2":
            lance.dataset(uri).delete("id % 3 = 1")
        out = state(uri)
    except BaseException as e:
        return {"reason": "%s: %s" % (type(e).__name__, str(e)[:600])}
    disk.copy(uri, os.path.join(root, "asmade"))
    return out


def prepare_cells(root, first, jobs):
    """Makes tables ready: pairs of a case's name and a way, in folders named by their numbers, which begin with first."""
    return [prepare(n, os.path.join(root, str(first + i)), way) for i, (n, way) in enumerate(jobs)]


def on_top(name, uri):
    """Appends, deletes, compacts and indexes."""
    c = cellwriter.cell(name)
    if c["group"] != "blob2":
        schema, bs = cellwriter.batches(c)
        t = pa.Table.from_batches(bs, schema=schema)
        lance.write_dataset(t, uri, mode="append")
    ds = lance.dataset(uri)
    ds.delete("id % 5 = 2")
    was = state(uri)
    lance.dataset(uri).optimize.compact_files(num_threads=1, materialize_deletions_threshold=0.0)
    now = state(uri)
    differ = differences(was, now)
    if differ:
        raise AssertionError("Lance's own compaction on top: " + differ)
    ds = lance.dataset(uri)
    ds.create_scalar_index("id", "BTREE", replace=True)
    ds = lance.dataset(uri)
    ids = ds.to_table(columns=["id"]).column("id").to_pylist()
    for i in ids[:1] + ids[-1:]:
        if ds.count_rows("id = %d" % i) != ids.count(i):
            raise AssertionError("row %d is not found through the index" % i)
    ds.validate()


def differences(was, now):
    if was["rows"] != now["rows"]:
        return "%d rows became %d" % (was["rows"], now["rows"])
    out = [n for n in was["columns"] if was["columns"][n] != now["columns"].get(n)]
    if out:
        return "columns %s differ" % ", ".join(out)
    return "" if was["schema"] == now["schema"] else "schema %s became %s" % (was["schema"], now["schema"])


def judge_cell(name, root, was, further):
    """What is wrong with a table that was compacted: nothing, or what Lance says, of the table
    itself or of what it then does to it; "theirs" tells that it can't do it on its own table, either."""
    uri, out = os.path.join(root, "t"), {"wrong": "", "top": "", "theirs": "", "fragments": 0}
    try:
        now = state(uri)
        out["fragments"] = now["fragments"]
        out["wrong"] = differences(was, now)
    except BaseException as e:
        out["wrong"] = "%s: %s" % (type(e).__name__, str(e)[:600])
    if out["wrong"] or not further:
        return out
    for where, key in ((uri, "top"), (os.path.join(root, "asmade"), "theirs")):
        try:
            on_top(name, where)
            break
        except BaseException as e:
            out[key] = "%s: %s" % (type(e).__name__, str(e)[:600])
    return out


def judge_cells(root, jobs):
    """Looks at tables that were compacted: name, number of the folder, state before, whether to go on."""
    return [judge_cell(n, os.path.join(root, str(i)), was, further) for n, i, was, further in jobs]


def fate(name, root):
    """What Lance's own compaction makes of the copy: nothing is wrong, or what it then says itself."""
    uri = os.path.join(root, "asmade")
    try:
        was = state(uri)
        lance.dataset(uri).optimize.compact_files(num_threads=1)
        return differences(was, state(uri))
    except BaseException as e:
        return "%s: %s" % (type(e).__name__, str(e)[:600])
