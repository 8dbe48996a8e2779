package generate

import (
	"strings"
	"sync/atomic"
	"testing"
)

func TestParallel(t *testing.T) {
	for _, n := range []int{0, 1, 3, 100} {
		var sum atomic.Int64
		parallel(4, n, func(i int) { sum.Add(int64(i)) })
		if want := int64(n * (n - 1) / 2); sum.Load() != want {
			t.Errorf("%d: got %d, want %d", n, sum.Load(), want)
		}
	}
}

// A panic reaches whoever called, with the place where it happened.
func TestParallelPanics(t *testing.T) {
	defer func() {
		if r, ok := recover().(string); !ok || !strings.HasPrefix(r, "seven\n") || !strings.Contains(r, "parallel_test.go") {
			t.Errorf("got %v", r)
		}
	}()
	parallel(4, 10, func(i int) {
		if i == 7 {
			panic("seven")
		}
	})
}
