package toldq

import (
	"context"
	"testing"
)

// The same where the row says how many tries there are; without a number there is no end.
func TestNull(t *testing.T) {
	ctx, db := context.Background(), open(t)
	if _, err := db.Exec("INSERT INTO told (state, till, tries, most) VALUES ('A', 1, null, 1), ('A', 1, null, 2), ('A', 1, null, null), ('A', 1, 0, 1), ('A', 1, 0, 2), ('A', 1, 7, null)"); err != nil {
		t.Fatal(err)
	}
	if n, err := New(db).Recover(ctx, 10); err != nil || n != 6 {
		t.Errorf("%d, %v", n, err)
	}
	var states string
	if err := db.QueryRow("SELECT group_concat(state, '') FROM (SELECT state FROM told ORDER BY id)").Scan(&states); err != nil || states != "FNNFNN" {
		t.Errorf("%s, %v", states, err)
	}
}
