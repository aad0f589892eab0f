"""What Lance reads, as Arrow streams."""

import os

import lance
import pyarrow as pa

import cellwriter

LINEAGE = ["_row_created_at_version", "_row_last_updated_at_version"]


def dump(uri, path, version=None, lineage=False, branch=None):
    """A version with row ids and addresses; the reason when Lance can't read it."""
    ds = lance.dataset(uri) if version is None else lance.dataset(uri, version=version)
    if branch:
        ds = ds.checkout_version((branch, None))
    try:
        t = read(ds, LINEAGE if lineage else [])
    except BaseException as e:
        return "%s: %s" % (type(e).__name__, e)
    cellwriter.store(t, path)
    return ""


def read(ds, more):
    """All rows; column by column where Lance miscounts a fixed-size list of structs."""
    names = list(ds.schema.names)
    try:
        return ds.to_table(columns=names + more, with_row_id=True, with_row_address=True)
    except Exception as e:
        if "differing lengths" not in str(e):
            raise
    t = ds.to_table(columns=more, with_row_id=True, with_row_address=True)
    for i, n in enumerate(names):
        t = t.add_column(i, ds.schema.field(n), ds.to_table(columns=[n]).column(0))
    return t


def dump_all(uri, root, lineage=False):
    """Every version of main: number, and the reason where Lance can't read it."""
    out = []
    for v in lance.dataset(uri).versions():
        n = v["version"]
        out.append({"version": n, "reason": dump(uri, os.path.join(root, "%d.arrow" % n), n, lineage)})
    return out
