"""The four districts with the largest loss per connection in December 2025."""

import csv
import io
import json
import re
import zipfile
from datetime import datetime, timedelta
from statistics import median

from openpyxl import load_workbook

TERMS = json.loads(open("terms.json").read())
ARCHIVE = zipfile.ZipFile("night-readings.zip")
README = ARCHIVE.read("README.txt").decode("utf-8")
EXCHANGE = datetime(2025, 12, 8, 12)


def number(text):
    return float(text.replace(",", ".")) if re.fullmatch(r"[0-9]+[.,]?[0-9]*", text) else None


def kelmouth():
    """Cubic metres an hour; a correction takes the place of what was sent."""
    flows = {}
    for name in ("kelmouth/night-2025-12.csv", "kelmouth/corrections-2025-12.csv"):
        for meter, hour, flow, *_ in list(csv.reader(io.StringIO(ARCHIVE.read(name).decode("cp1252")), delimiter=";"))[1:]:
            hour, flow = datetime.strptime(hour, "%d.%m.%Y %H:%M"), number(flow)
            if flow is not None and not (meter == "M-106" and hour > EXCHANGE):
                flows[meter, hour] = flow
    return flows


def ulveth():
    """Litres a second and UTC; one meter showed a tenth for three weeks."""
    first, last = map(int, re.search("from ([0-9]+) to ([0-9]+) December", README).groups())
    flows = {}
    for row in csv.DictReader(io.StringIO(ARCHIVE.read("ulveth/night_2025_12.tsv").decode()), delimiter="\t"):
        hour = datetime.strptime(row["utc"], "%Y-%m-%dT%H:%MZ") + timedelta(hours=1)
        if float(row["l_per_s"]) == 9999:
            continue
        tenth = row["meter"] == "M-205" and first <= hour.day <= last
        flows[row["meter"], hour] = float(row["l_per_s"]) * 3.6 * (10 if tenth else 1)
    return flows


def islands():
    """Differences of a counter that starts again at nought."""
    flows = {}
    for meter, counter in json.loads(ARCHIVE.read("islands/index-2025-12.json")).items():
        unit = 0.1 if counter["counts"].startswith("hecto") else 1
        readings = counter["readings"]
        for one, following in zip(readings, readings[1:]):
            start, end = datetime.fromisoformat(one["at"]), datetime.fromisoformat(following["at"])
            if end - start == timedelta(hours=1) and None not in (one["index"], following["index"]):
                flows[meter, start] = (following["index"] - one["index"]) % 100000 * unit
    return flows


def cleaned():
    rows = csv.DictReader(io.StringIO(ARCHIVE.read("night-flow-2025-12.csv").decode()))
    return {(row["meter"], datetime.fromisoformat(row["hour_beginning"])): float(row["flow_m3_per_h"]) for row in rows}


def date(text):
    for form in ("%d.%m.%Y", "%d %B %Y", "%d %b %Y", "%Y-%m-%d", "%d/%m/%Y", "%B %Y"):
        try:
            return datetime.strptime(text, form)
        except ValueError:
            pass
    raise ValueError(text)


flows = cleaned() if "night-flow-2025-12.csv" in ARCHIVE.namelist() else kelmouth() | ulveth() | islands()
book = load_workbook("districts.xlsx")

names, connections = {}, {}
code = None
for row in book["Districts"].iter_rows(min_row=4, values_only=True):
    code = row[0] or code
    names[code] = row[1] or names.get(code)
    if row[5] == "counted":
        connections.setdefault(code, []).append((date(row[4]), row[3]))
connections = {code: max(counts)[1] for code, counts in connections.items()}

enters, leaves = {}, {}
for meter, feeds, _, takes, *_ in book["Meters"].iter_rows(min_row=3, values_only=True):
    enters.setdefault(feeds, []).append(meter)
    leaves.setdefault(takes, []).append(meter)

known = dict.fromkeys(names, 0.0)
for row in book["Night users"].iter_rows(min_row=3, values_only=True):
    code = row[0] or code
    if not row[4]:
        scale = {"m³/h": 1, "l/h": 0.001, "l/s": 3.6}.get(row[3], 0.5)
        known[code] += row[2] * scale

losses = {}
for code, name in names.items():
    nights = []
    for day in range(1, 32):
        hours = [datetime(2025, 12, day, hour) for hour in TERMS["hours"]]
        replaced = {"M-106A" if hours[0] < EXCHANGE else "M-106"}
        signs = [(m, 1) for m in enters[code]] + [(m, -1) for m in leaves.get(code, [])]
        parts = [(flows.get((m, hour)), sign) for m, sign in signs if m not in replaced for hour in hours]
        if all(flow is not None for flow, _ in parts):
            nights.append(sum(flow * sign for flow, sign in parts) / len(hours))
    litres = (median(nights) - known[code]) * 1000
    losses[name] = litres / connections[code] - TERMS["allowance"]
worst = sorted(losses, key=losses.get, reverse=True)[: TERMS["crew"]]
print("WORST=" + ", ".join(worst))
