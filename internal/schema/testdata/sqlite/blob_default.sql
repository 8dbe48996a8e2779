-- A blob with a text for its default holds texts: 'x' is not equal to x'78' here.
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  token BLOB DEFAULT '' NOT NULL,
  sha1 BLOB DEFAULT x'' NOT NULL,
  params BLOB NOT NULL
);
