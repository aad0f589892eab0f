#!/usr/bin/env python3
"""Has Lance read files of which rows were kept, and compares them with the rows.

    go test -run 'TestKeepMatrix|TestKeepFiles' -keepto DIRECTORY [-keepfrom DIRECTORY]
    env/bin/python check_kept.py DIRECTORY

For each NAME.ours there are its rows in NAME.arrow, and the file before in NAME.lance. A column that the release does not read from
the file before, or reads there as something else, is counted but not judged. Exits with 1 when a value differs.
"""

import glob
import os
import struct
import sys

import lance
import pyarrow as pa
from lance.file import LanceFileReader


def values(a):
    """Plain values, of whatever type: those of dictionaries, and numbers for times, some of which are no dates."""
    if isinstance(a, pa.ChunkedArray):
        if a.num_chunks == 0:
            return []
        a = a.chunk(0) if a.num_chunks == 1 else pa.concat_arrays(a.chunks)
    t = a.type
    valid = a.is_valid().to_pylist()
    if isinstance(a, pa.ExtensionArray):
        return values(a.storage)
    if pa.types.is_dictionary(t):
        return values(a.cast(t.value_type))
    if pa.types.is_temporal(t):
        return a.view(pa.int32() if t.bit_width == 32 else pa.int64()).to_pylist()
    if pa.types.is_struct(t):
        kids = [values(a.field(i)) for i in range(t.num_fields)]
        return [tuple(k[i] for k in kids) if ok else None for i, ok in enumerate(valid)]
    if pa.types.is_map(t):
        o, k, v = a.offsets.to_pylist(), values(a.keys), values(a.items)
        return [(k[o[i] : o[i + 1]], v[o[i] : o[i + 1]]) if ok else None for i, ok in enumerate(valid)]
    if pa.types.is_fixed_size_list(t):
        v, n, off = values(a.values), t.list_size, a.offset
        return [v[(off + i) * n : (off + i + 1) * n] if ok else None for i, ok in enumerate(valid)]
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        o, v = a.offsets.to_pylist(), values(a.values)
        return [v[o[i] : o[i + 1]] if ok else None for i, ok in enumerate(valid)]
    return a.to_pylist()


def read(path, name):
    column = LanceFileReader(path, columns=[name]).read_all(batch_size=1 << 20).to_table().column(name)
    return values(column)


def version(path):
    with open(path, "rb") as f:
        f.seek(-8, os.SEEK_END)
        return struct.unpack("<HH4s", f.read())[:2]


def main(folder):
    old = int(lance.__version__.split(".")[0]) < 5
    same = bad = unable = 0
    for path in sorted(glob.glob(os.path.join(folder, "*.ours"))):
        before = path[: -len("ours")] + "lance"
        with pa.ipc.open_file(path[: -len("ours")] + "arrow") as r:
            want = r.read_all()
        if old and version(before) == (2, 2):
            continue  # some of which end the process of such a release
        for field in want.schema:
            # Lance before 5 takes the booleans of full-zip pages for something else.
            wrong = old and "fullzip" in str(field.metadata) and pa.types.is_boolean(field.type)
            try:
                got = read(path, field.name)
            except BaseException as e:
                try:
                    read(before, field.name)
                except BaseException:
                    unable += 1
                    continue
                bad += 1
                print("%s: %s: Lance %s: %s" % (path, field.name, lance.__version__, str(e)[:200]))
                continue
            if str(values(want.column(field.name))) == str(got):
                same += 1
            elif wrong:
                unable += 1
            else:
                bad += 1
                print("%s: %s: Lance %s reads something else" % (path, field, lance.__version__))
    print("Lance %s: %d columns are the same, %d it does not read before either, %d are bad" % (lance.__version__, same, unable, bad))
    return 1 if bad or not same else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
