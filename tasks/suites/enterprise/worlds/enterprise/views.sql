-- Views that operations and agents' queries use. They are no part of the state: an attempt
-- makes those that a call needs when it needs them, so none has to read all of them first.

-- One row for whatever has an id or a code, to look it up by.
CREATE TEMP VIEW records AS
SELECT id, 'contact' AS kind, name AS title, status, json_object('company', company, 'email', email, 'phone', phone, 'owner_id', owner_id) AS detail FROM contacts
UNION ALL SELECT id, 'company', name, status, json_object('country', country, 'city', city, 'currency', currency, 'credit_limit_eur', credit_limit_cents / 100.0, 'payment_days', payment_days) FROM companies
UNION ALL SELECT id, 'deal', title, stage, json_object('contact_id', contact_id, 'company_id', company_id, 'amount', amount_cents / 100.0, 'currency', currency, 'owner_id', owner_id) FROM deals
UNION ALL SELECT id, 'activity', coalesce(subject, type), type, json_object('contact_id', contact_id, 'occurred_at', occurred_at) FROM activities
UNION ALL SELECT id, 'ticket', subject, status, json_object('contact_id', contact_id, 'order_id', order_id, 'priority', priority, 'level', level, 'assignee_id', assignee_id, 'text', body,
    'comments', json((SELECT json_group_array(json_object('user_id', k.user_id, 'text', k.body, 'at', k.at)) FROM ticket_comments AS k WHERE k.ticket_id = tickets.id))) FROM tickets
UNION ALL SELECT id, 'product', name, iif(active, 'active', 'discontinued'), json_object('sku', sku, 'unit', unit, 'price_eur', price_cents / 100.0, 'weight_grams', weight_grams, 'supplier_id', supplier_id) FROM products
UNION ALL SELECT sku, 'product', name, iif(active, 'active', 'discontinued'), json_object('id', id, 'unit', unit, 'price_eur', price_cents / 100.0, 'weight_grams', weight_grams, 'supplier_id', supplier_id) FROM products
UNION ALL SELECT id, 'supplier', name, iif(active, 'active', 'inactive'), json_object('country', country, 'currency', currency, 'lead_days', lead_days) FROM suppliers
UNION ALL SELECT id, 'order', coalesce(customer_reference, id), status, json_object('company_id', company_id, 'total', total_cents / 100.0, 'currency', currency, 'warehouse', warehouse) FROM orders
UNION ALL SELECT id, 'shipment', coalesce(tracking, id), 'shipped', json_object('order_id', order_id, 'carrier', carrier, 'shipped_at', shipped_at) FROM shipments
UNION ALL SELECT id, 'purchase_order', id, status, json_object('supplier_id', supplier_id, 'total', total_cents / 100.0, 'currency', currency, 'expected_on', expected_on) FROM purchase_orders
UNION ALL SELECT id, 'invoice', number, status, json_object('order_id', order_id, 'total', total_cents / 100.0, 'paid', paid_cents / 100.0, 'currency', currency, 'due_on', due_on) FROM invoices
UNION ALL SELECT number, 'invoice', number, status, json_object('id', id, 'order_id', order_id, 'total', total_cents / 100.0, 'paid', paid_cents / 100.0, 'currency', currency, 'due_on', due_on) FROM invoices
UNION ALL SELECT id, 'payment', coalesce(reference, id), status, json_object('invoice_id', invoice_id, 'amount', amount_cents / 100.0, 'currency', currency) FROM payments
UNION ALL SELECT id, 'approval', reason, status, json_object('kind', kind, 'entity_id', entity_id, 'amount_eur', amount_eur_cents / 100.0, 'requested_by', requested_by) FROM approvals
UNION ALL SELECT id, 'user', name, iif(active, 'active', 'deactivated'), json_object('role', role, 'department', department, 'email', email, 'time_zone', time_zone) FROM users
UNION ALL SELECT id, 'meeting', title, status, json_object('starts_at', starts_at, 'ends_at', ends_at, 'organizer_id', organizer_id) FROM meetings
UNION ALL SELECT id, 'email', subject, status, json_object('sender', sender, 'at', at) FROM emails
UNION ALL SELECT code, 'warehouse', name, 'active', json_object('city', city, 'country', country, 'time_zone', time_zone) FROM warehouses
UNION ALL SELECT key, 'setting', description, iif(locked, 'locked', 'editable'), json_object('value', value, 'type', type, 'updated_at', updated_at) FROM settings;

-- Reporting views: what `data_query` and the reports read. --------------------------------

CREATE TEMP VIEW rpt_orders AS
SELECT o.id AS order_id, c.name AS customer, c.country, c.industry, o.warehouse, o.status,
    date(o.placed_at) AS order_date, o.currency, o.total_cents / 100.0 AS total,
    o.total_eur_cents / 100.0 AS total_eur, o.discount_percent, u.name AS created_by
FROM orders AS o JOIN companies AS c ON c.id = o.company_id
LEFT JOIN users AS u ON u.id = o.created_by;

CREATE TEMP VIEW rpt_order_lines AS
SELECT l.order_id, l.position, c.name AS customer, date(o.placed_at) AS order_date, o.status,
    p.sku, p.name AS product, p.category, l.quantity, l.shipped, o.currency,
    l.price_cents / 100.0 AS price, l.total_cents / 100.0 AS total
FROM order_lines AS l JOIN orders AS o ON o.id = l.order_id
JOIN companies AS c ON c.id = o.company_id JOIN products AS p ON p.id = l.product_id;

CREATE TEMP VIEW rpt_invoices AS
SELECT i.number AS invoice, i.order_id, c.name AS customer, c.country, i.status, i.issued_on,
    i.due_on, i.period, i.currency, i.total_cents / 100.0 AS total,
    i.paid_cents / 100.0 AS paid, (i.total_cents - i.paid_cents) / 100.0 AS outstanding,
    i.total_eur_cents / 100.0 AS total_eur
FROM invoices AS i JOIN companies AS c ON c.id = i.company_id;

CREATE TEMP VIEW rpt_payments AS
SELECT p.id AS payment_id, i.number AS invoice, c.name AS customer, p.status, p.method,
    p.received_on, p.period, p.currency, p.amount_cents / 100.0 AS amount,
    p.amount_eur_cents / 100.0 AS amount_eur
FROM payments AS p JOIN invoices AS i ON i.id = p.invoice_id
JOIN companies AS c ON c.id = i.company_id;

CREATE TEMP VIEW rpt_stock AS
SELECT p.sku, p.name AS product, p.category, p.unit, s.warehouse, s.on_hand, s.reserved,
    s.on_hand - s.reserved AS available, p.reorder_point, p.price_cents / 100.0 AS price_eur,
    s.on_hand * p.cost_cents / 100.0 AS value_eur, s.counted_on
FROM stock AS s JOIN products AS p ON p.id = s.product_id;

CREATE TEMP VIEW rpt_pipeline AS
SELECT d.id AS deal_id, d.title, c.name AS customer, u.name AS owner, d.stage, d.probability,
    d.currency, d.amount_cents / 100.0 AS amount, d.expected_close, date(d.created_at) AS created_on
FROM deals AS d LEFT JOIN companies AS c ON c.id = d.company_id
JOIN users AS u ON u.id = d.owner_id;

CREATE TEMP VIEW rpt_contacts AS
SELECT k.id AS contact_id, k.name, coalesce(c.name, k.company) AS company, k.country, k.status,
    u.name AS owner, date(k.created_at) AS created_on,
    (SELECT max(date(a.occurred_at)) FROM activities AS a WHERE a.contact_id = k.id) AS last_activity_on
FROM contacts AS k LEFT JOIN companies AS c ON c.id = k.company_id
LEFT JOIN users AS u ON u.id = k.owner_id;

CREATE TEMP VIEW rpt_tickets AS
SELECT t.id AS ticket_id, k.name AS contact, coalesce(c.name, k.company) AS company, t.subject,
    t.status, t.priority, t.level, u.name AS assignee, date(t.created_at) AS opened_on
FROM tickets AS t JOIN contacts AS k ON k.id = t.contact_id
LEFT JOIN companies AS c ON c.id = k.company_id LEFT JOIN users AS u ON u.id = t.assignee_id;

CREATE TEMP VIEW rpt_purchases AS
SELECT p.id AS purchase_id, s.name AS supplier, p.warehouse, p.status, p.currency,
    p.total_cents / 100.0 AS total, p.total_eur_cents / 100.0 AS total_eur, p.expected_on,
    date(p.created_at) AS ordered_on
FROM purchase_orders AS p JOIN suppliers AS s ON s.id = p.supplier_id;

CREATE TEMP VIEW rpt_approvals AS
SELECT a.id AS approval_id, a.kind, a.entity_id, a.amount_eur_cents / 100.0 AS amount_eur, a.reason,
    a.status, r.name AS requested_by, date(a.requested_at) AS requested_on, d.name AS decided_by
FROM approvals AS a LEFT JOIN users AS r ON r.id = a.requested_by
LEFT JOIN users AS d ON d.id = a.decided_by;

CREATE TEMP VIEW rpt_rates AS
SELECT currency, valid_on, per_eur
FROM exchange_rates;

-- The rows of each reporting view as JSON, for the export.
CREATE TEMP VIEW export_rows AS
SELECT 'rpt_orders' AS source, json_object('order_id', order_id, 'customer', customer, 'country', country, 'industry', industry, 'warehouse', warehouse, 'status', status, 'order_date', order_date, 'currency', currency, 'total', total, 'total_eur', total_eur, 'discount_percent', discount_percent, 'created_by', created_by) AS item FROM rpt_orders
UNION ALL SELECT 'rpt_order_lines' AS source, json_object('order_id', order_id, 'position', position, 'customer', customer, 'order_date', order_date, 'status', status, 'sku', sku, 'product', product, 'category', category, 'quantity', quantity, 'shipped', shipped, 'currency', currency, 'price', price, 'total', total) AS item FROM rpt_order_lines
UNION ALL SELECT 'rpt_invoices' AS source, json_object('invoice', invoice, 'order_id', order_id, 'customer', customer, 'country', country, 'status', status, 'issued_on', issued_on, 'due_on', due_on, 'period', period, 'currency', currency, 'total', total, 'paid', paid, 'outstanding', outstanding, 'total_eur', total_eur) AS item FROM rpt_invoices
UNION ALL SELECT 'rpt_payments' AS source, json_object('payment_id', payment_id, 'invoice', invoice, 'customer', customer, 'status', status, 'method', method, 'received_on', received_on, 'period', period, 'currency', currency, 'amount', amount, 'amount_eur', amount_eur) AS item FROM rpt_payments
UNION ALL SELECT 'rpt_stock' AS source, json_object('sku', sku, 'product', product, 'category', category, 'unit', unit, 'warehouse', warehouse, 'on_hand', on_hand, 'reserved', reserved, 'available', available, 'reorder_point', reorder_point, 'price_eur', price_eur, 'value_eur', value_eur, 'counted_on', counted_on) AS item FROM rpt_stock
UNION ALL SELECT 'rpt_pipeline' AS source, json_object('deal_id', deal_id, 'title', title, 'customer', customer, 'owner', owner, 'stage', stage, 'probability', probability, 'currency', currency, 'amount', amount, 'expected_close', expected_close, 'created_on', created_on) AS item FROM rpt_pipeline
UNION ALL SELECT 'rpt_contacts' AS source, json_object('contact_id', contact_id, 'name', name, 'company', company, 'country', country, 'status', status, 'owner', owner, 'created_on', created_on, 'last_activity_on', last_activity_on) AS item FROM rpt_contacts
UNION ALL SELECT 'rpt_tickets' AS source, json_object('ticket_id', ticket_id, 'contact', contact, 'company', company, 'subject', subject, 'status', status, 'priority', priority, 'level', level, 'assignee', assignee, 'opened_on', opened_on) AS item FROM rpt_tickets
UNION ALL SELECT 'rpt_purchases' AS source, json_object('purchase_id', purchase_id, 'supplier', supplier, 'warehouse', warehouse, 'status', status, 'currency', currency, 'total', total, 'total_eur', total_eur, 'expected_on', expected_on, 'ordered_on', ordered_on) AS item FROM rpt_purchases
UNION ALL SELECT 'rpt_approvals' AS source, json_object('approval_id', approval_id, 'kind', kind, 'entity_id', entity_id, 'amount_eur', amount_eur, 'reason', reason, 'status', status, 'requested_by', requested_by, 'requested_on', requested_on, 'decided_by', decided_by) AS item FROM rpt_approvals
UNION ALL SELECT 'rpt_rates' AS source, json_object('currency', currency, 'valid_on', valid_on, 'per_eur', per_eur) AS item FROM rpt_rates;

-- One row for each thing that a report counts or sums up, in EUR.
CREATE TEMP VIEW report_facts AS
SELECT 'revenue' AS metric, i.issued_on AS day, c.name AS customer, c.country, c.industry, o.warehouse, NULL AS category, i.status, u.name AS owner, i.currency, i.total_eur_cents / 100.0 AS amount
FROM invoices AS i JOIN companies AS c ON c.id = i.company_id JOIN orders AS o ON o.id = i.order_id LEFT JOIN users AS u ON u.id = c.account_manager_id WHERE i.status != 'void'
UNION ALL
SELECT 'payments', p.received_on, c.name, c.country, c.industry, NULL, NULL, p.status, u.name, p.currency, p.amount_eur_cents / 100.0
FROM payments AS p JOIN invoices AS i ON i.id = p.invoice_id JOIN companies AS c ON c.id = i.company_id LEFT JOIN users AS u ON u.id = c.account_manager_id WHERE p.status = 'posted'
UNION ALL
SELECT 'receivables', i.due_on, c.name, c.country, c.industry, NULL, NULL, i.status, u.name, i.currency,
    (i.total_eur_cents - (SELECT coalesce(sum(p.amount_eur_cents), 0) FROM payments AS p WHERE p.invoice_id = i.id AND p.status = 'posted')) / 100.0
FROM invoices AS i JOIN companies AS c ON c.id = i.company_id LEFT JOIN users AS u ON u.id = c.account_manager_id WHERE i.status IN ('open', 'part_paid')
UNION ALL
SELECT m.column1, date(o.placed_at), c.name, c.country, c.industry, o.warehouse, NULL, o.status, u.name, o.currency, iif(m.column1 = 'order_count', 1, o.total_eur_cents / 100.0)
FROM (VALUES ('order_value'), ('order_count')) AS m, orders AS o JOIN companies AS c ON c.id = o.company_id LEFT JOIN users AS u ON u.id = o.created_by WHERE o.status NOT IN ('draft', 'pending_approval', 'cancelled')
UNION ALL
SELECT 'units_sold', date(o.placed_at), c.name, c.country, c.industry, o.warehouse, p.category, o.status, u.name, o.currency, l.quantity
FROM order_lines AS l JOIN orders AS o ON o.id = l.order_id JOIN products AS p ON p.id = l.product_id JOIN companies AS c ON c.id = o.company_id LEFT JOIN users AS u ON u.id = o.created_by WHERE o.status NOT IN ('draft', 'pending_approval', 'cancelled')
UNION ALL
SELECT 'stock_value', NULL, NULL, NULL, NULL, s.warehouse, p.category, NULL, NULL, 'EUR', s.on_hand * p.cost_cents / 100.0 FROM stock AS s JOIN products AS p ON p.id = s.product_id
UNION ALL
SELECT 'pipeline', d.expected_close, c.name, c.country, c.industry, NULL, NULL, d.stage, u.name, d.currency,
    d.amount_cents * d.probability / 10000.0 / (SELECT r.per_eur FROM exchange_rates AS r WHERE r.currency = d.currency AND r.valid_on <= date('now') ORDER BY r.valid_on DESC LIMIT 1)
FROM deals AS d JOIN users AS u ON u.id = d.owner_id LEFT JOIN companies AS c ON c.id = d.company_id WHERE d.stage NOT IN ('won', 'lost')
UNION ALL
SELECT 'tickets', date(t.created_at), coalesce(c.name, k.company), c.country, c.industry, NULL, NULL, t.status, u.name, NULL, 1
FROM tickets AS t JOIN contacts AS k ON k.id = t.contact_id LEFT JOIN companies AS c ON c.id = k.company_id LEFT JOIN users AS u ON u.id = t.assignee_id;

-- By which dimensions each figure can be grouped and filtered.
CREATE TEMP VIEW report_dimensions AS
SELECT m.column1 AS metric, d.value AS dimension FROM (VALUES
    ('revenue', '["month","quarter","year","customer","country","industry","warehouse","status","owner","currency"]'),
    ('payments', '["month","quarter","year","customer","country","industry","owner","currency"]'),
    ('receivables', '["month","quarter","year","customer","country","industry","status","owner","currency"]'),
    ('order_value', '["month","quarter","year","customer","country","industry","warehouse","status","owner","currency"]'),
    ('order_count', '["month","quarter","year","customer","country","industry","warehouse","status","owner","currency"]'),
    ('units_sold', '["month","quarter","year","customer","country","industry","warehouse","category","status","owner","currency"]'),
    ('stock_value', '["warehouse","category"]'),
    ('pipeline', '["month","quarter","year","customer","country","industry","status","owner","currency"]'),
    ('tickets', '["month","quarter","year","customer","country","industry","status","owner"]')
) AS m, json_each(m.column2) AS d;

-- What is wrong with the data, by rule.
CREATE TEMP VIEW data_issues AS
SELECT 'contacts' AS dataset, 'duplicate_person' AS rule, c.id AS record_id, c.name || ' has the phone number of ' || (SELECT min(o.id) FROM contacts AS o WHERE o.phone = c.phone AND o.name = c.name AND o.id != c.id) AS problem
FROM contacts AS c WHERE c.status != 'merged' AND EXISTS (SELECT 1 FROM contacts AS o WHERE o.phone = c.phone AND o.name = c.name AND o.id != c.id)
UNION ALL SELECT 'contacts', 'missing_email', id, name || ' has no e-mail address' FROM contacts WHERE email IS NULL AND status IN ('lead', 'active')
UNION ALL SELECT 'contacts', 'unknown_company', id, coalesce(company, 'none') || ' is no company of the register' FROM contacts WHERE company_id IS NULL AND status != 'merged'
UNION ALL SELECT 'contacts', 'owner_left', c.id, u.name || ' is deactivated' FROM contacts AS c JOIN users AS u ON u.id = c.owner_id WHERE NOT u.active AND c.status != 'merged'
UNION ALL SELECT 'deals', 'no_contact', id, title || ' has no contact' FROM deals WHERE contact_id IS NULL AND stage NOT IN ('won', 'lost')
UNION ALL SELECT 'deals', 'close_passed', id, 'expected close was ' || expected_close FROM deals WHERE expected_close < date('now') AND stage NOT IN ('won', 'lost')
UNION ALL SELECT 'deals', 'owner_left', d.id, u.name || ' is deactivated' FROM deals AS d JOIN users AS u ON u.id = d.owner_id WHERE NOT u.active AND d.stage NOT IN ('won', 'lost')
UNION ALL SELECT 'orders', 'overdue', id, 'was wanted on ' || requested_on FROM orders WHERE requested_on < date('now') AND status IN ('confirmed', 'on_hold', 'part_shipped')
UNION ALL SELECT 'orders', 'not_invoiced', id, 'shipped, and no invoice' FROM orders AS o WHERE status = 'shipped' AND NOT EXISTS (SELECT 1 FROM invoices AS i WHERE i.order_id = o.id AND i.status != 'void')
UNION ALL SELECT 'orders', 'sum_mismatch', id, 'the lines do not add up' FROM orders AS o WHERE total_cents != (SELECT coalesce(sum(l.total_cents), 0) FROM order_lines AS l WHERE l.order_id = o.id)
UNION ALL SELECT 'stock', 'below_reorder_point', p.sku, sum(s.on_hand - s.reserved) || ' available, reorder point ' || p.reorder_point FROM products AS p JOIN stock AS s ON s.product_id = p.id WHERE p.active GROUP BY p.id HAVING sum(s.on_hand - s.reserved) < p.reorder_point
UNION ALL SELECT 'stock', 'count_is_old', p.sku || '@' || s.warehouse, 'counted on ' || s.counted_on FROM stock AS s JOIN products AS p ON p.id = s.product_id WHERE s.counted_on < date('now', '-270 days')
UNION ALL SELECT 'invoices', 'overdue', i.id, i.number || ' was due on ' || i.due_on FROM invoices AS i WHERE i.status IN ('open', 'part_paid') AND i.due_on < date('now')
UNION ALL SELECT 'invoices', 'paid_mismatch', i.id, i.number || ': the payments do not add up' FROM invoices AS i WHERE i.paid_cents != (SELECT coalesce(sum(p.amount_cents), 0) FROM payments AS p WHERE p.invoice_id = i.id AND p.status = 'posted')
UNION ALL SELECT 'ledger', 'unbalanced', source_id, 'debits and credits differ' FROM ledger_entries GROUP BY source_id HAVING sum(debit_cents) != sum(credit_cents);

CREATE TEMP VIEW issue_rules AS
SELECT r.column1 AS dataset, r.column2 AS rule FROM (VALUES
    ('contacts', 'duplicate_person'), ('contacts', 'missing_email'), ('contacts', 'unknown_company'), ('contacts', 'owner_left'),
    ('deals', 'no_contact'), ('deals', 'close_passed'), ('deals', 'owner_left'), ('orders', 'overdue'), ('orders', 'not_invoiced'), ('orders', 'sum_mismatch'),
    ('stock', 'below_reorder_point'), ('stock', 'count_is_old'), ('invoices', 'overdue'), ('invoices', 'paid_mismatch'), ('ledger', 'unbalanced')) AS r;
