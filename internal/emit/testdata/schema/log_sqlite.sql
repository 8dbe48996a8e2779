CREATE TABLE "odd ""log""" (
    owner         INTEGER,
    "sequence no" REAL,
    type          BLOB
);
