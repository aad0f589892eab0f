"""What a test can have Lance do to a table: one function per command."""

import datetime
import time

import bugs
import canon
import cellwriter
import disk
import dumper
import families
import fragmented
import judge
import lance
import maker
import measure
import operations
import planned
import pyarrow as pa
import recipes
import remade
import values


def versions():
    """Of Lance and what it stands on."""
    return {"lance": lance.__version__, "pyarrow": pa.__version__}


def catalogue():
    """All recipes and what is known of them."""
    return {n: {k: v for k, v in r.items() if k != "make"} for n, r in recipes.ALL.items()}


def make(recipe, uri, **kw):
    return recipes.make(recipe, uri, **kw)


def append(uri, start, n, storage_options=None, salt=0, branch=None):
    """Appends rows that fit the table's schema as it is."""
    ds = judge.open_table(uri, [branch, None] if branch else None, storage_options)
    t = values.table(ds.schema, start, n, salt)
    kw = {} if branch else {"storage_options": storage_options}
    return lance.write_dataset(t, ds if branch else uri, mode="append", **kw).version


def delete(uri, where, storage_options=None):
    ds = lance.dataset(uri, storage_options=storage_options)
    ds.delete(where)
    return ds.version


def update(uri, sets, where, storage_options=None):
    ds = lance.dataset(uri, storage_options=storage_options)
    ds.update(sets, where=where)
    return ds.version


def tag(uri, name, version, branch=None, storage_options=None):
    ds = lance.dataset(uri, storage_options=storage_options)
    ds.tags.create(name, (branch, version) if branch else version)


def untag(uri, name, storage_options=None):
    lance.dataset(uri, storage_options=storage_options).tags.delete(name)


def branch(uri, name, version=None, storage_options=None):
    lance.dataset(uri, storage_options=storage_options).create_branch(name, version)


def create_index(uri, column, kind, storage_options=None, **kw):
    ds = lance.dataset(uri, storage_options=storage_options)
    scalar = kind in ("BTREE", "BITMAP", "LABEL_LIST", "INVERTED", "ZONEMAP", "NGRAM", "BLOOMFILTER")
    (ds.create_scalar_index if scalar else ds.create_index)(column, kind, **kw)
    return ds.version


def config(uri, values, storage_options=None):
    lance.dataset(uri, storage_options=storage_options).update_config(values)


def compact(uri, storage_options=None, **options):
    """compact_files; one thread, since several commit in no fixed order."""
    options.setdefault("num_threads", 1)
    m = lance.dataset(uri, storage_options=storage_options).optimize.compact_files(**options)
    return {
        "fragments_removed": m.fragments_removed,
        "fragments_added": m.fragments_added,
        "files_removed": m.files_removed,
        "files_added": m.files_added,
    }


def cleanup(uri, older_than=0.0, retain=None, storage_options=None, branch=None, **kw):
    """cleanup_old_versions, tagged versions kept."""
    kw.setdefault("error_if_tagged_old_versions", False)
    ds = judge.open_table(uri, [branch, None] if branch else None, storage_options)
    s = ds.cleanup_old_versions(
        older_than=None if older_than is None else datetime.timedelta(seconds=older_than),
        retain_versions=retain,
        **kw,
    )
    return {"bytes_removed": s.bytes_removed, "old_versions": s.old_versions}


def write_only(uri, start, n, storage_options=None):
    """Writes data files of an append that is not committed."""
    ds = lance.dataset(uri, storage_options=storage_options)
    return maker.write_only(uri, values.table(ds.schema, start, n), storage_options)


def commit_later(uri, fragments, storage_options=None):
    return maker.commit_later(uri, fragments, storage_options).version


def age(path, days):
    maker.age(path, days)


def copy(src, dst):
    disk.copy(src, dst)


def on_top(uri, start, storage_options=None, target=None):
    """What a user does next: append, delete, compact, index, query. Says what it found."""
    ds = lance.dataset(uri, storage_options=storage_options)
    names = [f.name for f in ds.schema]
    rows = ds.count_rows()
    has_id = "id" in names
    n = 30
    append(uri, start, n, storage_options)
    append(uri, start + n, n, storage_options)
    gone = 0
    if has_id:
        gone = 7
        lance.dataset(uri, storage_options=storage_options).delete("id >= %d and id < %d" % (start + 5, start + 12))
        some = lance.dataset(uri, storage_options=storage_options).to_table(columns=["id"], limit=10)
        first = some.column("id").to_pylist()[0]
        matches = lance.dataset(uri, storage_options=storage_options).count_rows("id = %d" % first)
        lance.dataset(uri, storage_options=storage_options).delete("id = %d" % first)
        gone += matches
    options = {"num_threads": 1, "materialize_deletions_threshold": 0.0}
    if target:
        options["target_rows_per_fragment"] = target
    before = judge.content(lance.dataset(uri, storage_options=storage_options))["fold"]["set"]
    lance.dataset(uri, storage_options=storage_options).optimize.compact_files(**options)
    ds = lance.dataset(uri, storage_options=storage_options)
    if judge.content(ds)["fold"]["set"] != before:
        raise AssertionError("Lance's own compaction on top changed rows")
    if has_id:
        ds.create_scalar_index("id", "BTREE", replace=True)
        ds = lance.dataset(uri, storage_options=storage_options)
        want = start + 20
        if ds.count_rows("id = %d" % want) != 1:
            raise AssertionError("row %d is not found through the index" % want)
        if ds.to_table(filter="id = %d" % want, use_scalar_index=False).num_rows != 1:
            raise AssertionError("row %d is not found by scan" % want)
    for f in ds.schema:
        t = f.type
        if pa.types.is_fixed_size_list(t) and pa.types.is_float32(t.value_type) and ds.count_rows() >= 16:
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ds.create_index(f.name, "IVF_FLAT", num_partitions=1, replace=True)
            q = pa.array([0.5] * t.list_size, pa.float32())
            lance.dataset(uri, storage_options=storage_options).to_table(
                nearest={"column": f.name, "q": q, "k": 5}, columns=["id"] if has_id else None
            )
            break
    ds = lance.dataset(uri, storage_options=storage_options)
    ds.validate()
    if ds.count_rows() != rows + 2 * n - gone:
        raise AssertionError("%d rows, %d expected" % (ds.count_rows(), rows + 2 * n - gone))
    return {"rows": ds.count_rows(), "version": ds.version}


def churn(uri, rounds, start, n=20, seconds=None, storage_options=None, seed=0, pause=0.0, more=False):
    """Appends n rows and deletes some of them, again and again, as a writer beside a job; with more it also
    updates, merges rows in and builds indices, which it drops again. That takes columns "id" and "s".

    Row numbers from start on are this writer's own. Returns the ids that must be there
    at the end, and those that must not, and with more what "s" is where it was set; a commit that raised is an error of the test.
    """
    import random

    rng = random.Random(seed)
    alive, dead, errors, words = set(), set(), [], {}
    end = time.monotonic() + seconds if seconds else None
    done = 0

    def open_newest():
        return lance.dataset(uri, storage_options=storage_options)

    def attempt(what, act):
        """Whether it was done. What lost its race for good has changed nothing, or not all."""
        try:
            act()
            return True
        except OSError as e:
            errors.append("%s: %s" % (what, str(e)[:300]))
            return False

    def some(share):
        return sorted(rng.sample(sorted(alive), min(len(alive), max(1, n // share))))

    def text(ids):
        return ",".join(map(str, ids))

    for i in range(rounds):
        if end and time.monotonic() > end:
            break
        mine = list(range(start + i * n, start + (i + 1) * n))
        append(uri, mine[0], n, storage_options)
        alive.update(mine)
        gone = some(3)
        if attempt("delete", lambda: delete(uri, "id in (%s)" % text(gone), storage_options)):
            alive.difference_update(gone)
            dead.update(gone)
        if more:
            ids, word = some(4), "updated %d" % i
            if attempt("update", lambda: update(uri, {"s": "'%s'" % word}, "id in (%s)" % text(ids), storage_options)):
                words.update((k, word) for k in ids)
            fresh = list(range(start + 10_000_000 + i * 5, start + 10_000_000 + (i + 1) * 5))
            ids, word = some(4) + fresh, "merged %d" % i
            rows = values.table(open_newest().schema, ids[0], len(ids))
            rows = rows.set_column(rows.column_names.index("id"), rows.schema.field("id"), pa.array(ids, pa.int64()))
            rows = rows.set_column(rows.column_names.index("s"), rows.schema.field("s"), pa.array([word] * len(ids)))
            if attempt("merge", lambda: open_newest().merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows)):
                words.update((k, word) for k in ids)
                alive.update(fresh)
            if i % 5 == 2:
                attempt("index", lambda: open_newest().create_scalar_index("id", "BTREE", replace=True))
            elif i % 5 == 4 and open_newest().list_indices():
                attempt("drop", lambda: open_newest().drop_index("id_idx"))
        done += 1
        if pause:
            time.sleep(pause)
    said = [[k, w] for k, w in sorted(words.items()) if k in alive]
    return {"rounds": done, "alive": sorted(alive), "dead": sorted(dead), "errors": errors, "words": said}


def measure_compact(uri, **options):
    """compact_files with what it took: seconds, processor seconds, peak bytes above idle."""
    return measure.measured(lambda: lance.dataset(uri).optimize.compact_files(**options))


def fold_of(uri, column, storage_options=None):
    """The digest of one column, for a look that costs little."""
    ds = lance.dataset(uri, storage_options=storage_options)
    return canon.column(canon.rows(ds.to_table(columns=[column]).column(column)))


def run(code, storage_options=None, **names):
    """Runs Python text; what it leaves in "result" is the answer."""
    scope = dict(names, lance=lance, pa=pa, judge=judge, values=values, maker=maker, disk=disk,
                 datetime=datetime, storage_options=storage_options)
    exec(code, scope)
    return scope.get("result")


COMMANDS = {
    f.__name__: f
    for f in (versions, catalogue, make, append, delete, update, tag, untag, branch, create_index, config,
              compact, cleanup, write_only, commit_later, age, copy, on_top, churn, measure_compact,
              fold_of, run)
}
COMMANDS.update(
    bugs=bugs.catalogue,
    make_planned=planned.make_planned,
    reads_settings=planned.reads_settings,
    make_bug=bugs.make,
    look_bug=bugs.seen,
    go_on_bug=bugs.go_on,
    cells=cellwriter.cases,
    write_cells=cellwriter.write_cells,
    prepare_cells=remade.prepare_cells,
    judge_cells=remade.judge_cells,
    fate=remade.fate,
    dump=dumper.dump,
    dump_all=dumper.dump_all,
    random_table=operations.random_table,
    random_begin=operations.random_begin,
    random_step=operations.random_step,
    make_family=families.make_family,
    measure_scan=families.measure_scan,
    fragmented=fragmented.fragmented,
    rewritten=fragmented.rewritten,
    same_rows=fragmented.same_rows,
    extent=fragmented.extent,
    measure_reads=fragmented.measure_reads,
    snapshot=judge.snapshot,
    plan=judge.plan,
    fragments=judge.fragments,
    explain_cleanup=judge.explain_cleanup,
    tracked=judge.tracked,
    ids=judge.ids,
    listing=disk.listing,
    manifests=disk.manifests,
)
