"""A table under construction, with rows numbered from 0 on."""

import datetime
import os

import lance
import pyarrow as pa

import values

RELEASE = int(lance.__version__.split(".")[0])


class Maker:
    """Writes one table. Keyword arguments are what a test varies.

    version: file version ("2.0", …; None for the release's default)
    names: "V2" or "V1" manifest names
    stable: stable row ids
    fragments, rows: how many appends of how many rows, where a recipe has a choice
    columns: a column set, or several
    """

    def __init__(self, uri, version=None, names="V2", stable=False, fragments=None, rows=None,
                 columns=None, storage_options=None, seed=0):
        self.uri, self.version, self.names, self.stable = uri, version, names, stable
        self.fragments, self.rows = fragments, rows
        self.columns, self.storage_options, self.seed = columns, storage_options, seed
        self.next, self.schema, self._ds = 0, None, None

    def pick(self, fragments, rows, columns):
        """A recipe's own sizes, where the test gave none."""
        self.fragments = self.fragments or fragments
        self.rows = self.rows or rows
        self.schema = values.schema(self.columns or columns, self.version)
        return self

    @property
    def ds(self):
        return lance.dataset(self.uri, storage_options=self.storage_options)

    def write(self, table, mode="append", uri=None, **kw):
        """One commit. The first creates the table."""
        target = uri if uri is not None else self.uri
        if self._ds is None and uri is None:
            mode = "create"
            kw.setdefault("enable_v2_manifest_paths", self.names == "V2")
            if self.stable:
                kw.setdefault("enable_stable_row_ids", True)
            if self.version:
                kw.setdefault("data_storage_version", self.version)
        ds = lance.write_dataset(table, target, mode=mode, storage_options=self.storage_options, **kw)
        if uri is None:
            self._ds = ds
        return ds

    def append(self, n=None, schema=None, **kw):
        n = self.rows if n is None else n
        t = values.table(schema or self.schema, self.next, n, self.seed)
        self.next += n
        return self.write(t, **kw)

    def appends(self, count=None, n=None):
        for _ in range(self.fragments if count is None else count):
            self.append(n)
        return self.ds

    def now(self):
        """The table's schema as it is, for appends after it changed."""
        self.schema = self.ds.schema
        return self.schema

    def path(self, *parts):
        return os.path.join(self.uri, *parts)


def write_only(uri, table, storage_options=None):
    """Data files of an append that is not committed yet; what commit_later takes."""
    import json

    from lance.fragment import write_fragments

    frags = write_fragments(table, uri, storage_options=storage_options)
    return [json.dumps(f.to_json()) for f in frags]


def commit_later(uri, frags, storage_options=None):
    """Commits what write_only left, on the newest version."""
    import json

    from lance.fragment import FragmentMetadata

    ds = lance.dataset(uri, storage_options=storage_options)
    op = lance.LanceOperation.Append([FragmentMetadata.from_json(f) for f in frags])
    return lance.LanceDataset.commit(uri, op, read_version=ds.version, storage_options=storage_options)


def age(path, days):
    """Sets a file's time back."""
    t = datetime.datetime.now().timestamp() - days * 86400
    os.utime(path, (t, t))

