// Package situation says what a situation is: the tables that somebody has, the
// packages that qgen writes for them, and a program that shows them at work. What
// the programs share stands here, too.
package situation

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Situation is a folder beside this one.
type Situation struct {
	Folder   string   // its name, such as "01-batch-key"
	Files    embed.FS // its DDL and the schema folders of its packages
	Programs []Program
}

// Program is what a situation does on the servers of one engine.
type Program struct {
	Engine   string   // <engine>.sql holds its tables
	Servers  []string // the servers of the tests that can run it: beginnings of their names
	Packages []string // those of gen whose schema folders are carried out
	Output   string   // the file that holds what it prints, "" for output.txt
	Run      Run
}

// Run works on the tables and tells what it sees.
type Run func(ctx context.Context, db *sql.DB, out io.Writer) error

// InTurn runs one after the other, until one fails.
func InTurn(runs ...Run) Run {
	return func(ctx context.Context, db *sql.DB, out io.Writer) error {
		for _, run := range runs {
			if err := run(ctx, db, out); err != nil {
				return err
			}
		}
		return nil
	}
}

// Queue is what the programs use of a package that qgen wrote.
type Queue[Job any] interface {
	Verify(ctx context.Context) error
	Claim(ctx context.Context, limit int) ([]Job, error)
	Complete(ctx context.Context, jobs ...Job) error
	Fail(ctx context.Context, job Job, cause error) error
}

// Log is what the programs use of a package that reads rows behind marks.
type Log[Job any] interface {
	Verify(ctx context.Context) error
	Claim(ctx context.Context, group string, limit int) ([]Job, error)
	Complete(ctx context.Context, jobs ...Job) error
	Requeue(ctx context.Context, jobs ...Job) error
}

// Read claims the next n rows for a group. It waits until all of them can be
// taken: rows of transactions that run, here or elsewhere, may hold them back.
func Read[Job any](ctx context.Context, q Log[Job], group string, n int) ([]Job, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		jobs, err := q.Claim(ctx, group, n)
		if err != nil || len(jobs) == n {
			return jobs, err
		}
		if err := q.Requeue(ctx, jobs...); err != nil {
			return nil, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Hold is a transaction in which jobs are held by the locks of their rows.
type Hold[Job any] interface {
	Claim(ctx context.Context, limit int) ([]Job, error)
	Complete(ctx context.Context, jobs ...Job) error
	Commit(ctx context.Context) error
	Close()
}

// Holder begins such transactions.
type Holder[Job any] func(ctx context.Context) (Hold[Job], error)

// Texts shows jobs by one of their columns.
func Texts[Job, Text any](jobs []Job, text func(Job) Text) string {
	texts := make([]string, len(jobs))
	for i, job := range jobs {
		texts[i] = fmt.Sprint(text(job))
	}
	return strings.Join(texts, " ")
}

// Exec runs statements.
func Exec(ctx context.Context, db *sql.DB, statements ...string) error {
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Rows shows what a query of one column returns.
func Rows(ctx context.Context, db *sql.DB, query string) (string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var texts []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", "), rows.Err()
}

// Crowd lets workers take jobs at the same time until each finds none, and tells
// how many were given out in all. take tells how many it took and finished.
func Crowd(workers int, take func(worker int) (int, error)) (total int64, err error) {
	var group sync.WaitGroup
	var sum atomic.Int64
	errs := make([]error, workers)
	for worker := range workers {
		group.Go(func() {
			for {
				n, err := take(worker)
				if err != nil || n == 0 {
					errs[worker] = err
					return
				}
				sum.Add(int64(n))
			}
		})
	}
	group.Wait()
	return sum.Load(), errors.Join(errs...)
}
