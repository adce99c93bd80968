"""Doses of spoiled batches in stock at the end of 6 December 2025."""

import json
import sqlite3
from collections import defaultdict
from datetime import datetime, timedelta, timezone

RULES = json.loads(open("rules.json").read())
WALL = timezone(timedelta(hours=RULES["hours_ahead"]))
STANDS = timedelta(minutes=RULES["stands"])
COUNT = datetime(2025, 12, 7, tzinfo=WALL)


def wall(text):
    return datetime.fromisoformat(text).replace(tzinfo=WALL) if text else COUNT


def celsius(row):
    value = float(str(row["temp"]).replace(",", "."))
    if value in RULES["no_probe"]:
        return None
    return (value - 32) * 5 / 9 if row["unit"].strip("°").upper() == "F" else value


# The last value sent for each moment of each logger.
last = {}
for line in open("loggers.jsonl", encoding="utf-8"):
    try:
        row = json.loads(line)
    except ValueError:
        continue
    key = (row["logger"], datetime.fromisoformat(row["at"]))
    if key not in last or row["seq"] > last[key]["seq"]:
        last[key] = row
readings = defaultdict(list)
for (logger, at), row in sorted(last.items(), key=lambda item: item[0]):
    value = celsius(row)
    if value is not None:
        readings[logger].append((at, value))

# Spans of time with one temperature, by the fridge in which the logger stood.
db = sqlite3.connect("stock.sqlite")
db.row_factory = sqlite3.Row
spans = defaultdict(list)
for place in db.execute("select * from loggers"):
    series = readings[place["logger"]]
    for (at, value), (following, _) in zip(series, series[1:] + [(COUNT, None)]):
        if wall(place["since"]) <= at < wall(place["until"]):
            spans[place["fridge"]].append((at, min(following, at + STANDS), value))

doses = 0
batches = "select * from batches join products on product = code"
moves = "select * from movements where batch = ? and cancelled = 0 order by at, id"
for batch in db.execute(batches).fetchall():
    if batch["expires"] < "2025-12-06":
        continue
    vials, stays = 0, []
    for move in db.execute(moves, (batch["batch"],)):
        if move["kind"] in ("receive", "move"):
            if stays:
                stays[-1][2] = wall(move["at"])
            stays.append([move["to_fridge"], wall(move["at"]), COUNT])
        vials += move["vials"] * {"receive": 1, "return": 1, "issue": -1, "destroy": -1, "move": 0}[move["kind"]]
    warm, frozen = timedelta(minutes=batch["minutes_before"]), False
    for fridge, came, left in stays:
        for start, end, value in spans[fridge]:
            start, end = max(start, came), min(end, left)
            if start < end:
                warm += end - start if value > RULES["warm"] else timedelta()
                frozen |= value < RULES["frost"]
    spoiled = warm > timedelta(minutes=batch["minutes_above_8"]) or (frozen and batch["freeze_sensitive"])
    if spoiled:
        doses += vials * batch["doses_per_vial"]
print(f"DOSES={doses}")
