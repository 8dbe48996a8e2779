package conformance

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// proveKilledWorker: a worker process that is killed while it holds jobs takes
// none of them along.
func proveKilledWorker(t *testing.T, s *subject) {
	const total, held = 20, 5
	x := s.newTable(t)
	x.fill(t, 1, total)
	ctx := limited(t, time.Minute)

	worker := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHoldUntilKilled$", "-test.v")
	worker.Env = append(os.Environ(), "CONFORMANCE_HOLD="+strings.Join([]string{s.pkg.name, s.where(), x.dsn}, " "))
	out, err := worker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	worker.Stderr = os.Stderr
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	var said string
	for lines := bufio.NewScanner(out); !strings.HasPrefix(said, "holding ") && lines.Scan(); {
		said = lines.Text()
	}
	if said != fmt.Sprintf("holding %d", held) {
		_ = worker.Process.Kill()
		t.Fatalf("the worker process said %q", said)
	}
	if running := cmp.Or(s.shape.running, "false"); s.strategy() != "hold" && s.shape.running != "" {
		if n := x.count(t, running); n != held {
			t.Errorf("%d rows are running, want %d", n, held)
		}
	}
	if err := worker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = worker.Wait()

	if s.shape.lease != "" {
		if x.q.has("Recover") {
			if n, err := x.q.sweep(ctx, "Recover", 100); n != 0 || err != nil {
				t.Errorf("before the lease ended %d jobs were recovered, %v; want none", n, err)
			}
		}
		x.expire(t)
		if x.q.has("Recover") {
			if n, err := x.q.sweep(ctx, "Recover", 3); n != 3 || err != nil {
				t.Errorf("recovered %d jobs, %v; want 3, as asked", n, err)
			}
			if n, err := x.q.sweep(ctx, "Recover", 100); n != held-3 || err != nil {
				t.Errorf("recovered %d jobs, %v; want the other %d", n, err, held-3)
			}
		}
	}
	var got []job
	for len(got) < total && ctx.Err() == nil {
		x.inSession(t, func(q queue) {
			jobs, err := q.claim(ctx, total)
			if err != nil {
				t.Fatal(err)
			}
			if err := q.complete(ctx, jobs...); err != nil {
				t.Fatal(err)
			}
			got = append(got, jobs...)
		})
	}
	seen := map[int64]bool{}
	for _, n := range numbers(got) {
		seen[n] = true
	}
	if len(got) != total || len(seen) != total {
		t.Errorf("the others got %v, want each of %d jobs once", numbers(got), total)
	}
	x.check(t, states{done: total})
}

// TestHoldUntilKilled is the worker process: it takes jobs, says so, and waits
// for its end.
func TestHoldUntilKilled(t *testing.T) {
	order := os.Getenv("CONFORMANCE_HOLD")
	if order == "" {
		t.Skip("runs as the child of another test")
	}
	words := strings.SplitN(order, " ", 3)
	for _, s := range everySubject(t) {
		if s.pkg.name != words[0] || s.where() != words[1] {
			continue
		}
		x := &table{subject: s, dsn: words[2]}
		x.conn = x.connect(t, 2)
		session, _, _, err := x.open(x.conn, "doomed").session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := session.claim(t.Context(), 5)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("holding %d\n", len(jobs))
		time.Sleep(time.Minute)
	}
}
