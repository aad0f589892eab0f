"""Values for any Arrow type, made from a row number alone: what a recipe writes
is the same on every run and needs no file."""

import datetime
import decimal

import numpy as np
import pyarrow as pa


def array(t, start, n, nullable=True, salt=0, name=""):
    """n values of the type for the rows from start on; about one in seven is null."""
    rng = np.random.default_rng([salt, start, n, len(name)])
    mask = (rng.random(n) < 0.14) if nullable else np.zeros(n, bool)
    return _make(t, start, n, mask, rng)


def _make(t, start, n, mask, rng):
    if isinstance(t, pa.BaseExtensionType) and t.extension_name == "lance.blob.v2":
        import lance

        return lance.blob_array([None if mask[i] else rng.bytes(start + i) for i in range(n)])
    if isinstance(t, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(t, _make(t.storage_type, start, n, mask, rng))
    if pa.types.is_null(t):
        return pa.nulls(n)
    if pa.types.is_dictionary(t):
        words = _make(t.value_type, 0, min(n, 7) or 1, np.zeros(min(n, 7) or 1, bool), rng)
        keys = pa.array(rng.integers(0, len(words), n), t.index_type, mask=mask)
        return pa.DictionaryArray.from_arrays(keys, words, ordered=t.ordered)
    if pa.types.is_struct(t):
        kids = [
            _make(f.type, start, n, (rng.random(n) < 0.14) & f.nullable, rng) for f in t
        ]
        return pa.StructArray.from_arrays(kids, fields=list(t), mask=pa.array(mask))
    if pa.types.is_fixed_size_list(t):
        flat = _make(t.value_type, start, n * t.list_size, np.zeros(n * t.list_size, bool), rng)
        return pa.FixedSizeListArray.from_arrays(flat, type=t, mask=pa.array(mask))
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        size = np.where(mask, 0, rng.integers(0, 5, n))
        offsets = np.concatenate([[0], np.cumsum(size)])
        items = int(offsets[-1])
        hole = (rng.random(items) < 0.14) & t.value_field.nullable
        flat = _make(t.value_type, start, items, hole, rng)
        kind = pa.LargeListArray if pa.types.is_large_list(t) else pa.ListArray
        code = pa.int64() if pa.types.is_large_list(t) else pa.int32()
        return kind.from_arrays(pa.array(offsets, code), flat, type=t, mask=pa.array(mask))
    if pa.types.is_map(t):
        out = []
        for i in range(n):
            if mask[i]:
                out.append(None)
                continue
            k = int(rng.integers(0, 4))
            keys = [_scalar(t.key_type, start + i, j, rng) for j in range(k)]
            out.append(list(zip(keys, [_scalar(t.item_type, start + i, j, rng) for j in range(k)])))
        return pa.array(out, t)
    if pa.types.is_float16(t):
        return pa.array(rng.standard_normal(n).astype(np.float16), t, mask=mask)
    if pa.types.is_floating(t):
        v = rng.standard_normal(n)
        # The values that a careless copy changes.
        for special in (np.nan, -0.0, np.inf):
            if n > 3:
                v[int(rng.integers(0, n))] = special
        return pa.array(v.astype(t.to_pandas_dtype()), t, mask=mask)
    if pa.types.is_integer(t):
        info = np.iinfo(t.to_pandas_dtype())
        v = rng.integers(info.min, info.max, n, dtype=t.to_pandas_dtype(), endpoint=True)
        return pa.array(v, t, mask=mask)
    if pa.types.is_boolean(t):
        return pa.array(rng.random(n) < 0.5, t, mask=mask)
    values = [None if mask[i] else _scalar(t, start + i, 0, rng) for i in range(n)]
    return pa.array(values, t)


def _scalar(t, row, j, rng):
    if pa.types.is_string(t) or pa.types.is_large_string(t):
        return ("", "é%d" % row, "word %d %d" % (row, j), "x" * (row % 50))[int(rng.integers(0, 4))] + (
            str(j) if j else ""
        )
    if pa.types.is_binary(t) or pa.types.is_large_binary(t):
        return rng.bytes(int(rng.integers(0, 20)))
    if pa.types.is_fixed_size_binary(t):
        return rng.bytes(t.byte_width)
    if pa.types.is_decimal(t):
        return decimal.Decimal(int(rng.integers(-(10**8), 10**8))).scaleb(-t.scale)
    if pa.types.is_timestamp(t):
        tz = datetime.timezone.utc if t.tz else None
        return datetime.datetime(2020, 1, 1, tzinfo=tz) + datetime.timedelta(seconds=row * 61 + j)
    if pa.types.is_date(t):
        return datetime.date(2020, 1, 1) + datetime.timedelta(days=row % 20000)
    if pa.types.is_time(t):
        return datetime.time(row % 24, row % 60, row % 59)
    if pa.types.is_duration(t):
        return datetime.timedelta(seconds=row)
    if pa.types.is_integer(t):
        return int(rng.integers(0, 100))
    if pa.types.is_floating(t):
        return float(np.float32(rng.standard_normal()))
    if pa.types.is_boolean(t):
        return bool(rng.integers(0, 2))
    raise ValueError("no values for %s" % t)


def table(schema, start, n, salt=0):
    """A table of the schema whose column "id" counts the rows."""
    cols = []
    for f in schema:
        if f.name == "id":
            cols.append(pa.array(range(start, start + n), f.type))
        else:
            cols.append(array(f.type, start, n, f.nullable, salt, f.name))
    # A blob's values come in a type of their own.
    fields = [f.with_type(c.type) for f, c in zip(schema, cols)]
    return pa.Table.from_arrays(cols, schema=pa.schema(fields, metadata=schema.metadata))


# Columns by the name of a set, and which file versions take them.
VEC = pa.list_(pa.float32(), 128)
SETS = {
    "plain vector": [("v", VEC, False)],  # as embeddings are: no nulls
    "slim": [("s", pa.string())],
    "vector": [("v", VEC), ("s", pa.string())],
    "numbers": [
        ("i8", pa.int8()),
        ("u16", pa.uint16()),
        ("i32", pa.int32()),
        ("u64", pa.uint64()),
        ("f16", pa.float16()),
        ("f32", pa.float32()),
        ("f64", pa.float64()),
        ("b", pa.bool_()),
    ],
    "times": [
        ("ts", pa.timestamp("us", "UTC")),
        ("tn", pa.timestamp("ns")),
        ("d32", pa.date32()),
        ("d64", pa.date64()),
        ("t64", pa.time64("us")),
        ("dur", pa.duration("ms")),
        ("dec", pa.decimal128(20, 4)),
        ("dec256", pa.decimal256(40, 4)),
    ],
    "bytes": [
        ("s", pa.string()),
        ("ls", pa.large_string()),
        ("by", pa.binary()),
        ("lb", pa.large_binary()),
        ("fb", pa.binary(16)),
    ],
    "vectors": [
        ("v8", pa.list_(pa.float32(), 8)),
        ("v128", VEC),
        ("h128", pa.list_(pa.float16(), 128)),
        ("u16", pa.list_(pa.uint8(), 16)),
    ],
    "nested": [
        ("li", pa.list_(pa.int32())),
        ("ls", pa.large_list(pa.string())),
        ("ll", pa.list_(pa.list_(pa.float32()))),
        ("st", pa.struct([("a", pa.int32()), ("b", pa.string()), ("c", pa.list_(pa.int16()))])),
        ("ls2", pa.list_(pa.struct([("x", pa.int32()), ("y", pa.float32())]))),
    ],
    "dictionary": [
        ("di", pa.dictionary(pa.int32(), pa.string())),
    ],
    "map": [("m", pa.map_(pa.string(), pa.int32()))],
}


def whole(f):
    """The field with no struct that may be null: what file version 2.0 can hold."""
    t = f.type
    if pa.types.is_struct(t):
        return pa.field(f.name, pa.struct([whole(c) for c in t]), nullable=False)
    if pa.types.is_list(t) and pa.types.is_struct(t.value_type):
        return pa.field(f.name, pa.list_(whole(t.value_field)), f.nullable)
    return f


def schema(names, version=None):
    """The schema of one or more sets, with "id" first, as the file version can hold it."""
    out = [pa.field("id", pa.int64(), nullable=False)]
    taken = {"id"}
    for set_name in [names] if isinstance(names, str) else names:
        for name, t, *null in SETS[set_name]:
            while name in taken:
                name += "_"
            taken.add(name)
            f = pa.field(name, t, nullable=null != [False])
            out.append(whole(f) if version == "2.0" else f)
    return pa.schema(out)
