package corpus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/corpus/gen/mediawikiasklite"
	"github.com/qgen-dev/qgen/test/corpus/gen/mediawikiaskmy"
	"github.com/qgen-dev/qgen/test/corpus/gen/mediawikiaskpg"
)

// A job runner of MediaWiki knows by the parameters of a job whether it can do it: one that
// scales pictures has to hold them in memory. TestAccept has it asked of each job of one
// command before that is claimed:
//
//	what is easily done wrong                                          test
//	what is refused hides what stands behind it                        TestAccept/reads on
//	it is asked of a job again and again, or of more than it wants     TestAccept/reads on
//	a job is taken that is not what it was asked of any more           TestAccept/changed meanwhile
//	a panic leaves jobs that nobody holds                              TestAccept/panic
//	two runners that both want a job get it                            TestAccept/exclusive
//	a job is written that nobody took                                  TestAccept/reads on
func TestAccept(t *testing.T) {
	const cmd = "scale"
	onServers(t, "sqlite", func(t *testing.T, b base) {
		accept(t, b, runner[mediawikiasklite.Job]{
			enqueue: func(ctx context.Context, params []string) error {
				var news []mediawikiasklite.NewJob
				for _, p := range params {
					command := cmd
					news = append(news, mediawikiasklite.NewJob{JobCmd: &command, JobTitle: []byte("File:A.png"), JobParams: []byte(p)})
				}
				_, err := mediawikiasklite.New(b.DB).EnqueueMany(ctx, news)
				return err
			},
			claim: func(ctx context.Context, tx *sql.Tx, accept func(mediawikiasklite.Job) bool, limit int) ([]mediawikiasklite.Job, error) {
				q := mediawikiasklite.New(b.DB)
				if tx != nil {
					q = q.WithTx(tx)
				}
				return q.Claim(ctx, cmd, accept, limit)
			},
			next: func(ctx context.Context, done []mediawikiasklite.Job, accept func(mediawikiasklite.Job) bool, limit int) ([]mediawikiasklite.Job, error) {
				return mediawikiasklite.New(b.DB).CompleteAndClaim(ctx, done, cmd, accept, limit)
			},
			work: func(ctx context.Context, handler func(context.Context, mediawikiasklite.Job) error, accept func(mediawikiasklite.Job) bool) error {
				return mediawikiasklite.New(b.DB).Work(ctx, handler, mediawikiasklite.WorkOptions{JobCmd: cmd, Accept: accept, PollInterval: 20 * time.Millisecond})
			},
			params: func(j mediawikiasklite.Job) string { return string(j.JobParams) },
			title:  func(j mediawikiasklite.Job) string { return string(j.JobTitle) },
			token:  func(j mediawikiasklite.Job) string { return j.JobToken },
		})
	}, "mediawiki/sqlite.sql")
	onServers(t, "postgresql", func(t *testing.T, b base) {
		accept(t, b, runner[mediawikiaskpg.Job]{
			enqueue: func(ctx context.Context, params []string) error {
				var news []mediawikiaskpg.NewJob
				for _, p := range params {
					command := cmd
					news = append(news, mediawikiaskpg.NewJob{JobCmd: &command, JobTitle: "File:A.png", JobParams: p})
				}
				_, err := mediawikiaskpg.New(b.DB).EnqueueMany(ctx, news)
				return err
			},
			claim: func(ctx context.Context, tx *sql.Tx, accept func(mediawikiaskpg.Job) bool, limit int) ([]mediawikiaskpg.Job, error) {
				q := mediawikiaskpg.New(b.DB)
				if tx != nil {
					q = q.WithTx(tx)
				}
				return q.Claim(ctx, cmd, accept, limit)
			},
			next: func(ctx context.Context, done []mediawikiaskpg.Job, accept func(mediawikiaskpg.Job) bool, limit int) ([]mediawikiaskpg.Job, error) {
				return mediawikiaskpg.New(b.DB).CompleteAndClaim(ctx, done, cmd, accept, limit)
			},
			work: func(ctx context.Context, handler func(context.Context, mediawikiaskpg.Job) error, accept func(mediawikiaskpg.Job) bool) error {
				return mediawikiaskpg.New(b.DB).Work(ctx, handler, mediawikiaskpg.WorkOptions{JobCmd: cmd, Accept: accept, PollInterval: 20 * time.Millisecond})
			},
			params: func(j mediawikiaskpg.Job) string { return j.JobParams },
			title:  func(j mediawikiaskpg.Job) string { return j.JobTitle },
			token:  func(j mediawikiaskpg.Job) string { return j.JobToken },
		})
	}, "mediawiki/postgresql.sql")
	onServers(t, "mysql", func(t *testing.T, b base) {
		accept(t, b, runner[mediawikiaskmy.Job]{
			enqueue: func(ctx context.Context, params []string) error {
				var news []mediawikiaskmy.NewJob
				for _, p := range params {
					news = append(news, mediawikiaskmy.NewJob{JobCmd: []byte(cmd), JobTitle: []byte("File:A.png"), JobParams: []byte(p)})
				}
				_, err := mediawikiaskmy.New(b.DB).EnqueueMany(ctx, news)
				return err
			},
			claim: func(ctx context.Context, tx *sql.Tx, accept func(mediawikiaskmy.Job) bool, limit int) ([]mediawikiaskmy.Job, error) {
				q := mediawikiaskmy.New(b.DB)
				if tx != nil {
					q = q.WithTx(tx)
				}
				return q.Claim(ctx, []byte(cmd), accept, limit)
			},
			next: func(ctx context.Context, done []mediawikiaskmy.Job, accept func(mediawikiaskmy.Job) bool, limit int) ([]mediawikiaskmy.Job, error) {
				return mediawikiaskmy.New(b.DB).CompleteAndClaim(ctx, done, []byte(cmd), accept, limit)
			},
			work: func(ctx context.Context, handler func(context.Context, mediawikiaskmy.Job) error, accept func(mediawikiaskmy.Job) bool) error {
				return mediawikiaskmy.New(b.DB).Work(ctx, handler, mediawikiaskmy.WorkOptions{JobCmd: []byte(cmd), Accept: accept, PollInterval: 20 * time.Millisecond})
			},
			params: func(j mediawikiaskmy.Job) string { return string(j.JobParams) },
			title:  func(j mediawikiaskmy.Job) string { return string(j.JobTitle) },
			token:  func(j mediawikiaskmy.Job) string { return string(j.JobToken) },
		})
	}, "mediawiki/mysql.sql")
}

// runner is the queue over MediaWiki's jobs of one command, as all servers have it.
type runner[J any] struct {
	enqueue              func(ctx context.Context, params []string) error
	claim                func(ctx context.Context, tx *sql.Tx, accept func(J) bool, limit int) ([]J, error)
	next                 func(ctx context.Context, done []J, accept func(J) bool, limit int) ([]J, error)
	work                 func(ctx context.Context, handler func(context.Context, J) error, accept func(J) bool) error
	params, title, token func(J) string
}

// accept proves one server's package.
func accept[J any](t *testing.T, b base, q runner[J]) {
	ctx := t.Context()
	// anew empties the table and adds jobs with those parameters.
	anew := func(t *testing.T, params ...string) {
		t.Helper()
		b.run(t, `DELETE FROM job`)
		good(t, q.enqueue(ctx, params))
	}
	// only accepts jobs whose parameters begin so, and counts what it is asked.
	only := func(asked map[string]int, prefix string) func(J) bool {
		return func(j J) bool {
			asked[q.params(j)]++
			return strings.HasPrefix(q.params(j), prefix)
		}
	}
	// numbered are so many parameters.
	numbered := func(n int, prefix string) []string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("%s%d", prefix, i+1))
		}
		return list
	}
	once := func(t *testing.T, asked map[string]int, want int) {
		t.Helper()
		for params, times := range asked {
			if times > 1 {
				t.Errorf("it was asked %d times of %s", times, params)
			}
		}
		if len(asked) != want {
			t.Errorf("it was asked of %d jobs, want %d", len(asked), want)
		}
	}
	untouched := `SELECT count(*) FROM job WHERE job_attempts > 0 OR job_token_timestamp IS NOT NULL`

	t.Run("reads on", func(t *testing.T) {
		anew(t, append(numbered(500, "big"), numbered(5, "small")...)...)
		asked := map[string]int{}
		jobs, err := q.claim(ctx, nil, only(asked, "small"), 3)
		names(t, jobs, err, q.params, "small1", "small2", "small3")
		once(t, asked, 503)
		b.want(t, untouched, "3")

		asked = map[string]int{}
		jobs, err = q.claim(ctx, nil, only(asked, "small"), 9)
		names(t, jobs, err, q.params, "small4", "small5")
		once(t, asked, 502)

		asked = map[string]int{}
		jobs, err = q.claim(ctx, nil, only(asked, "small"), 1)
		names(t, jobs, err, q.params)
		once(t, asked, 500)
		b.want(t, untouched, "5")

		jobs, err = q.claim(ctx, nil, nil, 2)
		names(t, jobs, err, q.params, "big1", "big2")
	})

	t.Run("as far as it says", func(t *testing.T) {
		anew(t, append(numbered(1000, "big"), "small")...)
		asked := map[string]int{}
		jobs, err := q.claim(ctx, nil, only(asked, "small"), 1)
		names(t, jobs, err, q.params)
		once(t, asked, 1000)
		jobs, err = q.claim(ctx, nil, only(asked, "small"), 1001)
		names(t, jobs, err, q.params, "small")
	})

	t.Run("changed meanwhile", func(t *testing.T) {
		anew(t, "had", "renamed", "taken", "gone", "free")
		jobs, err := q.claim(ctx, nil, func(j J) bool {
			if token := q.token(j); token != "" {
				t.Errorf("a job that is free has the token %q", token)
			}
			where := fmt.Sprintf(" WHERE job_params = %s", b.blob(q.params(j)))
			switch q.params(j) {
			case "had":
				b.run(t, `UPDATE job SET job_attempts = 1`+where)
			case "renamed":
				b.run(t, `UPDATE job SET job_title = `+b.blob("File:B.png")+where)
			case "taken":
				b.run(t, `UPDATE job SET job_token = `+b.blob("another")+where)
			case "gone":
				b.run(t, `DELETE FROM job`+where)
			}
			return true
		}, 5)
		names(t, jobs, err, q.params, "renamed", "free")
		if got := q.title(jobs[0]); got != "File:B.png" || q.token(jobs[0]) == "" {
			t.Errorf("the job has the title %q and the token %q", got, q.token(jobs[0]))
		}

		// What is lost as a whole is made up for by what stands behind it.
		anew(t, "taken", "free", "another")
		asked := map[string]int{}
		jobs, err = q.claim(ctx, nil, func(j J) bool {
			asked[q.params(j)]++
			if q.params(j) == "taken" {
				b.run(t, `UPDATE job SET job_token = `+b.blob("another")+` WHERE job_params = `+b.blob("taken"))
			}
			return q.params(j) != "another"
		}, 1)
		names(t, jobs, err, q.params, "free")
		if asked["taken"] != 1 || asked["free"] != 1 {
			t.Errorf("it was asked %v", asked)
		}
	})

	t.Run("panic", func(t *testing.T) {
		anew(t, numbered(4, "n")...)
		func() {
			defer func() {
				if v := recover(); v != "no memory" {
					t.Errorf("recovered %v", v)
				}
			}()
			_, _ = q.claim(ctx, nil, func(j J) bool {
				if q.params(j) == "n3" {
					panic("no memory")
				}
				return true
			}, 4)
			t.Error("it came back")
		}()
		b.want(t, untouched, "0")
		jobs, err := q.claim(ctx, nil, nil, 9)
		names(t, jobs, err, q.params, "n1", "n2", "n3", "n4")

		// Once a job is taken it is not asked any more, not even for what was lost.
		anew(t, "free", "taken", "behind")
		jobs, err = q.claim(ctx, nil, func(j J) bool {
			switch q.params(j) {
			case "taken":
				b.run(t, `UPDATE job SET job_token = `+b.blob("another")+` WHERE job_params = `+b.blob("taken"))
			case "behind":
				panic("a job is taken that nobody will hold")
			}
			return true
		}, 2)
		names(t, jobs, err, q.params, "free")
	})

	t.Run("transaction", func(t *testing.T) {
		anew(t, "big", "small1", "small2")
		tx, err := b.BeginTx(ctx, &sql.TxOptions{Isolation: b.isolation()})
		good(t, err)
		defer func() { _ = tx.Rollback() }()
		jobs, err := q.claim(ctx, tx, only(map[string]int{}, "small"), 1)
		names(t, jobs, err, q.params, "small1")
		good(t, tx.Rollback())
		b.want(t, untouched, "0")
	})

	t.Run("completes before it asks", func(t *testing.T) {
		anew(t, "small1", "big", "small2")
		jobs, err := q.claim(ctx, nil, nil, 1)
		names(t, jobs, err, q.params, "small1")
		jobs, err = q.next(ctx, jobs, func(j J) bool {
			b.want(t, `SELECT count(*) FROM job`, "2")
			return q.params(j) != "big"
		}, 1)
		names(t, jobs, err, q.params, "small2")
	})

	t.Run("exclusive", func(t *testing.T) {
		const total = 400
		var params []string
		for i := range total {
			params = append(params, fmt.Sprintf("%d of %d", i%4, i))
		}
		anew(t, params...)
		var mu sync.Mutex
		taken := map[string]int{}
		until := time.Now().Add(time.Minute)
		var group sync.WaitGroup
		for worker := range 8 {
			group.Go(func() { // each leaves one kind to the others
				for {
					jobs, err := q.claim(ctx, nil, func(j J) bool { return !strings.HasPrefix(q.params(j), fmt.Sprint(worker%4)) }, 1+worker%3)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for _, j := range jobs {
						taken[q.params(j)]++
						if strings.HasPrefix(q.params(j), fmt.Sprint(worker%4)) {
							t.Errorf("worker %d got %q, which it does not accept", worker, q.params(j))
						}
					}
					all := len(taken) == total
					mu.Unlock()
					if all || time.Now().After(until) {
						return
					}
				}
			})
		}
		group.Wait()
		for params, times := range taken {
			if times > 1 {
				t.Errorf("job %q was taken %d times", params, times)
			}
		}
		if len(taken) != total {
			t.Errorf("%d jobs were taken, want %d", len(taken), total)
		}
	})

	t.Run("work", func(t *testing.T) {
		anew(t, "big1", "small1", "big2", "small2")
		working, end := context.WithTimeout(ctx, time.Minute)
		defer end()
		var done []string
		good(t, q.work(working, func(_ context.Context, j J) error {
			if done = append(done, q.params(j)); len(done) == 2 {
				end()
			}
			return nil
		}, only(map[string]int{}, "small")))
		if !slices.Equal(done, []string{"small1", "small2"}) {
			t.Errorf("it did %q", done)
		}
		b.want(t, `SELECT count(*) FROM job`, "2")
		b.want(t, untouched, "0")

		err := q.work(ctx, func(context.Context, J) error { return errors.New("nothing was accepted") }, func(J) bool { panic("no memory") })
		if err == nil || !strings.Contains(err.Error(), "work: accept panicked: no memory") {
			t.Errorf("Work ended with %v", err)
		}
		b.want(t, untouched, "0")
	})
}

// isolation is the level at which statements of a transaction see what others have
// committed since; SQLite has one level only.
func (b base) isolation() sql.IsolationLevel {
	if b.engine == "sqlite" {
		return sql.LevelDefault
	}
	return sql.LevelReadCommitted
}

// blob writes a text as a value of a column that holds bytes, if it does there.
func (b base) blob(text string) string {
	if b.engine == "postgresql" {
		return "'" + text + "'"
	}
	return fmt.Sprintf("x'%x'", text)
}
