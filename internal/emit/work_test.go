package emit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/internal/code"
	"github.com/qgen-dev/qgen/internal/plan"
)

// workPlan is a plan of which only the worker loop is written, for a queue in
// memory that stands in testdata/work.
func workPlan() *plan.Package {
	id := &plan.Field{Column: "id", Name: "ID", GoType: "int64"}
	token := &plan.Field{Column: "token", Name: "Token", GoType: "int64"}
	failed := func() *plan.Settle {
		return &plan.Settle{Statement: &plan.Statement{Args: []plan.Arg{{Kind: plan.ArgError}}}}
	}
	return &plan.Package{
		Name: "emailq", Table: "email", Source: "schema.sql", Driver: plan.DatabaseSQL,
		Crash:  "A worker that dies leaves its jobs running until their lease ends; then Recover makes them ready again.",
		Fields: []*plan.Field{id, token}, Key: []*plan.Field{id}, Fence: []*plan.Field{token},
		Claim:    &plan.Claim{Flow: plan.OneStatement},
		Complete: &plan.Settle{}, Retry: failed(), Fail: failed(),
		Requeue: &plan.Settle{Delay: true}, Extend: &plan.Settle{}, Recover: &plan.Sweep{},
		Lease: &plan.Lease{Length: 5 * time.Minute}, WorkLoop: true,
	}
}

// workPlans are the shapes of the loop; one that has a folder in testdata/work
// is run with the queue in it.
func workPlans() map[string]*plan.Package {
	shape := func(change func(p *plan.Package)) *plan.Package {
		p := workPlan()
		change(p)
		return p
	}
	result := &plan.Field{Column: "answer", Name: "Answer", GoType: "string"}
	lease := func(p *plan.Package) {
		p.Claim.LeaseArg, p.Extend.LeaseArg = true, true
		p.Lease.Length = 0
	}
	return map[string]*plan.Package{
		"plain": workPlan(),
		"lease": shape(lease),
		"moving": shape(func(p *plan.Package) {
			kind := &plan.Field{Column: "kind", Name: "Kind", Param: "kind", GoType: "string"}
			p.Claim.Params = []*plan.Param{
				{Name: "kind", GoType: "string", Doc: "the value of kind", Field: kind},
				{Name: "batch", GoType: "*int64", Doc: "the number of the batch, nil for any"},
			}
			p.Claim.Shard = true
			p.Complete.Result = result
			p.Extend.Refreshes = p.Fence
			p.Requeue.Delay = false
			p.Recover = nil
			p.Lease.Length = 600 * time.Millisecond
		}),
		"untold": shape(func(p *plan.Package) {
			lease(p)
			p.Retry, p.Fail = &plan.Settle{}, &plan.Settle{}
		}),
		"dropped":  shape(func(p *plan.Package) { p.Fail = &plan.Settle{} }),
		"rowlease": shape(func(p *plan.Package) { p.Lease.Length = 0 }),
		"bare": shape(func(p *plan.Package) {
			p.Retry, p.Fail, p.Requeue, p.Extend, p.Recover, p.Lease = nil, nil, nil, nil, nil, nil
		}),
		"hold": shape(func(p *plan.Package) {
			p.Hold, p.Claim.Flow, p.Extend, p.Recover, p.Lease = true, plan.ReadOnly, nil, nil, nil
			p.Crash = "When a worker dies, its connection ends, the locks go, and the whole batch is ready again."
		}),
		"shard": shape(func(p *plan.Package) {
			p.Claim.Flow, p.Claim.Shard, p.Complete.Result = plan.ReadOnly, true, result
			p.Retry, p.Fail, p.Requeue, p.Extend, p.Recover, p.Lease = nil, nil, nil, nil, nil, nil
			p.Crash = "A worker that dies leaves its jobs as they were; they are read again by whoever gets its shard."
		}),
		"pop": shape(func(p *plan.Package) {
			p.Complete, p.Retry, p.Fail, p.Requeue, p.Extend, p.Recover, p.Lease = nil, nil, nil, nil, nil, nil, nil
			p.Crash = "A worker that dies loses the jobs it took."
		}),
	}
}

func emitWork(t *testing.T, p *plan.Package) []byte {
	t.Helper()
	w := newWriter(p)
	text, err := w.workFile().Render(new(code.Formatter))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestWorkText compares the loops with the files that are kept for reading.
func TestWorkText(t *testing.T) {
	for name, p := range workPlans() {
		t.Run(name, func(t *testing.T) {
			text := emitWork(t, p)
			compare(t, filepath.Join("testdata", "work", "golden", name+".go.golden"), text)
		})
	}
}

// compare compares a text with the file that is kept for reading.
func compare(t *testing.T, path string, text []byte) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		write(t, path, text)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("%s is not what is emitted now:\n%s", path, firstDifference(string(text), string(want)))
	}
}

// TestWork runs the emitted loops on queues in memory, where every answer of
// the database can be arranged.
func TestWork(t *testing.T) {
	for name, queue := range map[string]string{"lease": "lease", "untold": "lease", "moving": "moving", "hold": "hold", "pop": "pop"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, from := range map[string]string{"queue.go": queue, "work_test.go": name} {
				text, err := os.ReadFile(filepath.Join("testdata", "work", from, file))
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, file), text)
			}
			// Nobody should wait a quarter of a minute for a test.
			text := bytes.Replace(emitWork(t, workPlans()[name]), []byte("15 * time.Second"), []byte("500 * time.Millisecond"), 1)
			write(t, filepath.Join(dir, "work.go"), text)
			write(t, filepath.Join(dir, "go.mod"), []byte("module emailq\n\ngo 1.22\n"))
			cmd := exec.Command("go", "test", "-race", "-count=1", ".")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestEveryLoopCompiles vets the worker loop and the conformance test of every
// fixture, also of those that have none in testdata/golden.
func TestEveryLoopCompiles(t *testing.T) {
	all := fixtures()
	rowLease := emailSQLite()
	rowLease.Name, rowLease.Out, rowLease.Lease = "rowlease", "rowlease", &plan.Lease{}
	all["rowlease"] = rowLease
	dir := filepath.Dir(emitModule(t, minimal("minimal", plan.DatabaseSQL), nil))
	for name, p := range all {
		p.WorkLoop = true
		if p.Enqueue != nil {
			p = withConformance(p)
		}
		files, err := new(Emitter).Files(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range files {
			write(t, filepath.Join(dir, filepath.FromSlash(f.Path)), f.Data)
		}
	}
	cmd := exec.Command("go", "vet", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Work knows from the number of rows that Recover touched whether there are more, so it asks for
// no more than that touches at once.
func TestRecoverLimit(t *testing.T) {
	p := workPlan()
	p.Most, p.MostTaken, p.WhyMost = 419, 419, "the locks of many rows are turned into one of the whole table"
	if text := emitWork(t, p); !bytes.Contains(text, []byte("= 419 ")) || bytes.Contains(text, []byte("= 1000 ")) {
		t.Errorf("Work does not ask for 419 rows:\n%s", text)
	}
}
