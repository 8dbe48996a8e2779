package conformance

import (
	"bufio"
	"fmt"
	"io"
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
	worker.Env = append(os.Environ(), "CONFORMANCE_HOLD="+strings.Join([]string{s.pkg.name, s.name, x.on(t, 1, lagging).dsn}, " "))
	out, err := worker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	worker.Stderr = os.Stderr
	if _, err := worker.StdinPipe(); err != nil { // see outliveNoParent
		t.Fatal(err)
	}
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
	if s.strategy() != "hold" && s.shape.running != "" {
		if n := x.count(t, s.shape.running); n != held {
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
	outliveNoParent()
	words := strings.SplitN(order, " ", 3)
	for _, s := range everySubject(t) {
		if s.pkg.name != words[0] || s.name != words[1] {
			continue
		}
		x := &table{subject: s, dsn: words[2]}
		x.conn = x.connect(t, 2)
		session, _, _, err := x.open(x.conn, "doomed").session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var jobs []job
		for deadline := time.Now().Add(20 * time.Second); len(jobs) == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if jobs, err = session.claim(t.Context(), 5); err != nil { // rows of a log may have to settle first
				t.Fatal(err)
			}
		}
		fmt.Printf("holding %d\n", len(jobs))
		time.Sleep(time.Minute)
	}
}

// outliveNoParent ends a child process together with its parent, however that
// ends: nothing is ever written to the pipe that is the child's standard input,
// and it closes when the parent is gone. A child that lived on would keep jobs,
// and the output of go test open.
func outliveNoParent() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
}

// TestChildEndsWithItsParent kills a process that has started a worker, and
// waits for the worker's end.
func TestChildEndsWithItsParent(t *testing.T) {
	if os.Getenv("CONFORMANCE_PARENT") != "" {
		child := exec.Command(os.Args[0], "-test.run=^TestChildEndsWithItsParent$")
		child.Env = append(os.Environ(), "CONFORMANCE_PARENT=", "CONFORMANCE_CHILD=yes")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if _, err := child.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := child.Run(); err != nil {
			t.Fatal(err)
		}
		return
	}
	if os.Getenv("CONFORMANCE_CHILD") != "" {
		outliveNoParent()
		fmt.Println("child")
		time.Sleep(time.Minute)
		return
	}
	parent := exec.CommandContext(limited(t, time.Minute), os.Args[0], "-test.run=^TestChildEndsWithItsParent$")
	parent.Env = append(os.Environ(), "CONFORMANCE_PARENT=yes")
	out, err := parent.StdoutPipe() // which the child has, too
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "child" {
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	if _, err := io.Copy(io.Discard, out); err != nil { // ends when nobody has it open any more
		t.Fatal(err)
	}
	if took := time.Since(killed); took > 10*time.Second {
		t.Errorf("the child lived on for %v", took)
	}
	_ = parent.Wait()
}
