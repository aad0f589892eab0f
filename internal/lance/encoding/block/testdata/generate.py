"""Writes the fixtures of this folder: python generate.py, with pylance and pyarrow.

For each file version one data file with a column per encoding (the name tells which), and the
same values as an Arrow file. No value is null, so that a page is its chunks or rows alone.
"""

import glob
import os
import shutil
import tempfile

import lance
import numpy as np
import pyarrow as pa

ROWS = 1300
here = os.path.dirname(os.path.abspath(__file__))


def columns(version):
    rng = np.random.default_rng(7)
    i = np.arange(ROWS)
    words = np.array(["lance", "column", "chunk", "page", "ünïcode", "", "x"])
    text = [" ".join(rng.choice(words, 3 + k % 6)) + str(k) for k in range(ROWS)]

    def fsl(values, dim, mask=None):
        return pa.FixedSizeListArray.from_arrays(pa.array(values, mask=mask), dim)

    def packed(**fields):
        return pa.StructArray.from_arrays(
            [pa.array(v) for v in fields.values()],
            fields=[pa.field(k, pa.array(v).type, nullable=False) for k, v in fields.items()],
        )

    none, zip_ = {"compression": "none"}, {"structural-encoding": "fullzip"}
    small = (np.arange(ROWS * 4) % 1000 / 8).astype(np.float32)
    yield "flat_i32", pa.array(((i * 2654435761) % 2**32).astype(np.uint32).view(np.int32)), none
    yield "flat_bool", pa.array(rng.random(ROWS) < 0.4), {}
    yield "flat_decimal", pa.array([int(k) * 10**20 + 7 for k in i], pa.decimal128(38, 3)), {}
    yield "flat_f16", pa.array((i % 60).astype(np.float16)), none
    for t in ["uint8", "int16", "uint32", "int64"]:
        yield "bitpack_" + t, pa.array((i * 7 % 101).astype(np.dtype(t))), {"rle-threshold": "0", "dict-divisor": "1000000"}
    yield "bitpack_zstd", pa.array((i % 300).astype(np.int16)), {"compression": "zstd", "bss": "off", "rle-threshold": "0"}
    yield "rle_i64", pa.array(np.repeat(i, 1 + i * 37 % 700)[:ROWS]), {"dict-divisor": "1000000"}
    yield "rle_u8", pa.array(np.repeat(i, 3)[:ROWS].astype(np.uint8)), {}
    yield "rle_zstd", pa.array(np.repeat(i, 2)[:ROWS] * 2**50), {"compression": "zstd", "bss": "off", "rle-threshold": "0.9", "dict-divisor": "1000000"}
    yield "split_f32_lz4", pa.array(i.astype(np.float32)), {"compression": "lz4", "bss": "on"}
    yield "split_f64_zstd", pa.array(i.astype(np.float64)), {"compression": "zstd", "bss": "on", "dict-divisor": "1000000"}
    yield "variable", pa.array([str(k) for k in range(ROWS)]), none
    yield "variable_large", pa.array([str(k).encode() for k in range(ROWS)], pa.large_binary()), none
    yield "variable_zstd", pa.array(text), {"compression": "zstd"}
    yield "fsst", pa.array(text), {"compression": "fsst"}
    yield "fsst_large", pa.array([t + t for t in text], pa.large_string()), {}
    yield "dict_string", pa.array([text[k % 40] for k in range(ROWS)]), {}
    yield "dict_i64", pa.array(i % 50 * 10**9), {}
    yield "list_f32", fsl(small, 4), {}
    yield "list_f32_nulls", fsl(small, 4, np.arange(ROWS * 4) % 9 == 0), {}
    yield "list_bool", fsl(rng.random(ROWS * 5) < 0.5, 5), {}
    yield "list_bool_nulls", fsl(rng.random(ROWS * 5) < 0.5, 5, np.arange(ROWS * 5) % 4 == 0), {}
    inner = pa.FixedSizeListArray.from_arrays(
        pa.array((np.arange(ROWS * 6) % 200).astype(np.uint8), mask=np.arange(ROWS * 6) % 7 == 0), 2,
        mask=pa.array(np.arange(ROWS * 3) % 5 == 0))
    yield "list_list_nulls", pa.FixedSizeListArray.from_arrays(inner, 3), {}
    yield "packed", packed(a=i.astype(np.int32), b=i.astype(np.float64), c=i.astype(np.int16)), {"packed": "true"}
    yield "zip_i32", pa.array(i.astype(np.int32)), zip_
    yield "zip_bool", pa.array(i % 3 == 0), zip_
    yield "zip_list", fsl(small, 4), zip_
    yield "zip_list_nulls", fsl(small, 4, np.arange(ROWS * 4) % 9 == 0), zip_
    yield "zip_list_list_nulls", pa.FixedSizeListArray.from_arrays(inner, 3), zip_
    yield "zip_list_all_null", pa.FixedSizeListArray.from_arrays(pa.nulls(ROWS * 4, pa.float32()), 4), {}
    yield "zip_variable", pa.array([str(k) for k in range(ROWS)]), dict(zip_, **none)
    yield "zip_fsst", pa.array(text), dict(zip_, compression="fsst")
    yield "zip_zstd", pa.array(text, pa.large_string()), dict(zip_, compression="zstd")
    if version == "2.2":
        yield "zip_packed", packed(a=i.astype(np.int32), s=text, v=fsl(small, 4)), {"packed": "true"}
        yield "zip_packed_large", packed(s=pa.array(text, pa.large_string()), a=i), {"packed": "true"}


for version in ["2.1", "2.2"]:
    made = list(columns(version))
    if version == "2.1":  # chunks look the same, so that some are enough
        made = [m for m in made if m[0] in ("flat_i32", "bitpack_int64", "fsst", "dict_string", "list_f32_nulls")]
    schema = pa.schema([
        pa.field(n, a.type, nullable=False, metadata={"lance-encoding:" + k: v for k, v in md.items()})
        for n, a, md in made
    ])
    table = pa.table([a for _, a, _ in made], schema)
    with tempfile.TemporaryDirectory() as d:
        ds = lance.write_dataset(table, d + "/t", data_storage_version=version)
        assert ds.to_table().equals(table)
        base = os.path.join(here, "encodings_" + version.replace(".", ""))
        (path,) = glob.glob(d + "/t/data/*.lance")
        shutil.copy(path, base + ".lance")
        with pa.ipc.new_file(base + ".arrow", schema.remove_metadata(), options=pa.ipc.IpcWriteOptions(compression="zstd")) as w:
            w.write_table(table.combine_chunks().replace_schema_metadata(None))
