"""What a table is, as Lance reads it: everything that must be the same before
and after a job that is not meant to change it."""

import datetime
import re

import canon
import disk
import lance
import pyarrow as pa

LINEAGE = ("_rowid", "_row_created_at_version", "_row_last_updated_at_version")


def open_table(uri, ref=None, storage_options=None):
    """ref is nothing, a version, a tag, or [branch, version or null]."""
    ds = lance.dataset(uri, storage_options=storage_options)
    if isinstance(ref, list):
        return ds.checkout_version((ref[0], ref[1]))
    return ds if ref is None else ds.checkout_version(ref)


def blob_columns(schema):
    """Top-level columns that are blobs of either kind, or have some below them."""
    return [f.name for f in schema if _blob(f)]


def _blob(f):
    meta = f.metadata or {}
    if meta.get(b"lance-encoding:blob") == b"true" or meta.get(b"ARROW:extension:name") == b"lance.blob.v2":
        return True
    if isinstance(f.type, pa.BaseExtensionType):
        return f.type.extension_name == "lance.blob.v2"
    kids = [f.type.field(i) for i in range(f.type.num_fields)]
    return any(isinstance(k, pa.Field) and _blob(k) for k in kids)


def read(ds, fragments=None, lineage=False):
    """The live rows as a pyarrow table, blobs as their bytes."""
    kw = {}
    names = [f.name for f in ds.schema]
    if lineage:
        kw["columns"] = names + list(LINEAGE)
    if blob_columns(ds.schema):
        kw["blob_handling"] = "all_binary"
    if fragments is not None:
        kw["fragments"] = fragments
    try:
        return ds.scanner(**kw).to_table()
    except Exception as e:
        if "differing lengths" not in str(e):
            raise
    # Lance counts rows of a fixed-size list of structs wrongly when another column is read with it.
    names = kw.pop("columns", names)
    columns = [ds.scanner(columns=[n], **kw).to_table().column(0) for n in names]
    return pa.Table.from_arrays(columns, names=names)


def content(ds, columns=False):
    """Digests of all rows, per fragment in scan order and, if asked, per column."""
    stable = bool(getattr(ds, "has_stable_row_ids", False))
    t = read(ds, lineage=stable)
    if len(t) != ds.count_rows():
        raise AssertionError("scan gave %d rows, count %d" % (len(t), ds.count_rows()))
    names = [n for n in t.column_names if n not in LINEAGE]
    values = {n: canon.rows(t.column(n)) for n in t.column_names}
    rows = canon.digests([values[n] for n in names]) if names else [b""] * len(t)
    whole, frags, at = canon.Fold(), [], 0
    for r in rows:
        whole.add(r)
    ids = canon.digests([values[n] for n in LINEAGE]) if stable else None
    for f in ds.get_fragments():
        n = f.count_rows()
        part, line = canon.Fold(), canon.Fold()
        for i in range(at, at + n):
            part.add(rows[i])
            if stable:
                line.add(ids[i])
        at += n
        frags.append({"id": f.fragment_id, "fold": part.json(), "lineage": line.json() if stable else None})
    if at != len(rows):
        raise AssertionError("fragments hold %d rows, scan gave %d" % (at, len(rows)))
    out = {"version": ds.version, "fold": whole.json(), "fragments": frags}
    if columns:
        out["columns"] = {n: canon.column(values[n]) for n in names}
    return out


def schema(ds):
    """All that the schema says, metadata and field ids included, as one text."""

    def field(f, depth):
        meta = sorted((f.metadata or {}).items())
        lines = ["%s%s: %s%s %s" % ("  " * depth, f.name, f.type, "" if f.nullable else " not null", meta)]
        for i in range(f.type.num_fields):
            kid = f.type.field(i)
            lines += field(kid, depth + 1) if isinstance(kid, pa.Field) else []
        return lines

    lines = []
    for f in ds.schema:
        lines += field(f, 0)
    # Lance prints its metadata maps in any order; they are in the lines already.
    lines.append(re.sub(r'metadata: \{(?:"(?:[^"\\]|\\.)*"|[^"}])*\}', "", str(ds.lance_schema)))
    lines.append(str(sorted((ds.schema_metadata or {}).items())))
    return "\n".join(lines)


def refs(ds):
    """Tags and branches by name."""
    tags = {}
    for name, t in ds.tags.list().items():
        tags[name] = {"branch": t.get("branch") or "", "version": t["version"]}
    branches = {}
    for name, b in ds.branches.list().items():
        branches[name] = {"branch": b.get("parent_branch") or "", "version": b["parent_version"]}
    return tags, branches


def indices(ds):
    return sorted(
        (
            {
                "name": i.name,
                "type": i.type_url,
                "rows": i.num_rows_indexed,
                "fields": list(i.field_names),
                "segments": sorted(str(s.uuid) for s in i.segments),
            }
            for i in ds.describe_indices()
        ),
        key=lambda i: i["name"],
    )


def version_numbers(ds):
    return [v["version"] for v in (ds.version_refs() if hasattr(ds, "version_refs") else ds.versions())]


def history(uri, ds, branches, storage_options, count, also):
    """Old versions: about so many of each branch, and those of also that are there."""
    out = {}
    lines = [("", ds)] + [(b, open_table(uri, [b, None], storage_options)) for b in sorted(branches)]
    for branch, head in lines:
        there = version_numbers(head)
        step = max(1, -(-len(there) // count))
        pick = set(there[::step] + there[-1:])
        for v in there:
            if v in pick or "%s:%d" % (branch, v) in also:
                old = head.checkout_version((branch, v) if branch else v)
                out["%s:%d" % (branch, v)] = {"fold": content(old)["fold"], "schema": schema(old)}
    return out


def snapshot(uri, storage_options=None, versions=12, also=(), local=True, ref=None):
    """Everything about a table that Check compares.

    versions: how many old versions of each branch to read. also: which others.
    """
    ds = open_table(uri, ref, storage_options)
    ds.validate()
    out = content(ds, columns=True)
    tags, branches = refs(ds)
    pinned = ["%s:%d" % (r["branch"], r["version"]) for r in list(tags.values()) + list(branches.values())]
    past = history(uri, ds, branches, storage_options, versions, set(also) | set(pinned))
    out.update(
        uri=ds.uri,
        schema=schema(ds),
        config=dict(ds.config()),
        metadata=dict(ds.metadata),
        file_version=ds.data_storage_version,
        stable=bool(getattr(ds, "has_stable_row_ids", False)),
        tags=tags,
        branches=branches,
        indices=indices(ds),
        listed={b: version_numbers(open_table(uri, [b, None] if b else None, storage_options)) for b in [""] + sorted(branches)},
        history=past,
    )
    if local and "://" not in uri:
        out["manifests"] = disk.manifests(uri)
        out["disk"] = disk.listing(uri)
    return out


def fragments(uri, storage_options=None):
    """How many live rows each fragment holds, in scan order."""
    return [f.count_rows() for f in lance.dataset(uri, storage_options=storage_options).get_fragments()]


def plan(uri, options=None, storage_options=None):
    """The compaction that Lance would do: the fragments of each task."""
    from lance.optimize import Compaction

    p = Compaction.plan(lance.dataset(uri, storage_options=storage_options), options or {})
    return [[f.id for f in t.fragments] for t in p.tasks]


def explain_cleanup(uri, older_than=0.0, retain=None, storage_options=None, **kw):
    """What cleanup_old_versions would remove."""
    kw.setdefault("error_if_tagged_old_versions", False)
    e = lance.dataset(uri, storage_options=storage_options).explain_cleanup_old_versions(
        older_than=None if older_than is None else datetime.timedelta(seconds=older_than),
        retain_versions=retain,
        include_files=True,
        max_files=100000,
        **kw,
    )
    return {
        "versions": e.stats.old_versions,
        "files": sorted([c.path, c.kind, c.unverified] for c in e.candidate_files),
        "warnings": list(e.warnings),
    }


def tracked(uri, storage_options=None):
    """Names of files that versions need and of files that are there, by Lance's own listing.

    Works on any store; branches are not looked into.
    """
    ds = lance.dataset(uri, storage_options=storage_options)
    need = {}
    for r in ds.tracked_files().read_all().to_pylist():
        need.setdefault(r["path"], []).append(r["version"])
    have = {r["path"]: r["size_bytes"] for r in ds.all_files().read_all().to_pylist()}
    return {"need": need, "have": have}


def ids(uri, column="id", ref=None, storage_options=None, where=None):
    """The values of one column in scan order."""
    ds = open_table(uri, ref, storage_options)
    return ds.to_table(columns=[column], filter=where).column(column).to_pylist()
