package ordersq

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"
)

// open returns a database with orders 1 to 6 of shop 7: of stripe 0 those with even
// numbers, each as heavy as its number, with a label unless it is 4.
func filled(t *testing.T) *sql.DB {
	t.Helper()
	db := open(t)
	run(t, db, `
		INSERT INTO orders (shop, number, stripe, weight, revision)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6)
		SELECT 7, i, i % 2, i, 10 FROM n`, `
		INSERT INTO lines (shop, number, label) SELECT shop, number, 'label ' || number FROM orders WHERE number <> 4`)
	return db
}

func run(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%v\n%s", err, s)
		}
	}
}

// numbers are those of jobs.
func numbers(jobs []Job) []int64 {
	list := []int64{}
	for _, j := range jobs {
		list = append(list, j.Number)
	}
	return list
}

// It is asked of the rows that the arguments leave only, as they are before the claim;
// what the claim returns has all the rest.
func TestArguments(t *testing.T) {
	db, ctx := filled(t), context.Background()
	q := New(db)
	var asked []Job
	jobs, err := q.Claim(ctx, 5, Shard{Index: 0, Count: 2}, func(j Job) bool {
		asked = append(asked, j)
		return j.Number == 4
	}, 2)
	if err != nil || !slices.Equal(numbers(jobs), []int64{4}) || !slices.Equal(numbers(asked), []int64{2, 4}) {
		t.Fatalf("asked of %v, claimed %v: %v", numbers(asked), numbers(jobs), err)
	}
	if before := asked[1]; before.Mark != "" || before.Label != nil || before.Revision != 10 || before.Weight != 4 {
		t.Errorf("it saw %+v", before)
	}
	if got := jobs[0]; got.Mark == "" || got.Label != nil || got.Revision != 11 {
		t.Errorf("the claim returned %+v", got)
	}
	jobs, err = q.Claim(ctx, 6, Shard{Index: 0, Count: 2}, nil, 9)
	if err != nil || !slices.Equal(numbers(jobs), []int64{2, 6}) || jobs[0].Label == nil || *jobs[0].Label != "label 2" {
		t.Errorf("claimed %v: %v", jobs, err)
	}
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Error(err)
	}
}

// A row that was written since it was offered is left out, and taken the next time.
func TestRevised(t *testing.T) {
	db, ctx := filled(t), context.Background()
	q := New(db)
	jobs, err := q.Claim(ctx, 9, Shard{Count: 1}, func(j Job) bool {
		if j.Number == 2 {
			run(t, db, "UPDATE orders SET revision = revision + 1, weight = 3 WHERE number = 2")
		}
		return true
	}, 3)
	if err != nil || !slices.Equal(numbers(jobs), []int64{1, 3}) {
		t.Fatalf("claimed %v: %v", numbers(jobs), err)
	}
	jobs, err = q.Claim(ctx, 9, Shard{Count: 1}, func(j Job) bool { return j.Weight == 3 }, 3)
	if err != nil || !slices.Equal(numbers(jobs), []int64{2}) {
		t.Errorf("claimed %v: %v", numbers(jobs), err)
	}
}

// A claim that fails when it takes has taken none.
func TestFailure(t *testing.T) {
	db, ctx := filled(t), context.Background()
	run(t, db, "CREATE TRIGGER guard BEFORE UPDATE ON orders WHEN new.number = 3 BEGIN SELECT raise(ABORT, 'not this one'); END")
	jobs, err := New(db).Claim(ctx, 9, Shard{Count: 1}, nil, 4)
	if err == nil || !strings.HasPrefix(err.Error(), "ordersq: claim: ") || jobs != nil {
		t.Errorf("claimed %v: %v", numbers(jobs), err)
	}
	var written int
	if err := db.QueryRow("SELECT count(*) FROM orders WHERE paid <> 0 OR mark IS NOT NULL").Scan(&written); err != nil || written != 0 {
		t.Errorf("%d rows were written: %v", written, err)
	}
}
