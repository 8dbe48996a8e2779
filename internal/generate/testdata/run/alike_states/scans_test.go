package scansq

import (
	"context"
	"testing"
)

// A job that has ended keeps none out that is like it; one that waits does, and so does one that somebody
// has, begun or not.
func TestEndedKeepsNoneOut(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	tracker := "trk"
	for _, c := range []struct {
		state string
		want  bool
	}{{"waiting", false}, {"scheduled", false}, {"running", false}, {"success", true}, {"failed", true}, {"parked", true}} {
		for _, like := range []*string{&tracker, nil} {
			if _, err := db.Exec("DELETE FROM scans"); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec("INSERT INTO scans (tracker, state) VALUES (?, ?)", like, c.state); err != nil {
				t.Fatal(err)
			}
			if key, added, err := q.Enqueue(ctx, NewJob{Tracker: like}); err != nil || added != c.want || added != (key != 0) {
				t.Errorf("beside one that is %s: key %d, added %t: %v", c.state, key, added, err)
			}
		}
	}
}
