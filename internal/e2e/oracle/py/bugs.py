"""Tables that bugs were reported of, by their number in reference BUGS, as far as they are about
what a compaction reads and writes. A function of a Maker writes one; its doc string says what went wrong.

Beside it may stand what else must be the same before and after ("look"), and what a user does once it is
compacted ("then"), upon which it is compacted again.
"""

import hashlib

import lance
import numpy as np
import pyarrow as pa

import cellwriter
import maker as mk

ALL = {}
RNG = 7


def bug(number, files=("2.0", "2.1", "2.2"), stable=None, target=0, left="", deletes=True, alike=True):
    """files: file versions that hold it. stable: with (True) or without stable row ids only. left: the word that the
    reason has where a build leaves it alone. deletes: it is tried with rows deleted, too. alike: as many
    fragments are left as by Lance, and Lance can go on with it."""

    def wrap(f):
        ALL[str(number)] = {"make": f, "about": " ".join(f.__doc__.split()), "files": list(files), "stable": stable,
                            "target": target, "left": left, "deletes": deletes, "alike": alike}
        return f

    return wrap


def look(number):
    return lambda f: ALL[str(number)].update(look=f)


def then(number):
    return lambda f: ALL[str(number)].update(then=f)


def catalogue():
    return {n: {k: v for k, v in b.items() if k not in ("make", "look", "then")} | {"then": "then" in b} for n, b in ALL.items()}


def make(number, uri, version=None, stable=False, delete=False):
    m = mk.Maker(uri, version=version, stable=stable)
    ALL[number]["make"](m)
    if delete:
        m.ds.delete("id % 5 = 2")
    return {"next": m.next}


def seen(number, uri):
    """What "look" finds."""
    f = ALL[number].get("look")
    return f(lance.dataset(uri)) if f else None


def go_on(number, uri):
    ALL[number]["then"](uri)


def ids(m, n):
    m.next += n
    return pa.array(range(m.next - n, m.next), pa.int64())


def paged(m, batches, schema):
    """A fragment with a page for every batch."""
    if m._ds is None:
        m.write(pa.Table.from_batches([], schema=schema))
    cellwriter.append_pages(m.uri, schema, batches, m.version or "2.1")
    m.next += sum(len(b) for b in batches)


BLOB = {"lance-encoding:blob": "true"}


@bug(2)
def blobs(m):
    """Null and empty blobs: payloads zeroed, or empty ones turned into null."""
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("b", pa.large_binary(), metadata=BLOB)])
    for k in range(3):
        v = [b"p0", b"", None, b"p3" * (1 + 40000 * k), None, b"", b"last %d" % k, b"x" * k]
        m.write(pa.table([ids(m, 8), pa.array(v, pa.large_binary())], schema=schema))


@look(2)
def blob_files(ds):
    column = next(f.name for f in ds.schema if f.name != "id")
    files = ds.take_blobs(column, indices=list(range(ds.count_rows())))
    return [None if f is None else hashlib.sha256(f.readall()).hexdigest() for f in files]


@bug(3)
def all_null_column(m):
    """A column of nulls that no file holds: the manifest then named a column that the file lacks."""
    for _ in range(3):
        m.write(pa.table({"id": ids(m, 20), "a": pa.array(range(20), pa.int32())}))
    m.ds.add_columns(pa.field("extra", pa.string()))


@look(3)
def columns_alone(ds):
    return {n: [len(ds.to_table(columns=[n])), ds.to_table(columns=[n]).column(0).null_count] for n in ds.schema.names}


@then(3)
def add_again(uri):
    lance.dataset(uri).add_columns(pa.field("more", pa.list_(pa.int32())))
    t = pa.table({"id": pa.array(range(900, 905), pa.int64()), "a": pa.nulls(5, pa.int32()), "extra": ["x", None, "", "y", "z"],
                  "more": pa.array([[1], None, [], [None], [2, 3]], pa.list_(pa.int32()))})
    lance.write_dataset(t, uri, mode="append")


@bug(19)
def wide_strings(m):
    """Strings of a megabyte: offsets of 32 bits overflowed where rows were counted and bytes were not."""
    for k in range(6):
        m.write(pa.table({"id": ids(m, 5), "s": [chr(97 + k) * (1 << 20) + str(i) for i in range(5)]}))


def list_of_lists(rng, n, depth):
    """Nulls and empty lists at each level."""
    if depth == 0:
        return [None if x < 0.05 else float(np.float32(x)) for x in rng.random(n)]
    out = []
    for _ in range(n):
        x = rng.random()
        out.append(None if x < 0.1 else list_of_lists(rng, int(rng.integers(0, 5)), depth - 1))
    return out


@bug(20)
def nested_lists(m):
    """Lists of lists over several pages: offsets of the inner ones were not counted from their page on."""
    rng = np.random.default_rng(RNG)
    kinds = {"2.0": [None]}.get(m.version, [None, "miniblock", "fullzip"])
    typ = pa.list_(pa.list_(pa.float32()))
    schema = pa.schema([pa.field("id", pa.int64())] + [
        pa.field("c%d" % i, typ, metadata={"lance-encoding:structural-encoding": k} if k else None) for i, k in enumerate(kinds)])
    for _ in range(2):
        batches, first = [], m.next
        for b in range(4):
            values = [pa.array(range(first, first + 250), pa.int64())]
            values += [pa.array(list_of_lists(rng, 250, 2), typ) for _ in kinds]
            batches.append(pa.record_batch(values, schema=schema))
            first += 250
        paged(m, batches, schema)


@bug(22)
def one_row_each(m):
    """One-row fragments under several schemas: the projection of today's had more fields than the files columns."""
    def rows(count):
        for _ in range(count):
            m.write(mk.values.table(m.ds.schema, m.next, 1, RNG))
            m.next += 1

    nested = [] if m.version == "2.0" else [pa.field("st", pa.struct([pa.field("x", pa.int32())]))]
    m.schema = pa.schema([pa.field("id", pa.int64()), pa.field("a", pa.int32()), pa.field("b", pa.string())] + nested)
    m.write(mk.values.table(m.schema, 0, 1, RNG))
    m.next = 1
    rows(9)
    m.ds.add_columns({"n": "cast(id + 1 as int)"})
    rows(10)
    m.ds.alter_columns({"path": "b", "name": "text"})
    m.ds.add_columns(pa.field("late", pa.float32()))
    rows(10)
    m.ds.alter_columns({"path": "n", "data_type": pa.int64()})
    if m.version == "2.2":
        m.ds.add_columns(pa.schema([pa.field("st", pa.struct([pa.field("y", pa.string())]))]))
    rows(10)
    m.ds.drop_columns(["a"])
    rows(10)


@bug(28)
def swapped_columns(m):
    """Appends whose columns come in another order: labels of the one put on columns of the other."""
    a, b = pa.field("a", pa.decimal128(20, 4)), pa.field("b", pa.int64())
    for order in ([a, b], [b, a], [a, b]):
        schema = pa.schema([pa.field("id", pa.int64())] + order)
        m.write(mk.values.table(schema, m.next, 30, RNG))
        m.next += 30


@bug(29)
def only_empty_strings(m):
    """Nothing but empty strings: pages with buffers of no length, which were dropped."""
    for k in range(3):
        mixed = ["", None, "a", ""] * 5 if k else [""] * 20
        m.write(pa.table({"id": ids(m, 20), "s": pa.array([""] * 20), "b": pa.array([b""] * 20, pa.large_binary()), "mixed": mixed}))


@then(29)
def index_strings(uri):
    for column in ("s", "mixed"):
        lance.dataset(uri).create_scalar_index(column, "BTREE", replace=True)
    ds = lance.dataset(uri)
    for column in ("s", "mixed"):
        for where in ("%s = ''", "%s is null", "%s = 'a'"):
            got = [ds.scanner(filter=where % column, use_scalar_index=x).to_table().num_rows for x in (True, False)]
            if got[0] != got[1]:
                raise AssertionError("%s: %s rows with and without the index" % (where % column, got))


@bug(30, files=("2.1", "2.2"), left="dictionary", alike=False)
def full_dictionary(m):
    """A dictionary that uses every key of its type, and a null: keys widened, and read as if they were not."""
    for k in range(2):
        n = 32769
        narrow = pa.DictionaryArray.from_arrays(pa.array([None if i == 128 else i % 128 for i in range(n)], pa.int8()), pa.array(["w%d" % i for i in range(128)]))
        wide = pa.DictionaryArray.from_arrays(pa.array([None if i == 32768 else i for i in range(n)], pa.int16()), pa.array(["v%d" % i for i in range(32768)]))
        m.write(pa.table({"id": ids(m, n), "narrow": narrow, "wide": wide}))


@bug(32)
def renamed_across(m):
    """Columns renamed into each other's names, one dropped and added again: files matched by name."""
    nested = m.version != "2.0"

    def rows(schema):
        m.write(mk.values.table(schema, m.next, 20, RNG))
        m.next += 20

    fields = [pa.field(n, pa.int64()) for n in ("id", "x", "y", "z")]
    if nested:
        fields.append(pa.field("st", pa.struct([pa.field("p", pa.int64()), pa.field("q", pa.int64())])))
    rows(pa.schema(fields))
    rows(m.ds.schema)
    for a, b in (("x", "t"), ("y", "x"), ("t", "y")):
        m.ds.alter_columns({"path": a, "name": b})
    if nested:
        for a, b in (("p", "t"), ("q", "p"), ("t", "q")):
            m.ds.alter_columns({"path": "st." + a, "name": b})
    rows(m.ds.schema)
    m.ds.drop_columns(["z"])
    m.ds.add_columns({"z": "id * 3"})
    rows(m.ds.schema)


@bug(42, target=30)
def in_order(m):
    """Tasks that ended out of order changed the order of the rows."""
    for _ in range(12):
        m.write(pa.table({"id": ids(m, 10)}))


@look(42)
def monotone(ds):
    values = ds.to_table(columns=["id"]).column("id").to_pylist()
    if values != sorted(values):
        raise AssertionError("rows are out of order: %s" % values)


@bug(43, stable=True)
def upserted_twice(m):
    """Row ids that lie in ranges of two fragments: filtered scans lost rows."""
    for _ in range(4):
        m.write(pa.table({"id": ids(m, 25), "s": ["first"] * 25}))
    for word, keys in (("second", range(10, 60)), ("third", range(20, 70, 3)), ("fourth", range(10, 110, 7))):
        t = pa.table({"id": pa.array(keys, pa.int64()), "s": [word] * len(keys)})
        m.ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(t)
    m.next = 110
    m.ds.delete("id % 11 = 3")


@look(43)
def filtered(ds):
    out = {}
    for word in ("first", "second", "third", "fourth"):
        t = ds.to_table(filter="s = '%s'" % word, with_row_id=True)
        out[word] = sorted(zip(t.column("_rowid").to_pylist(), t.column("id").to_pylist()))
    everything = [r for rows in out.values() for r in rows]
    if len({r for r, _ in everything}) != len(everything) or len(everything) != ds.count_rows():
        raise AssertionError("row ids twice: %s" % everything)
    return out


@bug(57, files=("2.1", "2.2"))
def null_items(m):
    """Lists of which none is null or empty, with null items, or nothing but such: lists got lost."""
    item = pa.struct([pa.field("x", pa.int32())])
    for k in range(3):
        structs = [[None if (i + j) % 3 == 0 else {"x": i} for j in range(1 + i % 3)] for i in range(20)]
        m.write(pa.table({"id": ids(m, 20), "structs": pa.array(structs, pa.list_(item)),
                          "nothing": pa.array([[None] * (1 + i % 4) for i in range(20)], pa.list_(pa.int64())),
                          "words": pa.array([["a", None][: 1 + i % 2] for i in range(20)], pa.list_(pa.string()))}))


@bug(58)
def huge_lists(m):
    """Rows with more narrow items than a chunk holds, between empty ones."""
    item = pa.struct([pa.field("f", pa.float32()), pa.field("i", pa.int32())])
    if m.version == "2.0":
        item = pa.struct([pa.field("f", pa.float32(), False), pa.field("i", pa.int32(), False)])
    n = 70_000
    for k in range(2):
        values = pa.StructArray.from_arrays([pa.array(np.arange(2 * n, dtype=np.float32)), pa.array(np.arange(2 * n, dtype=np.int32) % 1000)], fields=list(item))
        offsets = pa.array([0, 0, n, n, n + 5, 2 * n, 2 * n], pa.int32())
        lists = pa.ListArray.from_arrays(offsets, values, type=pa.list_(pa.field("item", item, m.version != "2.0")))
        m.write(pa.table({"id": ids(m, 6), "l": lists}))


@bug(59, files=("2.1", "2.2"))
def null_dictionary(m):
    """All-null dictionaries without words, and fragments without the column."""
    typ = pa.dictionary(pa.int32(), pa.string())
    for words in (["a", "b", None, "a"], [None] * 4, ["c", "a", "c", None], None):
        t = pa.table({"id": ids(m, 4)})
        m.write(t if words is None else t.append_column("d", pa.array(words, pa.string()).dictionary_encode().cast(typ)))
    if mk.RELEASE >= 14:
        m.ds.add_columns(pa.field("later", typ))


@bug(60, files=("2.2",))
def nested_blob(m):
    """A blob within a struct: its bytes were looked for at the top."""
    field = pa.field("s", pa.struct([pa.field("mime", pa.string()), lance.blob_field("payload")]))
    for k in range(3):
        v = [b"p%d" % k, b"", None, b"p" * 70000 * k]
        kids = [pa.array(["a", "b", "c", None]), lance.blob_array(v)]
        s = pa.StructArray.from_arrays(kids, fields=list(field.type))
        m.write(pa.Table.from_arrays([ids(m, 4), s], schema=pa.schema([pa.field("id", pa.int64()), field])))


@bug(61, files=("2.2",))
def kinds_of_blobs(m):
    """Blobs in the file, packed with others, in files of their own and elsewhere: each keeps its kind and its bytes."""
    import os

    from lance import DatasetBasePath

    beside = m.uri.rstrip("/") + ".beside"
    os.makedirs(beside, exist_ok=True)
    with open(os.path.join(beside, "blob.bin"), "wb") as f:
        f.write(bytes(range(256)) * 20)
    uri = "file://" + os.path.join(beside, "blob.bin")
    limits = {"inline_size_threshold": 100, "dedicated_size_threshold": 1000, "pack_file_size_threshold": 900}
    field = lance.blob_field("b", **limits)
    for k in range(3):
        v = [b"in%d" % k, b"pack" * 100, b"own" * 1000, lance.Blob.from_uri(uri), lance.Blob.from_uri(uri, 10, 100 + k), None, b""]
        t = pa.Table.from_arrays([ids(m, 7), lance.blob_array(v)], schema=pa.schema([pa.field("id", pa.int64()), field]))
        more = {"initial_bases": [DatasetBasePath(beside, "beside", is_dataset_root=False)]} if k == 0 else {}
        m.write(t, **more)


look(61)(blob_files)


@bug(79, target=200)
def key_ranges(m):
    """Appends of narrow ranges of keys: merging by size alone made all files span all keys."""
    for k in range(40):
        m.write(pa.table({"id": ids(m, 20), "key": pa.array([1000 * k + i for i in range(20)], pa.int64())}))


@look(79)
def apart(ds):
    spans = []
    for f in ds.get_fragments():
        keys = f.to_table(columns=["key"]).column("key").to_pylist()
        spans.append((min(keys), max(keys)))
    for (_, a), (b, _) in zip(spans, spans[1:]):
        if a >= b:
            raise AssertionError("ranges overlap: %s" % spans)


@bug(81)
def no_fragment_at_first(m):
    """A table without a fragment to tell its file version: files of two versions got into one."""
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("s", pa.string())])
    m.write(schema.empty_table())
    for _ in range(4):
        m.write(mk.values.table(schema, m.next, 10, RNG))
        m.next += 10


@bug(87)
def null_vectors(m):
    """Vectors behind null ones: these must take up their place all the same."""
    typ = pa.list_(pa.float32(), 4)
    for k in range(3):
        v = [[k + i + 0.5, float("nan"), -0.0, 1e-40] if i in (0, 2, 5) else None for i in range(6)]
        m.write(pa.table({"id": ids(m, 6), "v": pa.array(v, typ), "few": pa.array([x[:2] if x else None for x in v], pa.list_(pa.float32(), 2))}))
    m.ds.delete("id = 0")


@bug(109)
def zoo(m):
    """Types that another type system has no word for: they must be as they were, with their metadata."""
    meta = {"owner": "é", "k": ""}
    fields = [
        pa.field("id", pa.int64(), False, metadata=meta),
        pa.field("d64", pa.date64()), pa.field("ls", pa.large_string(), metadata=meta), pa.field("f16", pa.float16()),
        pa.field("fsb", pa.binary(7)), pa.field("v", pa.list_(pa.float16(), 8)), pa.field("ts", pa.timestamp("ns", "Europe/Oslo")),
        pa.field("t32", pa.time32("ms")), pa.field("dur", pa.duration("us")), pa.field("dec", pa.decimal256(40, 3)),
        pa.field("ll", pa.large_list(pa.field("item", pa.large_binary(), metadata=meta))),
        pa.field("u8", pa.uint8(), metadata={"ARROW:extension:name": "lab.byte", "ARROW:extension:metadata": "{}"}),
    ]
    if m.version != "2.0":
        fields.append(pa.field("st", pa.struct([pa.field("a", pa.float16(), False, metadata=meta), pa.field("b", pa.list_(pa.date32()))])))
    if m.version == "2.2":
        fields.append(pa.field("m", pa.map_(pa.string(), pa.decimal128(10, 2))))
    m.schema = pa.schema(fields, metadata={"schema": "note", "empty": ""})
    for _ in range(4):
        m.write(mk.values.table(m.schema, m.next, 15, RNG))
        m.next += 15


@bug("109, JSON", files=("2.2",), alike=False)
def json_columns(m):
    """JSON at the top."""
    for k in range(3):
        docs = ['{"a": %d, "b": [1, null, "x"]}' % i if i % 3 else None for i in range(9)]
        m.write(pa.table({"id": ids(m, 9), "j": pa.array(docs, pa.json_())}))


@bug("57, nothing")
def no_structs(m):
    """Lists of lists of which none holds a struct: columns without a page can't be read in 2.0."""
    item = pa.struct([pa.field("x", pa.int64(), m.version != "2.0")])
    inner = pa.list_(pa.field("item", item, m.version != "2.0"))
    for k in range(3):
        m.write(pa.table({"id": ids(m, 10), "outer": pa.array([[]] * 10, pa.list_(inner)),
                          "inner": pa.array([[[], []]] * 10, pa.list_(inner))}))
