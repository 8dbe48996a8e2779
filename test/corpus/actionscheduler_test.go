package corpus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/qgen-dev/qgen/test/corpus/gen/actionschedulerguarded"
	"github.com/qgen-dev/qgen/test/corpus/gen/actionschedulerisam"
	"github.com/qgen-dev/qgen/test/corpus/gen/actionschedulermaria"
	"github.com/qgen-dev/qgen/test/corpus/gen/actionschedulermy"
	"github.com/qgen-dev/qgen/test/corpus/gen/actionschedulerold"
	"github.com/qgen-dev/qgen/test/corpus/gen/actionschedulerpg"
	"github.com/qgen-dev/qgen/test/servers"
)

// TestActionScheduler is about times that are none: MySQL's zero date, and times so early or so
// late that they stand for always and never.
func TestActionScheduler(t *testing.T) {
	for _, server := range live["mysql"] {
		for _, parse := range []bool{true, false} {
			t.Run(server+"/"+map[bool]string{true: "parsed", false: "raw"}[parse], func(t *testing.T) {
				proveZeroDates(t, wordPress(t, server, parse, "actionscheduler/mysql.sql"))
			})
		}
	}
}

// wordPress returns a database with the tables, and sessions as WordPress has them.
func wordPress(t *testing.T, server string, parse bool, file string) base {
	t.Helper()
	driver, dsn := place(t, "mysql", server)
	config, err := mysql.ParseDSN(dsn)
	good(t, err)
	config.ParseTime = parse
	config.Params = map[string]string{"sql_mode": "''"}
	b := base{engine: "mysql", DB: servers.Open(t, driver, config.FormatDSN(), 8)}
	create(t, b.DB, file)
	return b
}

func proveZeroDates(t *testing.T, b base) {
	ctx := t.Context()
	q := actionschedulermy.New(b.DB)
	for hook, at := range map[string]string{"zero": "0000-00-00 00:00:00", "early": "1901-01-01 00:00:00", "never": "9999-12-31 23:59:59"} {
		b.run(t, "INSERT INTO wp_actionscheduler_actions (hook, status, scheduled_date_gmt) VALUES ('"+hook+"', 'pending', '"+at+"')")
	}
	jobs, err := q.Claim(ctx, 9)
	jobs = names(t, jobs, err, func(j actionschedulermy.Job) string { return j.Hook }, "zero", "early")
	early := time.Date(1901, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, want := range []time.Time{{}, early} {
		if at := jobs[i].ScheduledDateGmt; jobs[i].Err != nil || at == nil || !at.Equal(want) {
			t.Errorf("%s is due %v, %v; want %v", jobs[i].Hook, at, jobs[i].Err, want)
		}
	}
	if at := jobs[0].ScheduledDateLocal; at == nil || !at.IsZero() {
		t.Errorf("the default is %v", at)
	}
	peeked, err := q.Peek(ctx, 9)
	names(t, peeked, err, func(j actionschedulermy.Job) string { return j.Hook })
	good(t, q.Complete(ctx, jobs[0]))
	good(t, q.Requeue(ctx, time.Minute, jobs[1]))
	b.want(t, "SELECT hook, status, CAST(scheduled_date_gmt AS CHAR), CAST(scheduled_date_local AS CHAR) FROM wp_actionscheduler_actions WHERE hook <> 'early' ORDER BY hook",
		"never pending 9999-12-31 23:59:59 0000-00-00 00:00:00", "zero complete 0000-00-00 00:00:00 0000-00-00 00:00:00")
}

// actions is the queue of Action Scheduler, as all servers have it.
type actions[J any] interface {
	Claim(ctx context.Context, limit int) ([]J, error)
	Complete(ctx context.Context, jobs ...J) error
	Requeue(ctx context.Context, delay time.Duration, jobs ...J) error
}

// TestClaimsOfActionScheduler is about the rows of claims: each claim has one, the actions of no
// other have its id, and a claim that takes nothing leaves none.
func TestClaimsOfActionScheduler(t *testing.T) {
	for _, server := range live["postgresql"] {
		t.Run(server, func(t *testing.T) {
			driver, dsn := place(t, "postgresql", server)
			b := base{engine: "postgresql", DB: servers.Open(t, driver, dsn, 8)}
			create(t, b.DB, "actionscheduler/postgresql.sql")
			pool, err := pgxpool.New(t.Context(), dsn)
			good(t, err)
			defer pool.Close()
			proveClaims(t, b, "actionscheduler", actionschedulerpg.New(pool), actionschedulerpg.ErrLost,
				func(j actionschedulerpg.Job) (id, claim uint64) { return uint64(j.ActionID), uint64(j.ClaimID) })
		})
	}
	t.Run("guarded", func(t *testing.T) {
		onServers(t, "postgresql", func(t *testing.T, b base) {
			proveClaims(t, b, "actionscheduler", actionschedulerguarded.New(b.DB), actionschedulerguarded.ErrLost,
				func(j actionschedulerguarded.Job) (id, claim uint64) { return uint64(j.ActionID), uint64(j.ClaimID) })
		}, "actionscheduler/postgresql.sql")
	})
	const prefix = "wp_actionscheduler"
	t.Run("mysql97", func(t *testing.T) {
		b := wordPress(t, "mysql97", true, "actionscheduler/mysql.sql")
		proveClaims(t, b, prefix, actionschedulermy.New(b.DB), actionschedulermy.ErrLost,
			func(j actionschedulermy.Job) (id, claim uint64) { return j.ActionID, j.ClaimID })
	})
	t.Run("mysql56", func(t *testing.T) {
		b := wordPress(t, "mysql56", true, "actionscheduler/mysql.sql")
		proveClaims(t, b, prefix, actionschedulerold.New(b.DB), actionschedulerold.ErrLost,
			func(j actionschedulerold.Job) (id, claim uint64) { return j.ActionID, j.ClaimID })
	})
	t.Run("mysql97/without transactions", func(t *testing.T) {
		b := wordPress(t, "mysql97", true, "actionscheduler/myisam.sql")
		proveClaims(t, b, prefix, actionschedulerisam.New(b.DB), actionschedulerisam.ErrLost,
			func(j actionschedulerisam.Job) (id, claim uint64) { return j.ActionID, j.ClaimID })
		proveLostBetween(t, b)
	})
	for _, server := range live["mariadb"] {
		t.Run(server, func(t *testing.T) {
			b := wordPress(t, server, true, "actionscheduler/mysql.sql")
			proveClaims(t, b, prefix, actionschedulermaria.New(b.DB), actionschedulermaria.ErrLost,
				func(j actionschedulermaria.Job) (id, claim uint64) { return j.ActionID, j.ClaimID })
		})
	}
}

func proveClaims[J any](t *testing.T, b base, prefix string, q actions[J], lost error, of func(J) (id, claim uint64)) {
	const total = 300
	ctx := t.Context()
	rows := "SELECT count(*) FROM " + prefix + "_claims"
	jobs, err := q.Claim(ctx, 3)
	names(t, jobs, err, func(J) string { return "" })
	b.want(t, rows, "0")

	b.run(t, "INSERT INTO "+prefix+"_actions (hook, status) VALUES "+texts(total, "('h%d', 'pending')"))
	var claims atomic.Int64
	together(t, total, func(ctx context.Context) ([]J, error) {
		jobs, err := q.Claim(ctx, 3)
		if len(jobs) == 0 {
			return nil, err
		}
		claims.Add(1)
		_, first := of(jobs[0])
		for _, j := range jobs {
			if _, claim := of(j); claim == 0 || claim != first {
				t.Errorf("jobs of one claim have the tokens %d and %d", first, claim)
			}
		}
		return jobs, err
	}, func(j J) string {
		id, _ := of(j)
		return strconv.FormatUint(id, 10)
	})
	b.want(t, rows, strconv.FormatInt(claims.Load(), 10))
	b.want(t, "SELECT count(DISTINCT claim_id), count(*) FROM "+prefix+"_actions WHERE claim_id IN (SELECT claim_id FROM "+prefix+"_claims)",
		strconv.FormatInt(claims.Load(), 10)+" "+strconv.Itoa(total))
	b.want(t, rows+" WHERE date_created_gmt IS NULL", "0")

	b.run(t, "DELETE FROM "+prefix+"_actions", "INSERT INTO "+prefix+"_actions (hook, status) VALUES ('late', 'pending')")
	one := func() J {
		t.Helper()
		jobs, err := q.Claim(ctx, 3)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
		return jobs[0]
	}
	late := one()
	good(t, q.Requeue(ctx, 0, late))
	b.want(t, "SELECT status, claim_id FROM "+prefix+"_actions", "pending 0")
	mine := one()
	if err := q.Complete(ctx, late); !errors.Is(err, lost) {
		t.Errorf("a late worker completes an action: %v", err)
	}
	good(t, q.Complete(ctx, mine))
	_, claim := of(mine)
	b.want(t, "SELECT status, claim_id FROM "+prefix+"_actions", "complete "+strconv.FormatUint(claim, 10))
}

// Where no row can be locked, a job that is lost while others are settled is not told as settled.
func proveLostBetween(t *testing.T, b base) {
	ctx := t.Context()
	b.run(t, "DELETE FROM wp_actionscheduler_actions", "INSERT INTO wp_actionscheduler_actions (hook, status) VALUES ('a', 'pending'), ('b', 'pending'), ('c', 'pending')")
	jobs, err := actionschedulerisam.New(b.DB).Claim(ctx, 3)
	jobs = names(t, jobs, err, func(j actionschedulerisam.Job) string { return j.Hook }, "a", "b", "c")
	between := &interruptedDB{DB: b.DB, before: func() {
		b.run(t, "UPDATE wp_actionscheduler_actions SET claim_id = 0, status = 'pending' WHERE hook = 'c'")
	}}
	q := actionschedulerisam.New(between)
	var lost *actionschedulerisam.LostError
	if err := actionschedulerisam.New(b.DB).Extend(ctx, jobs...); err != nil {
		t.Errorf("what is extended within one step of its clock is still held: %v", err)
	}
	if err := q.Complete(ctx, jobs...); !errors.As(err, &lost) || len(lost.Keys) != 1 || lost.Keys[0] != jobs[2].Key() {
		t.Errorf("of three jobs one is lost: %v", err)
	}
	b.want(t, "SELECT GROUP_CONCAT(status ORDER BY hook) FROM wp_actionscheduler_actions", "complete,complete,pending")
}

// interruptedDB does something else before the first statement that writes. It begins no
// transaction.
type interruptedDB struct {
	DB     *sql.DB
	before func()
}

func (d *interruptedDB) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if before := d.before; before != nil {
		d.before = nil
		before()
	}
	return d.DB.ExecContext(ctx, text, args...)
}

func (d *interruptedDB) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return d.DB.QueryContext(ctx, text, args...)
}

// TestLogsOfActionScheduler is about the lines of its log: one is there with each action that is
// added, and all go with the action that is purged.
func TestLogsOfActionScheduler(t *testing.T) {
	for _, server := range live["postgresql"] {
		t.Run(server, func(t *testing.T) {
			driver, dsn := place(t, "postgresql", server)
			b := base{engine: "postgresql", DB: servers.Open(t, driver, dsn, 8)}
			create(t, b.DB, "actionscheduler/postgresql.sql")
			pool, err := pgxpool.New(t.Context(), dsn)
			good(t, err)
			defer pool.Close()
			logged(t, b, "actionscheduler", actionschedulerpg.New(pool), func(hook string) actionschedulerpg.NewJob { return actionschedulerpg.NewJob{Hook: hook} })
		})
	}
	t.Run("guarded", func(t *testing.T) {
		onServers(t, "postgresql", func(t *testing.T, b base) {
			logged(t, b, "actionscheduler", actionschedulerguarded.New(b.DB), func(hook string) actionschedulerguarded.NewJob { return actionschedulerguarded.NewJob{Hook: hook} })
		}, "actionscheduler/postgresql.sql")
	})
	for _, server := range live["mysql"] {
		t.Run(server, func(t *testing.T) {
			b := wordPress(t, server, true, "actionscheduler/mysql.sql")
			logged(t, b, "wp_actionscheduler", actionschedulermy.New(b.DB), func(hook string) actionschedulermy.NewJob { return actionschedulermy.NewJob{Hook: hook} })
		})
	}
	for _, server := range live["mariadb"] {
		t.Run(server, func(t *testing.T) {
			b := wordPress(t, server, true, "actionscheduler/mysql.sql")
			logged(t, b, "wp_actionscheduler", actionschedulermaria.New(b.DB), func(hook string) actionschedulermaria.NewJob { return actionschedulermaria.NewJob{Hook: hook} })
		})
	}
}

// added is the queue of Action Scheduler as far as rows come and go.
type added[N any, K comparable] interface {
	Enqueue(ctx context.Context, job N) (K, error)
	EnqueueMany(ctx context.Context, news []N) ([]K, error)
	Purge(ctx context.Context, olderThan time.Duration, limit int) (int, error)
}

func logged[N any, K comparable](t *testing.T, b base, prefix string, q added[N, K], named func(hook string) N) {
	ctx := t.Context()
	actions, logs := prefix+"_actions", prefix+"_logs"
	// both wants so many actions, and as many with one line and no other.
	both := func(want int) {
		t.Helper()
		b.want(t, "SELECT count(*) FROM "+actions, strconv.Itoa(want))
		b.want(t, "SELECT count(*), count(DISTINCT l.action_id) FROM "+logs+" l JOIN "+actions+" a ON a.action_id = l.action_id WHERE l.message = 'action created' AND l.log_date_gmt > '2024-01-01'",
			strconv.Itoa(want)+" "+strconv.Itoa(want))
		b.want(t, "SELECT count(*) FROM "+logs, strconv.Itoa(want))
	}
	several := func(hook string, n int) (list []N) {
		for range n {
			list = append(list, named(hook))
		}
		return list
	}

	key, err := q.Enqueue(ctx, named("one"))
	good(t, err)
	b.want(t, "SELECT a.hook FROM "+actions+" a JOIN "+logs+" l ON l.action_id = a.action_id WHERE a.action_id = "+fmt.Sprint(key), "one")

	// Several at once, each more than one statement adds: whose numbers the keys are.
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			keys, err := q.EnqueueMany(ctx, several("many", 1100))
			if err != nil || len(keys) != 1100 {
				t.Errorf("%d keys: %v", len(keys), err)
			}
		})
	}
	group.Wait()
	both(4401)

	// Where no line can be written, no action comes and none goes.
	b.run(t, "UPDATE "+actions+" SET status = 'complete', last_attempt_gmt = '2024-01-01 00:00:00' WHERE hook = 'many'",
		"UPDATE "+actions+" SET status = 'failed', last_attempt_gmt = '2024-01-01 00:00:00' WHERE hook = 'one'",
		"ALTER TABLE "+logs+" RENAME TO away")
	if key, err := q.Enqueue(ctx, named("lost")); err == nil {
		t.Errorf("action %v is added without a line", key)
	}
	if keys, err := q.EnqueueMany(ctx, several("lost", 3)); err == nil || keys != nil {
		t.Errorf("actions %v are added without lines", keys)
	}
	if n, err := q.Purge(ctx, time.Hour, 10); err == nil || n != 0 {
		t.Errorf("%d actions are purged without their lines: %v", n, err)
	}
	b.run(t, "ALTER TABLE away RENAME TO "+logs)
	both(4401)

	// Two that purge at once share what there is.
	good(t, second(q.Enqueue(ctx, named("young"))))
	var purged atomic.Int64
	for range 2 {
		group.Go(func() {
			for {
				n, err := q.Purge(ctx, time.Hour, 500)
				if purged.Add(int64(n)); err != nil || n == 0 {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	group.Wait()
	if n := purged.Load(); n != 4401 {
		t.Errorf("%d actions were purged, not 4401", n)
	}
	both(1)
	b.want(t, "SELECT hook, status FROM "+actions, "young pending")
}

// second is the error of a call that returns something else first.
func second[T any](_ T, err error) error { return err }
