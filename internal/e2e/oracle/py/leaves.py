"""Leaves: arrays of one type each, of several kinds of content."""

import numpy as np
import pyarrow as pa

UTC = "UTC"
TYPES = {
    "bool": pa.bool_(), "i8": pa.int8(), "i16": pa.int16(), "i32": pa.int32(), "i64": pa.int64(),
    "u8": pa.uint8(), "u16": pa.uint16(), "u32": pa.uint32(), "u64": pa.uint64(),
    "f16": pa.float16(), "f32": pa.float32(), "f64": pa.float64(),
    "dec9": pa.decimal128(9, 2), "dec38": pa.decimal128(38, 10), "dec76": pa.decimal256(76, 20),
    "date32": pa.date32(), "date64": pa.date64(),
    "time_s": pa.time32("s"), "time_ms": pa.time32("ms"), "time_us": pa.time64("us"), "time_ns": pa.time64("ns"),
    "ts_s": pa.timestamp("s"), "ts_ms": pa.timestamp("ms", UTC), "ts_us": pa.timestamp("us", "Europe/Berlin"),
    "ts_ns": pa.timestamp("ns", "+07:30"),
    "dur_s": pa.duration("s"), "dur_ms": pa.duration("ms"), "dur_us": pa.duration("us"), "dur_ns": pa.duration("ns"),
    "string": pa.string(), "large_string": pa.large_string(), "binary": pa.binary(), "large_binary": pa.large_binary(),
    "fsb1": pa.binary(1), "fsb3": pa.binary(3), "fsb7": pa.binary(7), "fsb16": pa.binary(16), "fsb40": pa.binary(40), "fsb300": pa.binary(300),
    "null": pa.null(),
    "dict_i8_string": pa.dictionary(pa.int8(), pa.string()),
    "dict_u8_string": pa.dictionary(pa.uint8(), pa.string()),
    "dict_i16_string": pa.dictionary(pa.int16(), pa.string()),
    "dict_u16_binary": pa.dictionary(pa.uint16(), pa.binary()),
    "dict_i32_string": pa.dictionary(pa.int32(), pa.string()),
    "dict_i64_string": pa.dictionary(pa.int64(), pa.string()),
    "dict_i32_i64": pa.dictionary(pa.int32(), pa.int64()),
    "dict_i32_f64": pa.dictionary(pa.int32(), pa.float64()),
    "v_f32_4": pa.list_(pa.float32(), 4), "v_f32_128": pa.list_(pa.float32(), 128), "v_f64_80": pa.list_(pa.float64(), 80),
    "v_f16_16": pa.list_(pa.float16(), 16), "v_f16_200": pa.list_(pa.float16(), 200), "v_u8_16": pa.list_(pa.uint8(), 16), "v_u8_700": pa.list_(pa.uint8(), 700),
    "v_i32_1": pa.list_(pa.int32(), 1), "v_i64_40": pa.list_(pa.int64(), 40), "v_bool_8": pa.list_(pa.bool_(), 8), "v_bool_5": pa.list_(pa.bool_(), 5),
    "v_dec_2": pa.list_(pa.decimal128(20, 3), 2), "v_ts_3": pa.list_(pa.timestamp("us"), 3),
    "vv_f32_3_2": pa.list_(pa.list_(pa.float32(), 2), 3), "vv_u8_4_100": pa.list_(pa.list_(pa.uint8(), 100), 4), "v_fsb_3": pa.list_(pa.binary(5), 3),
}


def type_of(name):
    if name == "bf16":
        try:
            from lance.arrow import BFloat16Type
        except ImportError:  # without pandas, lance.arrow of some releases does not load
            from lance._arrow.bf16 import BFloat16Type
        return BFloat16Type()
    if name == "json":
        return pa.json_()
    if name == "uuid":
        return pa.uuid()
    if name == "point":
        return Point()
    return TYPES[name]


class Point(pa.ExtensionType):
    """An extension that nobody else knows."""

    def __init__(self):
        super().__init__(pa.list_(pa.float32(), 2), "example.point")

    def __arrow_ext_serialize__(self):
        return b'{"unit":"m"}'

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, text):
        return cls()


def make(name, content, n, mask, rng):
    """n values of the type, those of the mask null."""
    t = type_of(name)
    if isinstance(t, pa.BaseExtensionType):
        if name == "json":
            return pa.ExtensionArray.from_storage(t, pa.array(json_texts(n, mask, rng), pa.string()))
        return pa.ExtensionArray.from_storage(t, of_type(t.storage_type, content, n, mask, rng))
    return of_type(t, content, n, mask, rng)


def json_texts(n, mask, rng):
    texts = ['{"a":%d,"b":[1,2.5,null],"c":"é"}', "%d", '["%d"]', '{"k%d":{}}', "true", "null", '"x%d"']
    out = []
    for i in range(n):
        s = texts[int(rng.integers(0, len(texts)))]
        out.append(None if mask[i] else s % i if "%" in s else s)
    return out


def of_type(t, content, n, mask, rng):
    if pa.types.is_null(t):
        return pa.nulls(n)
    validity = None if not mask.any() else pa.py_buffer(np.packbits(~mask, bitorder="little"))
    if pa.types.is_dictionary(t):
        k = 6 if content == "few" else 90
        words = of_type(t.value_type, "few" if content == "const" else "wide" if not _text(t.value_type) else "short",
                        k, rng.random(k) < 0.1 if content == "nullword" else np.zeros(k, bool), rng)
        keys = shape(content, n, rng, k).astype(t.index_type.to_pandas_dtype())
        return pa.DictionaryArray.from_arrays(pa.array(keys, t.index_type, mask=mask), words, ordered=t.ordered)
    if pa.types.is_fixed_size_list(t):
        if content == "holes" and n and mask.all():
            return pa.nulls(n, t)  # nothing below the nulls either
        k = n * t.list_size
        hole = rng.random(k) < 0.1 if content == "holes" else np.zeros(k, bool)
        flat = of_type(t.value_type, "wide" if content == "holes" else content, k, hole, rng)
        if content == "const" and n:
            one = flat.slice(0, t.list_size)
            flat = pa.concat_arrays([one] * n)
        return pa.FixedSizeListArray.from_arrays(flat, type=t, mask=pa.array(mask) if validity else None)
    if _text(t):
        return texts(t, content, n, mask, rng)
    if pa.types.is_boolean(t):
        v = {"const": np.ones(n, bool), "runs": (np.arange(n) // 70) % 2 == 0}.get(content)
        v = rng.random(n) < 0.5 if v is None else v
        return pa.Array.from_buffers(t, n, [validity, pa.py_buffer(np.packbits(v, bitorder="little"))])
    width = t.bit_width // 8
    return pa.Array.from_buffers(t, n, [validity, pa.py_buffer(fixed(t, width, content, n, rng))])


def fixed(t, width, content, n, rng):
    """The bytes of n values of a fixed width."""
    if pa.types.is_floating(t) and content in ("unit", "sorted", "small"):
        kind = {2: np.float16, 4: np.float32, 8: np.float64}[width]
        v = rng.random(n)
        return (np.sort(v) if content == "sorted" else v).astype(kind).tobytes()
    if width in (1, 2, 4, 8) and not pa.types.is_fixed_size_binary(t) and not (pa.types.is_floating(t)):
        return integers(t, width, content, n, rng).tobytes()
    if pa.types.is_decimal(t) and content not in ("wide",):
        low = shape(content, n, rng, 1 << 30).astype(np.int64) - (5 if content == "small" else 0)
        out = np.zeros((n, width // 8), np.int64)
        out[:, 0] = low
        out[:, 1:] = (low >> 63)[:, None]
        return out.tobytes()
    raw = rng.integers(0, 256, (n, width), np.uint8)
    if pa.types.is_decimal(t):
        # Within the precision: the upper bytes are the sign.
        used = {9: 3, 38: 15, 20: 8, 76: 31}[t.precision]
        raw[:, used:] = np.where(raw[:, used - 1 : used] >= 128, 255, 0)
    if content == "wide":
        if pa.types.is_floating(t) and n > 6:
            # NaNs with a payload, both zeros, infinities, a subnormal.
            specials = {2: [0x7E01, 0xFE55, 0x8000, 0, 0x7C00, 0xFC00, 1],
                        4: [0x7FC00001, 0xFFC12345, 0x80000000, 0, 0x7F800000, 0xFF800000, 1],
                        8: [0x7FF8000000000001, 0xFFF8123456789ABC, 1 << 63, 0, 0x7FF << 52, 0xFFF << 52, 1]}[width]
            at = rng.integers(0, n, 7)
            for i, s in zip(at, specials):
                raw[i] = np.frombuffer(int(s).to_bytes(width, "little"), np.uint8)
        return raw.tobytes()
    words = raw[: max(1, min(n, 600))]
    return words[shape(content, n, rng, len(words)) % len(words)].tobytes() if n else b""


def integers(t, width, content, n, rng):
    kind = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[width]
    day = {pa.time32("s"): 86400, pa.time32("ms"): 86400000, pa.time64("us"): 86400000000, pa.time64("ns"): 86400000000000}.get(t)
    if content == "wide":
        v = rng.integers(0, 1 << 64, n, np.uint64, endpoint=False) if width == 8 else rng.integers(0, 1 << (8 * width), n)
        if day:
            v = v % day
        if pa.types.is_date64(t):
            return ((rng.integers(-30000, 30000, n)) * 86400000).astype(np.int64)
        if pa.types.is_timestamp(t) or pa.types.is_duration(t):
            return (v.astype(np.int64) // 4).astype(np.int64)
        return v.astype(kind)
    v = shape(content, n, rng, min(1 << (8 * width), 1 << 40))
    if pa.types.is_signed_integer(t) and content == "small":
        v = v - 50
    if pa.types.is_date64(t):
        v = v % 30000 * 86400000
    elif day:
        v = v % day
    return v.astype(np.int64).astype(kind)


def shape(content, n, rng, top):
    """n integers below top, of a kind of content."""
    i = np.arange(n, dtype=np.int64)
    if content == "const":
        return np.full(n, 77 % top, np.int64)
    if content == "runs":
        return (rng.integers(0, top, n // 60 + 1))[i // 60]
    if content == "few":
        return rng.integers(0, top, 5)[rng.integers(0, 5, n)]
    if content == "sorted":
        return np.sort(rng.integers(0, top, n))
    if content == "small":
        return rng.integers(0, min(top, 100), n)
    if content == "outlier":
        v = rng.integers(0, min(top, 4), n)
        v[rng.random(n) < 0.01] = top - 1
        return v
    return rng.integers(0, top, n)


def _text(t):
    return pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_binary(t) or pa.types.is_large_binary(t)


def texts(t, content, n, mask, rng):
    binary = pa.types.is_binary(t) or pa.types.is_large_binary(t)
    words = WORDS
    if content == "const":
        v = [b"the same"] * n
    elif content == "blank":
        v = [b""] * n
    elif content == "few":
        pool = [b"", b"alpha", b"beta and more", "Düsseldorf".encode(), b"a rather longer one than the others"]
        v = [pool[k] for k in rng.integers(0, len(pool), n)]
    elif content == "runs":
        v = [b"run %d" % (k // 40) for k in range(n)]
    elif content == "long":
        pick = rng.integers(0, len(words), (n, 70))
        v = [b" ".join(words[k] for k in row) + b" %d" % i for i, row in enumerate(pick)]
    elif content == "huge":
        v = [rng.bytes(int(k)) if binary else b"%x " % int(k) * (int(k) // 3) for k in rng.integers(1000, 6000, n)]
    elif content == "mixed":
        size = np.where(rng.random(n) < 0.02, 3000, 12)
        v = [(b"%d:" % i + b"some words %d again " % (i % 50) * 200)[: size[i]] for i in range(n)]
    elif content == "same_length":
        v = [b"%08d" % int(k) for k in rng.integers(0, 10**8, n)]
    else:  # short
        pick = rng.integers(0, len(words), n)
        size = rng.integers(0, 3, n)
        v = [(words[pick[i]] + b" %d" % i) * int(size[i]) for i in range(n)]
        if binary:
            v = [b"\x00\xff" + x if i % 5 else x for i, x in enumerate(v)]
    raw = pa.array([None if mask[i] else x for i, x in enumerate(v)], pa.large_binary())
    return raw.cast(t) if binary else raw.cast(pa.large_string()).cast(t)


WORDS = [w.encode() for w in (
    "the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one "
    "you were her all she there would their we him been has when who will more no if out so said what up its about into "
    "than them can only other new some could time these two may then do first any my now such like our over man me even "
    "most made after also did many before must through years where much your way well down should because each just "
    "those people straße naïve 東京 http://www.example.com/index.html?id= lance vector column").split()]
