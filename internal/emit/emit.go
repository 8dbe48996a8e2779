package emit

// The emitted package, within. What a user sees of it is decided by the plan;
// these are the unexported parts that emitted files share. Each is printed
// only when some file of the package uses its name (parts.go), so an emitter
// simply writes the name.
//
//	type DBTX interface                    // db.go: *sql.DB, *sql.Conn, *sql.Tx; or pgxpool.Pool, pgx.Conn, pgx.Tx
//	type beginner interface                // db.go: BeginTx of *sql.DB, *sql.Conn; or of pgxpool.Pool, pgx.Conn
//	type Queue struct {
//		db     DBTX
//		begin  beginner                    // nil in the caller's transaction
//		worker string                      // with Package.Worker; the worker column's Go type
//		low    *lowBound                   // with Claim.Low
//		hook   Hook                        // never nil
//	}
//	type Tx struct {                       // db.go, with Package.Hold: its methods are Claim and what settles
//		queue *Queue                       // over the transaction, begin is nil
//		held  []Key                        // every key claimed by it
//	}
//	func (q *Queue) WithTx(tx *sql.Tx) *Queue   // pgx: tx pgx.Tx; with Hold it returns *Tx
//
//	// retry runs fn on the queue's connection; again, when that can begin transactions and the error
//	// surely left nothing behind. Errors come back as "<package>: <op>: …".
//	func (q *Queue) retry(ctx context.Context, op string, fn func(db DBTX) error) error
//	// transact is retry with fn inside a transaction of its own, or inside the caller's.
//	func (q *Queue) transact(ctx context.Context, op string, fn func(db DBTX) error) error
//	// query runs a statement and scans its rows; exec returns the number of rows touched.
//	func query[T any](ctx context.Context, db DBTX, scan func(row) (T, error), text string, args ...any) ([]T, error)
//	func exec(ctx context.Context, db DBTX, text string, args ...any) (int, error)
//	type row interface{ Scan(dest ...any) error }
//	func statement(file string) string     // the text of an embedded file less its head comment
//	func rolledBack(err error) bool        // nothing was committed: the same work may be tried again
//	func unknown(err error) bool           // the connection is gone
//	func pause(ctx context.Context, try int) error // waits before try+1: exponential, jittered
//	func scanJob(r row) (Job, error)       // job.go
//	func scanKey(r row) (Key, error)       // job.go
//	// settle runs a statement over jobs that returns the keys it found; *LostError names the others.
//	func (q *Queue) settle(ctx context.Context, op string, jobs []Job, text string, args ...any) error
//	func lost(op string, jobs []Job, found []Key) error
//	// What a batch travels as: a slice, an array as text {1,"a",NULL}, a JSON array of arrays.
//	func column[S, T any](from []S, value func(S) T) []T
//	func textArray[S any](from []S, value func(S) any) string
//	func jsonRows[S, T any](from []S, values func(S) T) (string, error)
//
// An exported method that talks to the database starts with observe (phrases.go),
// and its operation is named as in errors: "claim", "start", "complete", "fail",
// "requeue", "extend", "recover", "redrive", "purge", "peek", "enqueue",
// "purge done", "purge failed", "complete and claim", "stats", "backlog", "verify", "work". The plan keeps the names used
// here from fields and parameters (plan/names.go).

import (
	"bytes"
	"errors"
	"maps"
	"path"
	"slices"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

// Emitter writes packages down. It remembers how it formatted what many
// packages have in common, so one Emitter is for all packages of a run. The
// zero Emitter is ready for use, by several goroutines at once.
type Emitter struct{ formatter code.Formatter }

// Files returns the files of the package, sorted by path. An error means that
// the plan contradicts itself.
func (e *Emitter) Files(p *plan.Package) ([]File, error) {
	w := newWriter(p)
	if w.check(); len(w.errs) > 0 {
		return nil, errors.Join(w.errs...)
	}
	source := map[string]*code.File{}
	for _, f := range []struct {
		name string
		when bool
		emit func() *code.File
	}{
		{"doc.go", true, w.docFile},
		{"db.go", true, w.dbFile},
		{"tables.go", p.Tables != nil, w.tablesFile},
		{"job.go", true, w.jobFile},
		{"claim.go", p.Claim != nil, w.claimFile},
		{"payload.go", p.Payload != nil, w.payloadFile},
		{"claim.go", p.Offset != nil, w.offsetClaimFile},
		{"complete.go", p.Offset != nil, w.offsetCompleteFile},
		{"requeue.go", p.Offset != nil, w.offsetRequeueFile},
		{"extend.go", p.Offset != nil, w.offsetExtendFile},
		{"rewind.go", p.Offset != nil, w.offsetRewindFile},
		{"peek.go", p.Offset != nil, w.offsetPeekFile},
		{"purge.go", p.Offset != nil && p.Offset.Purge != nil, w.offsetPurgeFile},
		{"start.go", p.Start != nil, w.startFile},
		{"complete.go", p.Complete != nil, w.completeFile},
		{"completeandclaim.go", p.CompleteAndClaim, w.completeAndClaimFile},
		{"fail.go", p.Fail != nil || p.Retry != nil, w.failFile},
		{"requeue.go", p.Requeue != nil, w.requeueFile},
		{"outcomes.go", len(p.Outcomes) > 0, w.outcomesFile},
		{"extend.go", p.Extend != nil, w.extendFile},
		{"recover.go", p.Recover != nil, w.recoverFile},
		{"redrive.go", p.Redrive != nil, w.redriveFile},
		{"purge.go", len(p.Purges) > 0, w.purgeFile},
		{"peek.go", p.Peek != nil, w.peekFile},
		{"enqueue.go", p.Enqueue != nil, w.enqueueFile},
		{"stats.go", p.Stats != nil, w.statsFile},
		{"backlog.go", p.Backlog != nil, w.backlogFile},
		{"verify.go", p.Verify != nil, w.verifyFile},
		{"hold.go", p.Hold, w.holdFile},
		{"work.go", p.WorkLoop, w.workFile},
		{"conformance_test.go", p.Conformance, w.conformanceFile},
	} {
		if f.when {
			source[f.name] = f.emit()
		}
	}
	if len(w.errs) == 0 {
		w.addParts(source, &e.formatter)
	}
	if err := errors.Join(w.errs...); err != nil {
		return nil, err
	}

	data := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(source)) {
		text, err := source[name].Render(&e.formatter)
		w.broken(name, err)
		data[name] = text
	}
	for _, s := range p.Statements() {
		text := w.sqlFile(s)
		if old, ok := data[sqlPath(s)]; ok && !bytes.Equal(old, text) {
			w.fail("two statements are named %s", s.Name)
		}
		data[sqlPath(s)] = text
	}
	if len(p.Indexes) > 0 {
		data["schema/indexes.sql"] = w.indexFile()
	}
	if p.Offset != nil {
		data["schema/offset.sql"] = w.ddlFile([]string{offsetHead}, p.Offset.DDL)
	}
	if t := p.LeaseTable; t != nil && t.DDL != nil {
		data["schema/lease.sql"] = w.ddlFile(t.Head, t.DDL...)
	}
	if text := w.procedureFile(); text != nil {
		data["schema/procedures.sql"] = text
	}
	if err := errors.Join(w.errs...); err != nil {
		return nil, err
	}

	var files []File
	for _, name := range slices.Sorted(maps.Keys(data)) {
		files = append(files, File{Path: path.Join(p.Out, name), Data: data[name]})
	}
	return files, nil
}
