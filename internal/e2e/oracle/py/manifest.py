"""Manifests read without Lance, so that what a version names does not rest on
the library that is judged or that judges. Protobuf by hand: numbers only."""

import os
import struct

MAGIC = b"LANC"


def fields(buf):
    """(number, value) of each field of a message, in order; ints or bytes."""
    i, out = 0, []

    def varint():
        nonlocal i
        v = shift = 0
        while True:
            b = buf[i]
            i += 1
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                return v

    while i < len(buf):
        key = varint()
        number, wire = key >> 3, key & 7
        if wire == 0:
            out.append((number, varint()))
        elif wire == 2:
            n = varint()
            if i + n > len(buf):
                raise ValueError("a field ends behind its message")
            out.append((number, bytes(buf[i : i + n])))
            i += n
        elif wire in (1, 5):
            n = 8 if wire == 1 else 4
            out.append((number, int.from_bytes(buf[i : i + n], "little")))
            i += n
        else:
            raise ValueError("wire type %d" % wire)
    return out


def one(msg, number, default=None):
    """The last value of a field."""
    for n, v in reversed(msg):
        if n == number:
            return v
    return default


def each(msg, number):
    return [v for n, v in msg if n == number]


def packed(msg, number):
    """A repeated int32, packed or not."""
    out = []
    for v in each(msg, number):
        if isinstance(v, bytes):
            i = 0
            while i < len(v):
                x = shift = 0
                while True:
                    b = v[i]
                    i += 1
                    x |= (b & 127) << shift
                    shift += 7
                    if b < 128:
                        break
                out.append(x - (1 << 64) if x >> 63 else x)
        else:
            out.append(v - (1 << 64) if v >> 63 else v)
    return out


def split(raw):
    """The manifest message and the index messages of a manifest file."""
    if len(raw) < 20 or raw[-4:] != MAGIC:
        raise ValueError("not a manifest")

    def section(pos):
        (n,) = struct.unpack_from("<I", raw, pos)
        if pos + 4 + n > len(raw):
            raise ValueError("a section ends behind its file")
        return raw[pos + 4 : pos + 4 + n]

    (pos,) = struct.unpack_from("<Q", raw, len(raw) - 16)
    msg = fields(section(pos))
    at = one(msg, 6)
    indices = [] if at is None else [fields(i) for i in each(fields(section(at)), 1)]
    return msg, indices


def number(name):
    """The version that a manifest's file name stands for; None for other files."""
    stem, dot, ext = name.partition(".")
    if dot == "" or ext != "manifest":
        return None
    if stem.startswith("d") and stem[1:].isdigit():
        return int(stem[1:])
    if not stem.isdigit():
        return None
    return (1 << 64) - 1 - int(stem) if len(stem) == 20 else int(stem)


def uuid(b):
    h = b.hex()
    return "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))


def _field(raw):
    """A schema field, the entries of its metadata map in order: a map has none of its own."""
    def text(n, v):
        if n == 10 and v.endswith(b"\x12\x00"):
            v = v[:-2]  # an empty value, which may be left out
        return v.hex() if isinstance(v, bytes) else v

    return sorted((n, text(n, v)) for n, v in fields(raw))


def summary(raw, root):
    """What one manifest says, and the names below root that it needs.

    root is the table's (or the branch's) own directory; files of other bases
    come with their absolute path.
    """
    msg, indices = split(raw)
    bases = {}
    for b in each(msg, 18):
        b = fields(b)
        path = one(b, 4, b"").decode()
        path = path[len("file://") :] if path.startswith("file://") else path
        bases[one(b, 1, 0)] = (path, bool(one(b, 3, 0)))
    names = []

    def name(base, folder, rel):
        if base is None:
            names.append(folder + "/" + rel)
            return
        path, whole = bases[base]
        full = os.path.join(path, folder, rel) if whole else os.path.join(path, rel)
        names.append(os.path.relpath(full, root) if _inside(full, root) else full)

    frags = []
    for f in each(msg, 2):
        f = fields(f)
        files = []
        for d in each(f, 2):
            d = fields(d)
            path = one(d, 1, b"").decode()
            name(one(d, 7), "data", path)
            files.append(
                {
                    "path": path,
                    "fields": packed(d, 2),
                    "columns": packed(d, 3),
                    "version": "%d.%d" % (one(d, 4, 0), one(d, 5, 0)),
                    "size": one(d, 6, 0),
                    "base": one(d, 7),
                }
            )
        deleted = 0
        for d in each(f, 3):
            d = fields(d)
            ext = "bin" if one(d, 1, 0) else "arrow"
            deleted = one(d, 4, 0)
            rel = "%d-%d-%d.%s" % (one(f, 1, 0), one(d, 2, 0), one(d, 3, 0), ext)
            name(one(d, 7), "_deletions", rel)
        frags.append(
            {
                "id": one(f, 1, 0),
                "files": files,
                "physical_rows": one(f, 4, 0),
                "deleted": deleted,
                "row_ids": one(f, 5, b"").hex(),
                "numbers": sorted({n for n, _ in f}),
            }
        )
    txn = one(msg, 12, b"").decode()
    if txn:
        names.append("_transactions/" + txn)
    found, maybe = [], []
    for i in indices:
        u = uuid(one(fields(one(i, 1, b"")), 1, b"\0" * 16))
        if one(i, 3, b"").startswith(b"__"):
            # Lance's own records need no files.
            maybe.append("_indices/" + u)
        else:
            name(one(i, 9), "_indices", u)
        found.append({"uuid": u, "name": one(i, 3, b"").decode(), "fields": packed(i, 2)})
    fmt = fields(one(msg, 15, b""))
    stamp = fields(one(msg, 7, b""))
    return {
        "version": one(msg, 3, 0),
        "seconds": one(stamp, 1, 0),
        "nanos": one(stamp, 2, 0),
        "reader_flags": one(msg, 9, 0),
        "writer_flags": one(msg, 10, 0),
        "max_fragment_id": one(msg, 11),
        "next_row_id": one(msg, 14, 0),
        "file_version": one(fmt, 2, b"").decode(),
        "branch": one(msg, 20, b"").decode(),
        "inline_v13": one(msg, 21),
        "inline": one(msg, 23),
        "schema": [_field(v) for v in each(msg, 1)],
        "numbers": sorted({n for n, _ in msg}),
        "fragments": frags,
        "indices": found,
        "names": sorted(set(names)),
        "maybe": sorted(maybe),
    }


def _inside(path, root):
    return os.path.abspath(path).startswith(os.path.abspath(root) + os.sep)
