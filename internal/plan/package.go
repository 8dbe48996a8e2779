// Package plan decides. It takes what a queue means and what a server can do,
// chooses how rows are claimed, and writes down every statement, name and type
// of the package to be emitted. Nothing after this package makes a decision.
package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
)

// Package is everything an emitted package needs.
type Package struct {
	Name  string // of the Go package
	Out   string // folder for it, relative to the config file, with slashes
	Queue string // the queue's name
	Table string // the table's qualified name, as people say it
	// Running is the name of the table to which a claim moves rows, and of which a Job is
	// one; "" where they stay.
	Running string
	Source  string // "db/schema.sql", the file with the CREATE TABLE, for the header
	Engine  string // "PostgreSQL 14" for texts: title and oldest server it must run on
	// Doc are the paragraphs of the package comment; a paragraph whose lines
	// start with a tab is shown as it is (the state diagram).
	Doc    []string
	Driver Driver

	Strategy  string   // that claims
	Reasons   []Reason // why it and none of the others, in the order they were weighed
	Guarantee queue.FenceLevel
	Locks     string // what the claim locks and for how long, one sentence
	Crash     string // what a dead worker leaves, one sentence

	Fields  []*Field // of Job, in table order
	Key     []*Field // name a row; one field of kind RowID when the table has no key
	Fence   []*Field // carried by a Job besides the key, compared when it is settled
	Status  *StatusType
	Decodes []Decode
	Imports []Import // of the user's own types

	Tables           *Tables  // nil: the names of all tables are known
	Payload          *Payload // nil: jobs have nothing in other tables
	Offset           *Offset  // rows are only added, and read behind marks; then Claim and what settles are nil
	Claim            *Claim
	Start            *Settle // begins a claimed job; nil: a claimed job runs
	Complete         *Settle // nil: the operation does not exist for this table
	Retry            *Settle // Fail while attempts are left
	Fail             *Settle // Fail when none are left, or at once when failures are not counted
	Requeue          *Settle
	Extend           *Settle
	Outcomes         []*Outcome // further ways to settle a job
	Recover          *Sweep
	Enqueue          *Enqueue
	Stats            *Stats
	Backlog          *Backlog
	Redrive          *Sweep
	Purges           []*Purge // what removes rows; one, or two for rows that are done and rows that failed
	Peek             *Peek
	Verify           *Verify
	CompleteAndClaim bool
	Attempts         *Attempts // nil: failures are not counted
	Backoff          queue.Backoff
	Lease            *Lease // nil: claims do not expire
	// LeastLease is how long a claim is at least good where the caller says that.
	LeastLease time.Duration
	Worker     bool   // claims record who holds a row: option WithWorker
	Workers    string // the table whose ids workers are, as people say it; "" where any will do
	// NoWorkers are what no worker may be called, with the state of a row that holds it.
	NoWorkers []queue.StatusValue
	// LeastWorker and MostWorker limit the number of a worker; nil where they do not.
	LeastWorker, MostWorker *int64
	WorkLoop                bool // emit work.go
	Hold                    bool // operations exist on a transaction only
	Conformance             bool // emit conformance_test.go

	// Reserve takes the lock for writing: what reads first and writes later runs it
	// before; nil where the rows that were read stay locked.
	Reserve *Statement
	// LeaseTable is the side table that holds the claims; nil: the row itself does.
	LeaseTable *LeaseTable

	// Most is how many jobs one statement names, and MostTaken how many it takes, 0 for
	// any number; WhyMost is the reason as a clause.
	Most, MostTaken int
	WhyMost         string
	// ZeroDate is how the text of a time begins that is none, "" where there is no such.
	ZeroDate string
	// WantsError: an error without a text needs one, which a CHECK asks for or which is no null.
	WantsError bool
	// Slices: arrays travel as the driver's slices, which have nulls of their own types.
	Slices bool
	// Slot is the placeholder of a value within a list, Numbered what stands before its
	// number where it is to get one, else "".
	Slot, Numbered string

	// Tries: so often at most is a transaction begun that the server undoes; 0 is five.
	Tries int
	// Isolation of the transactions that the package begins itself: "read
	// committed", or "" for the driver's default.
	Isolation string
	Transient Transient
	Indexes   []Index
	Columns   []ColumnUse // for explain
	States    []StateUse  // for explain
	Moves     []MoveUse   // for explain
	Notes     []string    // for explain
	// Coexistence is about an old program that takes rows as well; nil where none does.
	Coexistence *Coexistence
}

// Driver is the Go database API that the package speaks.
type Driver string

// The drivers.
const (
	DatabaseSQL Driver = "database/sql"
	PGX         Driver = "pgx/v5"
)

// Reason tells why a strategy was taken or passed over.
type Reason struct {
	Strategy string
	Chosen   bool
	Why      string // a clause: "the server skips locked rows and UPDATE returns them"
}

// Codec says how a Go value travels when the driver cannot carry it as it is.
type Codec string

// The codecs.
const (
	Direct    Codec = ""
	Epoch     Codec = "epoch"    // time.Time as seconds since 1970
	EpochMS   Codec = "epoch_ms" // milliseconds
	EpochUS   Codec = "epoch_us" // microseconds
	EpochNS   Codec = "epoch_ns" // nanoseconds
	TextTime  Codec = "text"     // time.Time in Layout
	JSONBytes Codec = "json"     // json.RawMessage, scanned as bytes; sent as its text where several travel as JSON
	Seconds   Codec = "seconds"  // time.Duration as seconds (float64)
	WallTime  Codec = "wall"     // time.Time in a column without zone: its clock reads UTC or local, by UTC
)

// counts reports whether a time is a number since 1970.
func (c Codec) counts() bool { return c == Epoch || c == EpochMS || c == EpochUS || c == EpochNS }

// TimeIsNumber reports whether a time travels as a number.
func (f *Field) TimeIsNumber() bool { return f.Codec.counts() && f.Width == 0 && !f.Fraction }

// TimeIsText reports whether a time travels as a text.
func (f *Field) TimeIsText() bool {
	return f.Codec == TextTime || f.Codec.counts() && !f.TimeIsNumber()
}

// Field is a field of Job, and the column behind it.
type Field struct {
	Column  string // as stored
	SQLType string // as written, for the line comment
	Name    string // Go field: MsgID
	Param   string // Go parameter: msgID, never a keyword or a clash
	JSON    string // tag: msg_id
	GoType  string // of the value: int64, string, time.Time, json.RawMessage, []byte, bool, float64
	Null    bool   // the field is a pointer (slices stay as they are, nil is null)
	Codec   Codec
	Layout  string // of TextTime
	Width   int    // of numbers since 1970: the number travels as text of so many digits
	// Fraction, of numbers since 1970: the number may have digits behind the point, and
	// travels as it is written.
	Fraction bool
	// Empty, of a time that travels as text: an empty text stands for none.
	Empty bool
	UTC   bool // of TextTime and WallTime: read and written as UTC, else local
	// Bare, of TextTime and WallTime: what its clock reads is written as it is, wherever that
	// is.
	Bare    bool
	Doc     string // sentence for the field, "" when the name says it
	Element bool   // an element of the column's array
	RowID   bool   // ctid or rowid: no column of the table
	Payload bool   // redacted in logs
	Fence   bool
	// Cast is the type to which an array or a scalar argument is cast, in the
	// dialect's words ("bigint", "uuid"); "" when none is needed.
	Cast string
	// Said, of an argument that no column holds, is what it is as a clause: values that are written
	// are made of it.
	Said string
	// New says whether Enqueue takes it, and Optional whether it may be left
	// out so that the column's default applies (its NewJob field is a pointer).
	New, Optional bool
	// Present: of New, left out it is the present of the database. Undue: left out, the job is not
	// due before something else sets it.
	Present, Undue bool
	// Due: of New, when the job is ready.
	Due bool
	// Tries: of New, how many tries the row has; without any it is never ready.
	Tries bool
	// Unique: it is in a unique key besides the primary one. Digits: a number that travels
	// as text. UUID: a text in the form of one.
	Unique, Digits, UUID bool
	// Most is how many characters a text has at most, 0 for no limit; FillsUp, of bytes: the
	// column fills up what is shorter.
	Most    int
	FillsUp bool
	Sample  Sample
}

// StatusType is the Go type of the status column.
type StatusType struct {
	Name   string // Status
	Field  *Field // nil when Job does not carry it
	GoType string // underlying: string, int64, bool
	Consts []StatusConst
}

// StatusConst is one value of the status column.
type StatusConst struct {
	Name  string // StatusReady
	Value string // Go literal: "N" with quotes, 3, true
	Doc   string // "jobs that wait to be claimed"
}

// Decode is a method of Job that decodes a JSON column on demand.
type Decode struct {
	Method string // DecodeBody
	Field  *Field
	Type   string // mail.Message
}

// Import is a package that the user's own types come from.
type Import struct{ Path, Name string }

// Statement is one SQL statement of the package.
type Statement struct {
	Name    string   // claim; the file is sql/<Name>.sql, the Go variable <Var>
	Var     string   // claimSQL
	Head    []string // the head comment, without marks: transition, locks, index, isolation
	Setting string   // what is sent in front of SQL and holds for it alone, "" for most
	SQL     string   // what is sent, with its tag after the first keyword; no semicolon
	Args    []Arg    // in bind order
	Rows    []*Field // what comes back, in order; nil: no rows
	// Procedure is what SQL calls, nil when it calls none.
	Procedure *Procedure

	keeps bool // rows stay locked that it reads and passes over; of a sweep
}

// Text is all that is sent: the statement, behind its setting.
func (s *Statement) Text() string {
	if s.Setting == "" {
		return s.SQL
	}
	return s.Setting + "\n" + s.SQL
}

// Procedure is a stored procedure.
type Procedure struct {
	Name string // qualified, as it must be written
	DDL  string // creates it or puts it in the place of what was there
	End  string // what has to stand behind the DDL on a line of its own, "" for a semicolon
}

// ArgKind says what an argument of a statement is.
type ArgKind string

// The kinds of arguments.
const (
	ArgLimit    ArgKind = "limit"     // how many rows at most: int
	ArgAhead    ArgKind = "ahead"     // how many rows a claim looks at to find as many as ArgLimit says that nobody has locked: int
	ArgClock    ArgKind = "clock"     // the present of the program, as Field keeps it
	ArgLow      ArgKind = "low"       // low bound of the key: Claim.Low
	ArgTaken    ArgKind = "taken"     // Field of the first job that Claim.Lock has read, the same in all of them
	ArgToken    ArgKind = "token"     // a fresh random value, Claim.Token, or the key of Claim.BatchRow
	ArgWorker   ArgKind = "worker"    // the queue's worker; Field, when set, gives its Go type, Max its longest text
	ArgParam    ArgKind = "param"     // Param of Claim
	ArgMost     ArgKind = "most"      // Param of Claim, a number, and 0 where that is below
	ArgGiven    ArgKind = "given"     // Param that the user names: what is written
	ArgShardIdx ArgKind = "shard"     // shard.Index
	ArgShardCnt ArgKind = "shards"    // shard.Count
	ArgShardMin ArgKind = "shard min" // the least value of the shard, of Claim.Shares
	ArgShardMax ArgKind = "shard max" // the greatest
	ArgLease    ArgKind = "lease"     // seconds (float64), of an argument lease time.Duration
	ArgTimeout  ArgKind = "timeout"   // seconds (float64), of an argument timeout time.Duration
	ArgDelay    ArgKind = "delay"     // seconds (float64), of an argument or of the backoff
	ArgError    ArgKind = "error"     // text of the cause, cut to Most
	ArgLocal    ArgKind = "local"     // the variable Name
	ArgOlder    ArgKind = "older"     // seconds (float64), of an argument olderThan time.Duration
	ArgBatch    ArgKind = "batch"     // array of Field over the jobs
	ArgParts    ArgKind = "parts"     // array of parts of Field over the jobs, each of at most Max bytes
	ArgPartOf   ArgKind = "part_of"   // array: to which job each of these belongs, counted from 1
	ArgBatchAll ArgKind = "batch_all" // JSON: an array of arrays of Batch fields over the jobs
	ArgNew      ArgKind = "new"       // Field of one NewJob
	ArgNewSet   ArgKind = "new_set"   // bool: NewJob has Field (an Optional one)
	ArgNewBatch ArgKind = "new_batch" // array of Field over the NewJobs
	ArgNewAll   ArgKind = "new_all"   // JSON: an array of arrays of Batch fields over the NewJobs
	ArgHeld     ArgKind = "held"      // array of the key Field over the jobs held by this transaction
	ArgHeldAll  ArgKind = "held_all"  // JSON of the same

	// What a block gives back stands last in its text.
	ArgCursor ArgKind = "cursor"  // opened over the rows of the statement
	ArgCounts ArgKind = "counts"  // how many rows were changed for each element of the arrays
	ArgNewKey ArgKind = "new_key" // the key of the row that was added, a number

	// Lists are written into the text: what stands there once, stands there for
	// each element. See Arg.First.
	ArgList      ArgKind = "list"       // Batch fields of each job
	ArgNewList   ArgKind = "new_list"   // Batch fields of each NewJob
	ArgHeldList  ArgKind = "held_list"  // the key of each job held by this transaction
	ArgParamList ArgKind = "param_list" // each element of Param
	ArgParamNil  ArgKind = "param_nil"  // bool: Param, a list, is nil
)

// Of ArgAhead: so many times the limit, and so many more. Others that claim at the same time
// have locked some of the first rows.
const (
	AheadTimes = 8
	AheadMore  = 100 // where rows are sorted, or those of several values put together
	AheadFew   = 32  // where rows are read in order until there are as many
)

// Arg is one argument of a statement.
type Arg struct {
	Kind  ArgKind
	Field *Field   // of ArgBatch, ArgParts, ArgPartOf, ArgNew, ArgNewBatch, ArgHeld
	Batch []*Field // of ArgBatchAll, ArgNewAll, ArgHeldAll: the columns of each inner array
	Param *Param   // of ArgParam, ArgMost and ArgGiven
	Name  string   // of ArgLocal
	// Max is the longest text of ArgWorker in characters, or where a worker is a number the
	// greatest that it may be; 0 is no limit. Of ArgParts it is in bytes.
	Max int
	// Most is the longest text of ArgError.
	Most Longest
	// First of a list is what stands in the text, with a placeholder for each
	// value of the first element; More is added behind it for each further one,
	// and None stands in its place when there is none.
	First, More, None string
	Besides           int // of ArgAhead: AheadMore or AheadFew
	// Pad: the last element may be written again, so that there are few texts.
	Pad bool
}

// Has reports whether the statement has an argument of that kind.
func (s *Statement) Has(kind ArgKind) bool {
	return slices.ContainsFunc(s.Args, func(a Arg) bool { return a.Kind == kind })
}

// AsksShard reports whether a statement is for the rows of one shard.
func AsksShard(s *Statement) bool {
	return s.Has(ArgShardIdx) || s.Has(ArgShardCnt) || s.Has(ArgShardMin) || s.Has(ArgShardMax)
}

// AsksTimeout reports whether one of the statements compares how old a claim is with what the
// caller says: the operation takes timeout time.Duration.
func AsksTimeout(statements ...*Statement) bool {
	return slices.ContainsFunc(statements, func(s *Statement) bool { return s.Has(ArgTimeout) })
}

// IsList reports whether the argument is a list that is written into the text.
func (a Arg) IsList() bool { return a.First != "" }

// Param is an argument of Claim that narrows it.
type Param struct {
	Name   string // Go name: kind
	GoType string // string, []string, *string …
	Doc    string // clause for the comment: "the value of kind"
	Field  *Field // whose Codec and Cast apply; nil for an argument that belongs to no column
	Member string // the field of Done that holds it, of one that belongs to a job
	Next   bool   // of Complete: when the job is due again
	Except bool   // of Claim: rows must have none of the values
	Filled bool   // a list that is nil is sent as an empty one, not as a null
	Write  bool   // of Claim: it narrows nothing and is written to the rows
	List   bool   // GoType is a slice: travels as an array (or JSON, as the dialect's batches do)
	JSON   bool   // of List: travels as a JSON array
}

// Shares tell how the values of a column are divided among the instances.
type Shares struct {
	GoType      string // int64, or uint64
	Least, Most string // the values that are divided evenly
	First, Last string // the least and the greatest that the column holds at all
	Span        string // how many values are divided, less one where that is 1<<64
}

// ClaimFlow is how the statements of a claim follow each other.
type ClaimFlow string

// The flows of a claim.
const (
	OneStatement ClaimFlow = "one"   // Statement returns the rows
	OneBlock     ClaimFlow = "block" // Statement is a block of several and returns the rows, in one transaction
	MarkRead     ClaimFlow = "mark"  // Statement stamps rows with a token, Read reads them, in one transaction
	PickTake     ClaimFlow = "pick"  // Pick reads candidates, Statement takes those that are still free; bounded retry
	LockTake     ClaimFlow = "lock"  // Lock reads and locks rows, Statement writes them, Read reads them, in one transaction
	ReadOnly     ClaimFlow = "read"  // Statement reads (and, with Hold, locks) and writes nothing
)

// Claim takes rows.
type Claim struct {
	Doc       []string // paragraphs of the function's comment
	Flow      ClaimFlow
	Statement *Statement
	Ladder    []Rung // statements for fixed sizes, smallest first
	Pick      *Statement
	// Lock, of LockTake, and of PickTake where Statement returns no rows: what
	// it locks is then written. The jobs are what the last statement returns that
	// returns the fields of Job.
	Lock *Statement
	// Alone, of PickTake where no row can be locked: Statement takes one row at a time and
	// tells by the number of rows that it wrote whether it took it; Read reads those.
	Alone bool
	// Collides: Statement adds rows for claims, all or none, and fails where somebody else
	// has added one of them. It then runs for one row after the other, and takes those for
	// which it does not fail; where it finds its rows itself, it takes none.
	Collides bool
	// Expired, behind Lock, locks those rows of a side table that may be taken over, and
	// returns the keys; TakeOver writes them, and Statement only adds what is missing.
	// Both are nil where Statement does it all.
	Expired, TakeOver *Statement
	// Narrow runs behind Lock: each over the rows that the one before it returned, and
	// returns the keys of those that are still to be taken.
	Narrow   []*Statement
	Read     *Statement
	BatchRow *BatchRow // nil: the claim makes its token itself
	Params   []*Param
	Shard    bool
	Shares   *Shares // of Shard: each has the values in one range of a column; nil: those whose remainder it is
	LeaseArg bool    // Claim takes lease time.Duration
	Accept   *Accept
	Gate     *Gate // nil: any number of jobs runs
	Again    bool  // a claim that comes back with nothing looks once more
	Low      *Low
	Order    []SortTerm // of the returned rows
	// Ahead is what is written to other tables for the rows that Lock returns, before Statement
	// ends their jobs.
	Ahead []*Statement
	// With is what is written to other tables for the jobs, behind everything else in
	// the same transaction.
	With     []*Statement
	Token    string // Go kind of the token: "uuid", "text", "int", "bytes"; "" when none is stamped
	TokenLen int    // of "bytes": how many
}

// BatchRow is a row of another table that a claim adds once for the jobs it has found, of
// LockTake and PickTake: directly before Statement, in one transaction. The key that the
// database gives it is their token (ArgToken of all statements behind it).
type BatchRow struct {
	Table     string     // as people say it
	Statement *Statement // returns the key, or nothing: then the driver tells it
	Key       *Field
	// Undo deletes the row by its key where Statement took no job; nil where it takes those
	// that were locked.
	Undo *Statement
}

// Gate keeps more jobs from running than the queue may have: what a claim runs first, in the
// transaction in which it takes jobs.
type Gate struct {
	// Lock keeps claims apart and returns a row, without which nothing is claimed; nil where
	// Package.Reserve or the server itself does.
	Lock *Statement
	Room *Statement // returns one number: how many more jobs may run
}

// Accept is a function of the caller's that a claim asks whether to take a job, before
// anything is written or locked: of PickTake, whose Pick then returns what Peek does.
type Accept struct {
	Most int // of the first so many ready jobs it is asked, or of the first limit if that is more
}

// Tables are those of one shape whose names are made at run time: every text of the
// package holds their names as templates, D_MM{{.Channel}}.
type Tables struct {
	Parts []*NamePart
	Names []string // templates, as the tables are stored
	Most  int      // bytes that a name may have, 0 for any number
}

// NamePart is a part of the names of tables: a field of the Go type Tables.
type NamePart struct {
	*queue.NamePart
	Param string // Go variable
	Fold  string // "lower", "upper" or "": how the server stores such a name
}

// Sampled returns a text with the names of the DDL in the place of templates.
func (p *Package) Sampled(text string) string {
	if p.Tables == nil {
		return text
	}
	for _, part := range p.Tables.Parts {
		text = strings.ReplaceAll(text, part.Mark(), part.Sample)
	}
	return text
}

// Payload is what jobs have in other tables: fields of Job that are read by its key behind
// a claim, in one transaction with it unless that writes nothing; before the claim where
// that deletes the row.
type Payload struct {
	Statement *Statement // returns the key and Fields
	Fields    []*Field   // all may be nil
	Names     []string   // of Fields
	Tables    []string   // as people say them
}

// Rung is the claim for one fixed size, with the size as a literal.
type Rung struct {
	Limit     int
	Statement *Statement
}

// Low is the hint that keeps a first-in first-out claim flat: rows at or below
// it were seen taken.
type Low struct {
	Field   *Field        // the key, an integer
	Refresh time.Duration // a full look at least this often
}

// SortTerm is one term of the order of returned rows.
type SortTerm struct {
	Field      *Field
	Desc       bool
	NullsFirst bool
}

// Settle is an operation over jobs that were claimed: one statement over all
// of them, which returns the keys that it found.
type Settle struct {
	Doc []string
	// Statement is nil where the rows of the jobs stay as they are and With is all.
	Statement *Statement
	// Lock reads and locks the keys of the rows that Statement then changes, in
	// one transaction; nil when Statement returns them itself, or counts them for each
	// job (ArgCounts).
	Lock *Statement
	// Alone, where no row can be locked: one job is settled at a time. Statement tells by the
	// number of rows that it wrote whether it settled it, and Lock whether a job that it left as
	// it was is still the caller's. With With, Lock reads ahead of everything.
	Alone bool
	// Partial: a crash can leave a part of it, for it writes a table of an engine without transactions.
	Partial bool
	// Unchanged: Statement may write what is there already, so that the number of rows that it
	// changed does not tell those that it found.
	Unchanged bool
	// With is what is written to other tables, between Lock and Statement in one
	// transaction, for the jobs whose rows Lock found.
	With []*Statement
	// Behind is written to other tables behind Statement, because it reads what that wrote.
	Behind []*Statement
	// Read reads Refreshes back by the key, behind Lock and Statement.
	Read *Statement
	// Rows writes the rows of the jobs whose claims Statement ended in a side table, in
	// the same transaction.
	Rows *Statement
	// Before locks those rows ahead of everything else; nil where nothing can get in each
	// other's way.
	Before *Statement
	// Frees: when it has ended a job, others of the group of that job may be claimed, which
	// could not before. Not of a Retry that makes the job itself ready at once.
	Frees     bool
	Delay     bool     // takes a delay (Requeue)
	Result    *Field   // Complete takes a result per job
	Given     []*Param // arguments of the user's: of Complete one per job, else one for all
	LeaseArg  bool     // Extend takes lease time.Duration
	Refreshes []*Field // fields of Job that the statement changes and returns, read back into the jobs (a fence that moves)
}

// Outcome is a way to settle a job that the user names.
type Outcome struct {
	*Settle
	Method string // of Go
	Op     string // what errors call it
	To     queue.StateName
}

// Purge is an operation that removes rows.
type Purge struct {
	*Sweep
	Method string // of Go
	Op     string // what errors call it
	Of     []queue.StateName
	Asked  bool // a condition of the user's tells which rows, whatever their state
}

// Sweep is an operation over rows that nobody holds, at most limit of them.
type Sweep struct {
	Doc   []string
	Steps []SweepStep // run in order until limit rows were touched; each takes what is left of limit
	// Sequel takes away what the last step left behind, in the transaction of that; what
	// it takes is not counted.
	Sequel    *Statement
	OlderThan bool
	Given     []*Param // arguments of the user's
	Alive     *Param   // the workers that are alive; nil: the table tells
	// AtStart: it takes rows from whoever has them, so it is for the time before any job is
	// claimed. Own: it takes them from the worker that calls it, and so needs the name that it
	// had before.
	AtStart, Own bool
	Ready        bool // Recover makes a job ready whose first try is lost
}

// SweepStep is a statement over rows that nobody holds. With Lock it goes by the keys that
// this returns, and all of the step is one transaction.
type SweepStep struct {
	Lock      *Statement   // locks at most limit rows; nil: Statement finds its rows itself
	With      []*Statement // what is written to other tables before it
	Statement *Statement
	Behind    []*Statement // and behind it, because they read what it wrote
}

// Enqueue adds jobs.
type Enqueue struct {
	Doc, ManyDoc []string
	One          *Statement // returns the key, or nothing: then Enqueue returns the key given, if KeyGiven, or an error alone
	Many         *Statement // returns keys in input order, or nothing as One; nil: One is run for each, in one transaction
	Fields       []*Field   // of NewJob
	KeyGiven     bool       // the caller provides the key, or a part of it
	AutoKey      bool       // the driver tells the key, a number that the database gave
	// Absent: a job may be left out, as where a row stands in its way by a unique key. Then One writes
	// none, or fails with one of Transient.Duplicates where Collides; Many is then all or none.
	Absent, Collides bool
	Where            string // a job is left out
	// Like: rows keep a job out that no unique key tells; One looks for them, and adds none then.
	// Gate, in the same transaction before it, has producers of jobs that are alike wait for each
	// other where a server does not do that by itself.
	// More jobs than Locked in one call run Alone in its place, once: it keeps all other producers waiting.
	Like        bool
	Gate, Alone *Statement
	Locked      int
	// Repeatable: the transactions in which One looks are at REPEATABLE READ, where others wait that
	// add a row which it did not find.
	Repeatable bool
	// Apart: there is a column by which any number of jobs are told apart that are not to be alike.
	Apart bool
	// If: a condition over other rows keeps a job out; One asks it, and adds none then. Alone, in the
	// same transaction before it, has producers wait for each other where a server does not do that
	// by itself; Gate is then nil, and Locked 0. Where jobs that differ in the columns Within have
	// nothing to do with each other, Gate, Alone and Locked are as those of Like.
	If     bool
	Within string
	// Unlike are parts of the text of such an error that no row in the way has made.
	Unlike []string
	// Upsert: a row that the job meets by a unique key is changed in its place. One does that by
	// itself, and counts what the server counts; or else Lock finds and locks the row and returns its
	// key, Update changes it, and where there is none One adds a row, or fails with one of
	// Transient.Duplicates because another has been quicker. Check, between Lock and Update, returns
	// the key of the row if that is to be changed; nil where each is.
	Upsert              bool
	Lock, Check, Update *Statement
	// Spares: rows that are there may be left alone, and Enqueue tells whether it has written one.
	Spares bool
	// Step, where AutoKey has a Many, asks by how much the keys differ that Many gives
	// its rows in their order; the driver tells the first.
	Step *Statement
	// With is what is written to other tables for the new rows, by their keys, behind
	// everything else in the same transaction. Each: it is written for each job before the next is
	// added, because If looks at it.
	With []*Statement
	Each bool
	// Find, of With where the caller gives the keys and nothing returns them, reads the
	// new rows by them: all have to be found.
	Find *Statement
}

// Stats counts rows.
type Stats struct {
	Doc       []string
	Statement *Statement
	OfDoc     []string
	Of        *Statement   // over the rows of the topics that the caller says; nil where a claim has none
	Fields    []StatsField // in the order of the columns that come back
	PerGroup  bool         // a row comes back for each group of consumers
}

// Backlog tells of the rows that wait what Stats does: for each combination of the values that they have in
// Topics, or for all of them where there are none.
type Backlog struct {
	Doc       []string
	Statement *Statement
	Topics    []*Field     // come back first
	Fields    []StatsField // come back behind them
}

// StatsField is one figure of Stats.
type StatsField struct {
	Name   string // Ready, Running, OldestReady
	GoType string // int64, or time.Duration (comes back as seconds, null when there is none)
	Doc    string
}

// Offset is how a table is read whose rows are only added: each group of
// consumers has a mark, and a claim on the next rows behind it, in a row of a
// side table.
type Offset struct {
	Table string // the side table, as people say it
	DDL   string // creates it
	// Mark are the columns of a mark, null where a group has read nothing; At
	// are the fields of Job with which they are compared.
	Mark, At  []*Field
	NotUnique bool          // rows may be alike in At, and are then taken together
	Settles   bool          // First, Next and Alike return first whether the row has settled, 1 or 0
	Apart     bool          // Claim does not work in the caller's transaction
	Lease     time.Duration // when the caller says none
	MostGroup int           // longest name of a group, in characters

	ClaimDoc, CompleteDoc, RequeueDoc, ExtendDoc, RewindDoc, PeekDoc, PurgeDoc []string

	Progress *Statement // turn, 1 when no claim runs, and the mark of a group
	Begin    *Statement // adds a group that is not there yet
	// BeginFails: it may fail because another adds the same group.
	BeginFails bool
	// Bound, where rows may appear late, returns how far rows are seen and the
	// names of the transactions that may still add some; no row where it cannot tell.
	Bound              *Statement
	First, Next, Alike *Statement // rows of a group that has read nothing; behind a mark; of one value
	Take               *Statement // the claim
	// Advance completes the next rows of a claim at once; else Lock, Held (how many
	// rows are passed, and what is finished behind them), and Pass or Note.
	Advance, Lock, Held, Pass, Note *Statement
	Requeue, Extend, Rewind         *Statement
	// Lowest returns the lowest mark, and Purge deletes rows below it; nil when rows stay.
	Lowest, Purge *Statement
	OlderThan     bool // of Purge
}

// Peek reads jobs without taking them.
type Peek struct {
	Doc       []string
	Statement *Statement
	Payload   bool // with what they have in other tables
}

// Verify compares the live database with what the package was generated for.
type Verify struct {
	Doc    []string
	Checks []Check
}

// Check is one question to the database.
type Check struct {
	Statement *Statement // returns one row with one text for each thing that is wrong, none when all is well
	Mend      string     // what to do, appended to the text
	// Required: without it jobs are lost and nobody is told, so the package asks by
	// itself before its first transaction.
	Required bool
}

// Attempts counts tries.
type Attempts struct {
	Field     *Field
	Down      bool
	Retries   bool // Down, and a job whose count is 0 is tried once more
	OnClaim   bool
	Max       int // 0: MaxOf, or none
	MaxOf     *RowLimit
	Unlimited bool // a null count is unlimited
}

// RowLimit is the limit that a row itself has.
type RowLimit struct {
	Field   *Field
	Retries bool     // it counts what follows the first try
	Null    *int     // what a null stands for; nil: no limit
	Endless []string // whole numbers that mean no limit
}

// Lease is the time for which a claim is good.
type Lease struct {
	Length time.Duration // 0: per row or per call
	Field  *Field        // the lease's end as the claim returns it; nil when not read
}

// Transient lists the errors after which the same work may be tried again.
type Transient struct {
	// RolledBack: the database has undone the transaction, so the package
	// itself may try it again. SQLSTATEs, exact or a class of two characters.
	RolledBack []string
	// Unknown: the connection is gone and nobody knows what was committed; the
	// caller decides. SQLSTATEs likewise.
	Unknown []string
	// Codes of drivers whose errors have a method Code() int; the low byte
	// counts (SQLite's extended codes).
	Codes []int
	// Messages are parts of the text of errors of drivers that have neither.
	Messages []string
	// LostMessages are parts of the text of errors that are as Unknown.
	LostMessages []string
	// Numbers, LostNumbers: as RolledBack and Unknown, by the number in a field
	// of the driver's error type.
	Numbers, LostNumbers []int
	// Duplicates are the numbers of the errors of a unique key that has the value already.
	Duplicates []int
	Error      DriverError
}

// DriverError is the error type of a driver that tells its number in a field.
type DriverError struct {
	Import     string
	Type       string
	Field      string // holds the number
	Method     string // or tells it, and the type need not be known
	NumberType string // of the field
	Lost       string // the driver's error for a connection that is gone
}

// Index is one advised index.
type Index struct {
	Name string
	DDL  string // safe to run online
	Why  string // "serves Claim: ready rows in queue order"
	Have string // name of an existing index that serves as well; DDL is then not needed
	On   string // its table, columns and predicate, where DDL creates it
	Miss string // why the index of the table that comes nearest does not serve, as a clause; "" for none
	Of   string // the package over the same table that advises it as well, and first; "" for none
	Then string // what is left to do once it stands; "" for nothing
	Rule string // what it asks of those who write the table while it stands; "" for nothing
	// Lacking tells what is slow without it, as a clause.
	Lacking string
	// columns are those with which an index of another name begins that Verify takes as well, least
	// are the columns of one that ends with the key by itself, and predicate is the predicate of
	// both; columns is "" where no other serves.
	columns, least, predicate string
	made                      *schema.Index // as the schema would have it, where DDL creates it
}

// ColumnUse tells for explain what a column was understood as.
type ColumnUse struct{ Column, Type, Roles, Go string }

// StateUse tells for explain how a state is recognised.
type StateUse struct{ State, Test string }

// MoveUse tells for explain what a transition writes.
type MoveUse struct{ Transition, From, To, Writes string }
