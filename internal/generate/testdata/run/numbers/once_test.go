package onceq

import (
	"context"
	"testing"
)

// The only try of a job is used up when its claim runs out, also where nothing was counted yet.
func TestNull(t *testing.T) {
	ctx, db := context.Background(), open(t)
	if _, err := db.Exec("INSERT INTO once (state, till, tries) VALUES ('A', 1, null), ('A', 1, 0)"); err != nil {
		t.Fatal(err)
	}
	if n, err := New(db).Recover(ctx, 10); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	var states string
	if err := db.QueryRow("SELECT group_concat(state, '') FROM once").Scan(&states); err != nil || states != "FF" {
		t.Errorf("%s, %v", states, err)
	}
}
