"""Imports what analyses use, so that no call has to; runs once, before the snapshot."""

import os

os.chdir("/workspace")

import argparse, ast, asyncio, base64, bisect, calendar, collections, concurrent.futures  # noqa
import contextlib, copy, csv, dataclasses, datetime, decimal, difflib, email, enum  # noqa
import fractions, functools, glob, gzip, hashlib, heapq, html, html.parser, io, itertools  # noqa
import json, linecache, logging, math, operator, pathlib, pickle, pprint, random, re  # noqa
import shutil, socket, sqlite3, statistics, string, struct, subprocess, tempfile, textwrap, time, traceback  # noqa
import typing, unicodedata, urllib.parse, urllib.request, uuid, xml.etree.ElementTree  # noqa
import zipfile, zlib, zoneinfo  # noqa

import numpy, numpy.random, pandas, openpyxl  # noqa
import bs4, dateutil.parser, lxml.etree, lxml.html, yaml  # noqa
import matplotlib  # noqa

matplotlib.use("Agg")
import matplotlib.pyplot  # noqa

# Nothing may be drawn here: the fonts that a figure opens would be frozen as open files.
# First uses build tables that would otherwise be built in every call.
_frame = pandas.DataFrame({"day": ["2026-01-01", "2026-01-02"], "n": [1, 2], "x": [0.5, 1.5]})
_frame["day"] = pandas.to_datetime(_frame["day"])
_text = _frame.to_csv(index=False)
_frame = pandas.read_csv(io.StringIO(_text))
repr(_frame.groupby("day").agg({"n": "sum", "x": "mean"}))
_frame.to_json(), repr(_frame.describe()), repr(_frame.merge(_frame, on="day"))
_book = io.BytesIO()
_frame.to_excel(_book, index=False)
pandas.read_excel(_book)
