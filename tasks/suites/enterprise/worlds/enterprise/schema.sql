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
CREATE INDEX contacts_of_owner ON contacts (owner_id);
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
