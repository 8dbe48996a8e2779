package casesq

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// A job that is ready again as soon as it has failed is tried once in a PollInterval.
func TestFailuresWait(t *testing.T) {
	db := open(t)
	if _, err := db.Exec("INSERT INTO cases (case_id, alone) VALUES (1, 1)"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var ran atomic.Int32
	handler := func(context.Context, Job) error {
		ran.Add(1)
		return errors.New("not today")
	}
	if err := New(db).Work(ctx, handler, WorkOptions{Concurrency: 8, PollInterval: 200 * time.Millisecond, OnError: func(error) {}}); err != nil {
		t.Error(err)
	}
	if n := ran.Load(); n < 2 || n > 50 { // without the wait there are thousands
		t.Errorf("it was tried %d times", n)
	}
}
