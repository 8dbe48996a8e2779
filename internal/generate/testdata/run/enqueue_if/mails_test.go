package mailsq

import (
	"context"
	"testing"
)

// A mail is added where its tenant is active, and once.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec("INSERT INTO tenants VALUES (1, 1), (2, 0)"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		tenant int64
		added  bool
	}{{1, true}, {1, false}, {2, false}, {3, false}} {
		key, added, err := q.Enqueue(ctx, NewJob{Tenant: tt.tenant, Message: "m", Body: "x"})
		if err != nil || added != tt.added || added != (key == Key{Tenant: tt.tenant, Message: "m"}) {
			t.Errorf("key %v, added %t, %v", key, added, err)
		}
	}
}
