package leftq

import (
	"context"
	"testing"
)

// A job that is redriven has all its tries: one more than its retries, of which a null is 1.
func TestRedriven(t *testing.T) {
	ctx, db := context.Background(), open(t)
	if _, err := db.Exec("INSERT INTO left_over (state, tries, retries) VALUES ('F', 0, null), ('F', 0, 0), ('F', 0, 4)"); err != nil {
		t.Fatal(err)
	}
	if n, err := New(db).Redrive(ctx, 10); err != nil || n != 3 {
		t.Errorf("%d, %v", n, err)
	}
	var tries string
	if err := db.QueryRow("SELECT group_concat(tries) FROM (SELECT tries FROM left_over ORDER BY id)").Scan(&tries); err != nil || tries != "2,1,5" {
		t.Errorf("%s, %v", tries, err)
	}
}
