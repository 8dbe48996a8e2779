// Package queue reads a table and its annotations as a queue. Every role that
// users know (lease, attempts, token …) is expanded here into the six
// primitives: key, tests, writes, order, parameters, companions. Later stages
// see primitives only; this package knows no SQL and no database.
package queue

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Spec is a table read as a queue.
type Spec struct {
	Name  string     // of the queue
	Pos   source.Pos // of the words that make the table a queue
	Table *schema.Table

	// Key names a row, in this order; empty when RowIdentity.
	Key []*schema.Column
	// RowIdentity: no usable key; the row's physical identity stands in for it.
	RowIdentity bool
	// Seq grows with insertion; nil when no column is known to.
	Seq *schema.Column

	States map[StateName]*State
	// Held are the tests of a row that somebody has: of a running one, and of a claimed
	// one where starting is a step of its own.
	Held []Test
	// NoWorker are the values of the worker's column that name none: each with the state of a row
	// that holds it, Stray where it is in none, and "" where nobody has the row.
	NoWorker []StatusValue
	// LeastWorker and MostWorker are the numbers between which a worker's must be for a row that
	// it has to run; nil where there is no such limit.
	LeastWorker, MostWorker *int64
	// Members tell rows of the queue from others in its table.
	Members     []Test
	Transitions map[TransitionName]*Transition
	// Kept are columns that mean something to the queue and that the database writes with
	// every change of a row: a step that does not write one leaves it as it is.
	Kept []*schema.Column
	// Unbegun is the column by which Recover finds no job that was claimed and has not begun, since the claim
	// writes null to it; nil where it finds these as well.
	Unbegun *schema.Column
	// Overlaps: a row that runs is ready as well, as long as what a claim wrote does not end that.
	Overlaps bool
	// Expired tells a running row whose worker is gone; nil when nothing in the
	// table can tell.
	Expired []Test
	// AtStart: jobs lose their worker when it starts anew, and at no other time: those that
	// Expired tells, which are its own, or where that is nil whatever somebody has when the
	// program starts.
	AtStart bool
	// ExpiredFails: a job whose claim has run out fails, whatever tries it has left.
	ExpiredFails bool
	// Recovered is what Recover makes of a row where qgen:on says that it is not ready:
	// another state, or Stray; MaybeReady where it may be, and "" where it is ready.
	Recovered StateName
	// Retried is the same of Fail where a job is to be tried again.
	Retried StateName
	// GivenUp is the same of jobs that Recover gives up: MaybeFailed where SQL that qgen:on has
	// giveup write may make a row failed or something else, and "" where it is failed.
	GivenUp StateName
	// Anew are the steps that end a job and leave its row as ready ones are, so that the next claim
	// takes it again.
	Anew []TransitionName
	// Liveness says which workers are alive, where a test of Expired asks.
	Liveness *Liveness
	// Outcomes are ways to settle a job besides done and failed.
	Outcomes []*Outcome
	Order    []OrderTerm // total unless NoTieBreak
	// NoTieBreak: rows that are equal in Order come in any order.
	NoTieBreak bool
	Unordered  bool     // nobody says an order: rows are taken as they came, or by their key
	Params     []*Param // of Claim, in the order of the columns
	// Asked are the arguments of which values are made that steps write: each name is one, of
	// whatever operations take the steps.
	Asked   []*Param
	Shard   *Shard
	Group   *Group    // nil: rows run beside each other freely
	Gate    *Group    // of all rows of the queue, which has no columns; nil: any number of them runs
	Log     *Log      // rows are only added, and read behind a mark; nil where they are written
	Columns []*Column // every column of the table, in table order

	Fence Fence
	// Clock is what times without zone show where their column does not say: "utc",
	// "local" or "".
	Clock     string
	MinFence  FenceLevel // generation fails below it
	MinPos    source.Pos
	Strategy  string // forced, "" = chosen
	ForcedPos source.Pos
	// Waits: a claim waits for rows that others have locked, and passes over none; with strategy pop
	// Purge does as well. WaitsPos is where that was said.
	Waits    bool
	WaitsPos source.Pos
	// Accept: Claim asks the caller of each ready job whether it takes it; where that was
	// said.
	Accept    bool
	AcceptPos source.Pos
	// Absent: Enqueue leaves a job out that a row keeps away by a unique key; where that was
	// said.
	Absent    bool
	AbsentPos source.Pos
	// Like tells which rows keep a job out where no unique key does, nil where such keys tell.
	Like *Like
	// EnqueueIf is the condition without which Enqueue adds no job; nil where it adds each.
	EnqueueIf *EnqueueIf
	// Upsert: Enqueue changes the row that a job meets by a unique key; nil where it does not.
	Upsert *Upsert
	// Batch is the row that a claim adds to another table once, for all its jobs: its key is
	// their token. It is among what Claim writes With the jobs; nil where the claim makes the
	// token itself. BatchPos is where it was asked for.
	Batch    *Companion
	BatchPos source.Pos
	// Procedures: the package calls stored procedures; where that was said.
	Procedures bool
	StoredPos  source.Pos

	// Away is the table in which rows are while their jobs run; nil where they stay.
	Away *Away

	// Side holds the claims where qgen.yaml says so; nil where it does not.
	Side   *Side
	Tables []*schema.Table // of the schema, whose names are taken
	// Others are the other queues over Table, as Beside tells.
	Others []*Spec
	// Besides: SQL of the user's asks more of a ready row than its state and its time, and may not hold
	// of a new one.
	Besides bool
	// Stage: the queue is a further one in the entry of another.
	Stage bool

	DoneDeletes   bool // Complete removes the row
	FailedDeletes bool // Fail without attempts left removes the row

	Lease    *Lease    // nil: a claim never expires
	Attempts *Attempts // nil: failures are not counted
	// Recoveries counts how often a job was recovered, apart from its tries; nil where a crash
	// counts as a try, or nothing counts it.
	Recoveries *Attempts
	Backoff    Backoff
	Cycle      *Cycle         // nil: a job that is done has ended
	Token      *schema.Column // receives a fresh value per claim
	Worker     *schema.Column
	// Workers is an array to which every claim adds who makes it.
	Workers *schema.Column
	Result  *schema.Column // argument of Complete
	// ResultMax is the longest result in characters, the rest is cut; 0 is no limit.
	// ResultAppend: it is added to what the column holds.
	ResultMax    int
	ResultAppend bool
	Error        *ErrorColumn   // argument of Fail
	Enqueued     *schema.Column // written at enqueue
	Finished     *schema.Column // written when done
	Started      *schema.Column // exact claim time, when a column has it
	Due          *schema.Column // not before
	FirstDue     *schema.Column // where a new job whose caller names no time gets the present; nil where the table sees to that
	Expires      *schema.Column // not ready from then on; Purge removes the row
	// Purges are the operations that remove rows, each with the states of those that it
	// removes: one, or two where done rows and failed ones are removed apart. PurgePos is where
	// that was said; invalid where one removes all.
	Purges   [][]StateName
	PurgePos source.Pos
	// NoRedrive says that failed jobs stay as they are: redrive=none.
	NoRedrive bool
	PurgeIf   *Condition // tells the rows that are removed, whatever their state; nil where state and age do
	Waiting   []Test     // where Expires is said: what tells rows that nobody has and that have not ended
	Status    *Status    // the named states of one column; nil when the state is spread or absent

	// Names are the parts of the names of tables that are known at run time only: Table and
	// those of PayloadFrom are then called by templates, "D_MM{{.Channel}}".
	Names []*NamePart

	// PayloadFrom are tables that hold columns of a job besides those of Table.
	PayloadFrom []*PayloadFrom

	// Lengths are those of time that expressions tell.
	Lengths []*Wait
	// Elsewhere are columns of other tables of which it is said how they keep time.
	Elsewhere []*Column
	// Expressions are those that the user wrote, for the parser of the database.
	Expressions []Expression
	// Unknown are columns of the job's row that expressions name and the table does not have:
	// only the server may have them.
	Unknown []RowColumn

	Notes []string // what explain should say: what was found by itself, what wins over what
}

// Upsert is how Enqueue changes a row that is there. What qgen:on says of that the transition
// Update writes.
type Upsert struct {
	Pos source.Pos
	// Key is the name of the unique key by which rows meet, or its columns, as users write them;
	// "" where nobody says it.
	Key    string
	KeyPos source.Pos
	// Stays are the columns that qgen:on leaves as they are, whatever the new job has.
	Stays []*schema.Column
	// If tells which rows are changed; one for which it does not hold is left alone. Nil: all are.
	If *Condition
}

// NamePart is a part of the names of tables that is known at run time only.
type NamePart struct {
	Name   string // Channel
	Number bool   // digits, else letters, digits and underscores
	Sample string // what stands in its place in the DDL
}

// Mark is what stands for the part in a template.
func (p *NamePart) Mark() string { return "{{." + p.Name + "}}" }

// Sampled returns a text with the names of the DDL in the place of templates.
func Sampled(parts []*NamePart, text string) string {
	for _, p := range parts {
		text = strings.ReplaceAll(text, p.Mark(), p.Sample)
	}
	return text
}

// PayloadFrom is a table that holds columns of a job besides those of the queue's own.
type PayloadFrom struct {
	Table   *schema.Table
	As      string // what On calls it; "": its own name
	On      string // names its row; {row} stands for the job's
	Columns []*Column
	Pos     source.Pos // of its entry
	AsPos   source.Pos // of what it is called
	OnPos   source.Pos
}

// Expression is SQL that the user wrote.
type Expression struct {
	SQL string // {now} {time} {today} {row} and {arg:name} stand for themselves
	Pos source.Pos
}

// RowColumn is a name behind {row}.
type RowColumn struct {
	Name string // as written, less its quotes
	Pos  source.Pos
}

// StateName names a state of a job.
type StateName string

// The states.
const (
	Ready   StateName = "ready"
	Claimed StateName = "claimed" // only where starting is a step of its own
	Running StateName = "running"
	Done    StateName = "done"
	Failed  StateName = "failed"
)

// What is said of rows in the place of a state.
const (
	Stray       StateName = "of no state"   // it is in none of the states
	MaybeReady  StateName = "ready or not"  // SQL of the user tells
	MaybeFailed StateName = "failed or not" // the same
	Deleted     StateName = "deleted"       // its job is done, and it is in the table no more
)

// StateNames lists the states in the order of a job's life.
var StateNames = []StateName{Ready, Claimed, Running, Done, Failed}

// State says which rows are in it: those that satisfy every test.
type State struct {
	Name  StateName
	Tests []Test
}

// Outcome is a way to settle a job that the user names.
type Outcome struct {
	Name string // as the user writes it
	Pos  source.Pos
	To   StateName // ready, done, failed, or Deleted
	// Transition is in Spec.Transitions as well, under its own name.
	Transition *Transition
}

// TransitionName names a step from one state to another.
type TransitionName string

// The transitions.
const (
	Enqueue TransitionName = "enqueue"
	Update  TransitionName = "update"  // Enqueue meets a row that is there, in whatever state, and changes it
	Claim   TransitionName = "claim"   // ready to running, or to claimed where there is that state
	Start   TransitionName = "start"   // claimed to running
	Finish  TransitionName = "done"    // running to done; this and the next leave claimed as well
	Retry   TransitionName = "retry"   // running to ready, counted
	Release TransitionName = "release" // running to ready, not counted
	Fail    TransitionName = "fail"    // running to failed
	Renew   TransitionName = "renew"   // running stays running
	Recover TransitionName = "recover" // expired running to ready
	GiveUp  TransitionName = "giveup"  // expired running to failed: no attempts or recoveries left, or Spec.ExpiredFails
	Redrive TransitionName = "redrive" // failed to ready
	Purge   TransitionName = "purge"   // done or failed rows go away
)

// RecoversOwn reports whether Recover takes jobs from the worker that calls it, and from no
// other.
func (s *Spec) RecoversOwn() bool { return s.AtStart && s.Expired != nil }

// Steps lists the transitions that a queue may have: those of a job's life, in its
// order, and those of its outcomes.
func (s *Spec) Steps() []TransitionName {
	names := slices.Clone(TransitionNames)
	for _, o := range s.Outcomes {
		names = append(names, o.named())
	}
	return names
}

// Outcome returns the outcome whose transition has a name, nil when none has.
func (s *Spec) Outcome(name TransitionName) *Outcome {
	for _, o := range s.Outcomes {
		if o.named() == name {
			return o
		}
	}
	return nil
}

// TransitionNames lists the transitions in the order of a job's life.
var TransitionNames = []TransitionName{Enqueue, Update, Claim, Start, Finish, Retry, Release, Fail, Renew, Recover, GiveUp, Redrive, Purge}

// Transition is what one step tests and writes. A transition that the table
// cannot express is absent from Spec.Transitions.
//
// Steps of the holder of a row (start, done, retry, release, fail, renew) do
// not test the clock: a claim that has run out may still be settled as long as
// nobody else took the row, which the fence tells. Without a running state
// they leave ready.
type Transition struct {
	Name TransitionName
	// Tests of the state it leaves. Recover and giveup are for rows that satisfy
	// Spec.Expired as well, where there is any; where both steps are there they also test the
	// limit of attempts or of recoveries, so that exactly one of them fits a row.
	Tests  []Test
	Writes []Write // in table order, each column once
	Delete bool    // the row goes away instead of being written
	// With is written to other tables in the same transaction.
	With []*Companion
	// Doubts is a column that SQL of the user's asks of ready rows: what the step writes there says
	// whether its row is ready, and is not known. It is nil where there is none.
	Doubts *schema.Column
	// Stays is a column that tells that a row is not ready and that the step leaves as the claim wrote it; nil
	// where there is none.
	Stays *schema.Column
	// Strays is a column of the table to which the step moves the row, with which it surely is not ready
	// there; nil where there is none.
	Strays *schema.Column
}

// KeepsRow reports whether the row stays as it is: nothing of it is written, and it does not go.
func (t *Transition) KeepsRow() bool { return len(t.Writes) == 0 && !t.Delete }

// Takes reports whether the argument of the transition is among what is written to the
// row; what other tables take of it, their companions say.
func (t *Transition) Takes(arg string) bool {
	return slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Value.IsArg(arg) })
}

// Op compares a column.
type Op string

// The comparisons.
const (
	In         Op = "in"       // one of Values; Null among them means "is null"
	NotIn      Op = "not in"   // none of Values, null-safe
	IsNull     Op = "null"     //
	NotNull    Op = "not null" //
	Less       Op = "<"
	LessEqual  Op = "<="
	Greater    Op = ">"
	GreatEqual Op = ">="
	Raw        Op = "raw"  // SQL is the test
	Dead       Op = "dead" // names a worker that is not alive, as Spec.Liveness tells; none of Values is one
)

// Test is a condition on one column. Any of Or that holds is enough, too.
type Test struct {
	Column *schema.Column
	By     int // added to the column before it is compared
	Op     Op
	Values []Value
	SQL    string // of Raw: an expression; {now} {time} {today} {row} and {arg:name} stand for themselves
	Or     []Test // alternatives: the test holds if this or one of them holds
}

// Alternatives lists the test and what stands under Or: conditions of which any is enough.
func (t Test) Alternatives() []Test { return append([]Test{t}, t.Or...) }

// Condition is an expression of the user's that an operation asks by itself.
type Condition struct {
	SQL    string // as Test.SQL
	Params []*Param
	Pos    source.Pos
}

// Write assigns a value to a column.
type Write struct {
	Column *schema.Column
	Value  Value
}

// ValueKind says what a Value is.
type ValueKind string

// The kinds of values.
const (
	Literal  ValueKind = "literal" // Text, checked against the column's type
	Null     ValueKind = "null"    //
	Now      ValueKind = "now"     // the database's clock, shifted by Plus or Minus
	Token    ValueKind = "token"   // fresh per claim
	WorkerID ValueKind = "worker"  // who claims
	Old      ValueKind = "old"     // the column as it is
	Add      ValueKind = "add"     // the column plus By; null counts as 0, but stays null where that means unlimited
	Arg      ValueKind = "arg"     // the argument Name of the transition
	Cause    ValueKind = "cause"   // Text, in the place of the argument ArgError
	Given    ValueKind = "given"   // the argument that the user calls Name, of the operation that makes the step
	SQLExpr  ValueKind = "sql"     // Text, an expression over the row
	ColumnOf ValueKind = "column"  // the value of column Other of the same row, or Else where that is null, plus By
)

// TokenLength is the number of characters of a token in a text column: 128
// random bits as hexadecimal digits.
const TokenLength = 32

// TokenBytes is the number of bytes of a token in a column of bytes whose
// length is declared: at least 128 random bits.
const TokenBytes = 16

// The arguments of transitions that a Value or a Shift may name.
const (
	ArgDelay  = "delay"  // wait until a row is due again: Requeue's argument, Fail's backoff
	ArgError  = "error"  // text of the cause given to Fail
	ArgResult = "result" // given to Complete
	ArgLease  = "lease"  // for how long the claim is good
	// ArgTimeout is after which time a claim has run out. Tests take it.
	ArgTimeout = "timeout"
	ArgOlder   = "older" // Purge's least age
)

// Value is the right-hand side of a test or a write.
type Value struct {
	Kind ValueKind
	Text string     // of Literal (unquoted) and SQLExpr
	Pos  source.Pos // where the user wrote it; invalid when a role implies it
	By   int        // of Add and ColumnOf
	Else string     // of ColumnOf, a number; "" leaves a null as it is
	Name string     // of Arg and Given
	// Other is the column of ColumnOf; of Now with a delay, where the row moves, that
	// which keeps the time for rows without one.
	Other *schema.Column
	// Shift moves Now; nil leaves it alone.
	Shift *Shift
}

// IsArg reports whether the value is that argument of the transition.
func (v Value) IsArg(name string) bool { return v.Kind == Arg && v.Name == name }

// Same reports whether the values are alike, wherever they were written.
func (v Value) Same(other Value) bool { return same(v, other) }

// Shift is a distance in time from now, exactly one of its sources set.
type Shift struct {
	Minus  bool
	Fixed  time.Duration
	Column *schema.Column // holds a number of Unit, or intervals
	Arg    string         // an argument of the transition, in seconds
	Given  string         // the argument that the user calls so, among Spec.Asked
	Unit   time.Duration  // of Column
	Wait   *Wait
}

// OrderTerm is one term of the order in which rows are taken.
type OrderTerm struct {
	Column *schema.Column
	SQL    string // an expression instead of a column
	Desc   bool
	Nulls  string // "first", "last" or "" for the database's default
	Random bool
	Tie    bool // nobody has said it: it tells rows apart that are alike in all others
}

// ParamKind says how a parameter of Claim narrows it.
type ParamKind string

// The kinds of parameters.
const (
	Equal    ParamKind = "equal"    // the column has the value
	List     ParamKind = "list"     // the column has one of the values
	Except   ParamKind = "not"      // the column has none of the values
	Minimum  ParamKind = "min"      // the column is at least the value
	Maximum  ParamKind = "max"      // the column is at most the value
	Prefix   ParamKind = "prefix"   // the column starts with the value
	Argument ParamKind = "argument" // stands in a test of ready rows as {arg:name}
)

// Param is an argument of Claim, or one of which what a step writes is made.
type Param struct {
	Name     string
	Column   *schema.Column // nil for Argument, but of Spec.Asked the one that gets the same value
	Kind     ParamKind
	Optional bool    // a zero value does not narrow
	Any      []Value // a row that has one of these suits every caller
	GoType   string  // of Argument, as written; the tests of ready rows, or what is written, name it
	Pos      source.Pos
}

// Always reports whether a claim is for no rows but those of values that its caller says, in one of some ways.
func (p *Param) Always(kinds ...ParamKind) bool {
	return !p.Optional && len(p.Any) == 0 && slices.Contains(kinds, p.Kind)
}

// Shard splits the table between instances.
type Shard struct {
	Column *schema.Column // nil when SQL says it
	SQL    string         // a hash over the row
	Kind   string         // "mod", "range" or "hash"
	// Least and Most are the values that are divided among the instances, of "range".
	// What the column may hold besides belongs to the first or the last.
	Least, Most *big.Int
	Pos         source.Pos
}

// Role is a name that users know for a bundle of tests and writes.
type Role struct {
	Verb  string
	Words string // as written, less the verb
	Pos   source.Pos
}

// Column is a column of the table and what the queue makes of it.
type Column struct {
	*schema.Column
	Roles   []Role
	Ignored bool   // neither read nor written
	Payload bool   // goes to the handler: no role tells what else it is for, or it says so
	GoType  string // named by payload type=, as written
	JSON    bool   // decoded on demand
	Clock   string // of a time without zone: "utc" or "local"; "" when it knows its zone
	// As is how a column that is no timestamp keeps time: epoch, epoch_ms,
	// epoch_us, epoch_ns, text:<Go layout>, text:epoch and so on; "" for the type's own way.
	As string
	// Width is how many digits the numbers of text:epoch and its like have, 0 of
	// everything else.
	Width int
	// Times are the words of times in qgen.yaml, "" when that does not say anything.
	Times string
}

// FenceLevel orders how well a late worker is kept from finishing what
// another holds by now.
type FenceLevel int

// The fence levels, weakest first.
const (
	FenceNone    FenceLevel = iota // nothing: the row lock or the shard is the claim
	FenceStatus                    // running, and nothing better
	FenceClaimed                   // exact claim time and worker
	FenceAttempt                   // a counter that goes up from one claim to the next
	FenceToken                     // a random value per claim
)

// String returns the word that users write.
func (l FenceLevel) String() string {
	return [...]string{"none", "status", "claimed", "attempt", "token"}[l]
}

// Fence is the best fence that the columns give.
type Fence struct {
	Level FenceLevel
	// Columns are compared with the values that the claim left in them.
	Columns []*schema.Column
	// OnReturn: of FenceAttempt, a claim leaves the count as it is, and each way back to ready raises it.
	OnReturn bool
	// Unfit says why a count that is there is no fence; "" where none is, or it is one.
	Unfit string
	// Within is the step in which the time among Columns is kept, within which two claims look
	// alike: "second", "minute" …, "" where it is finer or no column is a time.
	Within string
	// Said: what stands in the first of Columns qgen:on says, or whoever claims, so that two claims may leave the
	// same there.
	Said bool
	// Told is the column of the worker among Columns where qgen:on says what stands there, or whoever claims: behind
	// a time, two claims at one moment look alike only where that is the same. Nil where it is the worker.
	Told *schema.Column
}

// Lease says for how long a claim is good.
type Lease struct {
	Column *schema.Column // the lease's end, or the claim's start
	// FromStart: Column holds the claim's start; Length is added when it is
	// compared.
	FromStart bool
	Length    time.Duration
	LengthOf  *schema.Column // the row's own length, in Unit; intervals where that is 0
	LengthBy  *Wait          // SQL over the row tells it
	LengthArg bool           // the caller says it at each claim
	Step      time.Duration  // in which Column keeps time
	// TimeoutArg: whoever asks whether a claim has run out says it.
	TimeoutArg bool
	Unit       time.Duration
	Heartbeat  *schema.Column // expiry is measured on it when there is one
	// ByClaim: an expired row counts as ready; otherwise Recover resets it.
	ByClaim bool
}

// Liveness says which workers are alive.
type Liveness struct {
	Column *schema.Column // names the worker of a row
	Listed bool           // the caller of Recover gives a list; else the table says it

	Schema, Table string // that the workers keep of themselves
	ID            string // its column that names them
	// A worker is alive when Seen is younger than Timeout and SQL, a condition over its
	// row, holds; either may be absent.
	Seen    *Column
	Timeout time.Duration
	SQL     string
}

// Attempts counts tries, or recoveries.
type Attempts struct {
	Column             *schema.Column
	Down               bool // counts what is left
	OnClaim            bool // counted when claimed, else when failed
	OnRecover          bool // counted when recovered, and at no other time
	Max                int  // 0: no fixed limit
	MaxOf              *RowLimit
	NullMeansUnlimited bool
	// LimitClaim: a row at the limit is not ready; else Fail and Recover decide.
	LimitClaim bool
	// Spared: qgen:on says what Recover leaves in Column, so that a claim that has run out is no
	// failed try.
	Spared bool
}

// RowLimit is a limit of tries or of recoveries that a column holds.
type RowLimit struct {
	Column  *schema.Column
	Retries bool    // it counts what follows the first try, so that a job has one try more
	Null    *int    // what a null stands for; nil: no limit
	Endless []Value // values that mean no limit
}

// counts lists the counts of a queue.
func (s *Spec) counts() []*Attempts {
	return slices.DeleteFunc([]*Attempts{s.Attempts, s.Recoveries}, func(a *Attempts) bool { return a == nil })
}

// Count returns the count that a column keeps, nil where it keeps none.
func (s *Spec) Count(c *schema.Column) *Attempts {
	for _, a := range s.counts() {
		if a.Column == c {
			return a
		}
	}
	return nil
}

// RecoverLimits lists the counts whose limits decide whether a job is tried again whose claim
// has run out. Where recoveries have a count of their own, or qgen:on says what Recover leaves in
// the count, such a try has not failed.
func (s *Spec) RecoverLimits() []*Attempts {
	return slices.DeleteFunc(s.counts(), func(a *Attempts) bool {
		return !a.Limited() || a.Spared || !a.OnRecover && !a.OnClaim && s.Recoveries != nil
	})
}

// Limited reports whether there is a limit at all.
func (a *Attempts) Limited() bool {
	return a != nil && (a.Down || a.Max > 0 || a.MaxOf != nil)
}

// Ends reports whether a job can fail for good: at the limit of its tries, or at the first
// error where nothing counts them.
func (a *Attempts) Ends() bool { return a == nil || a.Limited() }

// Retries reports whether the count is of the retries that are left, so that a job whose
// count is 0 is tried once more.
func (a *Attempts) Retries() bool { return a.Down && !a.LimitClaim && !a.OnRecover }

// atZero is how many tries a job has whose count is 0.
func (a *Attempts) atZero() int {
	if a.Retries() {
		return 1
	}
	return 0
}

// Full is the count of a job that has all its tries.
func (a *Attempts) Full() Value {
	switch {
	case !a.Down:
		return number(0)
	case a.MaxOf != nil:
		v := a.MaxOf.value()
		v.By = a.MaxOf.further() - a.atZero()
		return v
	case a.Max > 0:
		return number(a.Max - a.atZero())
	}
	return number(1 - a.atZero())
}

// value is the limit as the column holds it.
func (l *RowLimit) value() Value {
	v := Value{Kind: ColumnOf, Other: l.Column}
	if l.Null != nil {
		v.Else = strconv.Itoa(*l.Null)
	}
	return v
}

// further is how many tries a job has besides those that the column counts.
func (l *RowLimit) further() int {
	if l.Retries {
		return 1
	}
	return 0
}

// open reports whether a null in the column means no limit.
func (l *RowLimit) open() bool { return !l.Column.NotNull && l.Null == nil }

// MustStart reports whether a new row is never ready unless somebody says how many
// tries it has.
func (a *Attempts) MustStart() bool {
	return a != nil && a.Down && !a.Column.HasDefault && !a.NullMeansUnlimited
}

// Backoff is the wait before the next try: Base × Factor^(failures−1), at most
// Max, shifted by up to ±Jitter of itself.
type Backoff struct {
	Pos       source.Pos // of backoff: in qgen.yaml, invalid where nobody says it
	Base, Max time.Duration
	Factor    float64
	Jitter    float64 // 0 to 1
	// Expr tells the wait in the place of all that; nil where nobody says it.
	Expr *Wait
}

// Wait is a length of time that SQL tells, over the row: in one after a failure {failures}
// stands for how often a job has failed.
type Wait struct {
	SQL  string
	Unit time.Duration // of which it is a number; 0 is an interval where the server has such values, else seconds
	Pos  source.Pos
}

// ErrorColumn keeps the last error.
type ErrorColumn struct {
	Column *schema.Column
	Max    int // the least of the limits of its text, 0 is no limit
	Said   int // what max= says in characters, 0 where it does not
	Append bool
	Clear  bool // set to null when the row becomes ready again by Requeue or Redrive
	Wanted bool // a CHECK takes no empty text
	// Elsewhere are columns of other tables that take it as well and hold less.
	Elsewhere []*schema.Column
}

// Status is a column whose values name the states.
type Status struct {
	Column *schema.Column
	// Values are the named values in the order of the DDL's CHECK or enum, else
	// of the annotation.
	Values []StatusValue
	// ByToken: the running state is the batch key itself.
	ByToken bool
}

// StatusValue is one value that a status column may have.
type StatusValue struct {
	Value string
	State StateName // "" when no state names it
	First bool      // the first that the annotation names of its state, which is written
}
