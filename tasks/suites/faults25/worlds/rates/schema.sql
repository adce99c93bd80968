CREATE TABLE currencies (code TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE fixings (currency TEXT NOT NULL REFERENCES currencies (code), day TEXT NOT NULL, per_euro REAL NOT NULL, PRIMARY KEY (currency, day));
CREATE TABLE holidays (day TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE providers (name TEXT PRIMARY KEY, fee_eur REAL NOT NULL, margin_percent REAL NOT NULL);
CREATE TABLE offers (provider TEXT NOT NULL REFERENCES providers (name), currency TEXT NOT NULL REFERENCES currencies (code));
