package mailsq

import (
	"context"
	"testing"
	"time"
)

// Whatever looks for rows leaves those of others alone.
func TestOthers(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec(`INSERT INTO mails (kind, status, locked, tries, ended) VALUES
	('fax', 'N', NULL, 0, NULL), ('fax', 'R', 1, 1, NULL), ('fax', 'R', 1, 3, NULL), ('fax', 'D', 1, 1, 1), ('fax', 'F', 1, 1, 1),
	('mail', 'N', NULL, 0, NULL), ('mail', 'R', 1, 1, NULL), ('mail', 'R', 1, 3, NULL), ('mail', 'D', 1, 1, 1), ('mail', 'F', 1, 1, 1)`); err != nil {
		t.Fatal(err)
	}
	stats, err := q.Stats(ctx)
	if err != nil || stats.Ready != 1 || stats.Running != 2 || stats.Done != 1 || stats.Failed != 1 || stats.Expired != 2 {
		t.Errorf("%+v: %v", stats, err)
	}
	if n, err := q.Redrive(ctx, 10); err != nil || n != 1 {
		t.Errorf("%d jobs redriven: %v", n, err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 2 {
		t.Errorf("%d jobs recovered: %v", n, err)
	}
	if n, err := q.Purge(ctx, time.Hour, 10); err != nil || n != 1 {
		t.Errorf("%d jobs purged: %v", n, err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM mails WHERE kind = 'fax' AND (status, ifnull(locked, 0)) IN (('N', 0), ('R', 1), ('D', 1), ('F', 1))").Scan(&n); err != nil || n != 5 {
		t.Errorf("%d rows of others are as they were: %v", n, err)
	}
}
