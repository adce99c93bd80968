-- Tessel & Quay, a distributor of pumps, valves and fittings. See ../../README.md.
--
-- Money is kept in whole cents of its own currency, quantities in whole units, times in
-- UTC. `table[-1]` is the row that was added last.

-- Who works here, and what they may do. ------------------------------------------------

CREATE TABLE users (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL COLLATE NOCASE UNIQUE,
    role TEXT NOT NULL CONSTRAINT role_known CHECK (role IN (
        'sales_rep', 'sales_manager', 'accountant', 'finance_manager', 'warehouse',
        'support', 'operations', 'admin', 'auditor')),
    department TEXT NOT NULL,
    manager_id TEXT REFERENCES users (id),
    time_zone TEXT NOT NULL,
    active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
    phone TEXT,
    created_at TEXT NOT NULL,
    last_login_at TEXT,
    deactivated_at TEXT
) STRICT;

CREATE TABLE role_permissions (
    id INTEGER PRIMARY KEY,
    role TEXT NOT NULL,
    permission TEXT NOT NULL,
    UNIQUE (role, permission)
) STRICT;

-- Permissions of one user beyond those of the role.
CREATE TABLE user_grants (
    id INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    permission TEXT NOT NULL,
    granted_by TEXT NOT NULL REFERENCES users (id),
    granted_at TEXT NOT NULL,
    expires_on TEXT,
    UNIQUE (user_id, permission)
) STRICT;

CREATE TABLE settings (
    key TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('integer', 'number', 'boolean', 'text')),
    minimum REAL,
    maximum REAL,
    description TEXT NOT NULL,
    locked INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1)),
    updated_by TEXT REFERENCES users (id),
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE audit_log (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    user_id TEXT REFERENCES users (id),
    action TEXT NOT NULL,
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    detail TEXT
) STRICT;

-- Which state of an order, a deal or a ticket may follow which.
CREATE TABLE transitions (
    id INTEGER PRIMARY KEY,
    entity TEXT NOT NULL,
    from_state TEXT NOT NULL,
    to_state TEXT NOT NULL,
    UNIQUE (entity, from_state, to_state)
) STRICT;

-- Whom the company deals with. ----------------------------------------------------------

CREATE TABLE companies (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    country TEXT NOT NULL,
    city TEXT NOT NULL,
    industry TEXT NOT NULL,
    currency TEXT NOT NULL REFERENCES currencies (code),
    credit_limit_cents INTEGER NOT NULL CHECK (credit_limit_cents >= 0),
    payment_days INTEGER NOT NULL,
    account_manager_id TEXT REFERENCES users (id),
    status TEXT NOT NULL CHECK (status IN ('prospect', 'active', 'on_hold', 'closed')),
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE contacts (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL CONSTRAINT contact_has_a_name CHECK (trim(name) != ''),
    -- As it was typed; `company_id` where it is the name of a company.
    company TEXT,
    company_id TEXT REFERENCES companies (id),
    email TEXT COLLATE NOCASE UNIQUE,
    phone TEXT,
    title TEXT,
    status TEXT NOT NULL DEFAULT 'lead'
        CHECK (status IN ('lead', 'active', 'dormant', 'do_not_contact', 'merged')),
    merged_into TEXT REFERENCES contacts (id),
    owner_id TEXT REFERENCES users (id),
    street TEXT,
    city TEXT,
    postcode TEXT,
    country TEXT,
    tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
    created_by TEXT REFERENCES users (id),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE deals (
    id TEXT PRIMARY KEY NOT NULL,
    title TEXT NOT NULL,
    company_id TEXT REFERENCES companies (id),
    contact_id TEXT REFERENCES contacts (id),
    owner_id TEXT NOT NULL REFERENCES users (id),
    stage TEXT NOT NULL CHECK (stage IN
        ('prospect', 'qualified', 'proposal', 'negotiation', 'won', 'lost')),
    amount_cents INTEGER NOT NULL CONSTRAINT deal_amount_not_negative CHECK (amount_cents >= 0),
    currency TEXT NOT NULL REFERENCES currencies (code),
    probability INTEGER NOT NULL CHECK (probability BETWEEN 0 AND 100),
    expected_close TEXT,
    lost_reason TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    closed_at TEXT
) STRICT;

CREATE TABLE activities (
    id TEXT PRIMARY KEY NOT NULL,
    contact_id TEXT NOT NULL REFERENCES contacts (id),
    deal_id TEXT REFERENCES deals (id),
    type TEXT NOT NULL CHECK (type IN ('call', 'email', 'meeting', 'demo', 'visit', 'note')),
    subject TEXT,
    notes TEXT,
    occurred_at TEXT NOT NULL,
    duration_minutes INTEGER,
    user_id TEXT REFERENCES users (id),
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE tickets (
    id TEXT PRIMARY KEY NOT NULL,
    contact_id TEXT NOT NULL REFERENCES contacts (id),
    order_id TEXT REFERENCES orders (id),
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'pending', 'resolved', 'closed')),
    priority TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
    level INTEGER NOT NULL DEFAULT 0
        CONSTRAINT ticket_level_known CHECK (level BETWEEN 0 AND 2),
    assignee_id TEXT REFERENCES users (id),
    created_by TEXT REFERENCES users (id),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE ticket_comments (
    id INTEGER PRIMARY KEY,
    ticket_id TEXT NOT NULL REFERENCES tickets (id),
    user_id TEXT REFERENCES users (id),
    body TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;

-- What is bought, stored and sold. ------------------------------------------------------

CREATE TABLE suppliers (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL UNIQUE,
    country TEXT NOT NULL,
    currency TEXT NOT NULL REFERENCES currencies (code),
    lead_days INTEGER NOT NULL,
    active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1))
) STRICT;

CREATE TABLE products (
    id TEXT PRIMARY KEY NOT NULL,
    sku TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    category TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit IN ('piece', 'metre', 'box', 'set')),
    price_cents INTEGER NOT NULL CONSTRAINT price_not_negative CHECK (price_cents >= 0),
    cost_cents INTEGER NOT NULL CHECK (cost_cents >= 0),
    weight_grams INTEGER NOT NULL,
    supplier_id TEXT NOT NULL REFERENCES suppliers (id),
    reorder_point INTEGER NOT NULL,
    active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1))
) STRICT;

CREATE TABLE price_history (
    id INTEGER PRIMARY KEY,
    product_id TEXT NOT NULL REFERENCES products (id),
    price_cents INTEGER NOT NULL,
    valid_from TEXT NOT NULL
) STRICT;

CREATE TABLE warehouses (
    code TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    city TEXT NOT NULL,
    country TEXT NOT NULL,
    time_zone TEXT NOT NULL
) STRICT;

-- What lies in a warehouse; `reserved` of it is promised to orders.
CREATE TABLE stock (
    id INTEGER PRIMARY KEY,
    product_id TEXT NOT NULL REFERENCES products (id),
    warehouse TEXT NOT NULL REFERENCES warehouses (code),
    on_hand INTEGER NOT NULL CONSTRAINT stock_not_negative CHECK (on_hand >= 0),
    reserved INTEGER NOT NULL DEFAULT 0
        CONSTRAINT reserved_not_negative CHECK (reserved >= 0),
    counted_on TEXT,
    UNIQUE (product_id, warehouse),
    CONSTRAINT stock_covers_reservations CHECK (reserved <= on_hand)
) STRICT;

-- Every change of a stock: their sum is what lies there.
CREATE TABLE stock_moves (
    id INTEGER PRIMARY KEY,
    product_id TEXT NOT NULL REFERENCES products (id),
    warehouse TEXT NOT NULL REFERENCES warehouses (code),
    delta INTEGER NOT NULL,
    reason TEXT NOT NULL,
    reference TEXT,
    user_id TEXT REFERENCES users (id),
    at TEXT NOT NULL
) STRICT;

CREATE TABLE orders (
    id TEXT PRIMARY KEY NOT NULL,
    company_id TEXT NOT NULL REFERENCES companies (id),
    contact_id TEXT REFERENCES contacts (id),
    warehouse TEXT NOT NULL REFERENCES warehouses (code),
    status TEXT NOT NULL CHECK (status IN ('draft', 'pending_approval', 'confirmed', 'on_hold',
        'part_shipped', 'shipped', 'cancelled')),
    currency TEXT NOT NULL REFERENCES currencies (code),
    discount_percent REAL NOT NULL DEFAULT 0 CHECK (discount_percent BETWEEN 0 AND 100),
    total_cents INTEGER NOT NULL DEFAULT 0,
    total_eur_cents INTEGER NOT NULL DEFAULT 0,
    requested_on TEXT,
    ship_to TEXT CHECK (ship_to IS NULL OR json_valid(ship_to)),
    customer_reference TEXT,
    note TEXT,
    cancel_reason TEXT,
    created_by TEXT REFERENCES users (id),
    placed_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE order_lines (
    id INTEGER PRIMARY KEY,
    order_id TEXT NOT NULL REFERENCES orders (id),
    position INTEGER NOT NULL,
    product_id TEXT NOT NULL REFERENCES products (id),
    quantity INTEGER NOT NULL CONSTRAINT line_has_a_quantity CHECK (quantity > 0),
    shipped INTEGER NOT NULL DEFAULT 0,
    price_cents INTEGER NOT NULL,
    total_cents INTEGER NOT NULL,
    UNIQUE (order_id, position),
    CONSTRAINT shipped_within_quantity CHECK (shipped BETWEEN 0 AND quantity)
) STRICT;

CREATE TABLE shipments (
    id TEXT PRIMARY KEY NOT NULL,
    order_id TEXT NOT NULL REFERENCES orders (id),
    lines TEXT NOT NULL CHECK (json_valid(lines)),
    carrier TEXT,
    tracking TEXT,
    user_id TEXT REFERENCES users (id),
    shipped_at TEXT NOT NULL
) STRICT;

CREATE TABLE purchase_orders (
    id TEXT PRIMARY KEY NOT NULL,
    supplier_id TEXT NOT NULL REFERENCES suppliers (id),
    warehouse TEXT NOT NULL REFERENCES warehouses (code),
    status TEXT NOT NULL CHECK (status IN
        ('pending_approval', 'ordered', 'part_received', 'received', 'rejected')),
    currency TEXT NOT NULL REFERENCES currencies (code),
    total_cents INTEGER NOT NULL DEFAULT 0,
    total_eur_cents INTEGER NOT NULL DEFAULT 0,
    expected_on TEXT,
    note TEXT,
    created_by TEXT REFERENCES users (id),
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE purchase_lines (
    id INTEGER PRIMARY KEY,
    purchase_id TEXT NOT NULL REFERENCES purchase_orders (id),
    position INTEGER NOT NULL,
    product_id TEXT NOT NULL REFERENCES products (id),
    quantity INTEGER NOT NULL CONSTRAINT purchase_line_has_a_quantity CHECK (quantity > 0),
    received INTEGER NOT NULL DEFAULT 0,
    cost_cents INTEGER NOT NULL CHECK (cost_cents >= 0),
    total_cents INTEGER NOT NULL,
    UNIQUE (purchase_id, position),
    CONSTRAINT received_within_quantity CHECK (received BETWEEN 0 AND quantity)
) STRICT;

-- Books. --------------------------------------------------------------------------------

CREATE TABLE accounting_periods (
    period TEXT PRIMARY KEY NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'closed')),
    closed_by TEXT REFERENCES users (id),
    closed_at TEXT
) STRICT;

CREATE TABLE invoices (
    id TEXT PRIMARY KEY NOT NULL,
    number TEXT NOT NULL UNIQUE,
    order_id TEXT NOT NULL REFERENCES orders (id),
    company_id TEXT NOT NULL REFERENCES companies (id),
    status TEXT NOT NULL CHECK (status IN ('open', 'part_paid', 'paid', 'void')),
    currency TEXT NOT NULL REFERENCES currencies (code),
    total_cents INTEGER NOT NULL,
    total_eur_cents INTEGER NOT NULL,
    paid_cents INTEGER NOT NULL DEFAULT 0,
    issued_on TEXT NOT NULL,
    due_on TEXT NOT NULL,
    period TEXT NOT NULL REFERENCES accounting_periods (period),
    created_by TEXT REFERENCES users (id),
    created_at TEXT NOT NULL,
    CONSTRAINT not_paid_beyond_total CHECK (paid_cents BETWEEN 0 AND total_cents)
) STRICT;

CREATE TABLE payments (
    id TEXT PRIMARY KEY NOT NULL,
    invoice_id TEXT NOT NULL REFERENCES invoices (id),
    status TEXT NOT NULL CHECK (status IN ('pending_approval', 'posted', 'rejected')),
    amount_cents INTEGER NOT NULL CONSTRAINT payment_is_positive CHECK (amount_cents > 0),
    currency TEXT NOT NULL REFERENCES currencies (code),
    amount_eur_cents INTEGER NOT NULL,
    method TEXT NOT NULL CHECK (method IN ('bank_transfer', 'card', 'direct_debit', 'cash')),
    received_on TEXT NOT NULL,
    reference TEXT,
    period TEXT NOT NULL REFERENCES accounting_periods (period),
    recorded_by TEXT REFERENCES users (id),
    approved_by TEXT REFERENCES users (id),
    created_at TEXT NOT NULL,
    CONSTRAINT four_eyes CHECK (approved_by IS NULL OR approved_by != recorded_by)
) STRICT;

-- In cents of EUR; the debits and credits of one source are equal.
CREATE TABLE ledger_entries (
    id INTEGER PRIMARY KEY,
    period TEXT NOT NULL REFERENCES accounting_periods (period),
    booked_on TEXT NOT NULL,
    account TEXT NOT NULL CHECK (account IN ('1000 bank', '1200 receivables', '4000 revenue')),
    debit_cents INTEGER NOT NULL DEFAULT 0,
    credit_cents INTEGER NOT NULL DEFAULT 0,
    source_id TEXT NOT NULL
) STRICT;

CREATE TABLE approvals (
    id TEXT PRIMARY KEY NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('order', 'purchase', 'payment')),
    entity_id TEXT NOT NULL,
    amount_eur_cents INTEGER NOT NULL,
    reason TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected')),
    requested_by TEXT REFERENCES users (id),
    requested_at TEXT NOT NULL,
    decided_by TEXT REFERENCES users (id),
    decided_at TEXT,
    comment TEXT,
    CONSTRAINT nobody_decides_alone CHECK (decided_by IS NULL OR decided_by != requested_by)
) STRICT;

-- What people say to each other. --------------------------------------------------------

CREATE TABLE emails (
    id TEXT PRIMARY KEY NOT NULL,
    direction TEXT NOT NULL CHECK (direction IN ('in', 'out')),
    sender TEXT NOT NULL,
    recipients TEXT NOT NULL CHECK (json_valid(recipients)),
    cc TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(cc)),
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    contact_id TEXT REFERENCES contacts (id),
    user_id TEXT REFERENCES users (id),
    reply_to TEXT REFERENCES emails (id),
    attachments TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(attachments)),
    status TEXT NOT NULL CHECK (status IN ('received', 'sent', 'scheduled')),
    at TEXT NOT NULL
) STRICT;

-- Messages inside the company, shown in its own applications.
CREATE TABLE notifications (
    id TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id),
    sender_id TEXT REFERENCES users (id),
    channel TEXT NOT NULL CHECK (channel IN ('in_app', 'push', 'sms')),
    priority TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high')),
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    link TEXT,
    read_at TEXT,
    at TEXT NOT NULL
) STRICT;

CREATE TABLE meetings (
    id TEXT PRIMARY KEY NOT NULL,
    title TEXT NOT NULL,
    starts_at TEXT NOT NULL,
    ends_at TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    location TEXT,
    agenda TEXT,
    organizer_id TEXT NOT NULL REFERENCES users (id),
    contact_id TEXT REFERENCES contacts (id),
    status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'cancelled')),
    created_at TEXT NOT NULL,
    CONSTRAINT meeting_ends_after_it_starts CHECK (ends_at > starts_at)
) STRICT;

CREATE TABLE meeting_attendees (
    id INTEGER PRIMARY KEY,
    meeting_id TEXT NOT NULL REFERENCES meetings (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    response TEXT NOT NULL DEFAULT 'invited'
        CHECK (response IN ('invited', 'accepted', 'declined')),
    UNIQUE (meeting_id, user_id)
) STRICT;

CREATE TABLE templates (
    name TEXT PRIMARY KEY NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

-- Tables to look things up in. ----------------------------------------------------------

CREATE TABLE currencies (
    code TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL
) STRICT;

-- How much of the currency one euro was worth from this day on.
CREATE TABLE exchange_rates (
    id INTEGER PRIMARY KEY,
    currency TEXT NOT NULL REFERENCES currencies (code),
    valid_on TEXT NOT NULL,
    per_eur REAL NOT NULL CHECK (per_eur > 0),
    UNIQUE (currency, valid_on)
) STRICT;

-- A quantity in the unit is `factor` times it plus `shift`, in the dimension's base unit.
CREATE TABLE units (
    code TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    dimension TEXT NOT NULL,
    factor REAL NOT NULL,
    shift REAL NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE holidays (
    id INTEGER PRIMARY KEY,
    country TEXT NOT NULL,
    day TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (country, day)
) STRICT;

-- Minutes by which a zone is ahead of UTC, from a time in UTC on.
CREATE TABLE time_zones (
    id INTEGER PRIMARY KEY,
    zone TEXT NOT NULL,
    from_utc TEXT NOT NULL,
    minutes INTEGER NOT NULL,
    abbreviation TEXT NOT NULL,
    UNIQUE (zone, from_utc)
) STRICT;

-- The reporting views and their columns, for those who write queries.
CREATE TABLE report_views (
    name TEXT PRIMARY KEY NOT NULL,
    description TEXT NOT NULL
) STRICT;

CREATE TABLE report_columns (
    id INTEGER PRIMARY KEY,
    view TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    description TEXT NOT NULL,
    UNIQUE (view, name)
) STRICT;

CREATE INDEX contacts_of_company ON contacts (company_id);
CREATE INDEX activities_of_contact ON activities (contact_id);
CREATE INDEX deals_of_contact ON deals (contact_id);
CREATE INDEX orders_of_company ON orders (company_id);
CREATE INDEX invoices_of_order ON invoices (order_id);
CREATE INDEX payments_of_invoice ON payments (invoice_id);

-- Views that operations use. -------------------------------------------------------------

-- What each active user may do.
CREATE VIEW permitted AS
SELECT u.id AS user_id, p.permission FROM users AS u
JOIN role_permissions AS p ON p.role = u.role WHERE u.active
UNION
SELECT u.id, g.permission FROM users AS u JOIN user_grants AS g ON g.user_id = u.id
WHERE u.active AND (g.expires_on IS NULL OR g.expires_on >= date('now'));

-- What a company owes for shipped goods and has on order, in cents of EUR.
CREATE VIEW exposure AS
SELECT c.id AS company_id,
    (SELECT coalesce(sum(round(i.total_eur_cents * (1.0 - 1.0 * i.paid_cents / max(i.total_cents, 1)))), 0)
     FROM invoices AS i WHERE i.company_id = c.id AND i.status IN ('open', 'part_paid'))
    + (SELECT coalesce(sum(o.total_eur_cents), 0) FROM orders AS o
       WHERE o.company_id = c.id AND o.status IN ('confirmed', 'on_hold', 'part_shipped', 'shipped')
       AND NOT EXISTS (SELECT 1 FROM invoices AS i WHERE i.order_id = o.id AND i.status != 'void'))
    AS eur_cents
FROM companies AS c;

-- One row for whatever has an id or a code, to look it up by.
CREATE VIEW records AS
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

CREATE VIEW rpt_orders AS
SELECT o.id AS order_id, c.name AS customer, c.country, c.industry, o.warehouse, o.status,
    date(o.placed_at) AS order_date, o.currency, o.total_cents / 100.0 AS total,
    o.total_eur_cents / 100.0 AS total_eur, o.discount_percent, u.name AS created_by
FROM orders AS o JOIN companies AS c ON c.id = o.company_id
LEFT JOIN users AS u ON u.id = o.created_by;

CREATE VIEW rpt_order_lines AS
SELECT l.order_id, l.position, c.name AS customer, date(o.placed_at) AS order_date, o.status,
    p.sku, p.name AS product, p.category, l.quantity, l.shipped, o.currency,
    l.price_cents / 100.0 AS price, l.total_cents / 100.0 AS total
FROM order_lines AS l JOIN orders AS o ON o.id = l.order_id
JOIN companies AS c ON c.id = o.company_id JOIN products AS p ON p.id = l.product_id;

CREATE VIEW rpt_invoices AS
SELECT i.number AS invoice, i.order_id, c.name AS customer, c.country, i.status, i.issued_on,
    i.due_on, i.period, i.currency, i.total_cents / 100.0 AS total,
    i.paid_cents / 100.0 AS paid, (i.total_cents - i.paid_cents) / 100.0 AS outstanding,
    i.total_eur_cents / 100.0 AS total_eur
FROM invoices AS i JOIN companies AS c ON c.id = i.company_id;

CREATE VIEW rpt_payments AS
SELECT p.id AS payment_id, i.number AS invoice, c.name AS customer, p.status, p.method,
    p.received_on, p.period, p.currency, p.amount_cents / 100.0 AS amount,
    p.amount_eur_cents / 100.0 AS amount_eur
FROM payments AS p JOIN invoices AS i ON i.id = p.invoice_id
JOIN companies AS c ON c.id = i.company_id;

CREATE VIEW rpt_stock AS
SELECT p.sku, p.name AS product, p.category, p.unit, s.warehouse, s.on_hand, s.reserved,
    s.on_hand - s.reserved AS available, p.reorder_point, p.price_cents / 100.0 AS price_eur,
    s.on_hand * p.cost_cents / 100.0 AS value_eur, s.counted_on
FROM stock AS s JOIN products AS p ON p.id = s.product_id;

CREATE VIEW rpt_pipeline AS
SELECT d.id AS deal_id, d.title, c.name AS customer, u.name AS owner, d.stage, d.probability,
    d.currency, d.amount_cents / 100.0 AS amount, d.expected_close, date(d.created_at) AS created_on
FROM deals AS d LEFT JOIN companies AS c ON c.id = d.company_id
JOIN users AS u ON u.id = d.owner_id;

CREATE VIEW rpt_contacts AS
SELECT k.id AS contact_id, k.name, coalesce(c.name, k.company) AS company, k.country, k.status,
    u.name AS owner, date(k.created_at) AS created_on,
    (SELECT max(date(a.occurred_at)) FROM activities AS a WHERE a.contact_id = k.id) AS last_activity_on
FROM contacts AS k LEFT JOIN companies AS c ON c.id = k.company_id
LEFT JOIN users AS u ON u.id = k.owner_id;

CREATE VIEW rpt_tickets AS
SELECT t.id AS ticket_id, k.name AS contact, coalesce(c.name, k.company) AS company, t.subject,
    t.status, t.priority, t.level, u.name AS assignee, date(t.created_at) AS opened_on
FROM tickets AS t JOIN contacts AS k ON k.id = t.contact_id
LEFT JOIN companies AS c ON c.id = k.company_id LEFT JOIN users AS u ON u.id = t.assignee_id;

CREATE VIEW rpt_purchases AS
SELECT p.id AS purchase_id, s.name AS supplier, p.warehouse, p.status, p.currency,
    p.total_cents / 100.0 AS total, p.total_eur_cents / 100.0 AS total_eur, p.expected_on,
    date(p.created_at) AS ordered_on
FROM purchase_orders AS p JOIN suppliers AS s ON s.id = p.supplier_id;

CREATE VIEW rpt_approvals AS
SELECT a.id AS approval_id, a.kind, a.entity_id, a.amount_eur_cents / 100.0 AS amount_eur, a.reason,
    a.status, r.name AS requested_by, date(a.requested_at) AS requested_on, d.name AS decided_by
FROM approvals AS a LEFT JOIN users AS r ON r.id = a.requested_by
LEFT JOIN users AS d ON d.id = a.decided_by;

CREATE VIEW rpt_rates AS
SELECT currency, valid_on, per_eur
FROM exchange_rates;

-- The rows of each reporting view as JSON, for the export.
CREATE VIEW export_rows AS
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
CREATE VIEW report_facts AS
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
CREATE VIEW report_dimensions AS
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
CREATE VIEW data_issues AS
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

CREATE VIEW issue_rules AS
SELECT r.column1 AS dataset, r.column2 AS rule FROM (VALUES
    ('contacts', 'duplicate_person'), ('contacts', 'missing_email'), ('contacts', 'unknown_company'), ('contacts', 'owner_left'),
    ('deals', 'no_contact'), ('deals', 'close_passed'), ('deals', 'owner_left'), ('orders', 'overdue'), ('orders', 'not_invoiced'), ('orders', 'sum_mismatch'),
    ('stock', 'below_reorder_point'), ('stock', 'count_is_old'), ('invoices', 'overdue'), ('invoices', 'paid_mismatch'), ('ledger', 'unbalanced')) AS r;

-- Rules that no operation can go round. ----------------------------------------------------

CREATE TRIGGER order_state_machine BEFORE UPDATE OF status ON orders
WHEN old.status != new.status AND NOT EXISTS (SELECT 1 FROM transitions
    WHERE entity = 'order' AND from_state = old.status AND to_state = new.status)
BEGIN
    SELECT RAISE(ABORT, 'the order is in a state from which it cannot go there');
END;

CREATE TRIGGER deal_state_machine BEFORE UPDATE OF stage ON deals
WHEN old.stage != new.stage AND NOT EXISTS (SELECT 1 FROM transitions
    WHERE entity = 'deal' AND from_state = old.stage AND to_state = new.stage)
BEGIN
    SELECT RAISE(ABORT, 'the deal is in a stage from which it cannot go there');
END;

CREATE TRIGGER ticket_state_machine BEFORE UPDATE OF status ON tickets
WHEN old.status != new.status AND NOT EXISTS (SELECT 1 FROM transitions
    WHERE entity = 'ticket' AND from_state = old.status AND to_state = new.status)
BEGIN
    SELECT RAISE(ABORT, 'the ticket is in a state from which it cannot go there');
END;

CREATE TRIGGER closed_periods_stay_closed BEFORE INSERT ON ledger_entries
WHEN (SELECT status FROM accounting_periods WHERE period = new.period) = 'closed'
    AND EXISTS (SELECT 1 FROM settings WHERE key = 'ledger.sealed' AND value = 'true')
BEGIN
    SELECT RAISE(ABORT, 'the accounting period is closed; book into an open one');
END;

CREATE TRIGGER the_ledger_is_final BEFORE UPDATE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'what was booked stays as it is; book the reverse');
END;

CREATE TRIGGER the_audit_log_is_final BEFORE DELETE ON audit_log
BEGIN
    SELECT RAISE(ABORT, 'nothing is taken out of the audit log');
END;
