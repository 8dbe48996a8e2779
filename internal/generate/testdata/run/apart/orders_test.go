package ordersq

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"
)

// Done rows and failed ones go each at an age of its own, with what belongs to them.
func TestPurgeApart(t *testing.T) {
	db, ctx := open(t), context.Background()
	for _, text := range []string{
		"INSERT INTO orders (id, state, made) VALUES (1, 'D', 100), (2, 'D', 9000000000), (3, 'E', 100), (4, 'E', 9000000000), (5, 'N', 100)",
		"INSERT INTO parts SELECT id, 'x' FROM orders",
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	var heard hook
	q := New(db, WithHook(&heard))
	for _, step := range []struct {
		purge func(context.Context, time.Duration, int) (int, error)
		n     int
		left  string
	}{{q.PurgeFailed, 1, "1245"}, {q.PurgeFailed, 0, "1245"}, {q.PurgeDone, 1, "245"}} {
		if n, err := step.purge(ctx, time.Minute, 10); err != nil || n != step.n {
			t.Errorf("%d rows go, want %d: %v", n, step.n, err)
		}
		for _, from := range []string{"SELECT id FROM orders ORDER BY id", `SELECT "order" AS id FROM parts ORDER BY 1`} {
			if got := left(t, db, from); got != step.left {
				t.Errorf("%s: %s, want %s", from, got, step.left)
			}
		}
	}
	if got := strings.Join(heard, ", "); got != "purge failed, purge failed, purge done" {
		t.Error(got)
	}
}

type hook []string

func (h *hook) Before(ctx context.Context, op string) context.Context {
	*h = append(*h, op)
	return ctx
}

func (h *hook) After(context.Context, string, int, error) {}

func left(t *testing.T, db *sql.DB, from string) (all string) {
	t.Helper()
	if err := db.QueryRow("SELECT coalesce(group_concat(id, ''), '') FROM (" + from + ")").Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}
