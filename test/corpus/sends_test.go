package corpus

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

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
						many = append(many, sendspg.NewJob{Name: n.name, Due: &n.due, Made: n.made, Day: &n.day})
					}
					if _, err = q.Enqueue(ctx, many[0]); err == nil {
						_, err = q.EnqueueMany(ctx, many[1:])
					}
					return err
				}, func(ctx context.Context, before time.Time, next time.Time) (sent []send, err error) {
					jobs, err := q.Claim(ctx, before, 10)
					var done []sendspg.Done
					for _, j := range jobs {
						sent = append(sent, send{j.Name, *j.Due, j.Made, *j.Day})
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
						many = append(many, sendssql.NewJob{Name: n.name, Due: &n.due, Made: n.made, Day: &n.day})
					}
					if _, err = q.Enqueue(ctx, many[0]); err == nil {
						_, err = q.EnqueueMany(ctx, many[1:])
					}
					return err
				}, func(ctx context.Context, before time.Time, next time.Time) (sent []send, err error) {
					jobs, err := q.Claim(ctx, before, 10)
					var done []sendssql.Done
					for _, j := range jobs {
						sent = append(sent, send{j.Name, *j.Due, j.Made, *j.Day})
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

// send is a row of sends.
type send struct {
	name           string
	due, made, day time.Time
}

// sends adds rows by Enqueue and EnqueueMany, and looks at what is claimed and when it is due
// again.
func (b base) sends(t *testing.T, add func(context.Context, []send) error, run func(ctx context.Context, before, next time.Time) ([]send, error)) {
	ctx := t.Context()
	b.run(t, "TRUNCATE sends")
	now := time.Now().Truncate(time.Millisecond)
	west, east := time.FixedZone("west", -9*3600), time.FixedZone("east", 11*3600)
	var news []send
	for _, zone := range []*time.Location{west, east, time.UTC} {
		day := time.Date(2026, 3, 1, 0, 0, 0, 0, zone)
		news = append(news,
			send{"late", now.Add(-time.Minute).In(zone), now.Add(-time.Hour).In(zone), day},
			send{"soon", now.Add(time.Hour).In(zone), now.Add(-time.Hour).In(zone), day},
			send{"young", now.Add(-time.Minute).In(zone), now.Add(time.Minute).In(zone), day})
	}
	good(t, add(ctx, news))
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
