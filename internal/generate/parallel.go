package generate

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// parallel calls do for 0 to n-1, workers at a time, and returns when all are
// done. If one panics, parallel does, so that whoever guards against panics
// sees it: in a goroutine nobody could.
func parallel(workers, n int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	var once sync.Once
	var failed any
	for range min(workers, n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				func() {
					defer func() {
						if r := recover(); r != nil {
							once.Do(func() { failed = fmt.Sprintf("%v\n\n%s", r, debug.Stack()) })
						}
					}()
					do(i)
				}()
			}
		})
	}
	wg.Wait()
	if failed != nil {
		panic(failed) //nolint:forbidigo // it is one already
	}
}
