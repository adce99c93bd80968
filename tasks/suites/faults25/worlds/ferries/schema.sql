CREATE TABLE ports (code TEXT PRIMARY KEY, name TEXT NOT NULL, island TEXT NOT NULL, zone INTEGER NOT NULL);
CREATE TABLE routes (id TEXT PRIMARY KEY, from_port TEXT NOT NULL REFERENCES ports (code), to_port TEXT NOT NULL REFERENCES ports (code), minutes INTEGER NOT NULL);
CREATE TABLE vessels (name TEXT PRIMARY KEY, built INTEGER NOT NULL, seats INTEGER NOT NULL, car_deck_m INTEGER NOT NULL);
CREATE TABLE sailings (
    id TEXT PRIMARY KEY, route_id TEXT NOT NULL REFERENCES routes (id), day TEXT NOT NULL, departs TEXT NOT NULL,
    expected_departure TEXT NOT NULL, expected_arrival TEXT NOT NULL, vessel TEXT NOT NULL REFERENCES vessels (name),
    status TEXT NOT NULL, delay_minutes INTEGER NOT NULL, seats INTEGER NOT NULL, booked INTEGER NOT NULL);
CREATE TABLE notices (day TEXT NOT NULL, notice TEXT NOT NULL);
CREATE INDEX sailings_of_a_day ON sailings (route_id, day);
