-- A small trading company: enough of one to try every part of the engine on.

CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('clerk', 'manager')),
    password TEXT NOT NULL
) STRICT;

CREATE TABLE contacts (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    company TEXT,
    email TEXT UNIQUE,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) STRICT;

CREATE TABLE activities (
    id INTEGER PRIMARY KEY,
    contact_id TEXT NOT NULL REFERENCES contacts (id),
    type TEXT NOT NULL,
    note TEXT,
    at TEXT NOT NULL
) STRICT;

CREATE TABLE products (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    price_cents INTEGER NOT NULL,
    stock INTEGER NOT NULL,
    CONSTRAINT stock_never_negative CHECK (stock >= 0)
) STRICT;

CREATE TABLE orders (
    id TEXT PRIMARY KEY NOT NULL,
    contact_id TEXT NOT NULL REFERENCES contacts (id),
    state TEXT NOT NULL CHECK (state IN ('open', 'held', 'shipped', 'cancelled')),
    placed_at TEXT NOT NULL
) STRICT;

CREATE TABLE order_lines (
    order_id TEXT NOT NULL REFERENCES orders (id),
    product_id INTEGER NOT NULL REFERENCES products (id),
    quantity INTEGER NOT NULL CONSTRAINT at_least_one CHECK (quantity > 0),
    price_cents INTEGER NOT NULL,
    PRIMARY KEY (order_id, product_id)
) STRICT;

-- Every change of a stock, so that a half-done operation shows: the sum is the stock.
CREATE TABLE stock_moves (
    id INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products (id),
    delta INTEGER NOT NULL,
    reason TEXT NOT NULL
) STRICT;

CREATE INDEX activities_of_contact ON activities (contact_id);

CREATE VIEW order_report AS
SELECT o.id AS order_id, c.name AS customer, o.state, o.placed_at,
       sum(l.quantity * l.price_cents) AS total_cents
FROM orders AS o
JOIN contacts AS c ON c.id = o.contact_id
JOIN order_lines AS l ON l.order_id = o.id
GROUP BY o.id;

CREATE VIEW stock_report AS
SELECT name AS product, stock, price_cents FROM products;

-- A shipped order stays as it is.
CREATE TRIGGER shipped_is_final BEFORE UPDATE OF state ON orders
WHEN old.state = 'shipped'
BEGIN
    SELECT RAISE(ABORT, 'the order was shipped; its state is final');
END;
