package buildsq

import (
	"context"
	"testing"
)

// A row that waits is delayed until its wait is over, and not until the time that it holds.
func TestStats(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO builds (last) VALUES (NULL), (unixepoch() - 30), (unixepoch() - 90), (unixepoch() + 10)"); err != nil {
		t.Fatal(err)
	}
	s, err := New(db).Stats(ctx)
	if err != nil || s.Ready != 2 || s.Delayed != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}
