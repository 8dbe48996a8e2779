package corpus

import (
	"context"
	"fmt"
	"testing"

	"github.com/qgen-dev/qgen/test/corpus/gen/airflowmy"
	"github.com/qgen-dev/qgen/test/corpus/gen/airflowpg"
)

func TestAirflow(t *testing.T) {
	onServers(t, "postgresql", func(t *testing.T, b base) {
		one, two := airflowpg.New(b.DB, airflowpg.WithWorker(1)), airflowpg.New(b.DB, airflowpg.WithWorker(2))
		airflow(t, b, one, two, func(j airflowpg.Job) string { return fmt.Sprint(j.TaskID, j.Key().DagID, *j.TryNumber) }, airflowpg.ErrLost)
	}, "airflow/postgresql.sql")
	onServers(t, "mysql", func(t *testing.T, b base) {
		one, two := airflowmy.New(b.DB, airflowmy.WithWorker(1)), airflowmy.New(b.DB, airflowmy.WithWorker(2))
		airflow(t, b, one, two, func(j airflowmy.Job) string { return fmt.Sprint(j.TaskID, j.Key().DagID, *j.TryNumber) }, airflowmy.ErrLost)
	}, "airflow/mysql.sql")
}

// scheduler is a package over task_instance.
type scheduler[J any] interface {
	Claim(ctx context.Context, queue *string, limit int) ([]J, error)
	Start(ctx context.Context, hostname *string, pid *int32, jobs ...*J) error
	Complete(ctx context.Context, jobs ...J) error
	Fail(ctx context.Context, job J, cause error) error
	Requeue(ctx context.Context, jobs ...J) error
	Recover(ctx context.Context, limit int) (int, error)
}

// airflow leads tasks through their lives, taken by two schedulers; told is what a job says
// of its task, DAG and try.
func airflow[J any](t *testing.T, b base, one, two scheduler[J], told func(J) string, lost error) {
	ctx := t.Context()
	// anew empties the tables and adds tasks of these names, the first the most urgent.
	anew := func(t *testing.T, tasks ...string) {
		t.Helper()
		b.run(t, "TRUNCATE TABLE task_instance", "TRUNCATE TABLE job",
			"INSERT INTO job (id, state, job_type, latest_heartbeat) VALUES (1, 'running', 'SchedulerJob', CURRENT_TIMESTAMP), (2, 'running', 'SchedulerJob', CURRENT_TIMESTAMP)")
		for i, task := range tasks {
			b.run(t, fmt.Sprintf("INSERT INTO task_instance (task_id, dag_id, run_id, state, try_number, pool, pool_slots, priority_weight) VALUES ('%s', 'd', 'r', 'scheduled', 0, 'default_pool', 1, %d)", task, 10-i))
		}
	}
	const rows = "SELECT task_id, state, queued_by_job_id, try_number, hostname, pid, start_date IS NOT NULL FROM task_instance ORDER BY task_id"
	claim := func(t *testing.T, q scheduler[J], limit int, want ...string) []J {
		t.Helper()
		jobs, err := q.Claim(ctx, nil, limit)
		return names(t, jobs, err, told, want...)
	}
	host, pid := "worker-7", int32(4711)
	yes, no := "true", "false"
	if b.engine == "mysql" {
		yes, no = "1", "0"
	}

	t.Run("life", func(t *testing.T) {
		anew(t, "a", "b", "c")
		jobs := claim(t, one, 2, "ad0", "bd0")
		claim(t, two, 9, "cd0")
		b.want(t, rows, "a queued 1 0 null null "+no, "b queued 1 0 null null "+no, "c queued 2 0 null null "+no)
		good(t, one.Start(ctx, &host, &pid, &jobs[0]))
		names(t, jobs, nil, told, "ad1", "bd0")
		b.want(t, rows, "a running 1 1 worker-7 4711 "+yes, "b queued 1 0 null null "+no, "c queued 2 0 null null "+no)
		isLost(t, lost, one.Start(ctx, &host, &pid, &jobs[0]))
		good(t, one.Complete(ctx, jobs[0]))
		good(t, one.Fail(ctx, jobs[1], errCause))
		b.want(t, "SELECT task_id, state FROM task_instance WHERE end_date IS NOT NULL ORDER BY task_id", "a success", "b failed")
		b.want(t, rows, "a success 1 1 worker-7 4711 "+yes, "b failed 1 0 null null "+no, "c queued 2 0 null null "+no)
	})

	t.Run("dead scheduler", func(t *testing.T) {
		anew(t, "a", "b")
		late := claim(t, one, 9, "ad0", "bd0")
		good(t, one.Start(ctx, &host, &pid, &late[1]))
		recovered := func(want int) {
			t.Helper()
			if n, err := two.Recover(ctx, 9); n != want || err != nil {
				t.Errorf("%d tasks were scheduled again, not %d: %v", n, want, err)
			}
		}
		recovered(0)
		b.run(t, "UPDATE job SET latest_heartbeat = '2001-01-01 00:00:00' WHERE id = 1")
		recovered(2)
		b.want(t, "SELECT task_id, state, queued_dttm, queued_by_job_id FROM task_instance ORDER BY task_id", "a scheduled null null", "b scheduled null null")
		isLost(t, lost, one.Start(ctx, &host, &pid, &late[0]))
		mine := claim(t, two, 9, "ad0", "bd1")
		isLost(t, lost, one.Start(ctx, &host, &pid, &late[0]))
		isLost(t, lost, one.Complete(ctx, late[1]))
		good(t, two.Start(ctx, &host, &pid, &mine[0], &mine[1]))
		names(t, mine, nil, told, "ad1", "bd2")
		isLost(t, lost, one.Requeue(ctx, late...))
		good(t, two.Complete(ctx, mine...))
		b.want(t, "SELECT task_id, state, try_number FROM task_instance ORDER BY task_id", "a success 1", "b success 2")
	})

	t.Run("restarting", func(t *testing.T) {
		anew(t, "a")
		jobs := claim(t, one, 9, "ad0")
		good(t, one.Start(ctx, &host, &pid, &jobs[0]))
		b.run(t, "UPDATE task_instance SET state = 'restarting'") // as when somebody clears a task that runs
		good(t, one.Requeue(ctx, jobs...))
		claim(t, two, 9, "ad1")
	})
}
