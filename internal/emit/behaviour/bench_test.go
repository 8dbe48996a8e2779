package behaviour

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emaillite"
)

// preparing is a database that keeps every statement prepared until it is
// closed. A package over database/sql does not do so by itself: whoever calls
// New for each request would leave statements behind with each. A program that
// keeps its Queue can give it this instead of the *sql.DB.
type preparing struct {
	*sql.DB
	kept sync.Map // by text
}

func (p *preparing) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if s, ok := p.kept.Load(text); ok {
		return s.(*sql.Stmt), nil
	}
	s, err := p.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if first, late := p.kept.LoadOrStore(text, s); late {
		return first.(*sql.Stmt), s.Close() //nolint:sqlclosecheck // it was prepared twice at once
	}
	return s, nil
}

func (p *preparing) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	s, err := p.prepared(ctx, text) //nolint:sqlclosecheck // closed with the database
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

func (p *preparing) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	s, err := p.prepared(ctx, text) //nolint:sqlclosecheck // closed with the database
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// A queue over a database that keeps its statements prepared does all that it
// does otherwise, transactions among it.
func TestPreparingDatabase(t *testing.T) {
	db := sqlite(t, "email_sqlite")
	db.SetMaxOpenConns(4)
	runEmail(t, db, emaillite.New(&preparing{DB: db}, emaillite.WithWorker("w1")),
		lostKeys(func(l *emaillite.LostError) []int64 { return l.Keys }), sqliteClock)
}

// BenchmarkSQLite claims and completes jobs on SQLite, with statements that are
// prepared for each call and with such as are kept.
func BenchmarkSQLite(b *testing.B) {
	const full = 20_000
	ctx := context.Background()
	for _, batch := range []int{1, 10, 100} {
		for _, kept := range []bool{false, true} {
			b.Run(fmt.Sprintf("batch=%d/kept=%v", batch, kept), func(b *testing.B) {
				db := sqlite(b, "email_sqlite")
				db.SetMaxOpenConns(1)
				q := emaillite.New(db)
				if kept {
					q = emaillite.New(&preparing{DB: db})
				}
				left := 0
				for b.Loop() {
					if left == 0 {
						b.StopTimer()
						if _, err := q.EnqueueMany(ctx, slices.Repeat([]emaillite.NewJob{{Kind: "mail", Body: body}}, full)); err != nil {
							b.Fatal(err)
						}
						left = full
						b.StartTimer()
					}
					jobs, err := q.Claim(ctx, "mail", batch)
					if err != nil || len(jobs) != batch {
						b.Fatal(len(jobs), err)
					}
					if err := q.Complete(ctx, jobs...); err != nil {
						b.Fatal(err)
					}
					left -= batch
				}
				b.ReportMetric(float64(batch*b.N)/b.Elapsed().Seconds(), "jobs/s")
			})
		}
	}
}
