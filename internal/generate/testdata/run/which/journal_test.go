package journalq

import (
	"context"
	"testing"
)

// A condition in SQL says which rows of other tables a step writes: those of the same content that
// nobody has and that are not newer.
func TestWhich(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	weight := int64(5)
	for _, ident := range []string{"a", "b", "a", "a", "a"} {
		if _, err := q.Enqueue(ctx, NewJob{Ident: ident, Weight: &weight}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec("INSERT INTO tags (ident, lowest) VALUES ('a', 5), ('a', 6), ('b', 1)"); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 4)
	if err != nil || len(jobs) != 4 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	if err := q.Requeue(ctx, jobs[0]); err != nil {
		t.Fatal(err)
	}
	if err := q.Complete(ctx, jobs[2]); err != nil {
		t.Fatal(err)
	}
	count := func(of string, want int) {
		t.Helper()
		var have int
		if err := db.QueryRow("SELECT count(*) FROM " + of).Scan(&have); err != nil || have != want {
			t.Errorf("%d are %s, and should be %d: %v", have, of, want, err)
		}
	}
	count("journal WHERE id = 1", 0) // nobody had it
	count("journal WHERE id = 4", 1) // it is newer, and somebody has it
	count("journal WHERE id = 5", 1) // it is newer
	count("journal WHERE id = 2", 1) // its content is another
	count("tags WHERE seen = 1", 1)
	count("tags WHERE seen = 1 AND ident = 'a' AND lowest = 5", 1)
}
