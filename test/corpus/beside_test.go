package corpus

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/qgen-dev/qgen/test/corpus/gen/mediawikiaskpg"
	"github.com/qgen-dev/qgen/test/corpus/gen/mediawikilite"
	"github.com/qgen-dev/qgen/test/corpus/gen/mediawikimy"
)

// TestBeside lets the runners of MediaWiki itself, by the SQL that legacy_claim shows, and the
// package take jobs at the same time: each is taken once, as the verdict of explain says.
func TestBeside(t *testing.T) {
	old := map[string][]string{}
	for _, p := range plan(t, ".") {
		if len(p.Queue.Legacy) == 0 {
			continue
		}
		if c := p.Plan.Coexistence; c == nil || c.Verdict != "yes" {
			t.Fatalf("%s: the verdict is %v", p.Plan.Name, c)
		}
		for _, s := range p.Queue.Legacy {
			old[p.Queue.Engine.Value] = append(old[p.Queue.Engine.Value], s.Value)
		}
	}
	onServers(t, "postgresql", func(t *testing.T, b base) {
		q := mediawikiaskpg.New(b.DB)
		beside(t, b, old[b.engine], func(ctx context.Context) ([]int64, error) {
			jobs, err := q.Claim(ctx, "mail", nil, 3)
			return numbers(jobs, func(j mediawikiaskpg.Job) int64 { return int64(j.JobID) }), err
		})
	}, "mediawiki/postgresql.sql")
	onServers(t, "mysql", func(t *testing.T, b base) {
		q := mediawikimy.New(b.DB)
		beside(t, b, old[b.engine], func(ctx context.Context) ([]int64, error) {
			jobs, err := q.Claim(ctx, []byte("mail"), 3)
			return numbers(jobs, func(j mediawikimy.Job) int64 { return int64(j.JobID) }), err
		})
	}, "mediawiki/mysql.sql")
	onServers(t, "sqlite", func(t *testing.T, b base) {
		q := mediawikilite.New(b.DB)
		beside(t, b, old[b.engine], func(ctx context.Context) ([]int64, error) {
			jobs, err := q.Claim(ctx, "mail", 3)
			return numbers(jobs, func(j mediawikilite.Job) int64 { return j.JobID }), err
		})
	}, "mediawiki/sqlite.sql")
}

func numbers[J any](jobs []J, of func(J) int64) []int64 {
	var list []int64
	for _, j := range jobs {
		list = append(list, of(j))
	}
	return list
}

// beside has jobs taken by the package and by the old program, in turn.
func beside(t *testing.T, b base, old []string, claim func(context.Context) ([]int64, error)) {
	const total = 400
	b.run(t, "INSERT INTO job (job_cmd, job_namespace, job_title, job_params) VALUES "+texts(total, "('mail', 0, 'n%d', '')"))
	at := map[string]string{"postgresql": "2030-01-01 00:00:00+00", "mysql": "20300101000000", "sqlite": "20300101000000"}[b.engine]
	var turn, ours, theirs atomic.Int64
	poll := func(ctx context.Context) ([]int64, error) {
		for {
			var id int64
			err := b.QueryRowContext(ctx, old[0], "mail").Scan(&id)
			if errors.Is(err, sql.ErrNoRows) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			result, err := b.ExecContext(ctx, old[1], at, id)
			if err != nil {
				return nil, err
			}
			if n, err := result.RowsAffected(); n == 1 || err != nil {
				return []int64{id}, err
			}
		}
	}
	together(t, total, func(ctx context.Context) ([]int64, error) {
		if turn.Add(1)%2 == 0 {
			ids, err := claim(ctx)
			ours.Add(int64(len(ids)))
			if len(ids) > 0 || err != nil {
				return ids, err
			}
		}
		ids, err := poll(ctx) // whoever finds none free is told so by the old program
		theirs.Add(int64(len(ids)))
		return ids, err
	}, func(id int64) string { return strconv.FormatInt(id, 10) })
	if ours.Load() == 0 || theirs.Load() == 0 {
		t.Errorf("%d jobs were taken by the package, %d by the old program", ours.Load(), theirs.Load())
	}
}
