#!/usr/bin/env python3
"""Writes the tables of this folder that cells.tsv lists for the release of Lance that runs it.

    python -m venv env && env/bin/pip install pylance==14.0.2 pyarrow==26.0.1 numpy==2.4.6
    env/bin/python testdata/pages/generate.py [FOLDER …]

A line is a folder, the most rows of a page, and a case of the matrix in internal/e2e/oracle/py/cells.py. A folder that is
there already is left alone; remove it to make it anew.
"""

import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "internal", "e2e", "oracle", "py"))
sys.dont_write_bytecode = True

import cellwriter
import lance


def main():
    with open(os.path.join(HERE, "cells.tsv")) as f:
        lines = [line.rstrip("\n").split("\t") for line in f]
    for folder, rows, name in lines:
        c = cellwriter.cell(name)
        place = os.path.join(HERE, folder)
        if c["release"] != lance.__version__ or (sys.argv[1:] and folder not in sys.argv[1:]):
            continue
        if os.path.exists(place):
            continue
        r = cellwriter.one(dict(c, rows=min(int(rows), c["rows"])), place, "zstd")
        if r["status"] not in ("ok", "unread"):
            shutil.rmtree(place)
            raise SystemExit("%s: %s: %s" % (name, r["status"], r["reason"]))
        print(folder, name, r["status"])


if __name__ == "__main__":
    main()
