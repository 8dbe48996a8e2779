// Package config reads qgen.yaml: strictly, every value with its position,
// every complaint at once. It knows nothing of SQL.
package config

import (
	"time"

	"github.com/qgen-dev/qgen/internal/source"
)

// Config is one qgen.yaml.
type Config struct {
	File   *source.File
	Queues []*Queue
}

// String is a text with the place where it was written. The zero String is
// absent.
type String struct {
	Value string
	Pos   source.Pos // the text itself, less quotes
	// Exact: the text stands at Pos character by character, so that offsets in
	// Value are offsets in Pos. It does not where YAML unescapes or folds it.
	Exact bool
}

// IsSet reports whether the file has it.
func (s String) IsSet() bool { return s.Pos.IsValid() }

// Number is a number with the place where it was written.
type Number struct {
	Value float64
	Pos   source.Pos
}

// IsSet reports whether the file has it.
func (n Number) IsSet() bool { return n.Pos.IsValid() }

// Flag is true or false with the place where it was written.
type Flag struct {
	Value bool
	Pos   source.Pos
}

// IsSet reports whether the file has it.
func (f Flag) IsSet() bool { return f.Pos.IsValid() }

// Length is a duration with the place where it was written.
type Length struct {
	Value time.Duration
	Pos   source.Pos
}

// IsSet reports whether the file has it.
func (l Length) IsSet() bool { return l.Pos.IsValid() }

// Queue is one entry of queues.
type Queue struct {
	Pos      source.Pos // the entry
	Schema   []String   // files, globs, folders; relative to the config file
	Engine   String
	Server   String
	Cluster  Flag   // several nodes take writes at once
	Emit     String // statement, or procedure: the package calls stored procedures
	Table    String
	Name     String
	MinFence String
	// Others are the names of the further queues that the file makes of the same table:
	// what is said of one of them by its name is not about this one. Further: it is one
	// of them, so that a queue annotation by another name, or without one, is not about it.
	Others  []String
	Further bool

	// The words of the annotation language, for DDL that may not be touched.
	Words   String            // queue: "strategy=hold done=delete"
	Columns []ColumnWords     // columns: {NAME: ["status ready=Q", …]}, in file order
	Clock   String            // utc or local, of columns without a zone
	Times   []Time            // times, in file order
	ReadyIf String            // extra predicate
	ReadyBy map[string]String // ready_if_by: per dialect
	Recover String            // recover_if
	Purge   String            // purge_if
	// UpdateIf tells which rows that are there Enqueue changes.
	UpdateIf String // update_if
	// EnqueueIf tells when Enqueue adds a job.
	EnqueueIf String // enqueue_if
	// Legacy is how a program takes rows that reads the table beside the package.
	Legacy  []String // legacy_claim
	Backoff *Backoff
	Accept  Flag          // Claim asks the caller which jobs it takes
	Params  []Param       // of tables whose names are made at run time, in file order
	Payload []PayloadFrom // payload_from, in file order
	Group   *Group
	Offset  *Offset     // of a table that is read behind marks
	Side    *SideTable  // side_table
	Lease   *LeaseTable // lease_table
	// Outcomes are further ways to settle a job, in file order.
	Outcomes []Outcome
	Workers  *Workers
	Declined []String // indexes: {ready: false}: what the names of indexes end with that nobody wants, in file order
	Gen      Gen

	Also       []Also   // companions by transition, in file order
	DoneMove   *Move    // done: the row of a finished job goes to another table
	FailedMove *Move    // failed: that of a job that failed for good
	Running    *Running // states.running: the row of a job that runs is in another table

	// Later lists keys of the language that are known and not yet carried out
	// (accept, …), so that the queue stage can refuse them.
	Later []String // Value is the key, "gen.sqlc" below another
}

// ColumnWords are the annotations of one column.
type ColumnWords struct {
	Name  String
	Words []String
}

// Time says how a column keeps time, for what a comment cannot say.
type Time struct {
	Pos    source.Pos
	Column String
	As     String
	Clock  String
	Width  Number // digits of a number that is kept as text
}

// Running says in which table the rows of jobs are that run.
type Running struct {
	Pos     source.Pos
	Table   String
	Same    bool          // the columns that both tables have by name
	Columns []Value       // else what each column there gets, in file order
	Words   []ColumnWords // the annotations of its columns, in file order
}

// Param is a part of the names of tables.
type Param struct {
	Name String
	Type String // int or name
}

// PayloadFrom is a table that holds columns of a job besides the queue's own.
type PayloadFrom struct {
	Pos     source.Pos
	Table   String
	As      String // what On calls it; default: its name
	On      String // names its row, {row} being the queue's
	Columns []String
}

// Offset is about a table whose rows are only added and read behind marks.
type Offset struct {
	Pos          source.Pos
	DeletePassed Flag // Purge removes what every group has passed
}

// Backoff is the wait between tries.
type Backoff struct {
	Pos       source.Pos
	Base, Max Length
	Factor    Number
	Jitter    Number
	// Expr is SQL that tells the wait; by the names of databases where it differs.
	Expr   String
	ExprBy map[string]String
	Unit   String // of what Expr is a number
}

// Also lists what is written to other tables in the transaction of a transition.
type Also struct {
	Transition String
	Companions []Companion
	Nothing    bool // an empty list
}

// Companion is a change of another table. One of Insert, Update and Delete is set.
type Companion struct {
	Pos                    source.Pos
	Insert, Update, Delete String  // the table, as name or schema.name
	Values                 []Value // of Insert
	Set                    []Value // of Update
	Where                  []Value // of Update and Delete
	Which                  String  // in the place of Where, an SQL condition over both rows
	When                   String  // an SQL condition over the row
}

// Value is what a column gets or must have.
type Value struct {
	Column String
	Value  String   // text, a number, true, false or null, as it is written
	Or     []String // further ones, where one of a list is meant
}

// Move takes the row of a job that has ended to another table.
type Move struct {
	Pos     source.Pos
	To      String
	Columns []Value
	Same    bool // columns: same
}

// Group says what qgen:group cannot: which rows belong to a group, and the row that
// stands for it.
type Group struct {
	Pos     source.Pos
	Columns []String
	Limit   Number
	// LimitSQL is the limit where it is no number: SQL, or the word arg.
	LimitSQL String
	Fifo     Flag
	When     String // rows for which it does not hold belong to no group
	Lock     *GroupLock
}

// GroupLock names the row of another table that stands for a group.
type GroupLock struct {
	Pos   source.Pos
	Table String
	On    String // {row} is the row of the queue
}

// SideTable asks for a table beside that of the queue, which holds the claims.
type SideTable struct {
	Pos      source.Pos
	Name     String // default: the table's name followed by _lease
	Lease    Length // for how long a claim is good
	Attempts Number // how often a job is tried at most; unset is no limit
}

// LeaseTable describes a table of the user's own that holds the claims.
type LeaseTable struct {
	Pos      source.Pos
	Name     String
	Key      []KeyColumn // in file order
	Token    String
	Worker   String
	Claimed  *TimeColumn // since when a row is claimed
	Lease    *TimeColumn // until when
	Attempts String
	Error    String
	Keep     Flag // keep_when_done: the row of a finished job stays
}

// KeyColumn pairs a column of a lease table with one of the key.
type KeyColumn struct {
	Column String // of the lease table
	Of     String // of the queue's table
}

// TimeColumn is a column that holds a time, written as its name or as a mapping.
type TimeColumn struct {
	Pos    source.Pos
	Column String
	As     String
	Clock  String
	Length Length // length of lease, timeout of claimed
}

// Outcome is a way to settle a job besides done and failed.
type Outcome struct {
	Name String
	To   String  // ready, done or failed
	Set  []Value // in file order
}

// Workers is the table that the workers keep of themselves.
type Workers struct {
	Pos     source.Pos
	Table   String
	ID      String
	Seen    String // column that shows when a worker was last alive
	As      String // how it keeps time, where its type does not say
	Timeout Length
	Alive   String // condition over a row of the table
}

// Gen says what to write.
type Gen struct {
	Go *Go
}

// Go describes the Go package of a queue.
type Go struct {
	Pos         source.Pos
	Package     String // default: the queue's name followed by q
	Out         String // folder, relative to the config file
	SQLPackage  String // pgx/v5 or database/sql (the default)
	Overrides   []Override
	Rename      []Rename // in file order
	Worker      Flag
	Conformance Flag
}

// Override gives a column another Go type.
type Override struct {
	Pos    source.Pos
	Column String
	Import String
	Type   String
	Codec  String // json, or "" for a type that scans itself
}

// Rename gives a column another Go name.
type Rename struct {
	Column String
	Name   String
}
