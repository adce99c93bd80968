"""What the nursing service can claim for late trains, in euro."""

import csv
import json
import re
from datetime import date, datetime, timedelta
from decimal import ROUND_DOWN, Decimal
from zoneinfo import ZoneInfo

import requests
from bs4 import BeautifulSoup

GIVEN = json.loads(open("given.json", encoding="utf-8").read())
ROOT = re.match("https?://[^/]+", GIVEN["log"])[0]
MONTHS = "January February March April May June July August September October November December".split()


def page(path):
    return BeautifulSoup(requests.get(ROOT + path).text, "html.parser")


def table(soup):
    rows = [[cell.text.strip() for cell in row.find_all(["th", "td"])] for row in soup.find("table").find_all("tr")]
    return rows[0], rows[1:]


def days(text):
    """Days such as `15 and 16 November 2025` or `14 December 2025`."""
    found = re.search(r"([0-9]+)(?: and ([0-9]+))? ([A-Z][a-z]+) ([0-9]{4})", text)
    first, second, month, year = found.groups()
    return [date(int(year), MONTHS.index(month) + 1, int(day)) for day in (first, second) if day]


# The charter: from which minute on, what share.
def bands(text):
    found = re.findall(r"([0-9]+)(?: to [0-9]+)? minutes(?: and more)?[ |]+([0-9]+) %", text)
    assert len(found) == 3, text
    return sorted(((int(minutes), int(share)) for minutes, share in found), reverse=True)


new, old = GIVEN["charter_new"], GIVEN["charter_old"]
since = days(re.search("on or after ([^.]+)[.]", new)[1])[0]
smallest = Decimal(re.search(r"Sums under EUR ([0-9.]+) ", old)[1])
within = int(re.search("within ([0-9]+) days", new)[1])
notice_days = {"seven": 7}[re.search(r"at least (\w+) days before", new)[1]]

codes = {row[0]: row[1] for row in table(page("/stations/"))[1]}
timetables = []
for link in page("/timetables/").select("main table a"):
    soup = page(link["href"])
    head, trains = table(soup)
    if "Brandreth" in head:
        began = days(soup.h1.text.split(" timetable ")[1])[0]
        times = {int(row[0]): dict(zip((codes[name] for name in head[1:]), row[1:])) for row in trains}
        timetables.append((began, times))


def running(day):
    began = max(start for start, _ in timetables if start <= day)
    return {train: times for start, trains in timetables if start == began for train, times in trains.items()}


altered = {}
for link in page("/notices/").select("main table a"):
    soup = page(link["href"])
    if "altered times on" not in soup.h1.text:
        continue
    published = days(re.search("Published ([^<]+)", soup.text)[1])[0]
    head, trains = table(soup)
    for day in days(soup.h1.text.split("altered times on ")[1]):
        if (day - published).days >= notice_days:
            for row in trains:
                for name, time in zip(head[1:], row[1:]):
                    altered[day, int(row[0]), codes[name]] = time

log = {}


def entries(station, month):
    if (station, month) not in log:
        rows, number, pages = [], 1, 1
        while number <= pages:
            reply = requests.get(f"{GIVEN['log']}?station={station}&month={month}&page={number}").json()
            rows, number, pages = rows + reply["rows"], number + 1, reply["pages"]
        void = {row["replaces"] for row in rows}
        log[station, month] = {(row["service_date"], row["train"]): row for row in rows if row["entry"] not in void}
    return log[station, month]


def at(day, time):
    hours, minutes = map(int, time.split(":"))
    wall = datetime(day.year, day.month, day.day) + timedelta(hours=hours, minutes=minutes)
    # One hour ahead of UTC, two in summer: the same as in Berlin.
    return wall.replace(tzinfo=ZoneInfo("Europe/Berlin"))


def arrival(day, train, station):
    """Moment of arrival; nothing if the train did not get there."""
    row = entries(station, day.strftime("%Y-%m")).get((day.isoformat(), train))
    if row is None or row["status"] == "withdrawn":
        return at(day, running(day)[train][station])
    return datetime.fromisoformat(row["arrived"]) if row["status"] == "late" else None


def delay(day, train, station):
    """Whole minutes; a very large number if nobody got there on that day."""
    trains = running(day)
    planned = at(day, altered.get((day, train, station), trains[train][station]))
    for other in sorted(other for other in trains if other >= train and other % 2 == train % 2):
        arrived = arrival(day, other, station)
        if arrived is not None:
            return (arrived - planned) // timedelta(minutes=1)
    return 10**6


total, seen = Decimal(0), set()
with open("trips.tsv", encoding="utf-8", newline="") as trips:
    rows = [dict(row) for row in csv.DictReader(trips, delimiter="\t")]
unique = {tuple(row.values()): row for row in rows}.values()
for row in unique:
    day = datetime.strptime(row["date"], "%d/%m/%Y").date()
    if row["state"] != GIVEN["used"] or row["paid_by"] != GIVEN["payer"]:
        continue
    if (date(2026, 1, 23) - day).days > within:
        continue
    if row["ticket"] == "Group":
        if (row["booking"], day) in seen:
            continue
        seen.add((row["booking"], day))
    leaves, station = codes[row["from"]], codes[row["to"]]
    (train,) = [
        number
        for number, times in running(day).items()
        if times[leaves] == row["departs"] and times[leaves] < times[station]
    ]
    late = delay(day, train, station)
    price = Decimal(row["price_eur"]) / {"Return": 2, "Ten-ride": 10}.get(row["ticket"], 1)
    share = next((share for minutes, share in bands(new if day >= since else old) if late >= minutes), 0)
    if day < since and row["ticket"] == "Saver":
        share = 0
    amount = (price * share / 100).quantize(Decimal("0.1"), ROUND_DOWN)
    if day < since and amount < smallest:
        amount = Decimal(0)
    total += amount
print(f"CLAIM={total:.2f}")
