package emit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/plan"
	"github.com/qgen-dev/qgen/internal/queue"
)

// This file holds plans written by hand, one for every shape that an emitted
// package can have. The tables they belong to are in testdata/schema; the
// packages emitted from them are testdata/golden, and behaviour runs those.

// fixtures returns the plans by the names of their folders.
func fixtures() map[string]*plan.Package {
	return map[string]*plan.Package{
		"emaillite": emailSQLite(),
		"emailpgx":  emailPostgreSQL("emailpgx", plan.PGX),
		"emailpq":   emailPostgreSQL("emailpq", plan.DatabaseSQL),
		"tenant":    tenant("tenant", plan.PGX),
		"tenantpq":  noted(tenant("tenantpq", plan.DatabaseSQL)),
		"rowid":     rowIdentity(),
		"minimal":   minimal("minimal", plan.DatabaseSQL),
		"minimalpg": minimal("minimalpg", plan.PGX),
		"guarded":   guarded(),
		"mark":      markRead(),
		"resultpq":  withResult("resultpq", plan.DatabaseSQL),
		"resultpgx": withResult("resultpgx", plan.PGX),
		"hold":      hold("hold", plan.PGX),
		"holdpq":    hold("holdpq", plan.DatabaseSQL),
		"pop":       pop(),
		"shard":     shard(),
		"times":     times("times", plan.DatabaseSQL),
		"timespgx":  times("timespgx", plan.PGX),
	}
}

// newPackage is what all fixtures have in common.
func newPackage(name, table, engine string, driver plan.Driver) *plan.Package {
	p := &plan.Package{
		Name: name, Out: name, Queue: name, Table: table,
		Source: "example/schema.sql", Engine: engine, Driver: driver,
		Doc: []string{
			fmt.Sprintf("Package %s takes jobs from the table %s of %s.", name, table, engine),
			"\tready ──Claim──▶ running ──Complete──▶ done",
		},
		Backoff: queue.Backoff{Base: 5 * time.Second, Factor: 2, Max: time.Hour, Jitter: 0.1},
	}
	if strings.HasPrefix(engine, "PostgreSQL") {
		p.Isolation = "read committed"
		p.Transient = plan.Transient{RolledBack: []string{"40001", "40P01", "55P03"}, Unknown: []string{"08", "57P01"}, LostMessages: []string{"conn closed"}}
	} else {
		p.Transient = plan.Transient{Codes: []int{5, 6}, Messages: []string{"database is locked"}}
	}
	return p
}

// stmt is a statement of a fixture; the SQL is indented as in the test.
func stmt(name, sql string, rows []*plan.Field, args ...plan.Arg) *plan.Statement {
	sql = strings.TrimSpace(strings.ReplaceAll(sql, "\n\t\t", "\n"))
	parts := strings.Split(name, "_")
	variable := parts[0]
	for _, p := range parts[1:] {
		variable += strings.ToUpper(p[:1]) + p[1:]
	}
	return &plan.Statement{
		Name: name, Var: variable + "SQL", SQL: sql, Rows: rows, Args: args,
		Head: []string{"transition: " + name, "locks: the rows returned, until commit"},
	}
}

func arg(kind plan.ArgKind) plan.Arg { return plan.Arg{Kind: kind} }

func batch(f *plan.Field) plan.Arg { return plan.Arg{Kind: plan.ArgBatch, Field: f} }

func batchAll(fields ...*plan.Field) plan.Arg { return plan.Arg{Kind: plan.ArgBatchAll, Batch: fields} }

func newArg(f *plan.Field) plan.Arg { return plan.Arg{Kind: plan.ArgNew, Field: f} }

func newAll(fields ...*plan.Field) plan.Arg { return plan.Arg{Kind: plan.ArgNewAll, Batch: fields} }

func newBatch(f *plan.Field) plan.Arg { return plan.Arg{Kind: plan.ArgNewBatch, Field: f} }

func doc(text ...string) []string { return text }

func settle(text string, s *plan.Statement) *plan.Settle {
	return &plan.Settle{Doc: doc(text), Statement: s}
}

func sweep(text string, s ...*plan.Statement) *plan.Sweep {
	var steps []plan.SweepStep
	for _, one := range s {
		steps = append(steps, plan.SweepStep{Statement: one})
	}
	return &plan.Sweep{Doc: doc(text), Steps: steps}
}

// emailFields are the columns of email_outbox, which fixtures 1 and 2 share.
type emailFields struct {
	id, state, kind, priority, created, due, lease, token, worker, tries, lastError, body *plan.Field
}

func (e emailFields) all() []*plan.Field {
	return []*plan.Field{e.id, e.state, e.kind, e.priority, e.created, e.due, e.lease, e.token, e.worker, e.tries, e.lastError, e.body}
}

func emailColumns() emailFields {
	return emailFields{
		id:        &plan.Field{Column: "msg_id", SQLType: "bigint", Name: "MsgID", Param: "msgID", JSON: "msg_id", GoType: "int64", Cast: "bigint"},
		state:     &plan.Field{Column: "state", SQLType: "char(1)", Name: "State", Param: "state", JSON: "state", GoType: "string"},
		kind:      &plan.Field{Column: "kind", SQLType: "varchar(20)", Name: "Kind", Param: "kind", JSON: "kind", GoType: "string", New: true},
		priority:  &plan.Field{Column: "priority", SQLType: "int", Name: "Priority", Param: "priority", JSON: "priority", GoType: "int32", New: true, Optional: true},
		created:   &plan.Field{Column: "created_at", SQLType: "timestamptz", Name: "CreatedAt", Param: "createdAt", JSON: "created_at", GoType: "time.Time"},
		due:       &plan.Field{Column: "not_before", SQLType: "timestamptz", Name: "NotBefore", Param: "notBefore", JSON: "not_before", GoType: "time.Time", Null: true, New: true, Optional: true},
		lease:     &plan.Field{Column: "lease_till", SQLType: "timestamptz", Name: "LeaseTill", Param: "leaseTill", JSON: "lease_till", GoType: "time.Time", Null: true, Doc: "LeaseTill is when the claim expires."},
		token:     &plan.Field{Column: "token", SQLType: "uuid", Name: "Token", Param: "token", JSON: "token", GoType: "string", Null: true, Fence: true, Cast: "uuid"},
		worker:    &plan.Field{Column: "reader", SQLType: "text", Name: "Reader", Param: "reader", JSON: "reader", GoType: "string", Null: true},
		tries:     &plan.Field{Column: "tries", SQLType: "int", Name: "Tries", Param: "tries", JSON: "tries", GoType: "int32"},
		lastError: &plan.Field{Column: "last_error", SQLType: "text", Name: "LastError", Param: "lastError", JSON: "last_error", GoType: "string", Null: true},
		body:      &plan.Field{Column: "body", SQLType: "jsonb", Name: "Body", Param: "body", JSON: "body", GoType: "json.RawMessage", Codec: plan.JSONBytes, Payload: true, New: true},
	}
}

func emailStatus(e emailFields) *plan.StatusType {
	return &plan.StatusType{Name: "Status", Field: e.state, GoType: "string", Consts: []plan.StatusConst{
		{Name: "StatusReady", Value: `"N"`, Doc: "jobs that wait to be claimed"},
		{Name: "StatusRunning", Value: `"A"`, Doc: "jobs that a worker holds"},
		{Name: "StatusDone", Value: `"C"`, Doc: "finished jobs"},
		{Name: "StatusFailed", Value: `"E"`, Doc: "jobs without attempts left"},
	}}
}

// email is what the package over email_outbox is on every database; sql tells
// the statement of a name.
func email(p *plan.Package, e emailFields, claimArgs []plan.Arg, fence []plan.Arg, sql func(name string) string) *plan.Package {
	kind := &plan.Param{Name: "kind", GoType: "string", Doc: "the kind of message", Field: e.kind}
	for i := range claimArgs {
		if claimArgs[i].Kind == plan.ArgParam {
			claimArgs[i].Param = kind
		}
	}
	with := func(first []plan.Arg, more ...plan.Arg) []plan.Arg { return append(slices.Clone(first), more...) }
	key := []*plan.Field{e.id}
	errorArg := plan.Arg{Kind: plan.ArgError, Most: plan.Longest{Characters: 1000}}

	p.Guarantee = queue.FenceToken
	p.Strategy = "returning"
	p.Fields, p.Key, p.Fence = e.all(), key, []*plan.Field{e.token}
	p.Status = emailStatus(e)
	p.Decodes = []plan.Decode{{Method: "DecodeBody", Field: e.body, Type: "map[string]any"}}
	p.Worker = true
	p.Lease = &plan.Lease{Length: 5 * time.Minute, Field: e.lease}
	p.Attempts = &plan.Attempts{Field: e.tries, OnClaim: true, Max: 3}
	p.Claim = &plan.Claim{
		Doc: doc("Claim takes up to limit due jobs of a kind and marks them running. When nothing is due it returns no jobs and a nil error; it never returns more than limit.",
			"Rows that another transaction holds are passed over. A claim that is not settled expires after five minutes, see Recover."),
		Flow: plan.OneStatement, Statement: stmt("claim", sql("claim"), p.Fields, claimArgs...), Params: []*plan.Param{kind}, Token: "uuid",
		Order: []plan.SortTerm{{Field: e.priority, Desc: true}, {Field: e.due, NullsFirst: true}, {Field: e.id}},
	}
	p.Complete = settle("Complete marks jobs done. Jobs whose claim was lost are named by the error, a *LostError; the others are done.", stmt("complete", sql("complete"), key, fence...))
	p.Retry = settle("Fail puts a job back that could not be done: it is due again after a backoff, or failed when this was the last attempt. The text of cause is kept.", stmt("fail_retry", sql("fail_retry"), key, with(fence, arg(plan.ArgDelay), errorArg)...))
	p.Fail = settle("", stmt("fail", sql("fail"), key, with(fence, errorArg)...))
	p.Requeue = settle("Requeue gives jobs back unprocessed, due after delay. The attempt does not count.", stmt("requeue", sql("requeue"), key, with(fence, arg(plan.ArgDelay))...))
	p.Requeue.Delay = true
	p.Extend = settle("Extend lets the leases of jobs run anew.", stmt("extend", sql("extend"), []*plan.Field{e.id, e.lease}, fence...))
	p.Extend.Refreshes = []*plan.Field{e.lease}
	p.Recover = sweep("Recover puts at most limit jobs whose claim expired back to ready, or marks them failed when attempts are used up, and returns their number.",
		stmt("recover", sql("recover"), nil, arg(plan.ArgLimit)), stmt("recover_failed", sql("recover_failed"), nil, arg(plan.ArgLimit)))
	p.Redrive = sweep("Redrive makes at most limit failed jobs ready again.", stmt("redrive", sql("redrive"), key, arg(plan.ArgLimit)))
	purge := sweep("Purge deletes at most limit finished jobs that were added before olderThan ago.", stmt("purge", sql("purge"), nil, arg(plan.ArgOlder), arg(plan.ArgLimit)))
	purge.OlderThan = true
	p.Purges = []*plan.Purge{{Sweep: purge, Method: "Purge", Op: "purge", Of: []queue.StateName{queue.Done}}}
	p.Peek = &plan.Peek{Doc: doc("Peek reads the jobs that Claim would take, without taking them."), Statement: stmt("peek", sql("peek"), p.Fields, plan.Arg{Kind: plan.ArgParam, Param: kind}, arg(plan.ArgLimit))}
	p.Enqueue = &plan.Enqueue{
		Doc:     doc("Enqueue adds a job and returns its key."),
		ManyDoc: doc("EnqueueMany adds jobs in one transaction and returns their keys in the order of news."),
		Fields:  []*plan.Field{e.kind, e.priority, e.due, e.body},
		One:     stmt("enqueue", sql("enqueue"), key, newArg(e.kind), newArg(e.priority), newArg(e.due), newArg(e.body)),
	}
	p.Stats = &plan.Stats{
		Doc: doc("Stats counts the jobs."), Statement: stmt("stats", sql("stats"), nil),
		Fields: []plan.StatsField{
			{Name: "Ready", GoType: "int64", Doc: "jobs that wait"},
			{Name: "Running", GoType: "int64", Doc: "jobs that a worker holds"},
			{Name: "OldestReady", GoType: "time.Duration", Doc: "how long the oldest of the jobs that wait has been waiting"},
		},
	}
	p.Backlog = &plan.Backlog{
		Doc: doc("Backlog counts the jobs that wait for each combination of Kind and NotBefore."), Statement: stmt("backlog", sql("backlog"), nil),
		Topics: []*plan.Field{e.kind, e.due},
		Fields: []plan.StatsField{p.Stats.Fields[0], p.Stats.Fields[2]},
	}
	p.CompleteAndClaim = true
	p.WorkLoop = true
	return p
}

// emailSQLite is fixture 1: every role, on SQLite over database/sql.
func emailSQLite() *plan.Package {
	p := newPackage("emaillite", "email_outbox", "SQLite 3.35", plan.DatabaseSQL)
	e := emailColumns()
	e.created.SQLType, e.created.Codec = "integer", plan.Epoch
	e.due.SQLType, e.due.Codec = "integer", plan.EpochMS
	e.lease.SQLType, e.lease.Codec, e.lease.Layout, e.lease.UTC = "text", plan.TextTime, "2006-01-02 15:04:05.000", true
	e.token.SQLType, e.body.SQLType = "text", "text"
	columns := "msg_id, state, kind, priority, created_at, not_before, lease_till, token, reader, tries, last_error, body"
	held := `
		FROM   json_each(?) AS j
		WHERE  t.msg_id = j.value ->> 0
		AND    t.token = j.value ->> 1
		AND    t.state = 'A'
		RETURNING msg_id`
	sql := map[string]string{
		"claim": `
		UPDATE /* emaillite.Claim */ email_outbox
		SET    state = 'A', token = ?, reader = ?, tries = tries + 1,
		       lease_till = strftime('%Y-%m-%d %H:%M:%f', 'now', '+300 seconds')
		WHERE  msg_id IN (
		    SELECT   msg_id
		    FROM     email_outbox
		    WHERE    state = 'N'
		    AND      kind = ?
		    AND      (not_before IS NULL OR not_before <= unixepoch('subsec') * 1000)
		    ORDER BY priority DESC, not_before, msg_id
		    LIMIT    ?
		)
		RETURNING ` + columns,
		"complete": `
		UPDATE /* emaillite.Complete */ email_outbox AS t
		SET    state = 'C', token = NULL, lease_till = NULL` + held,
		"fail_retry": `
		UPDATE /* emaillite.Fail */ email_outbox AS t
		SET    state = 'N', token = NULL, lease_till = NULL, reader = NULL,
		       not_before = CAST(unixepoch('subsec') * 1000 + ?2 * 1000 AS INTEGER), last_error = ?3` + strings.Replace(held, "?", "?1", 1),
		"fail": `
		UPDATE /* emaillite.Fail */ email_outbox AS t
		SET    state = 'E', token = NULL, lease_till = NULL, last_error = ?2` + strings.Replace(held, "?", "?1", 1),
		"requeue": `
		UPDATE /* emaillite.Requeue */ email_outbox AS t
		SET    state = 'N', token = NULL, lease_till = NULL, reader = NULL, tries = tries - 1,
		       not_before = CAST(unixepoch('subsec') * 1000 + ?2 * 1000 AS INTEGER)` + strings.Replace(held, "?", "?1", 1),
		"extend": `
		UPDATE /* emaillite.Extend */ email_outbox AS t
		SET    lease_till = strftime('%Y-%m-%d %H:%M:%f', 'now', '+300 seconds')` + held + ", lease_till",
		"recover": `
		UPDATE /* emaillite.Recover */ email_outbox
		SET    state = 'N', token = NULL, lease_till = NULL, reader = NULL
		WHERE  msg_id IN (SELECT msg_id FROM email_outbox WHERE state = 'A' AND tries < 3
		                  AND lease_till <= strftime('%Y-%m-%d %H:%M:%f', 'now') LIMIT ?)`,
		"recover_failed": `
		UPDATE /* emaillite.Recover */ email_outbox
		SET    state = 'E', token = NULL, lease_till = NULL, last_error = 'claim expired'
		WHERE  msg_id IN (SELECT msg_id FROM email_outbox WHERE state = 'A' AND tries >= 3
		                  AND lease_till <= strftime('%Y-%m-%d %H:%M:%f', 'now') LIMIT ?)`,
		"redrive": `
		UPDATE /* emaillite.Redrive */ email_outbox
		SET    state = 'N', tries = 0, not_before = NULL
		WHERE  msg_id IN (SELECT msg_id FROM email_outbox WHERE state = 'E' LIMIT ?)
		RETURNING msg_id`,
		"purge": `
		DELETE /* emaillite.Purge */ FROM email_outbox
		WHERE  msg_id IN (SELECT msg_id FROM email_outbox WHERE state IN ('C', 'E')
		                  AND created_at <= unixepoch() - ? LIMIT ?)`,
		"peek": `
		SELECT   /* emaillite.Peek */ ` + columns + `
		FROM     email_outbox
		WHERE    state = 'N'
		AND      kind = ?
		AND      (not_before IS NULL OR not_before <= unixepoch('subsec') * 1000)
		ORDER BY priority DESC, not_before, msg_id
		LIMIT    ?`,
		"enqueue": `
		INSERT /* emaillite.Enqueue */ INTO email_outbox (kind, priority, not_before, body)
		VALUES (?, coalesce(?, 0), ?, ?)
		RETURNING msg_id`,
		"stats": `
		SELECT /* emaillite.Stats */
		       count(*) FILTER (WHERE state = 'N'),
		       count(*) FILTER (WHERE state = 'A'),
		       CAST(unixepoch() - min(created_at) FILTER (WHERE state = 'N') AS REAL)
		FROM   email_outbox`,
		"backlog": `
		SELECT /* emaillite.Backlog */
		       kind,
		       not_before,
		       count(*),
		       CAST(unixepoch() - min(created_at) AS REAL)
		FROM   email_outbox
		WHERE  state = 'N'
		GROUP  BY kind, not_before
		ORDER  BY kind, not_before`,
	}
	p = email(p, e, []plan.Arg{arg(plan.ArgToken), arg(plan.ArgWorker), arg(plan.ArgParam), arg(plan.ArgLimit)},
		[]plan.Arg{batchAll(e.id, e.token)}, func(name string) string { return sql[name] })
	p.Enqueue.Many = stmt("enqueue_many", `
		INSERT /* emaillite.EnqueueMany */ INTO email_outbox (kind, priority, not_before, body)
		SELECT   value ->> 0, coalesce(value ->> 1, 0), value ->> 2, value ->> 3
		FROM     json_each(?)
		ORDER BY key
		RETURNING msg_id`, p.Key, newAll(e.kind, e.priority, e.due, e.body))
	p.Verify = &plan.Verify{Doc: doc("Verify compares the table with what the package was generated for."), Checks: []plan.Check{{
		Statement: stmt("verify_columns", `
		SELECT /* emaillite.Verify */ 'column ' || v.value || ' is missing'
		FROM   json_each('["msg_id","state","kind","token"]') AS v
		WHERE  v.value NOT IN (SELECT name FROM pragma_table_info('email_outbox'))`, nil),
		Mend: "generate the package again from the table as it is",
	}}}
	p.Indexes = []plan.Index{
		{Name: "email_outbox_ready", Why: "serves Claim: ready jobs of a kind in queue order", DDL: "CREATE INDEX email_outbox_ready ON email_outbox (kind, priority DESC, not_before, msg_id) WHERE state = 'N'"},
		{Name: "email_outbox_lease", Why: "serves Recover", Have: "email_outbox_running"},
	}
	return p
}

// emailPostgreSQL is fixture 2: the same over PostgreSQL; the statements are
// the same for both drivers.
func emailPostgreSQL(name string, driver plan.Driver) *plan.Package {
	p := newPackage(name, "email_outbox", "PostgreSQL 15", driver)
	e := emailColumns()
	columns := "msg_id, state, kind, priority, created_at, not_before, lease_till, token, reader, tries, last_error, body"
	held := `
		FROM   unnest($1::bigint[], $2::uuid[]) AS j (msg_id, token)
		WHERE  t.msg_id = j.msg_id
		AND    t.token = j.token
		AND    t.state = 'A'
		RETURNING t.msg_id`
	due := `
		    WHERE    state = 'N'
		    AND      kind = %s
		    AND      (not_before IS NULL OR not_before <= now())
		    ORDER BY priority DESC, not_before NULLS FIRST, msg_id
		    LIMIT    %s`
	claim := func(limit string) string {
		return `
		UPDATE /* ` + name + `.Claim */ email_outbox
		SET    state = 'A', token = $1::uuid, reader = $2, tries = tries + 1, lease_till = now() + interval '300 seconds'
		WHERE  msg_id = ANY (ARRAY(
		    SELECT   msg_id
		    FROM     email_outbox` + fmt.Sprintf(due, "$3", limit) + `
		    FOR NO KEY UPDATE SKIP LOCKED
		))
		RETURNING ` + columns
	}
	sql := map[string]string{
		"claim": claim("$4"),
		"complete": `
		UPDATE /* ` + name + `.Complete */ email_outbox AS t
		SET    state = 'C', token = NULL, lease_till = NULL` + held,
		"fail_retry": `
		UPDATE /* ` + name + `.Fail */ email_outbox AS t
		SET    state = 'N', token = NULL, lease_till = NULL, reader = NULL,
		       not_before = now() + make_interval(secs => $3), last_error = $4` + held,
		"fail": `
		UPDATE /* ` + name + `.Fail */ email_outbox AS t
		SET    state = 'E', token = NULL, lease_till = NULL, last_error = $3` + held,
		"requeue": `
		UPDATE /* ` + name + `.Requeue */ email_outbox AS t
		SET    state = 'N', token = NULL, lease_till = NULL, reader = NULL, tries = tries - 1,
		       not_before = now() + make_interval(secs => $3)` + held,
		"extend": `
		UPDATE /* ` + name + `.Extend */ email_outbox AS t
		SET    lease_till = now() + interval '300 seconds'` + held + ", t.lease_till",
		"recover": `
		UPDATE /* ` + name + `.Recover */ email_outbox
		SET    state = 'N', token = NULL, lease_till = NULL, reader = NULL
		WHERE  msg_id = ANY (ARRAY(SELECT msg_id FROM email_outbox WHERE state = 'A' AND tries < 3
		                           AND lease_till <= now() LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED))`,
		"recover_failed": `
		UPDATE /* ` + name + `.Recover */ email_outbox
		SET    state = 'E', token = NULL, lease_till = NULL, last_error = 'claim expired'
		WHERE  msg_id = ANY (ARRAY(SELECT msg_id FROM email_outbox WHERE state = 'A' AND tries >= 3
		                           AND lease_till <= now() LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED))`,
		"redrive": `
		UPDATE /* ` + name + `.Redrive */ email_outbox
		SET    state = 'N', tries = 0, not_before = NULL
		WHERE  msg_id = ANY (ARRAY(SELECT msg_id FROM email_outbox WHERE state = 'E' LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED))
		RETURNING msg_id`,
		"purge": `
		DELETE /* ` + name + `.Purge */ FROM email_outbox
		WHERE  msg_id = ANY (ARRAY(SELECT msg_id FROM email_outbox WHERE state IN ('C', 'E')
		                           AND created_at <= now() - make_interval(secs => $1) LIMIT $2))`,
		"peek": `
		SELECT   /* ` + name + `.Peek */ ` + columns + `
		FROM     email_outbox` + strings.ReplaceAll(fmt.Sprintf(due, "$1", "$2"), "\n\t\t    ", "\n\t\t"),
		"enqueue": `
		INSERT /* ` + name + `.Enqueue */ INTO email_outbox (kind, priority, not_before, body)
		VALUES ($1, coalesce($2, 0), $3, $4)
		RETURNING msg_id`,
		"stats": `
		SELECT /* ` + name + `.Stats */
		       count(*) FILTER (WHERE state = 'N'),
		       count(*) FILTER (WHERE state = 'A'),
		       extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'N'))::float8
		FROM   email_outbox`,
		"backlog": `
		SELECT /* ` + name + `.Backlog */
		       kind,
		       not_before,
		       count(*),
		       extract(epoch FROM now() - min(created_at))::float8
		FROM   email_outbox
		WHERE  state = 'N'
		GROUP  BY kind, not_before
		ORDER  BY kind, not_before`,
	}
	p = email(p, e, []plan.Arg{arg(plan.ArgToken), arg(plan.ArgWorker), arg(plan.ArgParam), arg(plan.ArgLimit)},
		[]plan.Arg{batch(e.id), batch(e.token)}, func(name string) string { return sql[name] })
	for _, n := range []int{1, 10} {
		rung := stmt(fmt.Sprintf("claim_%d", n), claim(fmt.Sprint(n)), p.Fields, p.Claim.Statement.Args[:3]...)
		p.Claim.Ladder = append(p.Claim.Ladder, plan.Rung{Limit: n, Statement: rung})
	}
	p.Enqueue.Many = stmt("enqueue_many", `
		INSERT /* `+name+`.EnqueueMany */ INTO email_outbox (kind, priority, not_before, body)
		SELECT   kind, coalesce(priority, 0), not_before, body
		FROM     unnest($1::text[], $2::int[], $3::timestamptz[], $4::jsonb[]) WITH ORDINALITY AS n (kind, priority, not_before, body, place)
		ORDER BY place
		RETURNING msg_id`, p.Key, newBatch(e.kind), newBatch(e.priority), newBatch(e.due), newBatch(e.body))
	return p
}

// tenant is fixture 3: a composite key and a counter as the fence, which
// Extend moves.
func tenant(name string, driver plan.Driver) *plan.Package {
	p := newPackage(name, "tenant_jobs", "PostgreSQL 15", driver)
	tenantID := &plan.Field{Column: "tenant", SQLType: "text", Name: "Tenant", Param: "tenant", JSON: "tenant", GoType: "string", New: true, Cast: "text"}
	no := &plan.Field{Column: "no", SQLType: "int", Name: "No", Param: "no", JSON: "no", GoType: "int32", New: true, Cast: "int"}
	state := &plan.Field{Column: "state", SQLType: "job_state", Name: "State", Param: "state", JSON: "state", GoType: "string"}
	version := &plan.Field{Column: "version", SQLType: "bigint", Name: "Version", Param: "version", JSON: "version", GoType: "int64", Fence: true, Cast: "bigint"}
	data := &plan.Field{Column: "data", SQLType: "bytea", Name: "Data", Param: "data", JSON: "data", GoType: "[]byte", Null: true, Payload: true, New: true}
	p.Fields, p.Key, p.Fence = []*plan.Field{tenantID, no, state, version, data}, []*plan.Field{tenantID, no}, []*plan.Field{version}
	p.Guarantee, p.Strategy = queue.FenceAttempt, "returning"
	p.Status = &plan.StatusType{Name: "Status", Field: state, GoType: "string", Consts: []plan.StatusConst{{Name: "StatusReady", Value: `"ready"`}, {Name: "StatusRunning", Value: `"running"`}}}
	held := `
		FROM   unnest($1::text[], $2::int[], $3::bigint[]) AS j (tenant, no, version)
		WHERE  t.tenant = j.tenant
		AND    t.no = j.no
		AND    t.version = j.version
		AND    t.state = 'running'
		RETURNING t.tenant, t.no`
	fence := []plan.Arg{batch(tenantID), batch(no), batch(version)}
	p.Claim = &plan.Claim{
		Doc:  doc("Claim takes up to limit ready jobs of some tenants."),
		Flow: plan.OneStatement, Order: []plan.SortTerm{{Field: no}, {Field: tenantID}},
		Params: []*plan.Param{{Name: "tenants", GoType: "[]string", Doc: "the tenants whose jobs are taken", Field: tenantID, List: true}},
	}
	p.Claim.Statement = stmt("claim", `
		WITH c AS MATERIALIZED (
		    SELECT   tenant, no
		    FROM     tenant_jobs
		    WHERE    state = 'ready'
		    AND      tenant = ANY ($1::text[])
		    ORDER BY no, tenant
		    LIMIT    $2
		    FOR NO KEY UPDATE SKIP LOCKED
		)
		UPDATE /* `+name+`.Claim */ tenant_jobs AS t
		SET    state = 'running', version = t.version + 1
		FROM   c
		WHERE  t.tenant = c.tenant
		AND    t.no = c.no
		RETURNING t.tenant, t.no, t.state, t.version, t.data`, p.Fields, plan.Arg{Kind: plan.ArgParam, Param: p.Claim.Params[0]}, arg(plan.ArgLimit))
	p.Complete = settle("Complete deletes jobs that are done.", stmt("complete", `
		DELETE /* `+name+`.Complete */ FROM tenant_jobs AS t
		USING  unnest($1::text[], $2::int[], $3::bigint[]) AS j (tenant, no, version)`+held[strings.Index(held, "\n\t\tWHERE"):], p.Key, fence...))
	p.Requeue = settle("Requeue gives jobs back.", stmt("requeue", `
		UPDATE /* `+name+`.Requeue */ tenant_jobs AS t
		SET    state = 'ready', version = t.version + 1`+held, p.Key, fence...))
	p.Extend = settle("Extend shows that jobs are still worked on.", stmt("extend", `
		UPDATE /* `+name+`.Extend */ tenant_jobs AS t
		SET    version = t.version + 1`+held+", t.version", []*plan.Field{tenantID, no, version}, fence...))
	p.Extend.Refreshes = []*plan.Field{version}
	p.Enqueue = &plan.Enqueue{
		Doc: doc("Enqueue adds a job under a key of the caller's."), ManyDoc: doc("EnqueueMany adds jobs under keys of the caller's."),
		Fields: []*plan.Field{tenantID, no, data}, KeyGiven: true,
		One: stmt("enqueue", `
		INSERT /* `+name+`.Enqueue */ INTO tenant_jobs (tenant, no, data)
		VALUES ($1, $2, $3)`, nil, newArg(tenantID), newArg(no), newArg(data)),
		Many: stmt("enqueue_many", `
		INSERT /* `+name+`.EnqueueMany */ INTO tenant_jobs (tenant, no, data)
		SELECT * FROM unnest($1::text[], $2::int[], $3::bytea[])`, nil, newBatch(tenantID), newBatch(no), newBatch(data)),
	}
	p.CompleteAndClaim = true
	return p
}

// noted has Enqueue of fixture 3 write another table, for rows that are found by the keys
// that they were given.
func noted(p *plan.Package) *plan.Package {
	jobs := []plan.Arg{batch(p.Key[0]), batch(p.Key[1])}
	p.Enqueue.Find = stmt("enqueue_find", `
		SELECT /* `+p.Name+`.Enqueue */ t.tenant, t.no
		FROM   tenant_jobs AS t
		       JOIN unnest($1::text[], $2::int[]) AS j (tenant, no) USING (tenant, no)`, p.Key, jobs...)
	p.Enqueue.With = []*plan.Statement{stmt("enqueue_insert_notes", `
		INSERT /* `+p.Name+`.Enqueue */ INTO tenant_notes (tenant, no, state)
		SELECT t.tenant, t.no, t.state
		FROM   tenant_jobs AS t
		       JOIN unnest($1::text[], $2::int[]) AS j (tenant, no) USING (tenant, no)`, nil, jobs...)}
	return p
}

// rowIdentity is fixture 4: no key, a token in the status column is the fence.
func rowIdentity() *plan.Package {
	p := newPackage("rowid", "main.\"odd \"\"log\"\"\"", "SQLite 3.35", plan.DatabaseSQL)
	row := &plan.Field{Column: "rowid", SQLType: "rowid", Name: "RowID", Param: "rowID", JSON: "rowid", GoType: "int64", RowID: true}
	owner := &plan.Field{Column: "owner", SQLType: "integer", Name: "Owner", Param: "owner", JSON: "owner", GoType: "int64", Null: true, Fence: true, Doc: "Owner is the number under which the job is claimed."}
	seq := &plan.Field{Column: "sequence no", SQLType: "real", Name: "SequenceNo", Param: "sequenceNo", JSON: "sequence_no", GoType: "float64", Null: true, New: true}
	blob := &plan.Field{Column: "type", SQLType: "blob", Name: "Type", Param: "typeValue", JSON: "type", GoType: "[]byte", Null: true, Payload: true, New: true}
	p.Fields, p.Key, p.Fence = []*plan.Field{owner, seq, blob}, []*plan.Field{row}, []*plan.Field{owner}
	p.Guarantee, p.Strategy = queue.FenceToken, "returning"
	p.Claim = &plan.Claim{
		Doc: doc("Claim takes up to limit free rows."), Flow: plan.OneStatement, Token: "int",
		Order: []plan.SortTerm{{Field: seq, Desc: true}, {Field: row}},
		Statement: stmt("claim", `
		UPDATE /* rowid.Claim */ "odd ""log"""
		SET    owner = ?
		WHERE  rowid IN (SELECT rowid FROM "odd ""log""" WHERE owner IS NULL ORDER BY "sequence no" DESC, rowid LIMIT ?)
		RETURNING rowid, owner, "sequence no", type`, []*plan.Field{row, owner, seq, blob}, arg(plan.ArgToken), arg(plan.ArgLimit)),
	}
	p.Complete = settle("Complete deletes rows.", stmt("complete", `
		DELETE /* rowid.Complete */ FROM "odd ""log"""
		WHERE  (rowid, owner) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))
		RETURNING rowid`, p.Key, batchAll(row, owner)))
	p.Fail = settle("Fail takes a row out of the queue for good.", stmt("fail", `
		UPDATE /* rowid.Fail */ "odd ""log"""
		SET    owner = -1
		WHERE  (rowid, owner) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))
		RETURNING rowid`, p.Key, batchAll(row, owner)))
	p.Enqueue = &plan.Enqueue{
		Doc: doc("Enqueue adds a row."), ManyDoc: doc("EnqueueMany adds rows."), Fields: []*plan.Field{seq, blob},
		One: stmt("enqueue", `
		INSERT /* rowid.Enqueue */ INTO "odd ""log""" ("sequence no", type)
		VALUES (?, ?)
		RETURNING rowid`, p.Key, newArg(seq), newArg(blob)),
		Many: stmt("enqueue_many", `
		INSERT /* rowid.EnqueueMany */ INTO "odd ""log""" ("sequence no", type)
		SELECT value ->> 0, unhex(value ->> 1) FROM json_each(?) ORDER BY key
		RETURNING rowid`, p.Key, newAll(seq, blob)),
	}
	return p
}

// minimal is fixture 5: id, status and payload, first in first out.
func minimal(name string, driver plan.Driver) *plan.Package {
	engine := "SQLite 3.35"
	if driver == plan.PGX {
		engine = "PostgreSQL 15"
	}
	p := newPackage(name, "tasks", engine, driver)
	id := &plan.Field{Column: "id", SQLType: "bigint", Name: "ID", Param: "id", JSON: "id", GoType: "int64", Cast: "bigint"}
	data := &plan.Field{Column: "data", SQLType: "text", Name: "Data", Param: "data", JSON: "data", GoType: "string", Payload: true, New: true}
	p.Fields, p.Key = []*plan.Field{id, data}, []*plan.Field{id}
	p.Guarantee, p.Strategy = queue.FenceStatus, "returning"
	p.Status = &plan.StatusType{Name: "Status", GoType: "int64", Consts: []plan.StatusConst{
		{Name: "StatusReady", Value: "0", Doc: "waiting"}, {Name: "StatusRunning", Value: "9", Doc: "being worked on"}, {Name: "StatusDone", Value: "1", Doc: "finished"},
	}}
	claim := func(limit string) string {
		if driver == plan.PGX {
			return `
		UPDATE /* ` + name + `.Claim */ tasks
		SET    status = 9
		WHERE  id = ANY (ARRAY(SELECT id FROM tasks WHERE status = 0 AND id > $1 ORDER BY id NULLS FIRST LIMIT ` + limit + ` FOR NO KEY UPDATE SKIP LOCKED))
		RETURNING id, data`
		}
		return `
		UPDATE /* ` + name + `.Claim */ tasks
		SET    status = 9
		WHERE  id IN (SELECT id FROM tasks WHERE status = 0 AND id > ?1 ORDER BY id LIMIT ` + limit + `)
		RETURNING id, data`
	}
	some, limit := "id IN (SELECT value ->> 0 FROM json_each(?))", "?2"
	ids := func(f *plan.Field) plan.Arg { return batchAll(f) }
	if driver == plan.PGX {
		some, limit = "id = ANY ($1::bigint[])", "$2"
		ids = batch
	}
	p.Claim = &plan.Claim{
		Doc: doc("Claim takes up to limit ready tasks, oldest first."), Flow: plan.OneStatement,
		Statement: stmt("claim", claim(limit), p.Fields, arg(plan.ArgLow), arg(plan.ArgLimit)),
		Ladder:    []plan.Rung{{Limit: 1, Statement: stmt("claim_1", claim("1"), p.Fields, arg(plan.ArgLow))}},
		Low:       &plan.Low{Field: id, Refresh: 2 * time.Second},
		Order:     []plan.SortTerm{{Field: id}},
	}
	p.Complete = settle("Complete marks tasks done.", stmt("complete", `
		UPDATE /* `+name+`.Complete */ tasks
		SET    status = 1
		WHERE  `+some+`
		AND    status = 9
		RETURNING id`, p.Key, ids(id)))
	p.Requeue = settle("Requeue gives tasks back.", stmt("requeue", `
		UPDATE /* `+name+`.Requeue */ tasks
		SET    status = 0
		WHERE  `+some+`
		AND    status = 9
		RETURNING id`, p.Key, ids(id)))
	p.Enqueue = &plan.Enqueue{
		Doc: doc("Enqueue adds a task."), ManyDoc: doc("EnqueueMany adds tasks in one transaction."), Fields: []*plan.Field{data},
		One: stmt("enqueue", `
		INSERT /* `+name+`.Enqueue */ INTO tasks (data)
		VALUES (`+strings.TrimSuffix(limit, "2")+`1)
		RETURNING id`, p.Key, newArg(data)),
	}
	p.CompleteAndClaim = true
	return p
}

// guarded is fixture 6: candidates are read, then those still free are taken.
func guarded() *plan.Package {
	p := newPackage("guarded", "tasks", "SQLite 3.35", plan.DatabaseSQL)
	id := &plan.Field{Column: "id", SQLType: "integer", Name: "ID", Param: "id", JSON: "id", GoType: "int64"}
	version := &plan.Field{Column: "version", SQLType: "integer", Name: "Version", Param: "version", JSON: "version", GoType: "int64", Fence: true}
	data := &plan.Field{Column: "data", SQLType: "text", Name: "Data", Param: "data", JSON: "data", GoType: "string", Payload: true, New: true}
	p.Fields, p.Key, p.Fence = []*plan.Field{id, version, data}, []*plan.Field{id}, []*plan.Field{version}
	p.Guarantee, p.Strategy = queue.FenceAttempt, "guarded"
	p.Claim = &plan.Claim{
		Doc: doc("Claim takes up to limit ready tasks."), Flow: plan.PickTake, Order: []plan.SortTerm{{Field: id}},
		Pick: stmt("claim_pick", `
		SELECT /* guarded.Claim */ id, version FROM tasks WHERE status = 0 ORDER BY id LIMIT ?`, []*plan.Field{id, version}, arg(plan.ArgLimit)),
		Statement: stmt("claim", `
		UPDATE /* guarded.Claim */ tasks
		SET    status = 9, version = version + 1
		WHERE  (id, version) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))
		AND    status = 0
		RETURNING id, version, data`, p.Fields, batchAll(id, version)),
	}
	p.Complete = settle("Complete marks tasks done.", stmt("complete", `
		UPDATE /* guarded.Complete */ tasks
		SET    status = 1, version = version + 1
		WHERE  (id, version) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))
		AND    status = 9
		RETURNING id`, p.Key, batchAll(id, version)))
	p.Retry = settle("Fail puts a task back.", stmt("fail", `
		UPDATE /* guarded.Fail */ tasks
		SET    status = 0, version = version + 1
		WHERE  (id, version) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))
		AND    status = 9
		RETURNING id`, p.Key, batchAll(id, version)))
	p.CompleteAndClaim = true
	return p
}

// markRead is fixture 7: rows are stamped with a token and read back by it.
func markRead() *plan.Package {
	p := newPackage("mark", "tasks", "SQLite 3.35", plan.DatabaseSQL)
	id := &plan.Field{Column: "id", SQLType: "integer", Name: "ID", Param: "id", JSON: "id", GoType: "int64"}
	status := &plan.Field{Column: "status", SQLType: "text", Name: "Status", Param: "status", JSON: "status", GoType: "string", Fence: true}
	data := &plan.Field{Column: "data", SQLType: "text", Name: "Data", Param: "data", JSON: "data", GoType: "string", Payload: true, New: true}
	p.Fields, p.Key, p.Fence = []*plan.Field{id, status, data}, []*plan.Field{id}, []*plan.Field{status}
	p.Guarantee, p.Strategy = queue.FenceToken, "token"
	p.Status = &plan.StatusType{Name: "Status", Field: status, GoType: "string", Consts: []plan.StatusConst{{Name: "StatusReady", Value: `"ready"`}, {Name: "StatusDone", Value: `"done"`}}}
	p.Claim = &plan.Claim{
		Doc: doc("Claim takes up to limit ready tasks."), Flow: plan.MarkRead, Token: "text", Order: []plan.SortTerm{{Field: id}},
		Params: []*plan.Param{{Name: "words", GoType: "[]string", Doc: "the data that is wanted", Field: data, List: true, JSON: true}},
		Read: stmt("claim_read", `
		SELECT /* mark.Claim */ id, status, data FROM tasks WHERE status = ?`, p.Fields, arg(plan.ArgToken)),
	}
	p.Claim.Statement = stmt("claim", `
		UPDATE /* mark.Claim */ tasks
		SET    status = ?
		WHERE  id IN (SELECT id FROM tasks WHERE status = 'ready' AND data IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?)`,
		nil, arg(plan.ArgToken), plan.Arg{Kind: plan.ArgParam, Param: p.Claim.Params[0]}, arg(plan.ArgLimit))
	p.Claim.Ladder = []plan.Rung{{Limit: 1, Statement: stmt("claim_1", `
		UPDATE /* mark.Claim */ tasks
		SET    status = ?
		WHERE  id = (SELECT id FROM tasks WHERE status = 'ready' AND data IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT 1)`,
		nil, p.Claim.Statement.Args[:2]...)}}
	p.Complete = settle("Complete marks tasks done.", stmt("complete", `
		UPDATE /* mark.Complete */ tasks
		SET    status = 'done'
		WHERE  (id, status) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))
		RETURNING id`, p.Key, batchAll(id, status)))
	p.CompleteAndClaim = true
	return p
}

// withResult is fixture 8: Complete takes a result per job.
func withResult(name string, driver plan.Driver) *plan.Package {
	p := newPackage(name, "sums", "PostgreSQL 15", driver)
	id := &plan.Field{Column: "id", SQLType: "uuid", Name: "ID", Param: "id", JSON: "id", GoType: "string", UUID: true, Cast: "uuid"}
	claimed := &plan.Field{Column: "claimed_at", SQLType: "timestamptz", Name: "ClaimedAt", Param: "claimedAt", JSON: "claimed_at", GoType: "time.Time", Null: true, Fence: true, Cast: "timestamptz"}
	left := &plan.Field{Column: "tries_left", SQLType: "smallint", Name: "TriesLeft", Param: "triesLeft", JSON: "tries_left", GoType: "int16", Null: true}
	question := &plan.Field{Column: "question", SQLType: "text", Name: "Question", Param: "question", JSON: "question", GoType: "string", Payload: true, New: true}
	answer := &plan.Field{Column: "answer", SQLType: "text", Name: "Answer", Param: "answer", JSON: "answer", GoType: "string", Null: true, Cast: "text"}
	p.Fields, p.Key, p.Fence = []*plan.Field{id, claimed, left, question}, []*plan.Field{id}, []*plan.Field{claimed}
	p.Guarantee, p.Strategy = queue.FenceClaimed, "returning"
	p.Attempts = &plan.Attempts{Field: left, Down: true, Unlimited: true}
	p.Claim = &plan.Claim{
		Doc: doc("Claim takes up to limit sums."), Flow: plan.OneStatement,
		Statement: stmt("claim", `
		UPDATE /* `+name+`.Claim */ sums
		SET    claimed_at = clock_timestamp()
		WHERE  id = ANY (ARRAY(SELECT id FROM sums WHERE claimed_at IS NULL AND answer IS NULL AND coalesce(tries_left, 1) > 0 ORDER BY asked LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED))
		RETURNING id, claimed_at, tries_left, question`, p.Fields, arg(plan.ArgLimit)),
	}
	fence := `
		FROM   unnest($1::uuid[], $2::timestamptz[]) AS j (id, claimed_at)
		WHERE  t.id = j.id
		AND    t.claimed_at = j.claimed_at
		RETURNING t.id`
	p.Complete = settle("Complete writes the results of sums.", stmt("complete", `
		UPDATE /* `+name+`.Complete */ sums AS t
		SET    answer = j.answer
		FROM   unnest($1::uuid[], $2::timestamptz[], $3::text[]) AS j (id, claimed_at, answer)
		WHERE  t.id = j.id
		AND    t.claimed_at = j.claimed_at
		AND    t.answer IS NULL
		RETURNING t.id`, p.Key, batch(id), batch(claimed), batch(answer)))
	p.Complete.Result = answer
	p.Retry = settle("Fail puts a sum back while tries are left.", stmt("fail_retry", `
		UPDATE /* `+name+`.Fail */ sums AS t
		SET    claimed_at = NULL, tries_left = tries_left - 1`+fence, p.Key, batch(id), batch(claimed)))
	p.Fail = settle("", stmt("fail", `
		UPDATE /* `+name+`.Fail */ sums AS t
		SET    claimed_at = NULL, tries_left = 0`+fence, p.Key, batch(id), batch(claimed)))
	p.Enqueue = &plan.Enqueue{
		Doc: doc("Enqueue adds a sum."), ManyDoc: doc("EnqueueMany adds sums."), Fields: []*plan.Field{question},
		One: stmt("enqueue", `
		INSERT /* `+name+`.Enqueue */ INTO sums (question)
		VALUES ($1)
		RETURNING id`, p.Key, newArg(question)),
		Many: stmt("enqueue_many", `
		INSERT /* `+name+`.EnqueueMany */ INTO sums (question)
		SELECT   question
		FROM     unnest($1::text[]) WITH ORDINALITY AS n (question, place)
		ORDER BY place
		RETURNING id`, p.Key, newBatch(question)),
	}
	p.CompleteAndClaim = true
	return p
}

// hold is fixture 9: the row lock is the claim.
func hold(name string, driver plan.Driver) *plan.Package {
	p := newPackage(name, "mails", "PostgreSQL 15", driver)
	id := &plan.Field{Column: "id", SQLType: "int", Name: "ID", Param: "id", JSON: "id", GoType: "int32", Cast: "int"}
	text := &plan.Field{Column: "text", SQLType: "text", Name: "Text", Param: "textValue", JSON: "text", GoType: "string", Payload: true, New: true}
	p.Fields, p.Key = []*plan.Field{id, text}, []*plan.Field{id}
	p.Guarantee, p.Strategy, p.Hold = queue.FenceNone, "hold", true
	p.Claim = &plan.Claim{
		Doc: doc("Claim locks up to limit mails until the transaction ends."), Flow: plan.ReadOnly, Order: []plan.SortTerm{{Field: id}},
		Statement: stmt("claim", `
		SELECT   /* `+name+`.Claim */ id, text
		FROM     mails
		WHERE    NOT failed
		AND      id <> ALL ($1::int[])
		ORDER BY id
		LIMIT    $2
		FOR UPDATE SKIP LOCKED`, p.Fields, plan.Arg{Kind: plan.ArgHeld, Field: id}, arg(plan.ArgLimit)),
	}
	p.Complete = settle("Complete deletes mails.", stmt("complete", `
		DELETE /* `+name+`.Complete */ FROM mails WHERE id = ANY ($1::int[]) RETURNING id`, p.Key, batch(id)))
	p.Fail = settle("Fail marks a mail as one that cannot be sent.", stmt("fail", `
		UPDATE /* `+name+`.Fail */ mails SET failed = true WHERE id = ANY ($1::int[]) RETURNING id`, p.Key, batch(id)))
	p.Requeue = settle("Requeue leaves mails as they are; they are free when the transaction ends.", stmt("requeue", `
		SELECT /* `+name+`.Requeue */ id FROM mails WHERE id = ANY ($1::int[])`, p.Key, batch(id)))
	p.Enqueue = &plan.Enqueue{
		Doc: doc("Enqueue adds a mail."), ManyDoc: doc("EnqueueMany adds mails."), Fields: []*plan.Field{text},
		One: stmt("enqueue", `
		INSERT /* `+name+`.Enqueue */ INTO mails (text) VALUES ($1) RETURNING id`, p.Key, newArg(text)),
	}
	p.WorkLoop = driver == plan.PGX
	return p
}

// pop is the shape that only takes, with keys that are not known before.
func pop() *plan.Package {
	p := newPackage("pop", "pings", "SQLite 3.35", plan.DatabaseSQL)
	id := &plan.Field{Column: "id", SQLType: "integer", Name: "ID", Param: "id", JSON: "id", GoType: "int64"}
	host := &plan.Field{Column: "host", SQLType: "text", Name: "Host", Param: "host", JSON: "host", GoType: "string", Payload: true, New: true}
	p.Fields, p.Key, p.Strategy = []*plan.Field{id, host}, []*plan.Field{id}, "pop"
	p.Claim = &plan.Claim{
		Doc: doc("Claim takes up to limit pings out of the table: at most once."), Flow: plan.OneStatement, Order: []plan.SortTerm{{Field: id}},
		Statement: stmt("claim", `
		DELETE /* pop.Claim */ FROM pings
		WHERE  id IN (SELECT id FROM pings ORDER BY id LIMIT ?)
		RETURNING id, host`, p.Fields, arg(plan.ArgLimit)),
	}
	p.Enqueue = &plan.Enqueue{
		Doc: doc("Enqueue adds a ping."), ManyDoc: doc("EnqueueMany adds pings."), Fields: []*plan.Field{host},
		One: stmt("enqueue", `
		INSERT /* pop.Enqueue */ INTO pings (host) VALUES (?)`, nil, newArg(host)),
	}
	p.WorkLoop = true
	return p
}

// shard is the shape in which workers share a table by a hash, read only.
func shard() *plan.Package {
	p := newPackage("shard", "files", "PostgreSQL 15", plan.DatabaseSQL)
	path := &plan.Field{Column: "path", SQLType: "bytea", Name: "Path", Param: "path", JSON: "path", GoType: "[]byte", Cast: "bytea", New: true}
	processed := &plan.Field{Column: "processed", SQLType: "boolean", Name: "Processed", Param: "processed", JSON: "processed", GoType: "bool"}
	urgent := &plan.Field{Column: "urgent", SQLType: "boolean", Name: "Urgent", Param: "urgent", JSON: "urgent", GoType: "bool", Null: true}
	p.Fields, p.Key, p.Strategy = []*plan.Field{path, processed, urgent}, []*plan.Field{path}, "partition"
	p.Status = &plan.StatusType{Name: "State", Field: processed, GoType: "bool", Consts: []plan.StatusConst{{Name: "StateReady", Value: "false"}, {Name: "StateDone", Value: "true"}}}
	p.Claim = &plan.Claim{
		Doc: doc("Claim reads up to limit files of a share."), Flow: plan.ReadOnly, Shard: true,
		Params: []*plan.Param{{Name: "prefix", GoType: "*string", Doc: "the start of the path, nil for any"}},
		Order:  []plan.SortTerm{{Field: urgent, Desc: true, NullsFirst: true}, {Field: path}},
	}
	p.Claim.Statement = stmt("claim", `
		SELECT   /* shard.Claim */ path, processed, urgent
		FROM     files
		WHERE    NOT processed
		AND      mod(coalesce(hash_code, 0), $1) = $2
		AND      ($3::text IS NULL OR encode(path, 'escape') LIKE $3 || '%')
		ORDER BY urgent DESC NULLS FIRST, path
		LIMIT    $4`, p.Fields, arg(plan.ArgShardCnt), arg(plan.ArgShardIdx), plan.Arg{Kind: plan.ArgParam, Param: p.Claim.Params[0]}, arg(plan.ArgLimit))
	p.Complete = settle("Complete marks files processed.", stmt("complete", `
		UPDATE /* shard.Complete */ files SET processed = true WHERE path = ANY ($1::bytea[]) AND NOT processed RETURNING path`, p.Key, batch(path)))
	p.WorkLoop = true
	return p
}

// times is the shape with every way in which columns keep time, on PostgreSQL.
func times(name string, driver plan.Driver) *plan.Package {
	p := newPackage(name, "times", "PostgreSQL 15", driver)
	at := func(column, typ, goName string, null bool, codec plan.Codec, utc bool) *plan.Field {
		f := &plan.Field{Column: column, SQLType: typ, Name: goName, Param: strings.ToLower(goName), JSON: column, GoType: "time.Time", Null: null, Codec: codec, UTC: utc, New: true, Cast: typ}
		if codec == plan.TextTime {
			f.Layout = "20060102150405"
		}
		return f
	}
	digits := func(f *plan.Field, width int) *plan.Field {
		f.Width = width
		return f
	}
	id := at("id", "timestamp", "ID", false, plan.WallTime, true)
	fields := []*plan.Field{
		id,
		at("wall_local", "timestamp", "WallLocal", false, plan.WallTime, false),
		at("wall_null", "timestamp", "WallNull", true, plan.WallTime, true),
		at("zoned", "timestamptz", "Zoned", true, plan.Direct, false),
		at("sec", "bigint", "Sec", false, plan.Epoch, false),
		at("ms", "bigint", "Ms", true, plan.EpochMS, false),
		at("us", "bigint", "Us", true, plan.EpochUS, false),
		at("ns", "bigint", "Ns", false, plan.EpochNS, false),
		at("ns_null", "bigint", "NsNull", true, plan.EpochNS, false),
		at("txt", "text", "Txt", false, plan.TextTime, false),
		at("txt_null", "text", "TxtNull", true, plan.TextTime, true),
		digits(at("dig", "text", "Dig", false, plan.Epoch, true), 11),
		digits(at("dig_ms", "text", "DigMs", false, plan.EpochMS, true), 14),
		digits(at("dig_null", "text", "DigNull", true, plan.EpochUS, true), 17),
		digits(at("dig_ns", "text", "DigNs", false, plan.EpochNS, true), 19),
	}
	states := &plan.Field{Column: "state", SQLType: "text", Name: "State", Param: "state", JSON: "state", GoType: "string", Null: true, New: true, Cast: "text"}
	fields = append(fields, states)
	p.Fields, p.Key = fields, []*plan.Field{id}
	p.Status = &plan.StatusType{Name: "Status", Field: states, GoType: "string", Consts: []plan.StatusConst{{Name: "StatusRunning", Value: `"running"`}}}
	columns := "id, wall_local, wall_null, zoned, sec, ms, us, ns, ns_null, txt, txt_null, dig, dig_ms, dig_null, dig_ns, state"
	p.LeastLease = 2 * time.Second
	p.Claim = &plan.Claim{
		Doc: doc("Claim takes up to limit rows."), Flow: plan.OneStatement, LeaseArg: true,
		Statement: stmt("claim", `
		UPDATE /* `+name+`.Claim */ times
		SET    state = 'running', zoned = zoned + make_interval(secs => $1)
		WHERE  id = ANY (ARRAY(SELECT id FROM times WHERE state IS NULL ORDER BY id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED))
		RETURNING `+columns, fields, arg(plan.ArgLease), arg(plan.ArgLimit)),
	}
	for _, f := range fields {
		p.Claim.Order = append(p.Claim.Order, plan.SortTerm{Field: f, Desc: f.Null, NullsFirst: f.Codec == plan.EpochMS})
	}
	var casts, all []string
	var batches, ones []plan.Arg
	var values []string
	for i, f := range fields {
		casts = append(casts, fmt.Sprintf("$%d::%s[]", i+1, f.Cast))
		values = append(values, fmt.Sprintf("$%d", i+1))
		batches = append(batches, newBatch(f))
		ones = append(ones, newArg(f))
		all = append(all, f.Column)
	}
	p.Complete = settle("Complete deletes rows.", stmt("complete", `
		DELETE /* `+name+`.Complete */ FROM times WHERE id = ANY ($1::timestamp[]) RETURNING id`, p.Key, batch(id)))
	p.Enqueue = &plan.Enqueue{
		Doc: doc("Enqueue adds a row."), ManyDoc: doc("EnqueueMany adds rows."), Fields: fields, KeyGiven: true,
		One: stmt("enqueue", `
		INSERT /* `+name+`.Enqueue */ INTO times (`+strings.Join(all, ", ")+`)
		VALUES (`+strings.Join(values, ", ")+`)`, nil, ones...),
		Many: stmt("enqueue_many", `
		INSERT /* `+name+`.EnqueueMany */ INTO times (`+strings.Join(all, ", ")+`)
		SELECT * FROM unnest(`+strings.Join(casts, ", ")+`)`, nil, batches...),
	}
	return p
}
