package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/qgen-dev/qgen/test/corpus/gen/sendslocal"
	"github.com/qgen-dev/qgen/test/corpus/gen/sendspg"
	"github.com/qgen-dev/qgen/test/corpus/gen/sendssql"
	"github.com/qgen-dev/qgen/test/servers"
)

// TestSends gives times of any zone to columns that have none: what counts is the moment, and
// not what the clock reads there.
func TestSends(t *testing.T) {
	for _, server := range live["postgresql"] {
		t.Run(server, func(t *testing.T) {
			ctx := t.Context()
			driver, dsn := place(t, "postgresql", server)
			b := base{engine: "postgresql", DB: servers.Open(t, driver, dsn, 4)}
			create(t, b.DB, "sends/postgresql.sql")
			pool, err := pgxpool.New(ctx, dsn)
			good(t, err)
			t.Cleanup(pool.Close)
			t.Run("pgx", func(t *testing.T) {
				q := sendspg.New(pool)
				b.sends(t, func(ctx context.Context, news []send) (err error) {
					var many []sendspg.NewJob
					for _, n := range news {
						many = append(many, sendspg.NewJob{Name: n.name, Due: n.when(), Made: n.made, Day: &n.day})
					}
					if _, err = q.Enqueue(ctx, many[0]); err == nil {
						_, err = q.EnqueueMany(ctx, many[1:])
					}
					return err
				}, func(ctx context.Context, before time.Time, next time.Time) (sent []send, err error) {
					jobs, err := q.Claim(ctx, before, 10)
					var done []sendspg.Done
					for _, j := range jobs {
						sent = append(sent, send{j.Name, j.Due, j.Made, *j.Day})
						done = append(done, j.Done(next))
					}
					if err == nil {
						err = q.Complete(ctx, done...)
					}
					return sent, err
				})
			})
			t.Run("sql", func(t *testing.T) {
				q := sendssql.New(b.DB)
				b.sends(t, func(ctx context.Context, news []send) (err error) {
					var many []sendssql.NewJob
					for _, n := range news {
						many = append(many, sendssql.NewJob{Name: n.name, Due: n.when(), Made: n.made, Day: &n.day})
					}
					if _, err = q.Enqueue(ctx, many[0]); err == nil {
						_, err = q.EnqueueMany(ctx, many[1:])
					}
					return err
				}, func(ctx context.Context, before time.Time, next time.Time) (sent []send, err error) {
					jobs, err := q.Claim(ctx, before, 10)
					var done []sendssql.Done
					for _, j := range jobs {
						sent = append(sent, send{j.Name, j.Due, j.Made, *j.Day})
						done = append(done, j.Done(next))
					}
					if err == nil {
						err = q.Complete(ctx, done...)
					}
					return sent, err
				})
			})
		})
	}
}

// TestSendsLocal has times on the clock of the session, which has to be that of the program:
// else Verify says so.
func TestSendsLocal(t *testing.T) {
	york, err := time.LoadLocation("America/New_York")
	good(t, err)
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	for _, server := range live["postgresql"] {
		t.Run(server, func(t *testing.T) {
			ctx := t.Context()
			driver, dsn := place(t, "postgresql", server)
			b := base{engine: "postgresql", DB: servers.Open(t, driver, dsn, 4)}
			create(t, b.DB, "sends/postgresql.sql", "gen/sendslocal/schema/indexes.sql")
			config, err := pgxpool.ParseConfig(dsn)
			good(t, err)
			config.ConnConfig.RuntimeParams["timezone"] = york.String()
			pool, err := pgxpool.NewWithConfig(ctx, config)
			good(t, err)
			t.Cleanup(pool.Close)
			q := sendslocal.New(pool)
			time.Local = time.UTC
			if err := q.Verify(ctx); !errors.Is(err, sendslocal.ErrSchema) || !strings.Contains(err.Error(), "the clock of the database reads ") {
				t.Errorf("of two clocks Verify says %v", err)
			}
			time.Local = york
			good(t, q.Verify(ctx))

			now := time.Now().Truncate(time.Millisecond)
			for _, due := range []time.Time{now.Add(-time.Minute).UTC(), now.Add(time.Minute).UTC()} {
				_, err = q.Enqueue(ctx, sendslocal.NewJob{Name: "a", Due: &due, Made: now.UTC()})
				good(t, err)
			}
			jobs, err := q.Claim(ctx, now.Add(time.Hour).UTC(), 10)
			good(t, err)
			if len(jobs) != 1 || !jobs[0].Due.Equal(now.Add(-time.Minute)) || !jobs[0].Made.Equal(now) {
				t.Fatalf("claimed %v", jobs)
			}

			// What a clock reads once, twice, and never: a job is settled by what the claim
			// left, and a worker of another program may be the one that does.
			for _, text := range []string{"2026-07-01 12:00:00", "2026-11-01 01:30:00", "2026-03-08 02:30:00"} {
				b.run(t, "UPDATE sends SET until = '"+text+"', made = '"+text+"', due = '2026-01-01'")
				seen, err := q.Peek(ctx, now, 1)
				good(t, err)
				job := jobs[0]
				if job.Until = seen[0].Made; job.Until.Format(time.DateTime) != text {
					t.Errorf("%s is read as %v", text, job.Until)
				}
				wire, err := json.Marshal(job)
				good(t, err)
				var sent sendslocal.Job
				good(t, json.Unmarshal(wire, &sent))
				good(t, q.Complete(ctx, sent.Done(now)))
			}
			b.want(t, "SELECT count(*) FROM sends WHERE due = '"+now.In(york).Format("2006-01-02 15:04:05.999")+"'", "1")
		})
	}
}

// send is a row of sends.
type send struct {
	name           string
	due, made, day time.Time
}

// when is the time that a new job says, nil for the present.
func (s send) when() *time.Time {
	if s.due.IsZero() {
		return nil
	}
	return &s.due
}

// sends adds rows by Enqueue and EnqueueMany, and looks at what is claimed and when it is due
// again.
func (b base) sends(t *testing.T, add func(context.Context, []send) error, run func(ctx context.Context, before, next time.Time) ([]send, error)) {
	ctx := t.Context()
	b.run(t, "TRUNCATE sends")
	now := time.Now().Truncate(time.Millisecond)
	west, east := time.FixedZone("west", -9*3600), time.FixedZone("east", 11*3600)
	present := send{name: "present", made: now.Add(-time.Hour), day: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	news := []send{present}
	for _, zone := range []*time.Location{west, east, time.UTC} {
		day := time.Date(2026, 3, 1, 0, 0, 0, 0, zone)
		news = append(news,
			send{"late", now.Add(-time.Minute).In(zone), now.Add(-time.Hour).In(zone), day},
			send{"soon", now.Add(time.Hour).In(zone), now.Add(-time.Hour).In(zone), day},
			send{"young", now.Add(-time.Minute).In(zone), now.Add(time.Minute).In(zone), day})
	}
	good(t, add(ctx, append(news, present)))
	b.want(t, "SELECT count(*), max(abs(extract(epoch FROM due - now() AT TIME ZONE 'UTC'))) < 60 FROM sends WHERE name = 'present'", "2 true")
	b.run(t, "DELETE FROM sends WHERE name = 'present'")
	b.want(t, "SELECT DISTINCT name, due - '"+now.UTC().Format("2006-01-02 15:04:05.999")+"'::timestamp, day::text FROM sends ORDER BY name",
		"late -00:01:00 2026-03-01", "soon 01:00:00 2026-03-01", "young -00:01:00 2026-03-01")
	sent, err := run(ctx, now.In(east), now.Add(2*time.Hour).In(west))
	good(t, err)
	if len(sent) != 3 {
		t.Errorf("claimed %v, want what is late in each zone", sent)
	}
	for _, s := range sent {
		day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		if s.name != "late" || !s.due.Equal(now.Add(-time.Minute)) || !s.made.Equal(now.Add(-time.Hour)) || !s.day.Equal(day) {
			t.Errorf("claimed %v", s)
		}
	}
	b.want(t, "SELECT DISTINCT due - '"+now.UTC().Format("2006-01-02 15:04:05.999")+"'::timestamp FROM sends WHERE name = 'late'", "02:00:00")
	if again, err := run(ctx, now.In(west), now); err != nil || len(again) > 0 {
		t.Errorf("claimed %v again: %v", again, err)
	}
}
