CREATE TABLE stations (id TEXT PRIMARY KEY, name TEXT NOT NULL, river TEXT NOT NULL, km INTEGER NOT NULL, alert_cm INTEGER NOT NULL, flood_cm INTEGER NOT NULL, catchment TEXT NOT NULL, a REAL NOT NULL, b REAL NOT NULL, zero_cm INTEGER NOT NULL);
CREATE TABLE levels (station_id TEXT NOT NULL REFERENCES stations (id), day TEXT NOT NULL, lowest_cm INTEGER NOT NULL, highest_cm INTEGER NOT NULL, mean_cm REAL NOT NULL, PRIMARY KEY (station_id, day));
CREATE TABLE rainfall (catchment TEXT NOT NULL, day TEXT NOT NULL, mm REAL NOT NULL, PRIMARY KEY (catchment, day));
CREATE TABLE outages (station_id TEXT NOT NULL REFERENCES stations (id), day TEXT NOT NULL, reason TEXT NOT NULL);
