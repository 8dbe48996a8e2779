package countedq

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// Numbers are compared as numbers, and what is null stands where the server puts it.
func TestOrder(t *testing.T) {
	ctx, db := context.Background(), open(t)
	if _, err := db.Exec(`INSERT INTO counted (prio, share) VALUES (9, 1), (10, 1), (100, 1), (2.5, 1), (-1, 10), (-1, 9), (-1, 1e2), (-1, null)`); err != nil {
		t.Fatal(err)
	}
	jobs, err := New(db).Claim(ctx, 10)
	var got []string
	for _, j := range jobs {
		share := "null"
		if j.Share != nil {
			share = *j.Share
		}
		got = append(got, j.Prio+"/"+share)
	}
	if got := strings.Join(got, " "); err != nil || got != "100/1 10/1 9/1 2.5/1 -1/null -1/9 -1/10 -1/100" {
		t.Errorf("%s, %v", got, err)
	}
}

// Tries are counted and limited by decimal numbers, of which one may say that there is no end.
func TestTries(t *testing.T) {
	ctx, db := context.Background(), open(t)
	if _, err := db.Exec(`INSERT INTO counted (tries, max_tries) VALUES (null, 1), (1, 3), (2, 3.0), (5, 99999999999999999999), (7, null)`); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 5 {
		t.Fatal(jobs, err)
	}
	for _, j := range jobs {
		if err := q.Fail(ctx, j, errors.New("on purpose")); err != nil {
			t.Error(err)
		}
	}
	var states string
	if err := db.QueryRow("SELECT group_concat(state, '') FROM (SELECT state FROM counted ORDER BY id)").Scan(&states); err != nil || states != "FNFNN" {
		t.Errorf("%s, %v", states, err)
	}
}
