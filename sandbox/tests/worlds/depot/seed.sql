INSERT INTO users (id, name, role, password) VALUES
    (1, 'Ines Moreau', 'manager', 'sesame-street-71'),
    (2, 'Tarik Bello', 'clerk', 'sesame-street-72');

INSERT INTO contacts (id, name, company, email) VALUES
    ('CON-acme0001', 'John Smith', 'Acme', 'john@acme.example'),
    ('CON-acme0002', 'John Smith', 'Acme Robotics', 'smith@robotics.example'),
    ('CON-lund0001', 'Astrid Lund', 'Lund & Söner', NULL);

-- Rows that only the seed's number decides.
INSERT INTO contacts (id, name, company, email)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
SELECT new_id('CON'), 'Person ' || draw(100, 999), 'Company ' || i, 'p' || i || '@example.org'
FROM n;

INSERT INTO products (id, name, price_cents, stock) VALUES
    (1, 'bolt M6', 12, 500), (2, 'bolt M8', 19, 40), (3, 'hoist', 189900, 3), (4, 'crate', 2400, 0);

INSERT INTO stock_moves (product_id, delta, reason) SELECT id, stock, 'opening' FROM products;

INSERT INTO orders (id, contact_id, state, placed_at) VALUES
    ('ORD-old00001', 'CON-acme0001', 'shipped', '2026-01-15 10:00:00'),
    ('ORD-old00002', 'CON-lund0001', 'open', date('now', '-2 days') || ' 08:30:00');

INSERT INTO order_lines (order_id, product_id, quantity, price_cents) VALUES
    ('ORD-old00001', 1, 100, 11), ('ORD-old00002', 3, 1, 189900);
