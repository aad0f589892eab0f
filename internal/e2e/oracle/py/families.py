"""Large tables of one family of types each, and what reading them takes."""

import lance
import numpy as np
import pyarrow as pa

import measure

ROWS = 16384  # of a batch


def vectors(rng, first, version):
    v = pa.array(rng.standard_normal(ROWS * 256, np.float32))
    return {"v": pa.FixedSizeListArray.from_arrays(v, 256)}


def strings(rng, first, version):
    words = np.array(["%s%d" % (w, i % 97) for i, w in enumerate("the quick brown fox jumps over a lazy dog again and then some more".split() * 30)])
    pick = words[rng.integers(0, len(words), (ROWS, 6))]
    title = pa.array([" ".join(r) for r in pick.tolist()])
    return {
        "title": title,
        "url": pa.array(["https://example.com/items/%d?page=%d" % (first + i, i % 7) for i in range(ROWS)]),
        "tag": pa.array(["tag %d" % k for k in rng.integers(0, 200, ROWS)]),
        "key": pa.array([b.tobytes() for b in rng.integers(0, 256, (ROWS, 16), np.uint8)], pa.binary()),
    }


def ints(rng, first, version):
    n = ROWS
    return {
        "sorted": pa.array(np.arange(first, first + n)),
        "small": pa.array(rng.integers(0, 1000, n)),
        "wide": pa.array(rng.integers(-(1 << 62), 1 << 62, n)),
        "time": pa.array(1_700_000_000_000_000 + np.cumsum(rng.integers(0, 5_000_000, n)) + first, pa.timestamp("us")),
        "i32": pa.array(rng.integers(0, 1 << 20, n).astype(np.int32), mask=rng.random(n) < 0.1),
        "runs": pa.array(np.repeat(rng.integers(0, 50, n // 64), 64).astype(np.int32)),
        "u8": pa.array(rng.integers(0, 256, n).astype(np.uint8)),
        "f64": pa.array(rng.standard_normal(n)),
        "flag": pa.array(rng.random(n) < 0.3),
    }


def nested(rng, first, version):
    n = ROWS
    sizes = rng.integers(0, 9, n)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
    items = int(sizes.sum())
    numbers = pa.array(rng.integers(0, 100_000, items).astype(np.int32), mask=rng.random(items) < 0.05)
    words = pa.array(["w%d" % k for k in rng.integers(0, 5000, items)])
    pairs = pa.StructArray.from_arrays([numbers, words], names=["n", "w"])
    inner = pa.ListArray.from_arrays(offsets, words)
    null = None if version == "2.0" else pa.array(rng.random(n) < 0.05)  # 2.0 has no null structs
    return {
        "numbers": pa.ListArray.from_arrays(offsets, numbers, mask=pa.array(rng.random(n) < 0.05)),
        "pairs": pa.ListArray.from_arrays(offsets, pairs),
        "doc": pa.StructArray.from_arrays([pa.array(rng.random(n)), inner], names=["score", "words"], mask=null),
    }


FAMILIES = {f.__name__: f for f in (vectors, strings, ints, nested)}


def make_family(uri, family, size, version):
    """About size bytes of Arrow buffers. A few batches are made and written again and again."""
    rng = np.random.default_rng(1)
    made = [pa.RecordBatch.from_pydict(FAMILIES[family](rng, i * ROWS, version)) for i in range(8)]
    count = max(1, round(size / (sum(b.nbytes for b in made) / len(made))))
    stream = (made[i % len(made)] for i in range(count))
    lance.write_dataset(pa.RecordBatchReader.from_batches(made[0].schema, stream), uri, data_storage_version=version)
    return {"rows": count * ROWS, "bytes": sum(made[i % len(made)].nbytes for i in range(count))}


def measure_scan(uri):
    """to_batches over everything with what it took, and the number of rows."""
    rows = 0

    def run():
        nonlocal rows
        for b in lance.dataset(uri).to_batches():
            rows += b.num_rows

    m = measure.measured(run)
    return dict(m, Rows=rows)
