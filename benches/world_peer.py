"""What a world costs where its state is a dictionary, or Python's own SQLite.

python3 benches/world_peer.py DIR

DIR holds `enterprise.db`, which `cargo bench --bench world -- DIR` writes. Three states of the
same data are timed: a dictionary of records that is copied for each attempt, as in harnesses
whose tools are Python functions over one; the same, copied through JSON text; and SQLite as the
standard library has it. Two operations: create a contact, with the permission looked up, the
e-mail address unique and a line in the audit log; and search contacts, one page. Standard library
only; times are medians.
"""

import copy
import json
import sqlite3
import statistics
import sys
import time

ALIVE = 500
USER = "USR-9kxt4wmb"
NEW = {"name": "Nora Feld", "company": "Acme Industrial GmbH", "email": "nora@feld.example"}
NOW = "2026-03-16 09:00:00"


def tables(path):
    """Returns the rows of every table as dictionaries."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    names = [name for (name,) in connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    return {name: [dict(row) for row in connection.execute(f'SELECT * FROM "{name}"')] for name in names}


def keyed(data):
    """Puts rows under their ids where they have one that is a text."""
    def by_id(rows):
        if rows and isinstance(rows[0].get("id"), str):
            return {row["id"]: row for row in rows}
        return rows
    return {name: by_id(rows) for name, rows in data.items()}


def may(data, permission):
    user = data["users"][USER]
    return user["active"] and any(
        row["role"] == user["role"] and row["permission"] == permission
        for row in data["role_permissions"])


def create(data, number):
    if not may(data, "crm.write"):
        raise PermissionError("crm.write")
    email = f"{number}{NEW['email']}"
    if any((row["email"] or "").lower() == email for row in data["contacts"].values()):
        raise ValueError("duplicate")
    row = dict.fromkeys(next(iter(data["contacts"].values())))
    row.update(NEW, id=f"CON-{number:08}", email=email, owner_id=USER, created_at=NOW, updated_at=NOW)
    data["contacts"][row["id"]] = row
    data["audit_log"].append({"at": NOW, "user_id": USER, "action": "create", "entity_id": row["id"]})
    return json.dumps(row)


def search(data, _):
    if not may(data, "crm.read"):
        raise PermissionError("crm.read")
    def text(row):
        return " ".join(row[part] or "" for part in ("name", "company", "email", "phone")).lower()
    hits = [row for row in data["contacts"].values() if row["status"] != "merged" and "stone" in text(row)]
    hits.sort(key=lambda row: row["name"])
    return json.dumps({"total": len(hits), "items": hits[:10]})


def opened(image):
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(image)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


MAY = ("SELECT EXISTS (SELECT 1 FROM users AS u JOIN role_permissions AS p ON p.role = u.role "
       "WHERE u.id = ? AND u.active AND p.permission = ?)")


def create_sql(connection, number):
    connection.execute("BEGIN")
    if not connection.execute(MAY, (USER, "crm.write")).fetchone()[0]:
        raise PermissionError("crm.write")
    key, email = f"CON-{number:08}", f"{number}{NEW['email']}"
    if connection.execute("SELECT count(*) FROM contacts WHERE email = ?", (email,)).fetchone()[0]:
        raise ValueError("duplicate")
    connection.execute("INSERT INTO contacts (id, name, company, email, owner_id, created_by, created_at, updated_at) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                       (key, NEW["name"], NEW["company"], email, USER, USER, NOW, NOW))
    connection.execute("INSERT INTO audit_log (at, user_id, action, entity, entity_id) VALUES (?, ?, 'create', 'contact', ?)",
                       (NOW, USER, key))
    row = connection.execute("SELECT id, name, company, email FROM contacts WHERE id = ?", (key,)).fetchone()
    connection.execute("COMMIT")
    return json.dumps(row)


def search_sql(connection, _):
    if not connection.execute(MAY, (USER, "crm.read")).fetchone()[0]:
        raise PermissionError("crm.read")
    rows = connection.execute(
        "SELECT id, name, company, email, phone FROM contacts WHERE status != 'merged' AND instr(lower("
        "name || ' ' || coalesce(company, '') || ' ' || coalesce(email, '') || ' ' || coalesce(phone, '')), ?) "
        "ORDER BY name LIMIT 10", ("stone",)).fetchall()
    return json.dumps(rows)


def timed(work, count):
    times = []
    for number in range(count):
        start = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def measure(name, fresh, create, search):
    first = timed(lambda number: create(fresh(), number), 50)
    state = fresh()
    write, read = timed(lambda number: create(state, number), 300), timed(lambda number: search(state, number), 300)
    before = resident()
    alive = [fresh() for _ in range(ALIVE)]
    for state in alive:
        create(state, 1)
    each = (resident() - before) / ALIVE
    print(f"{name:24} image to first {first:9.1f} µs, create {write:7.1f} µs, "
          f"search {read:7.1f} µs, each of {ALIVE} {each:6.0f} KiB")


def main():
    path = f"{sys.argv[1]}/enterprise.db"
    data, text = keyed(tables(path)), json.dumps(keyed(tables(path)))
    with open(path, "rb") as file:
        image = file.read()
    measure("sqlite3", lambda: opened(image), create_sql, search_sql)
    measure("copy through JSON text", lambda: json.loads(text), create, search)
    measure("copy.deepcopy", lambda: copy.deepcopy(data), create, search)


main()
