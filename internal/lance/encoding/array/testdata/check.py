#!/usr/bin/env python3
"""Has Lance read the files of handmade/ that it can read, and compares the values.

    env/bin/python check.py [DIRECTORY]

Prints one line per file and exits with 1 when a value differs. Releases 4.0 to 14.0 can
read all encodings in them.
"""

import os
import sys

import lance
import pyarrow as pa
from lance.file import LanceFileReader

FILES = ["packed", "texts", "homes"]


def main(folder):
    bad = 0
    for name in FILES:
        with pa.ipc.open_file(os.path.join(folder, name + ".arrow")) as r:
            want = r.read_all()
        reader = LanceFileReader(os.path.join(folder, name + ".lance"))
        n = want.num_rows
        for start, rows in [(0, n), (0, 1), (n - 1, 1), (1, n - 2), (n // 7, n // 3), (n // 7 - 1, 3), (n // 2, 5)]:
            got = reader.read_range(start, rows, batch_size=n).to_table()
            for field, column in zip(want.schema, want.columns):
                a, b = column.slice(start, rows).combine_chunks(), got.column(field.name).combine_chunks()
                if not a.equals(b):
                    at = next(i for i, (x, y) in enumerate(zip(a.to_pylist(), b.to_pylist())) if x != y)
                    print("%s: %s, row %d of %d+%d: Lance %s reads %r, not %r" % (name, field, at, start, rows, lance.__version__, b[at].as_py(), a[at].as_py()))
                    bad = 1
        print("%s: %d columns, read by Lance %s" % (name, want.num_columns, lance.__version__))
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "handmade")))
