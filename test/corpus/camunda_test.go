package corpus

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/corpus/gen/camundamy"
	"github.com/qgen-dev/qgen/test/corpus/gen/camundapg"
)

// engineJobs is the queue over Camunda's jobs, as all servers have it.
type engineJobs[J any] interface {
	Claim(ctx context.Context, deploymentID []string, limit int) ([]J, error)
	Complete(ctx context.Context, jobs ...J) error
	Fail(ctx context.Context, job J, cause error) error
	Requeue(ctx context.Context, delay time.Duration, jobs ...J) error
	Redrive(ctx context.Context, limit int) (int, error)
}

func TestCamunda(t *testing.T) {
	onServers(t, "postgresql", func(t *testing.T, b base) {
		camunda(t, b, camundapg.New(b.DB), camundapg.ErrLost, func(j camundapg.Job) string { return j.ID })
	}, "camunda/postgresql.sql")
	onServers(t, "mysql", func(t *testing.T, b base) {
		camunda(t, b, camundamy.New(b.DB), camundamy.ErrLost, func(j camundamy.Job) string { return j.ID })
	}, "camunda/mysql.sql")
}

// camunda proves one server's package.
func camunda[J any](t *testing.T, b base, q engineJobs[J], lost error, id func(J) string) {
	ctx := t.Context()
	claim := func(t *testing.T, limit int, want ...string) []J {
		t.Helper()
		jobs, err := q.Claim(ctx, []string{"mine", "mine too"}, limit)
		return names(t, jobs, err, id, want...)
	}
	// anew empties the tables and adds jobs, each with so many tries: their ids, and values
	// for the columns that are named.
	anew := func(t *testing.T, tries int, columns string, rows ...string) {
		t.Helper()
		b.run(t, "DELETE FROM ACT_RU_JOB", "DELETE FROM ACT_RU_EXECUTION",
			"INSERT INTO ACT_RU_EXECUTION (ID_, REV_) VALUES ('p1', 1), ('p2', 1)")
		for _, row := range rows {
			b.run(t, fmt.Sprintf("INSERT INTO ACT_RU_JOB (TYPE_, REV_, RETRIES_, ID_%s) VALUES ('timer', 1, %d, %s)", columns, tries, row))
		}
	}
	expire := func(t *testing.T) {
		t.Helper()
		b.run(t, "UPDATE ACT_RU_JOB SET LOCK_EXP_TIME_ = '2024-01-02' WHERE LOCK_EXP_TIME_ IS NOT NULL")
	}

	t.Run("ready", func(t *testing.T) {
		anew(t, 3, ", DEPLOYMENT_ID_, SUSPENSION_STATE_, PRIORITY_, DUEDATE_",
			"'of nobody', NULL, 1, 0, NULL",
			"'mine', 'mine', 1, 5, '2024-01-02'",
			"'mine too', 'mine too', 1, 5, '2024-01-01'",
			"'of another', 'theirs', 1, 9, NULL",
			"'suspended', NULL, 2, 9, NULL",
			"'not yet', NULL, 1, 9, '2037-01-01'",
			"'no tries left', NULL, 1, 9, NULL",
			"'tries unknown', NULL, 1, 9, NULL")
		b.run(t, "UPDATE ACT_RU_JOB SET RETRIES_ = 0 WHERE ID_ = 'no tries left'",
			"UPDATE ACT_RU_JOB SET RETRIES_ = NULL WHERE ID_ = 'tries unknown'")
		claim(t, 2, "mine too", "mine")
		claim(t, 9, "of nobody")
		b.want(t, "SELECT ID_ FROM ACT_RU_JOB WHERE LOCK_OWNER_ IS NOT NULL AND LOCK_EXP_TIME_ IS NOT NULL AND REV_ = 2 ORDER BY ID_", "mine", "mine too", "of nobody")
		b.want(t, "SELECT count(*) FROM ACT_RU_JOB WHERE REV_ = 1 AND LOCK_OWNER_ IS NULL", "5")
	})

	t.Run("exclusive", func(t *testing.T) {
		anew(t, 3, ", PROCESS_INSTANCE_ID_, EXCLUSIVE_",
			"'1 alone', 'p1', true", "'2 alone', 'p1', true", "'3 beside', 'p1', false", "'4 unsaid', 'p1', NULL",
			"'5 elsewhere', 'p2', true", "'6 of none', NULL, true", "'7 of none', NULL, true")
		jobs := claim(t, 9, "1 alone", "3 beside", "4 unsaid", "5 elsewhere", "6 of none", "7 of none")
		claim(t, 9)
		good(t, q.Complete(ctx, jobs[1:]...))
		claim(t, 9)
		good(t, q.Requeue(ctx, 0, jobs[0]))
		jobs = claim(t, 9, "1 alone")
		expire(t)
		again := claim(t, 1, "1 alone") // a claim that ran out frees the instance
		isLost(t, lost, q.Complete(ctx, jobs...))
		good(t, q.Complete(ctx, again...))
		claim(t, 9, "2 alone")
		b.want(t, "SELECT ID_ FROM ACT_RU_JOB", "2 alone")
	})

	t.Run("retries", func(t *testing.T) {
		anew(t, 2, "", "'one'")
		good(t, q.Fail(ctx, claim(t, 1, "one")[0], fmt.Errorf("%s", strings.Repeat("ü", 3000))))
		b.want(t, "SELECT RETRIES_, REV_, LOCK_OWNER_, LOCK_EXP_TIME_, char_length(EXCEPTION_MSG_) FROM ACT_RU_JOB", "1 3 null null 2000")
		claim(t, 1) // it waits
		b.run(t, "UPDATE ACT_RU_JOB SET DUEDATE_ = NULL")
		good(t, q.Fail(ctx, claim(t, 1, "one")[0], errCause))
		b.want(t, "SELECT RETRIES_, REV_, EXCEPTION_MSG_ FROM ACT_RU_JOB", "0 5 no network")
		b.run(t, "UPDATE ACT_RU_JOB SET DUEDATE_ = NULL")
		claim(t, 1)
		if n, err := q.Redrive(ctx, 9); n != 1 || err != nil {
			t.Errorf("Redrive gave %d rows, %v", n, err)
		}
		good(t, q.Complete(ctx, claim(t, 1, "one")...))
		b.want(t, "SELECT ID_ FROM ACT_RU_JOB")
	})

	t.Run("late worker", func(t *testing.T) {
		anew(t, 3, "", "'one'")
		late := claim(t, 1, "one")
		claim(t, 1)
		expire(t)
		mine := claim(t, 1, "one")
		isLost(t, lost, q.Complete(ctx, late...))
		isLost(t, lost, q.Fail(ctx, late[0], errCause))
		isLost(t, lost, q.Requeue(ctx, 0, late...))
		b.want(t, "SELECT RETRIES_, REV_, EXCEPTION_MSG_ FROM ACT_RU_JOB", "3 3 null")
		good(t, q.Complete(ctx, mine...))
		b.want(t, "SELECT ID_ FROM ACT_RU_JOB")
	})

	t.Run("together", func(t *testing.T) {
		anew(t, 3, "")
		b.run(t, "INSERT INTO ACT_RU_JOB (TYPE_, REV_, RETRIES_, ID_) VALUES "+texts(300, "('timer', 1, 3, 'n%d')"))
		together(t, 300, func(ctx context.Context) ([]J, error) { return q.Claim(ctx, nil, 7) }, id)
	})
}
