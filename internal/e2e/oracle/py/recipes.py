"""Tables to maintain. Each recipe is a function of a Maker; what it is about
is its doc string, and where it came from a number of reference BUGS."""

import os

import pyarrow as pa

import maker as mk
import values

ALL = {}


def recipe(merges=True, files=("2.0", "2.1", "2.2"), since=0, stable=None, refs=False, scans=True,
           refused=False, compacts=True):
    """merges: it is brought to where Lance's planner would.
    files: file versions that hold it. since: first Lance release that can write it.
    stable: with (True) or without (False) stable row ids only.
    refs: holds absolute paths, so the table can't be moved.
    scans: Lance itself can count and scan what it has made.
    refused: a feature flag of it is beyond this module.
    compacts: Lance can read what its own compaction of it makes."""

    def wrap(f):
        ALL[f.__name__] = {
            "make": f,
            "about": " ".join(f.__doc__.split()),
            "merges": merges,
            "files": list(files),
            "since": since,
            "stable": stable,
            "refs": refs,
            "scans": scans,
            "refused": refused,
            "compacts": compacts,
        }
        return f

    return wrap


@recipe()
def many_appends(m):
    """Many small appends, nothing else."""
    m.pick(20, 25, ["vector"]).appends()


@recipe()
def numbers(m):
    """Integers and floats of all widths, NaN and -0.0 among them."""
    m.pick(6, 50, ["numbers"]).appends()


@recipe()
def times(m):
    """Dates, times, durations and decimals."""
    m.pick(6, 50, ["times"]).appends()


@recipe()
def byte_strings(m):
    """Strings and binaries, empty ones and nulls among them."""
    m.pick(6, 50, ["bytes"]).appends()


@recipe()
def vectors(m):
    """Fixed-size lists from 8 bytes to 512 per value, null vectors among them (#87)."""
    m.pick(6, 50, ["vectors"]).appends()


@recipe()
def nested(m):
    """Lists, structs, lists of lists and of structs."""
    m.pick(6, 50, ["nested"]).appends()


@recipe()
def dictionaries(m):
    """Dictionary columns whose words differ between fragments."""
    m.pick(6, 50, ["dictionary"]).appends()


@recipe(files=("2.2",), since=10)
def maps(m):
    """A map column."""
    m.pick(6, 50, ["map"]).appends()


@recipe()
def all_types(m):
    """All of the above in one table."""
    sets = ["numbers", "times", "bytes", "vectors", "nested"]
    m.pick(5, 40, sets + (["map"] if m.version == "2.2" and mk.RELEASE >= 10 else [])).appends()


@recipe()
def empty_strings(m):
    """A column of nothing but empty strings: pages with buffers of no length (#29)."""
    m.pick(5, 30, ["slim"])
    for _ in range(m.fragments):
        t = values.table(m.schema, m.next, m.rows)
        t = t.set_column(1, "s", pa.array([""] * m.rows))
        t = t.append_column("b", pa.array([b""] * m.rows, pa.large_binary()))
        m.write(t)
        m.next += m.rows


@recipe()
def all_null(m):
    """Columns that hold nothing but nulls in some fragments or in all."""
    m.pick(6, 30, ["slim"])
    types = {"n": pa.int32(), "s2": pa.string(), "v": values.VEC, "li": pa.list_(pa.int32()),
             "st": pa.struct([("a", pa.int32())])}
    if m.version == "2.0":  # can't hold a null struct
        del types["st"]
    for i in range(m.fragments):
        t = values.table(m.schema, m.next, m.rows)
        for name, typ in types.items():
            some = i % 2 and name != "n"
            t = t.append_column(name, values.array(typ, m.next, m.rows) if some else pa.nulls(m.rows, typ))
        m.write(t)
        m.next += m.rows


@recipe()
def constants(m):
    """Columns of one value, runs and few distinct values: constant, run-length and dictionary pages."""
    m.pick(5, 3000, ["slim"])
    for i in range(m.fragments):
        n, a = m.rows, m.next
        m.write(pa.table({
            "id": pa.array(range(a, a + n), pa.int64()),
            "one": pa.array([7] * n, pa.int64()),
            "run": pa.array([(a + k) // 100 for k in range(n)], pa.int64()),
            "few": pa.array([(a + k) * 7919 % 5 for k in range(n)], pa.int64()),
            "word": pa.array(["abc%d" % ((a + k) % 12) for k in range(n)]),
            "same": pa.array(["constant"] * n),
            "flag": pa.array([i % 2 == 0] * n),
        }))
        m.next += n


@recipe()
def long_values(m):
    """Strings and binaries long enough for full-zip pages, compressed by default."""
    m.pick(4, 40, ["slim"])
    for _ in range(m.fragments):
        n, a = m.rows, m.next
        m.write(pa.table({
            "id": pa.array(range(a, a + n), pa.int64()),
            "text": pa.array([None if k % 9 == 0 else ("lorem ipsum %d " % (a + k)) * 30 for k in range(n)]),
            "bin": pa.array([bytes([k % 251]) * 20000 if k % 3 else None for k in range(n)], pa.large_binary()),
        }))
        m.next += n


@recipe()
def compressed(m):
    """Field metadata that asks for zstd and lz4; it must survive."""
    m.pick(5, 2000, ["slim"])
    fields = [
        pa.field("id", pa.int64(), metadata={"lance-encoding:compression": "lz4", "owner": "é"}),
        pa.field("s", pa.string(), metadata={"lance-encoding:compression": "zstd",
                                             "lance-encoding:compression-level": "3"}),
        pa.field("f", pa.float64(), metadata={"lance-encoding:compression": "zstd"}),
    ]
    m.schema = pa.schema(fields, metadata={"table": "of tests"})
    for _ in range(m.fragments):
        n, a = m.rows, m.next
        m.write(pa.table([pa.array(range(a, a + n), pa.int64()),
                          pa.array(["row %d" % (k % 400) for k in range(n)]),
                          pa.array([k / 3 for k in range(n)])], schema=m.schema))
        m.next += n


@recipe()
def one_row(m):
    """Fragments of one row each."""
    m.pick(40, 1, ["vector"]).appends()


@recipe()
def big_between(m):
    """Small fragments on both sides of one that is big enough: two tasks at a target of 1000."""
    m.pick(4, 20, ["slim"]).appends()
    m.append(3000)
    m.appends()


@recipe()
def several_pages(m):
    """Fragments of several pages per column."""
    m.pick(3, 3, ["slim"])
    for _ in range(m.fragments):
        a = m.next
        batches = []
        schema = pa.schema([("id", pa.int64()), ("v", pa.list_(pa.float32(), 512)), ("s", pa.string())])
        for b in range(m.rows):
            v = pa.array([float(x % 97) for x in range(512)] * 1100, pa.float32())
            batches.append(pa.record_batch([
                pa.array(range(a, a + 1100), pa.int64()),
                pa.FixedSizeListArray.from_arrays(v, 512),
                pa.array(["r%d" % k for k in range(1100)])], schema=schema))
            a += 1100
        m.write(pa.RecordBatchReader.from_batches(schema, batches))
        m.next = a


@recipe()
def mixed_sizes(m):
    """Fragments of many sizes, cut into several tasks at a target of 500."""
    m.pick(1, 1, ["slim"])
    for n in (200, 200, 200, 1, 499, 500, 501, 30, 30, 700, 20, 20, 450, 450, 90):
        m.append(n)


@recipe()
def tagged(m):
    """Tags on old versions and on the newest."""
    m.pick(10, 25, ["vector"]).appends(5)
    m.ds.tags.create("early", 2)
    m.ds.tags.create("middle", 5)
    m.appends(5)
    m.ds.tags.create("newest", m.ds.version)


@recipe()
def configured(m):
    """Config keys, table, schema and field metadata."""
    m.pick(6, 25, ["slim"]).appends()
    m.ds.update_config({"team": "search", "lance.compaction.target_rows_per_fragment": "1000"})
    m.ds.update_metadata({"k": "v"})
    m.ds.update_schema_metadata({"schema": "note"})
    m.appends(2)


@recipe()
def swapped_order(m):
    """Appends whose columns come in another order each time (#28). A run of equal order can be merged."""
    m.pick(4, 20, ["slim"])
    a = pa.schema([("id", pa.int64()), ("a", pa.decimal128(20, 4)), ("b", pa.int64())])
    b = pa.schema([a.field("b"), a.field("a"), a.field("id")])
    for order in (a, a, a, b, b, a, b, a, a):
        m.append(20, order)


@recipe()
def deletions(m):
    """Some rows of some fragments deleted; one fragment wholly."""
    m.pick(12, 30, ["vector"]).appends()
    m.ds.delete("id >= 60 and id < 75")
    m.ds.delete("id >= 120 and id < 150")
    m.ds.delete("id % 50 = 3 and id > 200")


@recipe()
def big_deletion(m):
    """More than 5000 rows of one fragment deleted: a bitmap instead of an array."""
    m.pick(3, 12000, ["slim"]).appends()
    m.ds.delete("id < 20000 and id % 2 = 0")
    m.appends(2, 20)


@recipe()
def updates(m):
    """Rows updated and merged in."""
    m.pick(8, 30, ["slim"]).appends()
    m.ds.update({"s": "'changed'"}, where="id % 10 = 4")
    t = values.table(m.now(), 100, 300, salt=3)
    m.ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(t)
    m.next = 400
    m.appends(3)


@recipe()
def added_column(m):
    """A column computed from another one: two files per fragment, and appends with both."""
    m.pick(6, 25, ["slim"]).appends()
    m.ds.add_columns({"twice": "id * 2"})
    m.now()
    m.appends(6)


@recipe()
def added_null_column(m):
    """A column of nulls that no file holds, and appends that do (#3)."""
    m.pick(6, 25, ["slim"]).appends()
    m.ds.add_columns(pa.field("extra", pa.string()))
    m.now()
    m.appends(4)


@recipe()
def dropped_column(m):
    """A column dropped: its id stays in the files."""
    m.pick(6, 25, ["vector"]).appends()
    m.ds.drop_columns(["s"])
    m.now()
    m.appends(6)


@recipe()
def dropped_everywhere(m):
    """A column dropped after the last append: the same dead id in every file."""
    m.pick(6, 25, ["vector"]).appends()
    m.ds.drop_columns(["s"])


@recipe()
def evolved(m):
    """One-row fragments under four schemas: added, dropped, renamed, cast (#22)."""
    m.pick(8, 1, ["slim"]).appends()
    m.ds.add_columns({"n": "cast(id + 1 as int)"})
    m.now()
    m.appends()
    m.ds.alter_columns({"path": "s", "name": "text"})
    m.now()
    m.appends()
    m.ds.alter_columns({"path": "n", "data_type": pa.int64()})
    m.now()
    m.appends()
    m.ds.drop_columns(["text"])
    m.now()
    m.appends()


@recipe()
def renamed_across(m):
    """Columns renamed into each other's names (#32)."""
    m.pick(4, 25, ["slim"])
    s = pa.schema([("id", pa.int64()), ("x", pa.int64()), ("y", pa.int64())])
    m.append(25, s)
    m.append(25, s)
    for a, b in (("x", "t"), ("y", "x"), ("t", "y")):
        m.ds.alter_columns({"path": a, "name": b})
    m.append(25, m.now())
    m.append(25)


@recipe()
def added_again(m):
    """A column dropped and added again under its old name."""
    m.pick(5, 25, ["slim"]).appends()
    m.ds.drop_columns(["s"])
    m.ds.add_columns({"s": "'again'"})
    m.now()
    m.appends(3)


@recipe(merges=False, since=10, scans=False)
def no_data_file(m):
    """Fragments without any data file: rows that are all null (#62)."""
    m.pick(3, 25, ["slim"])
    m.schema = pa.schema([("id", pa.int64())])
    m.appends()
    m.ds.add_columns(pa.field("x", pa.string()))
    m.ds.drop_columns(["id"])
    m.schema = pa.schema([("x", pa.string())])
    m.appends(2)


@recipe()
def zero_rows(m):
    """A table that never had a row."""
    m.pick(1, 1, ["vector"])
    m.write(m.schema.empty_table())


@recipe()
def emptied(m):
    """A table whose rows are all gone."""
    m.pick(4, 25, ["vector"]).appends()
    m.ds.delete("true")


@recipe(stable=True, since=4)
def stable_ids(m):
    """Stable row ids, nothing deleted."""
    m.pick(12, 25, ["vector"]).appends()


@recipe(stable=True, since=4)
def stable_updates(m):
    """Stable row ids with updates and deletions: ids out of order, versions that differ."""
    m.pick(8, 30, ["slim"]).appends()
    m.ds.update({"s": "'changed'"}, where="id % 10 = 4")
    m.ds.delete("id % 10 = 7")
    m.appends(4)
    m.ds.update({"s": "'again'"}, where="id >= 200 and id < 260")
    m.appends(2)


@recipe(merges=False)
def indexed(m):
    """A btree over the first half and fragments beyond it."""
    m.pick(12, 40, ["slim"]).appends(6)
    m.ds.create_scalar_index("id", "BTREE")
    m.appends(6)


@recipe(merges=False)
def vector_indexed(m):
    """An IVF_FLAT index over the first fragments."""
    m.pick(8, 100, ["vector"])
    m.schema = pa.schema([("id", pa.int64()), pa.field("v", pa.list_(pa.float32(), 8))])
    import numpy as np

    for i in range(m.fragments):
        rng = np.random.default_rng(i)
        v = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(m.rows * 8, dtype=np.float32)), 8)
        m.write(pa.table([pa.array(range(m.next, m.next + m.rows), pa.int64()), v], schema=m.schema))
        m.next += m.rows
        if i == 4:
            m.ds.create_index("v", "IVF_FLAT", num_partitions=2)


@recipe(files=("2.0", "2.1"))
def blobs(m):
    """A blob column, null and empty values among them (#2)."""
    _blobs(m)


@recipe(files=("2.2",), since=14)
def blobs_v2(m):
    """The same in the newer kind, whose large values lie in files beside the data."""
    _blobs(m)


def _blobs(m):
    m.pick(3, 8, ["slim"])
    m.schema = pa.schema([
        pa.field("id", pa.int64()),
        pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"}),
    ])
    for _ in range(m.fragments):
        b = [b"p0", b"", None, b"p3" * 50000, b"x", None, b"", b"last"]
        t = pa.table([pa.array(range(m.next, m.next + 8), pa.int64()), pa.array(b, pa.large_binary())],
                     schema=m.schema)
        m.write(t)
        m.next += 8


@recipe()
def overwritten(m):
    """An overwrite between appends: old fragments only old versions name."""
    m.pick(5, 25, ["vector"]).appends()
    m.append(mode="overwrite")
    m.appends()


@recipe()
def restored(m):
    """An old version restored, then appends."""
    m.pick(5, 25, ["slim"]).appends()
    m.ds.checkout_version(3).restore()
    m.appends(3)


@recipe()
def stray_files(m):
    """Files that no version names: young and old, ours and foreign (#37)."""
    m.pick(5, 25, ["slim"]).appends()
    mk.write_only(m.uri, values.table(m.schema, 900, 10))
    before = set(os.listdir(m.path("data")))
    mk.write_only(m.uri, values.table(m.schema, 950, 10))
    for f in set(os.listdir(m.path("data"))) - before:
        mk.age(m.path("data", f), 8)
    for rel, days in (
        ("data/readme.txt", 30), ("data/x.parquet", 30), ("foo/video.mp4", 30), ("notes.md", 30),
        ("_deletions/0-1-77.arrow", 8), ("_deletions/0-1-78.arrow", 0),
        ("_transactions/1-0b9a7a33-6c1e-4a35-8a20-6d7a0c1b2a3d.txn", 8),
        ("_transactions/2-0b9a7a33-6c1e-4a35-8a20-6d7a0c1b2a3e.txn", 0),
        ("_indices/6f3c2f66-43b1-4e4b-a2a1-000000000001/index.idx", 8),
        ("_indices/6f3c2f66-43b1-4e4b-a2a1-000000000002/index.idx", 0),
    ):
        os.makedirs(os.path.dirname(m.path(rel)), exist_ok=True)
        with open(m.path(rel), "wb") as f:
            f.write(b"stray")
        mk.age(m.path(rel), days)


@recipe(refs=True, since=4)
def branched(m):
    """A branch with its own appends and deletions."""
    m.pick(6, 25, ["slim"]).appends()
    m.ds.tags.create("cut", 4)
    b = m.ds.create_branch("work", 5)
    b = m.append(25, uri=b)
    b.delete("id = 3 or id >= 150")
    m.appends(3)


@recipe(refs=True, since=14)
def branch_of_branch(m):
    """A branch cut from a branch, whose directory lies in that of the first; both go on (#64)."""
    m.pick(5, 25, ["slim"]).appends()
    m.ds.delete("id < 5")
    b = m.ds.create_branch("one")
    b = m.append(25, uri=b)
    b.delete("id = 30")
    c = m.ds.create_branch("one/two", ("one", None))
    c = m.append(25, uri=c)
    c.tags.create("on-two", ("one/two", c.version))
    m.append(25, uri=m.ds.checkout_version(("one", None)))
    m.appends(2)


@recipe(refs=True, since=4)
def cloned(m):
    """A shallow clone beside the table, of a tagged version; the clone went on by itself."""
    m.pick(6, 25, ["slim"]).appends()
    m.ds.tags.create("for-clone", 4)
    c = m.ds.shallow_clone(m.uri.rstrip("/") + ".clone", "for-clone")
    m.append(25, uri=c)
    m.appends(2)


@recipe()
def detached(m):
    """A detached manifest, which names a file that nothing else does."""
    import lance
    from lance.fragment import FragmentMetadata

    m.pick(5, 25, ["slim"]).appends()
    frags = mk.write_only(m.uri, values.table(m.schema, 900, 10))
    op = lance.LanceOperation.Append([FragmentMetadata.from_json(f) for f in frags])
    lance.LanceDataset.commit(m.uri, op, read_version=m.ds.version, detached=True)
    m.appends(2)


@recipe(merges=False, files=("2.1", "2.2"), compacts=False)
def full_dictionary(m):
    """A dictionary that uses every key of its type, and a null, which takes one more (#30)."""
    _dictionary(m.pick(4, 129, ["slim"]), lambda i: ["w%d" % k for k in range(128)], [None])


@recipe(merges=False, compacts=False)
def narrow_dictionary(m):
    """Dictionaries that fit their key type one by one but not together: Lance
    can't read pages of two of them in one batch."""
    _dictionary(m.pick(4, 40, ["slim"]), lambda i: ["w%d of %d" % (k, i) for k in range(40)], [])


def _dictionary(m, words, more):
    for i in range(m.fragments):
        w = words(i)
        keys = pa.array(list(range(len(w))) + more, pa.int8())
        m.write(pa.table([pa.array(range(m.next, m.next + len(keys)), pa.int64()),
                          pa.DictionaryArray.from_arrays(keys, pa.array(w))], names=["id", "d"]))
        m.next += len(keys)


@recipe(since=14)
def rewritten_column(m):
    """A column rewritten in place: its id in the old files is superseded (#16)."""
    m.pick(6, 25, ["vector"]).appends()
    t = pa.table({"id": pa.array(range(30, 60), pa.int64()), "s": ["new %d" % i for i in range(30)]})
    m.ds.merge_insert("id").when_matched_update_all().write_mode("rewrite_columns").execute(t)
    m.appends(3)


@recipe(merges=False, since=14, stable=False)
def reuse_record(m):
    """A compaction that left the remapping of an index for later: a fragment reuse record."""
    m.pick(6, 25, ["slim"]).appends()
    m.ds.create_scalar_index("id", "BTREE")
    m.ds.optimize.compact_files(defer_index_remap=True, num_threads=1)
    m.appends(4)


@recipe(since=14, files=("2.0", "2.1"))
def mixed_file_versions(m):
    """Files of two versions in one table (flag 256)."""
    m.pick(6, 25, ["slim"]).appends()
    m.ds.optimize.compact_files(data_storage_version="2.2", num_threads=1)
    m.appends(3)


@recipe(since=14, stable=True, refused=True)
def spilled_lineage(m):
    """Row ids in data files instead of the manifest (flag 2048)."""
    m.pick(6, 25, ["slim"]).appends()
    m.ds.update_config({"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "1"})
    m.ds.optimize.compact_files(num_threads=1)
    m.ds.update({"s": "'x'"}, where="id % 10 = 4")
    m.appends(2)


def make(name, uri, **kw):
    """Writes the table; returns how many row numbers were given out."""
    r = ALL[name]
    if r["stable"] is True:
        kw["stable"] = True
    m = mk.Maker(uri, **kw)
    r["make"](m)
    rows = m.ds.count_rows() if r["scans"] else None
    return {"next": m.next, "version": m.ds.version, "rows": rows}
