// Command example shows a generated package at work: an outbox of 10,000 mails
// in an SQLite file, four worker processes that send them, one of which is
// killed in the middle. What it reports at the end is counted in the table.
//
//	go run ./example
package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/example/gen/emailq"
	_ "modernc.org/sqlite" // the database/sql driver "sqlite", in pure Go
)

//go:embed schema.sql
var schema string

//go:embed gen/emailq/schema/indexes.sql
var indexes string

func main() {
	mails := flag.Int("mails", 10_000, "how many mails to send")
	workers := flag.Int("workers", 4, "how many worker processes")
	file := flag.String("db", "", "database file to work on, as a worker of that `name`")
	name := flag.String("worker", "", "run as the worker of this `name` (used by the example itself)")
	flag.Parse()

	var err error
	if *name != "" {
		err = work(context.Background(), *file, *name)
	} else {
		err = run(context.Background(), *mails, *workers)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

// open opens a database file the way several writing processes need it: a
// write-ahead log, waiting for the writer instead of failing, and one
// connection, because SQLite has one writer.
func open(file string) (*sql.DB, error) {
	options := url.Values{
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)"},
		"_txlock": {"immediate"},
	}
	db, err := sql.Open("sqlite", "file:"+file+"?"+options.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// run fills the outbox, starts the workers, kills one, and reports.
func run(ctx context.Context, mails, workers int) error {
	folder, err := os.MkdirTemp("", "qgen-example-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the folder is temporary
	file := filepath.Join(folder, "outbox.db")
	db, err := open(file)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, script := range []string{schema, indexes} {
		if _, err := db.ExecContext(ctx, script); err != nil {
			return err
		}
	}

	queue := emailq.New(db)
	if err := queue.Verify(ctx); err != nil {
		return err
	}
	news := make([]emailq.NewJob, mails)
	for i := range news {
		news[i] = emailq.NewJob{Recipient: fmt.Sprintf("user%d@example.com", i+1), Subject: "Hello"}
	}
	if _, err := queue.EnqueueMany(ctx, news); err != nil {
		return err
	}
	fmt.Printf("enqueued %d mails; %d worker processes begin\n", mails, workers)

	started := time.Now()
	processes := make([]*exec.Cmd, workers)
	for i := range processes {
		processes[i] = exec.Command(os.Args[0], "-db", file, "-worker", fmt.Sprintf("worker-%d", i+1))
		processes[i].Stderr = os.Stderr
		if err := processes[i].Start(); err != nil {
			return err
		}
	}
	if err := watch(ctx, db, mails, processes[0]); err != nil {
		return err
	}
	took := time.Since(started)
	for _, p := range processes[1:] {
		if err := p.Wait(); err != nil {
			return err
		}
	}
	return report(ctx, os.Stdout, db, mails, took)
}

// watch shows progress until nothing is left to do, and kills a worker while
// it holds mails.
func watch(ctx context.Context, db *sql.DB, mails int, victim *exec.Cmd) error {
	queue := emailq.New(db)
	killed := false
	for shown := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		s, err := queue.Stats(ctx)
		if err != nil {
			return err
		}
		finished := int(s.Done + s.Failed)
		if !killed && finished > mails/4 {
			var held int
			err := db.QueryRowContext(ctx, `SELECT count(*) FROM email_outbox WHERE state = 'sending' AND worker = 'worker-1'`).Scan(&held)
			if err != nil {
				return err
			}
			if held > 0 {
				if err := victim.Process.Kill(); err != nil {
					return err
				}
				_ = victim.Wait() // killed: the error says so
				killed = true
				fmt.Printf("%6d sent; worker-1 is killed while it holds up to %d mails\n", finished, held)
			}
		}
		if finished == mails {
			return nil
		}
		if time.Since(shown) > 500*time.Millisecond {
			shown = time.Now()
			fmt.Printf("%6d sent, %d being sent, %d ready, %d wait for another try\n", s.Done, s.Running, s.Ready, s.Delayed)
		}
	}
}

// work is one worker process: it claims mails, sends them, and records what it
// sent in the transaction that completes them.
func work(ctx context.Context, file, name string) error {
	db, err := open(file)
	if err != nil {
		return err
	}
	defer db.Close()
	queue := emailq.New(db, emailq.WithWorker(name))
	for recovered := time.Now(); ; {
		jobs, err := queue.Claim(ctx, 100)
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			s, err := queue.Stats(ctx)
			if err != nil {
				return err
			}
			if s.Ready+s.Delayed+s.Running == 0 {
				return nil
			}
			time.Sleep(50 * time.Millisecond)
		}
		if time.Since(recovered) > time.Second {
			recovered = time.Now()
			if _, err := queue.Recover(ctx, 1000); err != nil {
				return err
			}
		}
		var sent []emailq.Job
		for _, job := range jobs {
			if cause := send(job); cause != nil {
				if err := queue.Fail(ctx, job, cause); err != nil && !errors.Is(err, emailq.ErrLost) {
					return err
				}
				continue
			}
			sent = append(sent, job)
		}
		if err := settle(ctx, db, queue, name, sent); err != nil {
			return err
		}
	}
}

// send pretends to send a mail. Some addresses never work, and some work at
// the second try.
func send(job emailq.Job) error {
	time.Sleep(200 * time.Microsecond)
	switch {
	case job.MsgID%997 == 0:
		return errors.New("550 no such user")
	case job.MsgID%101 == 0 && job.Tries == 1:
		return errors.New("451 try again later")
	}
	return nil
}

// settle completes mails and records them as delivered in one transaction: a
// mail whose claim was lost meanwhile is not ours to record.
func settle(ctx context.Context, db *sql.DB, queue *emailq.Queue, name string, sent []emailq.Job) error {
	if len(sent) == 0 {
		return nil
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var lost *emailq.LostError
	if err := queue.WithTx(tx).Complete(ctx, sent...); err != nil && !errors.As(err, &lost) {
		return err
	}
	if lost != nil {
		sent = slices.DeleteFunc(sent, func(j emailq.Job) bool { return slices.Contains(lost.Keys, j.Key()) })
		if len(sent) == 0 {
			return nil
		}
	}
	values := strings.TrimSuffix(strings.Repeat("(?, ?), ", len(sent)), ", ")
	args := make([]any, 0, 2*len(sent))
	for _, job := range sent {
		args = append(args, job.MsgID, name)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO delivery (msg_id, worker) VALUES "+values, args...); err != nil {
		return err
	}
	return tx.Commit()
}

// report counts in the tables what became of the mails.
func report(ctx context.Context, w io.Writer, db *sql.DB, mails int, took time.Duration) error {
	figures := []struct{ title, query string }{
		{"done", `SELECT count(*) FROM email_outbox WHERE state = 'sent'`},
		{"failed", `SELECT count(*) FROM email_outbox WHERE state = 'failed'`},
		{"retried", `SELECT count(*) FROM email_outbox WHERE tries > 1 AND last_error IS NOT NULL`},
		{"recovered", `SELECT count(*) FROM email_outbox WHERE tries > 1 AND last_error IS NULL`},
		{"lost", `SELECT ?1 - count(*) FROM email_outbox AS m
			WHERE state = 'failed' OR state = 'sent' AND EXISTS (SELECT 1 FROM delivery AS d WHERE d.msg_id = m.msg_id)`},
		{"twice", `SELECT count(*) FROM (SELECT msg_id FROM delivery GROUP BY msg_id HAVING count(*) > 1)`},
	}
	fmt.Fprintln(w)
	bad := 0
	for _, f := range figures {
		var n int
		if err := db.QueryRowContext(ctx, f.query, mails).Scan(&n); err != nil {
			return fmt.Errorf("%s: %w", f.title, err)
		}
		if f.title == "lost" || f.title == "twice" {
			bad += n
		}
		fmt.Fprintf(w, "%-10s %6d\n", f.title, n)
	}
	fmt.Fprintf(w, "%-10s %6.0f\n", "jobs/s", float64(mails)/took.Seconds())
	if bad > 0 {
		return fmt.Errorf("%d mails were lost or sent twice", bad)
	}
	return nil
}
