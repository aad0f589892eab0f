"""What Lance makes of a table's settings for compaction and cleanup."""

import os
import random

import lance
import pyarrow as pa
from lance.optimize import Compaction

COMPACTION = "lance.compaction."


def _table(first, n):
    return pa.table({"a": pa.array(range(first, first + n), pa.int64())})


def _made(uri, sizes):
    first = 0
    for n in sizes:
        lance.write_dataset(_table(first, n), uri, mode="append" if os.path.exists(uri) else "create")
        first += n
    return lance.dataset(uri)


def make_planned(uri, seed):
    """A table with small and large fragments, deleted rows and settings of its own; the tasks that Lance plans for it."""
    rng = random.Random(seed)
    ds = _made(uri, [rng.randint(1, 300) if rng.random() < 0.8 else rng.randint(300, 1500) for _ in range(rng.randint(1, 14))])
    rows = ds.count_rows()
    if rng.random() < 0.7:
        every = rng.randint(2, 40)
        low = rng.randint(0, rows)
        ds.delete(f"a % {every} = {rng.randint(0, every - 1)} and a >= {low} and a < {rng.randint(low, rows)}")
    config = {"target_rows_per_fragment": str(rng.randint(100, 800))}
    kind = rng.random()
    if kind < 0.2:
        config["materialize_deletions"] = rng.choice(["false", "True"])
    elif kind < 0.5:
        config["materialize_deletions_threshold"] = rng.choice(["0", "0.05", "0.2", "1.5", ".03"])
    kind = rng.random()
    if kind < 0.15:
        config["max_source_fragments"] = str(rng.randint(2, 14))
    elif kind < 0.3:
        config["max_source_rows"] = str(rng.randint(100, 3000))
    ds.update_config({COMPACTION + k: v for k, v in config.items()})
    return {"config": config, "tasks": plan(uri)}


def plan(uri):
    return [[f.id for f in t.fragments] for t in Compaction.plan(lance.dataset(uri), {}).tasks]


def reads_settings(uri, key, values):
    """Which values of a setting Lance's planner takes."""
    _made(uri, [5, 5])
    out = {}
    for v in values:
        lance.dataset(uri).update_config({COMPACTION + key: v})
        try:
            plan(uri)
            out[v] = True
        except (ValueError, OSError) as e:
            if "Invalid" not in str(e):
                raise
            out[v] = False
    return out
