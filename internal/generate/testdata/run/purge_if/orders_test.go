package ordersq

import (
	"context"
	"testing"
)

// What belongs to a row goes with it, and rows of others stay.
func TestPurgeIfBeside(t *testing.T) {
	db, ctx := open(t), context.Background()
	for _, text := range []string{
		"INSERT INTO orders (id, kind, state) VALUES (1, 'mail', 1), (2, 'mail', 0), (3, 'mail', 3), (4, 'call', 1), (5, 'mail', 2)",
		"INSERT INTO parts SELECT id, 'x' FROM orders",
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := New(db).Purge(ctx, 1, 10); err != nil || n != 2 {
		t.Errorf("%d rows go, want 2: %v", n, err)
	}
	for _, from := range []string{"SELECT group_concat(id, '') FROM (SELECT id FROM orders ORDER BY id)", "SELECT group_concat(order_id, '') FROM (SELECT order_id FROM parts ORDER BY order_id)"} {
		var left string
		if err := db.QueryRow(from).Scan(&left); err != nil || left != "245" {
			t.Errorf("%s: %s, want 245: %v", from, left, err)
		}
	}
}
