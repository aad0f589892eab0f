"""Writes the files of this folder: one data file per name and version, and beside it what the same
release of Lance reads from it, or, where it can't read what it wrote, what was written.

    python generate.py FOLDER
"""
import glob, os, random, shutil, sys, tempfile
import lance
import pyarrow as pa

out = sys.argv[1]
rnd = random.Random(7)


def write(name, columns, version, metadata=None, parts=1):
    metadata = metadata or {}
    schema = pa.schema([pa.field(n, a.type, True, metadata=metadata.get(n)) for n, a in columns.items()])
    table = pa.table(list(columns.values()), schema=schema)
    rows, folder = table.num_rows, tempfile.mkdtemp()
    step = -(-rows // parts)

    def batches():  # none of them a slice of another: Lance does not write all of those
        for i in range(0, rows, step):
            cut = [pa.array(c.slice(i, step).to_pylist(), c.type) for c in table.columns]
            yield pa.record_batch(cut, schema=schema)

    data = pa.RecordBatchReader.from_batches(schema, batches()) if parts > 1 else table
    lance.write_dataset(data, folder + "/t", data_storage_version=version, max_rows_per_file=10**9)
    base = f'{out}/{name}_{version.replace(".", "")}'
    shutil.copy(glob.glob(folder + "/t/data/*.lance")[0], base + ".lance")
    try:
        got = lance.dataset(folder + "/t").to_table().combine_chunks()
    except BaseException as e:
        print(base, "is not read by the release that wrote it:", str(e)[:90])
        got = table.combine_chunks()
    # The test takes from the metadata how a column is stored.
    marked = pa.schema([f.with_metadata({**(f.metadata or {}), **{k.encode(): v.encode() for k, v in metadata.get(f.name, {}).items()}})
                        for f in got.schema])
    got = pa.Table.from_arrays(got.columns, schema=marked)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(base + ".arrow", marked, options=options) as w:
        w.write_table(got)
    shutil.rmtree(folder)


def holes(values, share):
    return [None if rnd.random() < share else v for v in values]


def text(n, words=None):
    pool = [" ".join(rnd.choices(["sea", "weed", "lance", "row"], k=rnd.randrange(4))) + str(i) for i in range(words or n)]
    return [rnd.choice(pool) for _ in range(n)]


def some(f, share):
    return lambda n: [holes(f(rnd.randrange(4)), share) for _ in range(n)]


N = 160
number = lambda n: [rnd.randrange(500) for _ in range(n)]
for version in ["2.1", "2.2"]:
    for kind, p in [("valid", 0), ("nulls", 0.3), ("allnull", 1)]:
        write("flat_" + kind, {
            "i8": pa.array(holes(number(N), p), pa.int16()),
            "i64": pa.array(holes([rnd.randrange(1 << 60) for _ in range(N)], p), pa.int64()),
            "runs": pa.array([v for v in holes(range(8), p) for _ in range(N // 8)], pa.int32()),
            "same": pa.array(holes([7] * N, p), pa.int64()),
            "word": pa.array(holes(["same"] * N, p)),
            "flag": pa.array(holes([i % 3 == 0 for i in range(N)], p), pa.bool_()),
            "f64": pa.array(holes([rnd.choice([0.0, -0.0, float("nan"), 1.5]) for _ in range(N)], p), pa.float64()),
            "few": pa.array(holes(text(N, 6), p), pa.string()),
            "many": pa.array(holes(text(N), p), pa.large_string()),
            "long": pa.array(holes([t * 40 for t in text(N, 9)], p), pa.string()),
            "dict": pa.array(holes(text(N, 5), p), pa.string()).dictionary_encode(),
            "none": pa.array([None] * N, pa.null()),
        }, version)
        write("vectors_" + kind, {
            "small": pa.array(holes([[float(i), 2.0, 3.0] for i in range(N)], p), pa.list_(pa.float32(), 3)),
            "large": pa.array(holes([[float(i % 9)] * 80 for i in range(N)], p), pa.list_(pa.float32(), 80)),
            "holes": pa.array(holes([[None, float(i)] for i in range(N)], p), pa.list_(pa.float64(), 2)),
        }, version)
        write("nested_" + kind, {
            "list": pa.array(holes(some(number, p)(N), p), pa.list_(pa.int32())),
            "full": pa.array([number(1 + i % 3) for i in range(N)], pa.list_(pa.int32())),
            "texts": pa.array(holes(some(text, p)(N), p), pa.large_list(pa.string())),
            "same": pa.array(holes([[7] * (i % 3) for i in range(N)], p), pa.list_(pa.int16())),
            "long": pa.array(holes([["text " * 90] * (i % 3) for i in range(N)], p), pa.list_(pa.string())),
            "vectors": pa.array(holes([[[1.5] * 80] * (i % 3) for i in range(N)], p), pa.list_(pa.list_(pa.float32(), 80))),
            "lists": pa.array(holes([holes(some(number, p)(rnd.randrange(3)), p) for _ in range(N)], p), pa.list_(pa.list_(pa.int32()))),
            "struct": pa.array(holes([{"a": x, "b": {"c": str(x), "d": [x, None]} if x % 5 else None} for x in number(N)], p),
                               pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string()), ("d", pa.list_(pa.int32()))]))])),
            "structs": pa.array(holes([holes([{"x": i, "y": holes(text(rnd.randrange(3)), p)} for i in range(rnd.randrange(3))], p) for _ in range(N)], p),
                                pa.list_(pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))]))),
        }, version)
        for how in ["miniblock", "fullzip"]:
            m = {"lance-encoding:structural-encoding": how}
            write(how + "_" + kind, {
                "i": pa.array(holes(number(N), p), pa.int32()), "s": pa.array(holes(text(N), p)),
                "b": pa.array(holes([True, False] * (N // 2), p)), "l": pa.array(holes(some(text, p)(N), p), pa.list_(pa.string())),
                "n": pa.array(holes(some(number, p)(N), p), pa.list_(pa.int32())),
            }, version, {n: m for n in "isbln"})
        write("blob_" + kind, {"blob": pa.array(holes([b"x" * (i % 3) for i in range(40)], p), pa.large_binary())},
              version, {"blob": {"lance-encoding:blob": "true"}})
        write("packed_" + kind, {"p": pa.array(holes([{"a": i, "b": 2 * i} for i in range(N)], p), pa.struct([("a", pa.int32()), ("b", pa.int64())]))},
              version, {"p": {"packed": "true"}})
    for how in ["zstd", "lz4"]:
        m = {"lance-encoding:compression": how, "lance-encoding:bss": "on"}
        write(how, {"i": pa.array(number(N), pa.int32()), "s": pa.array(text(N)), "f": pa.array([float(i) for i in range(N)], pa.float32()),
                    "t": pa.array([t * 40 for t in text(N)])}, version, {n: m for n in "isft"})
    write("chunks", {
        "i": pa.array(holes([i % 11 for i in range(5000)], 0.1), pa.int16()), "t": pa.array([1000000 + i // 3 for i in range(5000)], pa.int64()),
        "l": pa.array([None if i % 9 == 0 else [i % 5, None][:i % 3] for i in range(5000)], pa.list_(pa.int8())),
        "s": pa.array(["row%d" % (i % 4) for i in range(5000)]), "b": pa.array([i % 7 == 0 for i in range(5000)]),
    }, version)
    # Rows that span chunks, chunks of many empty lists, pages of different layers.
    write("spanning", {"l": pa.array([[j % 100 for j in range(9000)] if i == 3 else [i] * (i % 3) for i in range(9)], pa.list_(pa.int32())),
                       "e": pa.array([[5] * 3000, [], [], [6] * 3000] + [[]] * 5, pa.list_(pa.int64()))}, version)
    write("empties", {"l": pa.array([[i % 7] if i % 50 == 1 else [] for i in range(20000)], pa.list_(pa.int32()))}, version)
    write("pages", {
        "a": pa.array([None if i // 100 == 2 else {"x": None if i // 100 == 3 else i, "y": "z" * 12000 if i < 300 else "s", "l": [i] * (i % 3)} for i in range(1000)],
                      pa.struct([("x", pa.int32()), ("y", pa.string()), ("l", pa.list_(pa.int32()))])),
        "d": pa.array([None if i < 200 else "word%d" % (i // 150) for i in range(1000)]).dictionary_encode(),
        "v": pa.array([None if i < 300 else [float(i)] * 9 if i < 800 else [None] * 9 for i in range(1000)], pa.list_(pa.float32(), 9)),
        "f": pa.array([True if i < 500 else i % 3 == 0 for i in range(1000)]),
    }, version, parts=8)
    write("one", {"i": pa.array([5], pa.int32()), "l": pa.array([["a"]]), "e": pa.array([{}], pa.struct([]))}, version)
version = "2.2"
for kind, p in [("valid", 0), ("nulls", 0.3), ("allnull", 1)]:
    st = pa.struct([("a", pa.int32()), ("b", pa.string())])
    write("structs_" + kind, {"f": pa.array(holes([[{"a": i, "b": "x" * (i % 4)}, {"a": None, "b": "y"} if i % 3 else None] for i in range(N)], p), pa.list_(st, 2))}, version)
    write("map_" + kind, {"m": pa.array(holes([[(k, i) for k in "abc"[:i % 4]] for i in range(N)], p), pa.map_(pa.string(), pa.int32())),
                          "n": pa.array(holes([[(k, [(1, [2, i])]) for k in "ab"[:i % 3]] for i in range(N)], p), pa.map_(pa.string(), pa.map_(pa.int32(), pa.list_(pa.int32()))))}, version)
    write("packedvar_" + kind, {"p": pa.array(holes([{"a": i, "b": "x" * (i % 9), "v": [1, i]} for i in range(N)], p),
                                              pa.struct([("a", pa.int32()), ("b", pa.string()), ("v", pa.list_(pa.int64(), 2))]))}, version, {"p": {"packed": "true"}})
write("structlists", {"f": pa.array([None if i % 7 == 0 else [{"l": [1, None, i]}, {"l": []}, {"l": None}] for i in range(N)], pa.list_(pa.struct([("l", pa.list_(pa.int32()))]), 3))}, version)
