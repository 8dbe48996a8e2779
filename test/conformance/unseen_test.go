package conformance

// This file holds the servers that were not at hand. Their packages are emitted,
// parsed and compiled; with QGEN_TEST_COCKROACH, QGEN_TEST_YUGABYTE or
// QGEN_TEST_TIDB set to a DSN, the suite runs on them like on any other. SQL Server
// and Oracle are others, and have files of their own.

var cockroachdb, yugabytedb, tidb family

func init() { // behind those of the families that these are like
	cockroachdb, yugabytedb, tidb = postgresql, postgresql, mysqlServers
	cockroachdb.engine, yugabytedb.engine, tidb.engine = "cockroachdb", "yugabytedb", "tidb"
	cockroachdb.strategies = []chosen{{"returning", nil}}
	yugabytedb.strategies = []chosen{{"returning", nil}}
	tidb.strategies = []chosen{
		{"token", func(s *subject) bool { return s.shape.fence == "token" }},
		{"guarded", nil},
	}
}
