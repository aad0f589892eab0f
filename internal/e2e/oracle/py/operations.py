"""A table with a random schema, and random operations on it."""

import random
import shutil
import zlib

import lance
import numpy as np
import pyarrow as pa

import grown

LEAVES = [("i32", "small"), ("i64", "few"), ("u8", "wide"), ("f32", "wide"), ("f64", "few"), ("bool", "wide"), ("string", "short"), ("string", "few"),
          ("large_binary", "short"), ("binary", "mixed"), ("date32", "sorted"), ("ts_us", "runs"), ("dec38", "small"), ("fsb7", "wide"),
          ("v_f32_4", "wide"), ("v_f32_128", "holes"), ("v_u8_16", "small"), ("f16", "wide"), ("dict_i32_string", "few"), ("i16", "const"), ("string", "long")]


def spec(rng, version, depth, without=()):
    """A random leaf or nest; without names kinds of nests that are not to be had."""
    kinds = ["leaf"] * 3 + (["struct", "list", "large", "list"] if depth else [])
    if depth and version == "2.2":
        kinds += ["map", "fsl"]
    kind = rng.choice([k for k in kinds if k not in without])
    if kind == "leaf":
        return ["leaf", *rng.choice(LEAVES)]
    if kind == "struct":
        return ["struct"] + [spec(rng, version, depth - 1, without) for _ in range(rng.randint(1, 3))]
    if kind == "fsl":
        return ["fsl", 2, ["struct", ["leaf", *rng.choice(LEAVES)], ["leaf", *rng.choice(LEAVES)]]]
    if kind == "map":
        return ["map", ["leaf", *rng.choice(LEAVES)]]
    return [kind, spec(rng, version, depth - 1, without)]


class Random:
    def __init__(self, uri, seed, version, stable, without=()):
        self.uri, self.version, self.stable, self.without = uri, version, stable, without
        self.rng = random.Random(seed)
        self.count, self.next, self.seed = 0, 0, seed
        self.gone = {}  # dropped children of structs, by column
        self.specs = {}

    def table(self, ids, only=None):
        """Rows with these ids, in the table's own order of columns."""
        self.count += 1
        rng = np.random.default_rng(zlib.crc32(b"%d %d" % (self.seed, self.count)))
        g = grown.Grower(rng, "some", None, self.version == "2.0")
        n = len(ids)
        schema = lance.dataset(self.uri).schema if self.next else None
        columns, fields = [], []
        for name in schema.names if schema else ["id", *self.specs]:
            if only is not None and name not in only:
                continue
            if name == "id":
                columns.append(pa.array(ids, pa.int64()))
                fields.append(pa.field("id", pa.int64()))
            elif name in self.specs:
                column, field = self.left(g.grow(self.specs[name], n), g.top(name, self.specs[name]))
                columns.append(column)
                fields.append(field)
            else:
                t = schema.field(name).type
                columns.append(pa.array([None if i % 3 == 0 else i for i in range(n)], pa.int64()).cast(t))
                fields.append(pa.field(name, t))
        return pa.Table.from_arrays(columns, schema=pa.schema(fields))

    def left(self, column, field):
        """The column without the children that were dropped."""
        gone = self.gone.get(field.name)
        if not gone:
            return column, field
        keep = [i for i, f in enumerate(field.type) if f.name not in gone]
        kids = [column.field(i) for i in keep]
        part = pa.StructArray.from_arrays(kids, fields=[field.type.field(i) for i in keep], mask=column.is_null())
        return part, field.with_type(part.type)

    @property
    def ds(self):
        return lance.dataset(self.uri)

    def new(self, n):
        ids = list(range(self.next, self.next + n))
        t = self.table(ids)
        self.next += n
        return t

    def create(self):
        """Some nests are beyond Lance's writer: another one then."""
        for last in (False,) * 9 + (True,):
            self.specs = {"c%d" % i: spec(self.rng, self.version, 2, self.without) for i in range(self.rng.randint(2, 5))}
            try:
                return self.write_first()
            except BaseException:
                self.next = 0
                if last:
                    raise

    def write_first(self):
        t = self.new(self.rng.randint(1, 300))
        shutil.rmtree(self.uri, ignore_errors=True)
        lance.write_dataset(t, self.uri, data_storage_version=self.version,
                            enable_stable_row_ids=self.stable)

    def append(self):
        kw = {"max_rows_per_file": 40} if self.rng.random() < 0.2 else {}
        lance.write_dataset(self.new(self.rng.randint(1, 200)), self.uri, mode="append", **kw)

    def delete(self):
        self.ds.delete(self.rng.choice(["id %% %d = %d" % (self.rng.randint(2, 9), self.rng.randint(0, 3)),
                                        "id >= %d and id < %d" % tuple(sorted(self.rng.choices(range(self.next + 1), k=2)))]))

    def update(self):
        plain = [f.name for f in self.ds.schema if pa.types.is_int64(f.type) and f.name != "id"]
        text = [f.name for f in self.ds.schema if pa.types.is_string(f.type)]
        sets = {}
        if plain:
            sets[self.rng.choice(plain)] = "id * 3"
        if text:
            sets[self.rng.choice(text)] = "'updated'"
        if not sets:
            return self.add()
        self.ds.update(sets, where="id %% %d = 1" % self.rng.randint(2, 7))

    def merge(self):
        ids = sorted(self.rng.sample(range(self.next + 30), min(60, self.next)))
        self.next += 30
        t = self.table(ids)
        self.ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(t)

    def merge_some(self):
        """Only some columns of the rows that are there."""
        names = [n for n in self.ds.schema.names if n != "id"]
        only = {"id", self.rng.choice(names)}
        ids = sorted(self.rng.sample(range(self.next), min(40, self.next)))
        self.ds.merge_insert("id").when_matched_update_all().execute(self.table(ids, only))

    def add(self):
        name = "n%d" % self.count
        self.count += 1
        if self.rng.random() < 0.4:
            self.ds.add_columns(pa.field(name, self.rng.choice([pa.int64(), pa.string(), pa.float32()])))
        else:
            self.ds.add_columns({name: self.rng.choice(["id * 2", "cast(id as string)", "id > 5"])})

    def add_nested(self):
        name = "g%d" % self.count
        self.count += 1
        self.specs[name] = spec(self.rng, self.version, 2, self.without)
        self.ds.add_columns(pa.schema([grown.Grower(np.random.default_rng(0), "some").top(name, self.specs[name])]))

    def drop(self):
        names = [n for n in self.ds.schema.names if n != "id"]
        if len(names) > 1:
            self.ds.drop_columns([self.rng.choice(names)])

    def drop_child(self):
        """A child of a struct; appends fill what is left of it."""
        wide = [f for f in self.ds.schema if pa.types.is_struct(f.type) and f.type.num_fields > 1 and f.name in self.specs]
        if not wide:
            return self.drop()
        f = self.rng.choice(wide)
        i = self.rng.randrange(f.type.num_fields)
        self.ds.drop_columns(["%s.%s" % (f.name, f.type.field(i).name)])
        self.gone.setdefault(f.name, []).append(f.type.field(i).name)

    def add_child(self):
        """A new child of a struct: null in all rows that are there."""
        structs = [n for n in self.ds.schema.names if self.specs.get(n, [""])[0] == "struct" and len(self.specs[n]) < 6]
        if not structs:
            return self.add()
        name = self.rng.choice(structs)
        more = self.specs[name] + [["leaf", *self.rng.choice(LEAVES)]]
        child = list(grown.Grower(np.random.default_rng(0), "some").type(more))[-1]
        self.ds.add_columns(pa.schema([pa.field(name, pa.struct([child]))]))
        self.specs[name] = more

    def rename(self):
        names = [n for n in self.ds.schema.names if n != "id"]
        old, new = self.rng.choice(names), "r%d" % self.count
        self.count += 1
        self.ds.alter_columns({"path": old, "name": new})
        if old in self.specs:
            self.specs[new] = self.specs.pop(old)
            self.gone[new] = self.gone.pop(old, [])

    def compact(self):
        self.ds.optimize.compact_files(num_threads=1, materialize_deletions_threshold=self.rng.choice([0.0, 0.1]),
                                       target_rows_per_fragment=self.rng.choice([100, 1000, 1 << 20]))

    def restore(self):
        v = self.rng.choice([v["version"] for v in self.ds.versions()])
        self.ds.checkout_version(v).restore()


OPERATIONS = ["append"] * 4 + ["delete"] * 3 + ["update"] * 2 + ["merge"] * 2 + ["merge_some", "add", "add", "add_nested", "add_child", "drop", "drop_child", "rename", "compact", "compact"]


def random_table(uri, seed, version, stable, steps):
    """What was done, and what Lance refused."""
    r = Random(uri, seed, version, stable)
    r.create()
    done, refused = ["create"], []
    for _ in range(steps):
        name = r.rng.choice(OPERATIONS)
        try:
            getattr(r, name)()
            done.append(name)
        except BaseException as e:
            refused.append("%s: %s: %s" % (name, type(e).__name__, e))
    return {"done": done, "refused": refused}


RUNNING = {}


def random_begin(uri, seed, version, stable, without=()):
    """The first version of a table that random_step goes on with."""
    RUNNING[uri] = r = Random(uri, seed, version, stable, without)
    r.create()


def random_step(uri):
    """One more operation: what was done, or what Lance refused."""
    r = RUNNING[uri]
    name = r.rng.choice(OPERATIONS)
    try:
        getattr(r, name)()
        return {"done": name, "refused": ""}
    except BaseException as e:
        return {"done": name, "refused": "%s: %s" % (type(e).__name__, str(e)[:300])}
