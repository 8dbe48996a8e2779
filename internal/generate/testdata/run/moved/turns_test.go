package turnsq

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// The jobs of a batch stand in queue order, also where that is by a column that other steps write.
func TestOrder(t *testing.T) {
	ctx, db := context.Background(), open(t)
	for i := range 5 {
		if _, err := db.Exec("INSERT INTO turns (id, queued) VALUES (?, ?)", fmt.Sprint("j", i), 1000-i); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := New(db).Claim(ctx, 5)
	var ids []string
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	if got := strings.Join(ids, " "); err != nil || got != "j4 j3 j2 j1 j0" {
		t.Errorf("%s, %v", got, err)
	}
}
