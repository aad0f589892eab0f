#!/usr/bin/env python3
"""Has Lance read the files of handmade/ that it can read and those of written/, and compares the values.

    env/bin/python check.py [DIRECTORY]

With a directory, files NAME.ours in it, with the rows of NAME.arrow. Prints one line per file and exits with 1 when
a value differs. Releases 0.39 to 14.0 can read all encodings in them.
"""

import glob
import os
import random
import sys

import lance
import pyarrow as pa
from lance.file import LanceFileReader

HANDMADE = ["packed", "texts", "homes"]
WRITTEN = ["fixed", "strings", "lists", "vectors", "dictionaries"]


def plain(a):
    """Whatever the dictionary is: rows count."""
    if isinstance(a, pa.ChunkedArray):
        a = pa.concat_arrays([plain(c) for c in a.chunks]) if a.num_chunks else pa.array([], a.type)
    if pa.types.is_dictionary(a.type):
        return a.cast(a.type.value_type)
    if pa.types.is_list(a.type) and pa.types.is_dictionary(a.type.value_type):
        return a.cast(pa.list_(a.type.value_type.value_type))
    return a


def check(path, want):
    bad = 0
    reader = LanceFileReader(path)
    n = want.num_rows
    # Lance before 10 loses blobs when it reads several at once.
    old = int(lance.__version__.split(".")[0]) < 10
    blobs = [f.name for f in want.schema if (f.metadata or {}).get(b"lance-encoding:blob") == b"true"]
    for row in range(0, n, 1 + n // 100) if blobs and old else []:
        got = reader.read_range(row, 1, batch_size=n).to_table()
        for name in blobs:
            if got.column(name).to_pylist() != want.column(name).slice(row, 1).to_pylist():
                print("%s: %s, row %d: Lance %s reads another blob" % (path, name, row, lance.__version__))
                bad = 1
    ranges = [(0, n), (0, 1), (n - 1, 1), (1, n - 2), (n // 7, n // 3), (n // 7 - 1, 3), (n // 2, 5)]
    for start, rows in [(a, b) for a, b in ranges if a >= 0 and b > 0 and a + b <= n]:
        got = reader.read_range(start, rows, batch_size=n).to_table()
        for field, column in zip(want.schema, want.columns):
            if old and field.name in blobs:
                continue
            a, b = plain(column.slice(start, rows)), plain(got.column(field.name))
            if not a.equals(b) and str(a.to_pylist()) != str(b.to_pylist()):
                x, y = a.to_pylist(), b.to_pylist()
                at = next((i for i, (p, q) in enumerate(zip(x, y)) if str(p) != str(q)), min(len(x), len(y)) - 1)
                print("%s: %s, row %d of %d+%d: Lance %s reads %r, not %r" % (path, field, at, start, rows, lance.__version__, y[at], x[at]))
                bad = 1
    rows = random.Random(1).sample(range(n), min(n, 200))
    if hasattr(reader, "take_rows"):
        got = reader.take_rows(sorted(rows), batch_size=n).to_table()
        for field, column in zip(want.schema, want.columns):
            if old and field.name in blobs:
                continue
            a, b = plain(column.take(sorted(rows))), plain(got.column(field.name))
            if not a.equals(b) and str(a.to_pylist()) != str(b.to_pylist()):
                print("%s: %s: other rows are taken by Lance %s" % (path, field, lance.__version__))
                bad = 1
    print("%s: %d columns, read by Lance %s" % (os.path.basename(path), want.num_columns, lance.__version__))
    return bad


def rows(path):
    with pa.ipc.open_file(path) as r:
        return r.read_all()


def main(folder=None):
    bad = 0
    if folder:
        for path in sorted(glob.glob(os.path.join(folder, "*.ours"))):
            bad |= check(path, rows(path[: -len("ours")] + "arrow"))
        return bad
    here = os.path.dirname(os.path.abspath(__file__))
    for name in HANDMADE:
        bad |= check(os.path.join(here, "handmade", name + ".lance"), rows(os.path.join(here, "handmade", name + ".arrow")))
    for name in WRITTEN:
        bad |= check(os.path.join(here, "written", name + ".lance"), rows(os.path.join(here, "14.0.2", name + ".arrow")))
    return bad


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
