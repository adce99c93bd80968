CREATE TABLE objects (id TEXT PRIMARY KEY, title TEXT NOT NULL, maker TEXT NOT NULL, year INTEGER NOT NULL, material TEXT NOT NULL, department TEXT NOT NULL, weight_kg REAL NOT NULL, insured_eur INTEGER NOT NULL);
CREATE TABLE halls (name TEXT PRIMARY KEY, floor_limit_kg INTEGER NOT NULL, humidity_percent INTEGER NOT NULL, temperature_c REAL NOT NULL);
CREATE TABLE exhibitions (id TEXT PRIMARY KEY, title TEXT NOT NULL, opens TEXT NOT NULL, closes TEXT NOT NULL, hall TEXT NOT NULL REFERENCES halls (name));
CREATE TABLE shown (exhibition_id TEXT NOT NULL REFERENCES exhibitions (id), object_id TEXT NOT NULL REFERENCES objects (id));
CREATE TABLE loans (id TEXT PRIMARY KEY, object_id TEXT NOT NULL REFERENCES objects (id), borrower TEXT NOT NULL, from_day TEXT NOT NULL, to_day TEXT NOT NULL);
