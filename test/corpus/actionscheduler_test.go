package corpus

import (
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/qgen-dev/qgen/test/corpus/gen/actionschedulermy"
	"github.com/qgen-dev/qgen/test/servers"
)

// TestActionScheduler is about times that are none: MySQL's zero date, and times so early or so
// late that they stand for always and never.
func TestActionScheduler(t *testing.T) {
	for _, server := range live["mysql"] {
		for _, parse := range []bool{true, false} {
			t.Run(server+"/"+map[bool]string{true: "parsed", false: "raw"}[parse], func(t *testing.T) {
				driver, dsn := place(t, "mysql", server)
				config, err := mysql.ParseDSN(dsn)
				good(t, err)
				config.ParseTime = parse
				config.Params = map[string]string{"sql_mode": "''"} // as WordPress has it
				b := base{engine: "mysql", DB: servers.Open(t, driver, config.FormatDSN(), 8)}
				create(t, b.DB, "actionscheduler/mysql.sql")
				proveZeroDates(t, b)
			})
		}
	}
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
