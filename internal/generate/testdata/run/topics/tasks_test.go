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

// What waits is counted for each combination of topics, a null among them, in their order.
func TestBacklog(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if got, err := q.Backlog(ctx); err != nil || len(got) != 0 {
		t.Errorf("of nothing: %+v, %v", got, err)
	}
	if _, err := db.Exec(`INSERT INTO tasks (queue, kind, node, state, due, till) VALUES
		('b', 'x', NULL, 'new',  unixepoch() - 30, NULL),
		('b', 'x', NULL, 'new',  unixepoch() - 90, NULL),
		('b', 'x', 'n1', 'new',  unixepoch() + 60, NULL),
		('a', 'y', 'n1', 'new',  NULL, NULL),
		('a', 'z', 'n1', 'busy', NULL, unixepoch() - 1),
		('a', 'z', 'n1', 'over', NULL, NULL)`); err != nil {
		t.Fatal(err)
	}
	got, err := q.Backlog(ctx)
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []struct {
		queue, kind, node       string
		ready, delayed, seconds int64
	}{{"a", "y", "n1", 1, 0, 0}, {"b", "x", "", 2, 0, 90}, {"b", "x", "n1", 0, 1, 0}} {
		b, node := got[i], ""
		if b.Node != nil {
			node = *b.Node
		}
		if age := int64(b.OldestReady.Seconds()); b.Queue != want.queue || b.Kind != want.kind || node != want.node || b.Ready != want.ready || b.Delayed != want.delayed || age < want.seconds || age > want.seconds+5 {
			t.Errorf("%d is %+v, want %+v", i, b, want)
		}
	}
	if jobs, err := q.Claim(ctx, "b", []string{"x"}, nil, "n2", 1); err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	if got, err := q.Backlog(ctx); err != nil || len(got) != 3 || got[1].Ready != 1 {
		t.Errorf("behind a claim: %+v, %v", got, err)
	}
}
