package generate

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// parallel calls do for 0 to n-1, workers at a time, and returns when all are
// done. If one panics, parallel does, so that whoever guards against panics
// sees it: in a goroutine nobody could.
func parallel(workers, n int, do func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	var once sync.Once
	var failed any
	for range min(workers, n) {
		wg.Go(func() {
			for i := range next {
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
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	if failed != nil {
		panic(failed) //nolint:forbidigo // it is one already
	}
}
