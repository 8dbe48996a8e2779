package corpus

import (
	"fmt"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/test/corpus/gen/gammumy"
	"github.com/qgen-dev/qgen/test/servers"
)

// BenchmarkComplete completes messages of Gammu, whose rows and parts go with them, by
// calls over so many. A job of a large call should cost less than one of a small.
func BenchmarkComplete(b *testing.B) {
	for _, server := range live["mysql"] {
		for _, jobs := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/jobs=%d", server, jobs), func(b *testing.B) {
				ctx := b.Context()
				driver, dsn := place(b, "mysql", server)
				db := servers.Open(b, driver, dsn, 1)
				create(b, db, "gammu/mysql.sql")
				q := gammumy.New(db)
				message := "('bench', '2024-01-02 03:04:05', '2024-01-02', '2024-01-02', 'hello')"
				add := "INSERT INTO outbox (CreatorID, InsertIntoDB, SendingDateTime, SendingTimeOut, TextDecoded) VALUES " +
					message + strings.Repeat(", "+message, jobs-1)
				for b.Loop() {
					b.StopTimer()
					for _, statement := range []string{"DELETE FROM sentitems", add, "INSERT INTO outbox_multipart (ID, SequencePosition) SELECT ID, 2 FROM outbox"} {
						if _, err := db.ExecContext(ctx, statement); err != nil {
							b.Fatal(err)
						}
					}
					mine, err := q.Claim(ctx, nil, 127, jobs)
					if err != nil || len(mine) != jobs {
						b.Fatalf("%d of %d jobs were claimed: %v", len(mine), jobs, err)
					}
					b.StartTimer()
					if err := q.Complete(ctx, mine...); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(jobs*b.N)/b.Elapsed().Seconds(), "jobs/s")
			})
		}
	}
}
