"""What lies in a table's directory, and what its manifests name of it."""

import os

import manifest


def listing(root):
    """Every file below root: relative name -> [size, mtime]."""
    out = {}
    for folder, _, files in os.walk(root):
        for f in files:
            full = os.path.join(folder, f)
            try:
                st = os.lstat(full)
            except FileNotFoundError:
                continue
            out[os.path.relpath(full, root).replace(os.sep, "/")] = [st.st_size, st.st_mtime]
    return out


def manifests(root):
    """Summaries of all manifests of the table and its branches.

    Each gets "file", its name below root, and "detached"; its names are below root too.
    A manifest that vanishes while we look was a cleaner's.
    """
    out = []
    trees = [""]
    if os.path.isdir(os.path.join(root, "tree")):
        for folder, dirs, _ in os.walk(os.path.join(root, "tree")):
            if "_versions" in dirs:
                trees.append(os.path.relpath(folder, root).replace(os.sep, "/") + "/")
    for tree in trees:
        versions = os.path.join(root, tree, "_versions")
        for f in sorted(os.listdir(versions)) if os.path.isdir(versions) else []:
            v = manifest.number(f)
            if v is None:
                continue
            try:
                with open(os.path.join(versions, f), "rb") as fh:
                    raw = fh.read()
            except FileNotFoundError:
                continue
            own = os.path.join(root, tree) if tree else root
            try:
                s = manifest.summary(raw, own.rstrip("/"))
            except (ValueError, IndexError, KeyError) as e:
                out.append({"file": tree + "_versions/" + f, "version": v, "error": repr(e), "names": []})
                continue
            s["file"] = tree + "_versions/" + f
            s["detached"] = f.startswith("d")
            s["tree"] = tree
            for k in ("names", "maybe"):
                s[k] = sorted(_rebase(n, tree, root) for n in s[k])
            out.append(s)
    return out


def _rebase(name, tree, root):
    if not os.path.isabs(name):
        return tree + name
    if manifest._inside(name, root):
        return os.path.relpath(name, root).replace(os.sep, "/")
    return name


def copy(src, dst):
    """Copies a directory with the times of its files."""
    import shutil

    if os.path.exists(dst):
        shutil.rmtree(dst)
    shutil.copytree(src, dst, symlinks=True, copy_function=shutil.copy2)
