package holdersq

import (
	"context"
	"strings"
	"testing"
)

// A worker that is called like nobody takes nothing.
func TestNobody(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := New(db).Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	if _, err := New(db, WithWorker("")).Claim(ctx, 1); err == nil || !strings.Contains(err.Error(), "which a row holds that nobody has") {
		t.Errorf("nobody claims: %v", err)
	}
	if jobs, err := New(db, WithWorker("me")).Claim(ctx, 1); err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs: %v", len(jobs), err)
	}
}
