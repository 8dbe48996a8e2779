package conformance

// This file says of each case what the suite cannot know by itself: how its
// rows are made, by which conditions their states are seen, and what the table
// can and cannot do. The tables stand in cases/.

// shape is what is true of one case.
type shape struct {
	columns []column // that a row needs besides n
	ordered bool     // the order of the queue is not the order of insertion
	// ready, running, done and failed are conditions; "" when such a row cannot
	// be seen in the table.
	ready, running, done, failed string
	finish                       string   // assignments that make a row done
	lease                        string   // the column whose time ends a claim
	side                         string   // the table beside jobs that holds the claims, where one does
	rows                         string   // where rows are, if not all of them in jobs: what to select them from
	fence                        string   // the level that doc.go states
	tries                        tries    // how failures are counted
	topics                       []string // arguments of Claim
	absent                       []string // methods that this table cannot have
	strategy                     string   // that the table calls for; "": the family's choice
	templated                    bool     // the names of its tables are made at run time
	payload                      bool     // jobs have columns in the table bodies
	mixed                        bool     // the order goes up in one column and down in another
	group                        int      // jobs of one lane that may run at once, unless qgen.yaml says another number
	fifo                         bool     // the jobs of one lane are done in order
	beside                       []string // what is created besides the table
}

// column is an expression over the row's number g.
type column struct{ name, postgresql, sqlite, mysql string }

// tries says how a shape counts.
type tries string

const (
	uncounted tries = ""
	byClaim   tries = "claim" // three claims
	byFailure tries = "retry" // three failures
	countdown tries = "down"  // three failures, counted down
)

// everyRow is the condition that every row satisfies.
const everyRow = "1 = 1"

const (
	statusReady   = "status = 'ready'"
	statusRunning = "status = 'running'"
	statusDone    = "status = 'done'"
	statusFailed  = "status = 'failed'"
)

// Where the table tells the state, the rows of all tables are read with it.
const (
	inReady   = "state = 'ready'"
	inRunning = "state = 'running'"
	inDone    = "state = 'done'"
	inFailed  = "state = 'failed'"
)

// lanes are the rows that stand for groups, where those need some.
var lanes = []string{"CREATE TABLE lanes (id int NOT NULL PRIMARY KEY)"}

var shapes = map[string]*shape{
	"single": {
		ready: statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", lease: "lease_till", fence: "attempt", tries: byClaim,
	},
	"composite": {
		columns: []column{{"region", "'r' || g % 3", "'r' || g % 3", "CONCAT('r', g % 3)"}, {"seq", "g", "g", "g"}}, ordered: true,
		ready: statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", lease: "lease_till", fence: "token",
	},
	"rowid": {
		ordered: true,
		ready:   statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", fence: "token",
		absent: []string{"Recover", "Extend"},
	},
	"boolean": {
		ready: "available", running: "NOT available",
		fence:  "status",
		absent: []string{"Recover", "Extend", "Redrive", "Purge"},
	},
	"integer": {
		columns: []column{{"priority", "-g", "-g", "-g"}}, ordered: true, mixed: true,
		ready: "state = 0", running: "state = 1", done: "state = 2", failed: "state = 9",
		finish: "state = 2", lease: "claimed_at", fence: "claimed",
	},
	"enum": {
		columns: []column{{"id", "md5(g::text)::uuid", "printf('%08d', 99999999 - g)", "LEFT(SHA2(g, 256), 32)"}}, ordered: true,
		ready: "state = 'queued'", running: "state = 'running'", done: "state = 'done'", failed: "state = 'failed'",
		finish: "state = 'done'", lease: "lease_till", fence: "attempt",
	},
	"nulltime": {
		ready:   "started_at IS NULL AND finished_at IS NULL AND failed_at IS NULL",
		running: "started_at IS NOT NULL AND finished_at IS NULL AND failed_at IS NULL",
		done:    "finished_at IS NOT NULL", failed: "failed_at IS NOT NULL",
		finish: "finished_at = CURRENT_TIMESTAMP", fence: "attempt", tries: byClaim,
		absent: []string{"Recover", "Extend"},
	},
	"tokenstate": {
		ready: statusReady, running: "status NOT IN ('ready', 'done', 'error')", done: statusDone, failed: "status = 'error'",
		finish: "status = 'done'", lease: "lease_till", fence: "token",
	},
	"several": {
		ready: "state = 'N' AND NOT locked", running: "state = 'N' AND locked",
		done: "state = 'C' AND NOT locked", failed: "state = 'E' AND NOT locked",
		finish: "state = 'C'", lease: "claimed_at", fence: "claimed", tries: byFailure,
	},
	"delete": {
		ready: statusReady, running: statusRunning, failed: statusFailed,
		lease: "lease_till", fence: "token", tries: countdown,
	},
	"topic": {
		ready: statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", fence: "attempt", tries: byClaim, topics: []string{"mail"},
		absent: []string{"Recover", "Extend"},
	},
	"due": {
		columns: []column{{"due_at", "now() - (1000000 - g) * interval '1 ms'", "g", "NOW(6) - INTERVAL (1000000 - g) * 1000 MICROSECOND"}}, ordered: true,
		ready: statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", lease: "lease_till", fence: "token", tries: byFailure,
	},
	"lease": {
		ready: "lease_till IS NULL", running: "lease_till IS NOT NULL",
		lease: "lease_till", fence: "token",
		absent: []string{"Recover", "Redrive", "Purge"},
	},
	"result": {
		ready: statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", fence: "status",
		absent: []string{"Extend"},
	},
	"partitioned": {
		columns: []column{{"id", "g", "g", "g"}},
		ready:   statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", lease: "lease_till", fence: "attempt", tries: byClaim,
	},
	"unsigned": {
		ready: statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", lease: "lease_till", fence: "attempt", tries: byClaim,
	},
	"binary": {
		columns: []column{{"id", "", "", "UNHEX(LEFT(SHA2(g, 256), 32))"}}, ordered: true,
		ready: statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", lease: "lease_till", fence: "token",
	},
	"audited": {
		ordered: true,
		ready:   "status = 0", running: "status = 1", done: "status = 2", failed: "status = 9",
		finish: "status = 2", lease: "lease_till", fence: "token",
	},
	"hostile": {
		ready: `"State of it" = 'ready'`, running: `"State of it" = 'running'`, done: `"State of it" = 'done'`, failed: `"State of it" = 'failed'`,
		finish: `"State of it" = 'done'`, lease: `"order"`, fence: "attempt", tries: byClaim,
	},
	"moved": {
		rows:  "(SELECT n, status AS state FROM jobs UNION ALL SELECT n, 'done' FROM finished UNION ALL SELECT n, 'failed' FROM dead) everywhere",
		ready: inReady, running: inRunning, done: inDone, failed: inFailed,
		lease: "lease_till", fence: "token", tries: byClaim,
		absent: []string{"Redrive", "Purge"},
	},
	"movedrun": {
		rows: "(SELECT n, 'ready' AS state, last_error FROM jobs UNION ALL SELECT n, 'running', last_error FROM jobs_running " +
			"UNION ALL SELECT n, 'done', NULL FROM finished UNION ALL SELECT n, 'failed', last_error FROM dead) everywhere",
		ready: inReady, running: inRunning, done: inDone, failed: inFailed,
		lease: "lease_till", side: "jobs_running", strategy: "move", fence: "token", tries: byClaim,
		absent: []string{"Redrive", "Purge"},
	},
	"grouped": {
		ready: statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", lease: "lease_till", fence: "token", tries: byFailure,
		group: 1, beside: lanes,
	},
	"headofline": {
		ready: statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", lease: "lease_till", fence: "token", tries: byFailure,
		group: 1, fifo: true, beside: lanes,
	},
	"hold": {
		ready: everyRow, strategy: "hold", fence: "none",
		absent: []string{"Redrive", "Purge"},
	},
	"holdstatus": {
		ready: statusReady, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", strategy: "hold", fence: "none",
	},
	"log": {
		columns: []column{{"created_at", "now() - interval '1 hour'", "1", "UTC_TIMESTAMP(6) - INTERVAL 1 HOUR"}},
		lease:   "lease_till", side: "jobs_offset", strategy: "offset", fence: "token", topics: []string{"g"},
	},
	"logxid": {
		lease: "lease_till", side: "jobs_offset", strategy: "offset", fence: "token", topics: []string{"g"},
	},
	"logalike": {
		columns: []column{{"at", "g", "", ""}, {"created_at", "now() - interval '1 hour'", "", ""}},
		lease:   "lease_till", side: "jobs_offset", strategy: "offset", fence: "token", topics: []string{"g"},
		absent: []string{"Purge"},
	},
	"sidetable": {
		ready:   "NOT EXISTS (SELECT 1 FROM jobs_lease l WHERE l.id = jobs.id AND (l.token IS NOT NULL OR l.failed_at IS NOT NULL))",
		running: "EXISTS (SELECT 1 FROM jobs_lease l WHERE l.id = jobs.id AND l.token IS NOT NULL)",
		failed:  "EXISTS (SELECT 1 FROM jobs_lease l WHERE l.id = jobs.id AND l.failed_at IS NOT NULL)",
		lease:   "claimed_until", side: "jobs_lease", strategy: "lease_table", fence: "token", tries: byClaim,
	},
	"pop": {
		ready: everyRow, strategy: "pop", fence: "none",
	},
	"payload": {
		ready: statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", lease: "lease_till", fence: "attempt", tries: byClaim, payload: true,
	},
	"template": {
		ready: statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", lease: "lease_till", fence: "attempt", tries: byClaim, payload: true, templated: true,
	},
	"payloadpop": {
		ready: everyRow, strategy: "pop", fence: "none", payload: true,
	},
	"partition": {
		columns: []column{{"hash_code", "nullif(g % 7, 0)", "nullif(g % 7, 0)", "nullif(g % 7, 0)"}},
		ready:   "NOT processed", done: "processed",
		finish: "processed = true", strategy: "partition", fence: "none",
	},
	"partitionrun": {
		columns: []column{{"hash_code", "nullif(g % 7, 0)", "nullif(g % 7, 0)", "nullif(g % 7, 0)"}},
		ready:   statusReady, running: statusRunning, done: statusDone, failed: statusFailed,
		finish: "status = 'done'", fence: "attempt", tries: byClaim,
		absent: []string{"Recover", "Extend"},
	},
}
