"""三组各户返还额之和。"""

import csv
import json
import re
import unicodedata
from datetime import date, datetime, timedelta
from fractions import Fraction

from openpyxl import load_workbook

RULES = json.loads(open("rules.json", encoding="utf-8").read())
BOOK = load_workbook("社员与折算.xlsx")
KILOGRAMS = {"公斤": 1, "千克": 1, "kg": 1, "斤": Fraction(1, 2), "市斤": Fraction(1, 2), "两": Fraction(1, 20), "担": 50}
DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")}


def plain(text):
    return unicodedata.normalize("NFKC", text or "").strip()


def chinese(text):
    if "百分之" in text:
        return Fraction(chinese(text.removeprefix("百分之")), 100)
    tens, ten, ones = text.partition("十")
    return (DIGITS[tens] if tens else 1) * 10 + (DIGITS[ones] if ones else 0) if ten else DIGITS[text]


def day(value):
    text = plain(str(value))
    if re.fullmatch("[0-9]{5}", text):
        return date(1899, 12, 30) + timedelta(int(text))
    if re.fullmatch("[0-9]{8}", text):
        return datetime.strptime(text, "%Y%m%d").date()
    parts = [int(part) for part in re.findall("[0-9]+", text)]
    if len(parts) == 2 and parts[0] > 12:
        return date(*parts, 1)
    return date(*parts) if len(parts) == 3 else date(2025, *parts)


def kilograms(row):
    text, unit = plain(row["数量"]), plain(row["单位"]).lower()
    if text.endswith("斤"):
        text, unit = text[:-1], "斤"
    if re.fullmatch("[一二三四五六七八九十]+", text):
        weight = Fraction(chinese(text))
    elif re.fullmatch("-?[0-9.]+", text):
        weight = Fraction(text)
    else:
        return None
    back = re.search("退回([0-9.]+)斤", row["备注"])
    return weight * KILOGRAMS[unit] - (Fraction(back[1]) / 2 if back else 0)


# 名册：组别只写在每组的第一行。
households, group = {}, None
for row in BOOK["社员名册"].iter_rows(min_row=4, values_only=True):
    group = row[0] or group
    households[row[1]] = {"name": row[2], "group": group, "since": row[3], "state": row[4], "note": row[5] or ""}
renamed = {row[0]: row[1] for row in BOOK["户号变更"].iter_rows(min_row=2, values_only=True)}
factors, kinds = {}, {}
for kind, also, *values in BOOK["折算系数"].iter_rows(min_row=3, values_only=True):
    factors[kind] = [Fraction(str(value)) for value in values]
    kinds |= {written: kind for written in [kind, *also.split("、")]}


def household(row):
    on_behalf = re.search("代(LW[0-9]+)交", row["备注"])
    code = on_behalf[1] if on_behalf else re.sub("[ -]", "", plain(row["户号"])).upper()
    if not code:
        named = [one for one, who in households.items() if who["name"] == row["交售人"]]
        if len(named) > 1:
            named = [one for one in named if households[one]["group"] in row["备注"]]
        (code,) = named
    return renamed.get(code, code)


def takes_part(code, when):
    who = households[code]
    left = re.search("([0-9]{4}年.*日)退社", who["note"])
    if who["state"] == "非社员" or (left and day(left[1]) < date(2025, 12, 31)):
        return False
    return day(who["since"]) <= when


slips = {}
with open("2025春茶交售单.csv", encoding="gb18030", newline="") as table:
    for row in csv.DictReader(table):
        known = slips.get(row["单号"])
        if known is None or row["录入时间"] >= known["录入时间"]:
            slips[row["单号"]] = row

amounts = {}
for number, row in slips.items():
    weight = kilograms(row)
    if number.startswith(RULES["trial"]) or "作废" in row["备注"] or weight is None:
        continue
    code, when = household(row), day(row["日期"])
    if not takes_part(code, when):
        continue
    period = 0 if when <= date(2025, 4, 4) else 1 if when <= date(2025, 4, 20) else 2
    wet = 1 - chinese(RULES["wet"]) if row["雨水叶"] in RULES["wet_marks"] else 1
    amounts[code] = amounts.get(code, 0) + weight * wet * factors[kinds[row["品类"]]][period]

pool = Fraction(RULES["surplus"].replace(",", "")) * chinese(RULES["share"])
total = sum(amounts.values())
of_group = sum(int(pool * amount / total) for code, amount in amounts.items() if households[code]["group"] == "三组")
print(f"TOTAL={of_group}")
