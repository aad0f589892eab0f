"""Arrow arrays grown from a short text and a random generator: leaves of every type in
several kinds of content, nested to any depth, null or empty at every level.

A spec is a list: ["leaf", type, content] or one of
["struct", spec, …], ["packed", spec, …], ["list", spec], ["long", spec] (a list whose values go on for many chunks),
["large", spec], ["fsl", n, spec], ["map", spec].
"""

import numpy as np
import pyarrow as pa

import leaves


class Grower:
    """nulls: "none"; "some" at every level; "all" (the outermost); "leaf" (all leaves, nothing
    above); "empty" (no null, but no list holds anything); "outer" (some, the outermost only)."""

    def __init__(self, rng, nulls, metadata=None, whole=False):
        """whole: structs are never null, as file version 2.0 has it; their fields are in their place."""
        self.rng, self.nulls, self.metadata, self.whole = rng, nulls, metadata or {}, whole

    def type(self, spec, top=False):
        kind = spec[0]
        if kind == "leaf":
            return leaves.type_of(spec[1])
        if kind in ("struct", "packed"):
            return pa.struct([self.field("abcdefgh"[i], s) for i, s in enumerate(spec[1:])])
        if kind in ("list", "long"):
            return pa.list_(self.field("item", spec[1]))
        if kind == "large":
            return pa.large_list(self.field("item", spec[1]))
        if kind == "fsl":
            return pa.list_(self.field("item", spec[2]), spec[1])
        if kind == "map":
            return pa.map_(pa.string(), self.field("value", spec[1]))
        raise ValueError(spec)

    def field(self, name, spec):
        """A field below the top. What steers the encoding stands on the leaves, packing on the struct."""
        meta = {}
        if spec[0] == "leaf":
            meta = {k: v for k, v in self.metadata.items() if k != "lance-encoding:packed"}
        if spec[0] == "packed":
            meta = {"lance-encoding:packed": "true"}
        return pa.field(name, self.type(spec), metadata=meta or None)

    def top(self, name, spec):
        """A column. Settings of a column that is no leaf go to both."""
        meta = dict(self.metadata)
        if spec[0] == "packed":
            meta["lance-encoding:packed"] = "true"
        return pa.field(name, self.type(spec), metadata=meta or None)

    def mask(self, n, depth, leaf):
        r, kind = self.rng, self.nulls
        share = 0.0
        if kind == "some" or (kind == "outer" and depth == 0):
            share = 0.15
        if (kind == "all" and depth == 0) or (kind == "leaf" and leaf):
            share = 1.0
        if share in (0.0, 1.0):
            return np.full(n, share == 1.0)
        m = r.random(n) < share
        if n > 40:  # a run of them, longer than any word of a bitmap
            a = int(r.integers(0, n - 20))
            m[a : a + int(r.integers(5, 20))] = True
        return m

    def grow(self, spec, n, depth=0):
        kind = spec[0]
        mask = self.mask(n, depth, kind == "leaf")
        some = mask.any()
        if kind == "leaf":
            return leaves.make(spec[1], spec[2], n, mask, self.rng)
        t = self.type(spec)
        if kind in ("struct", "packed"):
            if self.whole:
                mask, some, depth = np.zeros(n, bool), False, depth - 1
            kids = [self.grow(s, n, depth + 1) for s in spec[1:]]
            return pa.StructArray.from_arrays(kids, fields=list(t), mask=pa.array(mask) if some else None)
        if kind == "fsl":
            flat = self.grow(spec[2], n * spec[1], depth + 1)
            return pa.FixedSizeListArray.from_arrays(flat, type=t, mask=pa.array(mask) if some else None)
        size = np.zeros(n, np.int64) if self.nulls == "empty" else self.sizes(n, kind)
        # What lies beneath a null list is nobody's, and sometimes something.
        if self.rng.random() < 0.5:
            size[mask] = 0
        offsets = np.concatenate([[0], np.cumsum(size)])
        items = int(offsets[-1])
        if kind == "map":
            keys = leaves.make("string", "short", items, np.zeros(items, bool), self.rng)
            values = self.grow(spec[1], items, depth + 1)
            entries = pa.StructArray.from_arrays([keys, values], fields=[t.key_field, t.item_field])
            return pa.Array.from_buffers(t, n, [bits(mask), pa.py_buffer(offsets.astype(np.int32))], children=[entries])
        flat = self.grow(spec[1], items, depth + 1)
        code = np.int64 if kind == "large" else np.int32
        return pa.Array.from_buffers(t, n, [bits(mask), pa.py_buffer(offsets.astype(code))], children=[flat])

    def sizes(self, n, kind):
        if kind == "long":
            return np.where(self.rng.random(n) < 0.3, self.rng.integers(0, 4, n), self.rng.integers(500, 9000, n))
        s = self.rng.integers(0, 5, n)
        if n > 30:
            s[self.rng.integers(0, n, 2)] = self.rng.integers(20, 60)
            a = int(self.rng.integers(0, n - 12))
            s[a : a + 10] = 0
        return s


def bits(mask):
    """The validity bitmap of a mask of nulls; None when there are none."""
    if not mask.any():
        return None
    return pa.py_buffer(np.packbits(~mask, bitorder="little"))
