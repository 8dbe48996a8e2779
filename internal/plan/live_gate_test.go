package plan

import (
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// Claims at the same moment that pass the gate never let more rows run than may, and all that
// is ready runs in the end.
func TestGateHolds(t *testing.T) {
	for live, engine := range map[string]string{"postgres18": "postgresql", "mysql97": "mysql", "mariadb1011": "mariadb"} {
		t.Run(live, func(t *testing.T) {
			c, db := liveCase(t, live, engine, "gate")
			gate := c.variants(t, nil)["conversions"].Claim.Gate
			const jobs, most = 120, 4
			for range jobs {
				if _, err := db.Exec("INSERT INTO conversions (weight) VALUES (0)"); err != nil {
					t.Fatal(err)
				}
			}
			db.SetMaxOpenConns(10)
			var done atomic.Int32
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					for !t.Failed() && done.Load() < jobs {
						ids, err := passGate(t, db, gate, 3)
						if err != nil {
							t.Error(err)
							return
						}
						var n int
						if err := db.QueryRow("SELECT count(*) FROM conversions WHERE state = 'busy'").Scan(&n); err != nil || n > most {
							t.Errorf("%d run at once, %v", n, err)
						}
						for _, id := range ids {
							if _, err := db.Exec(fmt.Sprint("UPDATE conversions SET state = 'over' WHERE id = ", id)); err != nil {
								t.Error(err)
							}
						}
						done.Add(int32(len(ids)))
					}
				})
			}
			group.Wait()
		})
	}
}

// passGate takes up to limit rows in a transaction that passes the gate first.
func passGate(t *testing.T, db *sql.DB, gate *Gate, limit int) ([]int64, error) {
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	var locked, room int
	if err := tx.QueryRow(gate.Lock.SQL).Scan(&locked); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, gate.Lock.SQL)
	}
	if err := tx.QueryRow(gate.Room.SQL).Scan(&room); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, gate.Room.SQL)
	}
	if room <= 0 {
		return nil, nil
	}
	rows, err := tx.Query(fmt.Sprintf("SELECT id FROM conversions WHERE state = 'new' ORDER BY id LIMIT %d FOR UPDATE", min(limit, room)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, err := tx.Exec(fmt.Sprint("UPDATE conversions SET state = 'busy' WHERE id = ", id)); err != nil {
			return nil, err
		}
	}
	return ids, tx.Commit()
}
