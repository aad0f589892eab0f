"""Values of Arrow arrays as canonical bytes.

Two arrays give the same bytes for a row exactly when the row holds the same
value: null differs from empty and from zero, floats are compared by their
bits, a dictionary counts as what it decodes to, and neither chunks nor offsets
nor what lies beneath a null show.
"""

import hashlib

import pyarrow as pa

NULL = b"\x00"
# A Mersenne prime: sequences of rows are folded into one number below it, so
# that the number of two sequences put together follows from their numbers.
MODULUS = (1 << 127) - 1
BASE = 0x1F3D5B79A8C6E4021B3F5D7 | 1


def rows(arr):
    """One bytes object per value of the array."""
    if isinstance(arr, pa.ChunkedArray):
        out = []
        for chunk in arr.chunks:
            out.extend(rows(chunk))
        return out
    t = arr.type
    if isinstance(t, pa.BaseExtensionType):
        return rows(arr.storage)
    if pa.types.is_dictionary(t):
        return rows(arr.dictionary_decode())
    if pa.types.is_null(t):
        return [NULL] * len(arr)
    valid = arr.is_valid().to_pylist() if arr.null_count else None
    return [
        NULL if valid is not None and not valid[i] else b"\x01" + v
        for i, v in enumerate(_payload(arr))
    ]


def _payload(arr):
    """The bytes of each value, whatever for those that are null."""
    t = arr.type
    if pa.types.is_boolean(t):
        return [b"\x01" if v else b"\x00" for v in arr.to_pylist()]
    if pa.types.is_struct(t):
        # flatten() has the children null where the struct is: what lies there may be no value at all.
        kids = [rows(k) for k in arr.flatten()]
        return [b"".join(_sized(k[i]) for k in kids) for i in range(len(arr))]
    if pa.types.is_fixed_size_list(t):
        n = t.list_size
        return _pieces(arr.values, [(arr.offset + i) * n for i in range(len(arr) + 1)])
    if pa.types.is_map(t):
        offsets = arr.offsets.to_pylist()
        keys, items = rows(arr.keys), rows(arr.items)
        lo = offsets[0] if offsets else 0
        # keys and items are cut to the slice in some releases of pyarrow.
        shift = lo if len(keys) < (offsets[-1] if offsets else 0) else 0
        return [
            b"".join(_sized(keys[j - shift]) + _sized(items[j - shift]) for j in range(a, b))
            for a, b in zip(offsets, offsets[1:])
        ]
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return _pieces(arr.values, arr.offsets.to_pylist())
    if _variable(t):
        return _slices(arr)
    return _fixed(arr)


def _pieces(values, offsets):
    """values cut at the offsets, each piece as its rows put together."""
    if values.null_count == 0 and _plain(values.type) and offsets:
        w = values.type.bit_width // 8
        lo = offsets[0]
        data = _raw(values.slice(lo, offsets[-1] - lo), w)
        return [b"\x03" + data[(a - lo) * w : (b - lo) * w] for a, b in zip(offsets, offsets[1:])]
    lo = offsets[0] if offsets else 0
    kids = rows(values.slice(lo, (offsets[-1] if offsets else 0) - lo))
    out = []
    for a, b in zip(offsets, offsets[1:]):
        piece = kids[a - lo : b - lo]
        if _plain(values.type) and NULL not in piece:
            out.append(b"\x03" + b"".join(k[1:] for k in piece))
        else:
            out.append(b"\x02" + b"".join(_sized(k) for k in piece))
    return out


def _plain(t):
    """Whether each value is a whole number of bytes side by side in one buffer."""
    if isinstance(t, pa.BaseExtensionType) or pa.types.is_boolean(t) or pa.types.is_nested(t):
        return False
    if pa.types.is_dictionary(t) or pa.types.is_null(t) or _variable(t):
        return False
    return True


def _variable(t):
    return (
        pa.types.is_string(t)
        or pa.types.is_large_string(t)
        or pa.types.is_binary(t)
        or pa.types.is_large_binary(t)
    )


def _slices(arr):
    if len(arr) == 0:
        return []
    wide = pa.types.is_large_string(arr.type) or pa.types.is_large_binary(arr.type)
    code = pa.int64() if wide else pa.int32()
    _, index, data = arr.buffers()
    offsets = pa.Array.from_buffers(code, len(arr) + 1, [None, index], offset=arr.offset).to_pylist()
    view = memoryview(data) if data is not None else memoryview(b"")
    return [bytes(view[a:b]) for a, b in zip(offsets, offsets[1:])]


def _fixed(arr):
    w = arr.type.bit_width // 8
    raw = _raw(arr, w)
    return [raw[i : i + w] for i in range(0, len(raw), w)]


def _raw(arr, w):
    """The values of w bytes each, side by side."""
    data = arr.buffers()[1]
    if data is None:
        return b"\x00" * (w * len(arr))
    return memoryview(data)[arr.offset * w : (arr.offset + len(arr)) * w].tobytes()


def _sized(b):
    return len(b).to_bytes(4, "little") + b


class Fold:
    """What a sequence of rows comes to: its length and a number.

    fold(a ++ b) = fold(a) * BASE^len(b) + fold(b), modulo MODULUS.
    """

    def __init__(self):
        self.n, self.number, self.total = 0, 0, 0

    def add(self, digest):
        d = int.from_bytes(digest, "little")
        self.number = (self.number * BASE + d) % MODULUS
        self.total = (self.total + d) % MODULUS
        self.n += 1

    def json(self):
        """Hex: in order, and whatever the order."""
        return {"rows": self.n, "order": "%032x" % self.number, "set": "%032x" % self.total}


def digests(columns):
    """One digest per row over columns that are lists of bytes, as from rows()."""
    out = []
    for parts in zip(*columns):
        h = hashlib.blake2b(digest_size=15)
        for p in parts:
            h.update(_sized(p))
        out.append(h.digest())
    return out


def column(values):
    """One digest over the values of a column, in order."""
    h = hashlib.blake2b(digest_size=16)
    for v in values:
        h.update(_sized(v))
    return h.hexdigest()
