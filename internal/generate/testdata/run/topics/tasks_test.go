package tasksq

import (
	"context"
	"testing"
)

// The figures of some topics are those of the rows that a claim with the same topics is for, in every state.
func TestStatsOf(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec(`INSERT INTO tasks (queue, kind, tenant, node, state, due, till) VALUES
		('a', 'x', 1, NULL, 'new',  NULL, NULL),
		('a', 'x', 2, 'n1', 'new',  unixepoch() + 60, NULL),
		('a', 'y', 1, 'n2', 'new',  NULL, NULL),
		('a', 'y', 1, NULL, 'busy', NULL, unixepoch() - 1),
		('a', 'z', 1, NULL, 'over', NULL, NULL),
		('b', 'x', 1, NULL, 'new',  NULL, NULL)`); err != nil {
		t.Fatal(err)
	}
	one := int64(1)
	for _, c := range []struct {
		queue  string
		kind   []string
		tenant *int64
		node   string
		want   Stats
	}{
		{"a", []string{"x", "y", "z"}, nil, "n1", Stats{Ready: 1, Delayed: 1, Running: 1, Expired: 1, Done: 1}},
		{"a", []string{"x", "y"}, nil, "n2", Stats{Ready: 2, Running: 1, Expired: 1}},
		{"a", []string{"x"}, &one, "n1", Stats{Ready: 1}},
		{"b", []string{"x", "y"}, nil, "n1", Stats{Ready: 1}},
		{"b", nil, nil, "n1", Stats{}},
	} {
		got, err := q.StatsOf(ctx, c.queue, c.kind, c.tenant, c.node)
		got.OldestReady, c.want.OldestReady = 0, 0
		if err != nil || got != c.want {
			t.Errorf("StatsOf(%q, %q, %v, %q) = %+v, %v, want %+v", c.queue, c.kind, c.tenant != nil, c.node, got, err, c.want)
		}
	}
	if s, err := q.Stats(ctx); err != nil || s.Ready != 3 || s.Delayed != 1 || s.Running != 1 || s.Done != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}
