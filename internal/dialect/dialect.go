// Package dialect reads the folders of templates and answers what a server of
// some version can do and how it spells things. It holds no knowledge of any
// server itself: a fact that is missing belongs into dialect.yaml.
package dialect

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/qgen-dev/qgen/templates"
	"go.yaml.in/yaml/v3"
)

// Capability is something that some servers can do since some version.
type Capability string

// The capabilities that decide between strategies and texts.
const (
	Returning     Capability = "returning"        // UPDATE and DELETE return rows
	SkipLocked    Capability = "skip_locked"      // a locking read passes over locked rows
	NoKeyUpdate   Capability = "no_key_update"    // a row lock that lets foreign keys be checked
	Materialized  Capability = "materialized"     // WITH … AS MATERIALIZED
	AdvisoryLocks Capability = "advisory_locks"   // locks on numbers, held until commit
	RowLocks      Capability = "row_locks"        // SELECT … FOR UPDATE
	PartialIndex  Capability = "partial_index"    // CREATE INDEX … WHERE
	LowHint       Capability = "low_hint"         // dead rows are worth passing over by a low bound
	AskedLimit    Capability = "asked_limit"      // LIMIT takes what a sub-query tells
	HashedRows    Capability = "hashed_rows"      // a sub-query that reads nothing of the row around it is run once, and values are looked up in what it found
	KeyTie        Capability = "key_tie"          // the planner may prefer the primary key to an index of equal cost
	BoundedKeys   Capability = "bounded_keys"     // a row may be too long for an index
	Unhex         Capability = "unhex"            // hexadecimal text to bytes
	DomainArrays  Capability = "domain_arrays"    // an array may hold values of a domain
	JSONAppend    Capability = "json_append"      // a value can be added to a JSON array
	NullsOrder    Capability = "nulls_order"      // ORDER BY … NULLS FIRST and NULLS LAST
	IndexNulls    Capability = "index_nulls"      // an index can say so too
	DescIndex     Capability = "desc_index"       // an index can hold a column in falling order
	ExprIndex     Capability = "expression_index" // an index can hold an expression
	LastInsertID  Capability = "last_insert_id"   // the driver tells the number that a new row was given
	ReturningOld  Capability = "returning_old"    // RETURNING gives a column as it was
	PrefixIndex   Capability = "prefix_index"     // an index serves a condition on the beginning of a text, prefix_exact
	WritingWith   Capability = "writing_with"     // a statement in WITH may write, and the others take what it returns
	LocksSorted   Capability = "locks_sorted"     // a read that sorts and locks, locks all that it sorts
	KeepsRefused  Capability = "keeps_refused"    // rows that a locking read refuses stay locked, where another index than the key led to them
	KeepsJoined   Capability = "keeps_joined"     // so do rows that a query refuses in which IN or EXISTS looks for something, whatever led to them
	KeepsAntiJoin Capability = "keeps_anti_join"  // the same of NOT IN and NOT EXISTS
	HidesHeld     Capability = "hides_held"       // what only leaves out held rows can be hidden from the planner, which would trust old statistics of them
	TargetOnce    Capability = "target_once"      // an UPDATE or DELETE reads its table in no sub-query that is not a derived table
	OrderedUpdate Capability = "ordered_update"   // UPDATE … ORDER BY … LIMIT … RETURNING; claims that meet are undone

	SortsLocked     Capability = "sorts_locked"        // an UPDATE that sorts locks all that it sorts
	ReadsLocked     Capability = "reads_locked"        // an INSERT locks the rows that its sub-queries read
	PredicateProof  Capability = "predicate_proof"     // a partial index is taken where what is asked implies its predicate, in other words, too
	PlainPredicates Capability = "plain_predicates"    // the predicate of an index holds no OR
	UnsortedInsert  Capability = "unsorted_insert"     // INSERT returns rows in any order
	TriggerOutput   Capability = "trigger_output"      // rows on which a trigger fires are not returned, but can be kept and read
	Blocks          Capability = "blocks"              // an anonymous block of statements gives rows back
	OpenCursors     Capability = "open_cursors"        // of which: by a cursor that is an argument of it
	ReturningKey    Capability = "returning_key"       // INSERT gives the key of the new row to an argument
	Procedures      Capability = "procedures"          // statements can be stored and called with their arguments
	ReturningUpdate Capability = "returning_update"    // an UPDATE of one table returns rows, where DELETE and INSERT do not as well
	ConsecutiveIDs  Capability = "consecutive_ids"     // the numbers of rows that one statement adds differ by the same step, in their order
	InsertAlike     Capability = "insert_alike"        // of producers that add a row after they have found none like it, one does; with advisory_locks behind a lock on a number
	InsertAbsent    Capability = "insert_absent"       // an INSERT adds a row unless it is there, and never fails because another adds it
	Upsert          Capability = "upsert"              // INSERT decides what becomes of a row that is there already
	UpsertKey       Capability = "upsert_key"          // of which: INSERT of a row that meets one by the unique key that it names changes that
	UpsertAnyKey    Capability = "upsert_any_key"      // of which: INSERT of a row that meets one by whatever unique key changes that
	UpsertExpr      Capability = "upsert_expression"   // of UpsertKey: that key may be over an expression
	UpsertIndexes   Capability = "upsert_indexes"      // of UpsertKey: every index is kept as the row is changed
	WriterLocks     Capability = "writer_locks"        // the server tells which transactions may have written to a table
	Numbered        Capability = "transaction_numbers" // TransactionNumbers
	InsertReads     Capability = "insert_reads"        // a value of a new row may be made of those that stand before it
	RowLists        Capability = "row_lists"           // a list of rows is looked up by an index and compared quickly, (a, b) IN ((1, 2), …)
	FixedAmid       Capability = "fixed_amid"          // an index gives an order although a column of one value stands between those of the order
	IncrementalSort Capability = "incremental_sort"    // rows in the order of their first columns are sorted by the rest a few at a time
	NullFixed       Capability = "null_fixed"          // rows that IS NULL finds are in the order of what stands behind the column in an index
	NullsApart      Capability = "nulls_apart"         // a range and the nulls beside it (c <= 1 OR c IS NULL) are found by an index each for itself, and else by reading it from end to end
	IndexCompare    Capability = "index_compare"       // a comparison with a column behind those of an order is made in the index, before the row is read
	IndexThrough    Capability = "index_through"       // rows are compared in an index that nothing leads into, and of the table those that fit are read
	GroupsByIndex   Capability = "groups_by_index"     // an index that gives the groups of rows is read from end to end, whatever a look at each row costs, unless group_column or group_scan are in the way
	UnequalRange    Capability = "unequal_range"       // an index leads to the rows on both sides of a value that they do not have (c <> 1)
	NamedIndex      Capability = "named_index"         // a statement names the index by which it reads, and fails where that is missing or not to be used
	ValuePrefix     Capability = "value_prefix"        // an index that has the beginning of a column alone leads to the rows of one value, in the order of what stands behind it
	KeyBehind       Capability = "key_behind"          // of ValuePrefix: also in the order of the key with which the server ends it
	IndexFilter     Capability = "index_filter"        // so is any condition over columns of the index
	IndexInclude    Capability = "index_include"       // of IndexFilter: an index has columns beside its keys, which are not sorted by
	EqualityFirst   Capability = "equality_first"      // without statistics an index that begins with what is compared with one value is taken before one whose predicate says that
	PredicateRules  Capability = "predicate_rules"     // sessions of some settings cannot write a table that has an index with a predicate
	PartitionsBlock Capability = "partitions_block"    // writers wait while a partitioned table gets an index
	LocksNewest     Capability = "locks_newest"        // a locking read looks at rows as they are, also those that a transaction writes, and not as they were when it began
	Miscounts       Capability = "miscounts"           // the number of rows that a statement changed may be told wrong, what it returns may not
)

var capabilities = []Capability{
	Returning, SkipLocked, NoKeyUpdate, Materialized, AdvisoryLocks, RowLocks,
	PartialIndex, LowHint, AskedLimit, HashedRows, KeyTie, BoundedKeys, Unhex, DomainArrays, JSONAppend,
	NullsOrder, IndexNulls, DescIndex, ExprIndex, LastInsertID, ReturningOld, OrderedUpdate, LocksSorted, SortsLocked, KeepsRefused, KeepsJoined, KeepsAntiJoin, HidesHeld, ReadsLocked, TargetOnce,
	PredicateProof, PlainPredicates, UnsortedInsert, TriggerOutput, Blocks, OpenCursors, ReturningKey, Procedures, ConsecutiveIDs, ReturningUpdate, Miscounts, WriterLocks, Numbered, InsertAlike, InsertAbsent, InsertReads, Upsert, UpsertKey, UpsertAnyKey, UpsertExpr, UpsertIndexes, RowLists,
	FixedAmid, ValuePrefix, KeyBehind, LocksNewest, WritingWith, PrefixIndex,
	PartitionsBlock, IncrementalSort, NullFixed, NullsApart, EqualityFirst, PredicateRules, IndexCompare, IndexThrough, GroupsByIndex, IndexFilter, IndexInclude, UnequalRange, NamedIndex,
}

// Dialect is one folder of templates.
type Dialect struct {
	Name string `yaml:"-"` // of the folder, and the engine as users write it

	// Base is the folder of which this one says only what differs.
	Base    string  `yaml:"base"`
	Title   string  `yaml:"title"`
	Grammar string  `yaml:"grammar"` // which DDL reader
	Minimum Version `yaml:"minimum"` // nothing is generated for older servers
	Default Version `yaml:"default"` // when the user names none
	// ServerNames are servers that users name without a version, and the version
	// whose statements they run.
	ServerNames map[string]Version `yaml:"server_names"`
	Drivers     []string           `yaml:"drivers"` // Go database APIs that can talk to it, the default first
	Isolation   string             `yaml:"isolation"`
	// Cluster is a kind of cluster of these servers whose nodes take writes at
	// once and lock rows each for itself, "" when there is none.
	Cluster      string `yaml:"cluster"`
	SingleWriter bool   `yaml:"single_writer"` // a statement that writes excludes all others
	// Groups is how the claimers of one group of rows are kept apart, so that each counts
	// what the other took: statement (one comes later, or is undone and made again),
	// number (a lock on a number), range (the count locks what it reads, and the gaps), or
	// row (a row of the user's, for want of anything else).
	Groups string `yaml:"groups"`

	Identifiers struct {
		Quote    [2]string `yaml:"quote"`
		Case     string    `yaml:"fold"`
		MaxBytes int       `yaml:"max_bytes"` // 0: no limit
		Reserved string    `yaml:"reserved"`
	} `yaml:"identifiers"`

	Placeholder string `yaml:"placeholder"`
	// ListPlaceholder is that of the values of a list, where they have names of their
	// own and all arguments come in the order of the text.
	ListPlaceholder string `yaml:"list_placeholder"`
	// Repeats is how texts begin in which a numbered placeholder may stand several
	// times for one argument, "" for all.
	Repeats  string            `yaml:"repeats"`
	CastForm string            `yaml:"cast"`
	Literals map[string]string `yaml:"literals"`
	NullsLow bool              `yaml:"nulls_low"` // NULL sorts before every value
	Counted  string            `yaml:"counted"`   // what count counts where its rows are filtered: * or 1
	// DefaultOnly are functions that may stand in the default of a column only, without
	// their parentheses, and what does the same elsewhere.
	DefaultOnly map[string]string `yaml:"default_only"`
	Truth       string            `yaml:"truth"` // slot {arg}: a truth value as a condition, where it is none by itself
	// LongText is how long a text may be whose type has a rule of its own as "max", 0
	// where only one without a limit has.
	LongText int `yaml:"long_text"`
	// Lengths are what the lengths of types of text count, by their names, where that is not
	// characters: bytes or utf16.
	Lengths map[string]string `yaml:"lengths"`
	// MostChars is how many bytes a text may have in a column whose type counts characters by its
	// own word (schema.Type.Chars), 0 for any number.
	MostChars   int  `yaml:"most_chars"`
	EmptyIsNull bool `yaml:"empty_is_null"` // '' is NULL
	LikeClasses bool `yaml:"like_classes"`  // LIKE knows sets of characters in brackets
	// ZeroDate is how a date begins that is none, "" where there is no such.
	ZeroDate string `yaml:"zero_date"`
	// ReadsRow is a condition that always holds, for which the server reads the row itself and
	// not an index alone, with slot {column}; Why says what it is for, behind the condition.
	ReadsRow struct {
		SQL string `yaml:"sql"`
		Why string `yaml:"why"`
	} `yaml:"reads_row"`
	// LockLatest stands before a statement that locks rows and reads others besides, so that the
	// server locks the rows as they are, whatever has changed since it began to read. Why says
	// what it is for.
	LockLatest struct {
		SQL string `yaml:"sql"`
		Why string `yaml:"why"`
	} `yaml:"lock_latest"`
	// Samples are texts that columns of a type take: of types whose texts have a form. A verb of
	// fmt in one stands for a number that tells such texts apart, and * for the type's length.
	Samples map[string]string `yaml:"samples"`
	// Arguments are the types of arguments by their Go types, where SQL of the user's names them
	// and no column says one.
	Arguments map[string]string `yaml:"arguments"`
	// MostText is how many bytes of a text a statement that settles jobs takes, 0 for
	// any number.
	MostText int `yaml:"most_text"`
	// MostRaw is the same of bytes that a statement makes of a text.
	MostRaw int `yaml:"most_raw"`
	// MostPart is how many bytes travel in one element of an array, of values in parts.
	MostPart int `yaml:"most_part"`
	// LocksInCursors: locked rows are passed over where a cursor fetches, and not where
	// an UPDATE or DELETE chooses rows.
	LocksInCursors bool `yaml:"locks_in_cursors"`
	// Batches is how the rows of one call travel: as arrays, json, lists that are
	// written into the text, or forall: arrays where a block writes them, else lists.
	Batches Versioned `yaml:"batches"`
	// HotHead says why and how to split a queue at whose head all workers meet, "" where
	// the server bears that.
	HotHead string `yaml:"hot_head"`
	// ScatteredIDs says why numbers that the database counts up do not grow with
	// insertion, "" where they do.
	ScatteredIDs string `yaml:"scattered_ids"`
	// TransactionNumbers are the functions that number transactions, and the number
	// below which none runs.
	TransactionNumbers map[string]string `yaml:"transaction_numbers"`
	// VersionHorizon is the number below which every version of a row is committed, where
	// the database counts those; it is read before the rows are. VersionType is the type of
	// a column that keeps such a number.
	VersionHorizon string `yaml:"version_horizon"`
	VersionType    string `yaml:"version_type"`
	// SetsInOrder: an assignment of UPDATE sees those before it, and in an UPDATE of
	// several tables those that happen to be made before it.
	SetsInOrder bool `yaml:"sets_in_order"`
	// MostRows is how many rows one statement names at most, and MostTaken how many it
	// takes, 0 for any number; WhyMost is the reason as a clause. MostValues is how many
	// arguments a statement can have.
	MostRows   int    `yaml:"most_rows"`
	MostTaken  int    `yaml:"most_taken"`
	WhyMost    string `yaml:"why_most"`
	MostValues int    `yaml:"most_values"`
	// TypesAsWritten: the catalog keeps a column's type as the DDL wrote it.
	TypesAsWritten bool `yaml:"types_as_written"`
	// BaseTypes: the catalog shows the type behind a domain.
	BaseTypes    bool                   `yaml:"base_types"`
	Capabilities map[Capability]Version `yaml:"capabilities"`
	// Asked are strategies that are taken only when the user names them, and why.
	Asked map[string]string `yaml:"asked"`
	// Absent are capabilities of the base that this server does not have, ClusterAbsent
	// those that its servers do not have as nodes of a cluster, and why as a clause.
	Absent        []Capability          `yaml:"absent"`
	ClusterAbsent map[Capability]string `yaml:"cluster_absent"`
	// Flawed are capabilities that older servers have as well, and what is wrong with them
	// there, as a clause about the server.
	Flawed map[Capability]string `yaml:"flawed"`
	// FlawedAgain are later releases that are so: those from Since on which are older than Mended.
	FlawedAgain map[Capability][]Releases `yaml:"flawed_again"`
	ClaimLadder []int                     `yaml:"claim_ladder"`
	// PastUnits are the units to which Clock.Past cuts: minute, second, millisecond.
	PastUnits   []string `yaml:"past_units"`
	RowIdentity struct {
		Column string   `yaml:"column"`
		Also   []string `yaml:"also"` // other names of the same
		Type   string   `yaml:"type"`
		Number bool     `yaml:"number"` // a whole number of 64 bits; else it travels as text
		Stable bool     `yaml:"stable"` // for the life of the row, not only of the transaction
		// Mostly: it stays between transactions as a rule, so that it finds a row of which something else
		// tells that it still is the same.
		Mostly      bool   `yaml:"mostly"`
		Changes     string `yaml:"changes"`     // what gives a row another between transactions
		Moves       bool   `yaml:"moves"`       // with every UPDATE of the row
		Joined      bool   `yaml:"joined"`      // needs the table's name in front where a statement reads another as well
		Partitioned string `yaml:"partitioned"` // second column where a table has partitions
		Read        string `yaml:"read"`        // how it is read as text, where it is none
		Write       string `yaml:"write"`       // slot {arg}: the text as an identity
	} `yaml:"row_identity"`
	// Volatile are words of expressions whose values may change while the row stays as it is,
	// so that no index holds them.
	Volatile string `yaml:"volatile"`
	// Locking are functions of the server that take a lock, or wait for one, where an expression calls them.
	Locking string `yaml:"locking"`
	// ReadsNothing are words of expressions before a parenthesis that surely read no table: operators, types
	// and functions of the server's own.
	ReadsNothing string `yaml:"reads_nothing"`
	// ZoneBound are words of expressions that reckon a time with zone by the time zone of the session,
	// so that no index holds them either.
	ZoneBound string `yaml:"zone_bound"`
	// TableLocks are storage engines that know neither row locks nor transactions.
	TableLocks []string `yaml:"table_locks"`
	// OnlyRising are storage engines that refuse an index with a column in falling order,
	// which without desc_index the others take and pass over.
	OnlyRising []string `yaml:"only_rising"`
	// Returned are what stands before a column that a statement returns, as it is
	// after (insert, update) or was before (delete), where the table's name does not.
	Returned map[string]string `yaml:"returned"`
	// LeaseTimes is how a side table that is laid out for a queue keeps time, as as=
	// says it; "" where its columns do so by their type. LeaseAlias: what is picked for
	// it has a name of its own.
	LeaseTimes string `yaml:"lease_times"`
	LeaseAlias bool   `yaml:"lease_alias"`
	// Composite is how picked rows with a composite key are named: join, always (one column is joined,
	// too), row (by their place, also where one column is the key; by a tuple where rows have none), or
	// none (the picked rows are written themselves).
	Composite string `yaml:"composite"`
	// PrimaryIndex is what the index of a primary key is called, where every one is
	// called the same.
	PrimaryIndex string `yaml:"primary_index"`
	// KeySuffix says which tables are kept by their primary key, with whose columns every
	// other index ends: those of the storage engines, "" being that of a table whose DDL
	// names none; with RowID only where the key is the row's number, or takes its place.
	// With Clustered it is the clustered index whose columns stand there.
	KeySuffix struct {
		Engines   []string `yaml:"engines"`
		RowID     bool     `yaml:"rowid"`
		Clustered bool     `yaml:"clustered"`
	} `yaml:"key_suffix"`
	// NullKeys says whether rows are alike in a unique key where they have a null there: "" they are
	// not, alike they are, and alike_beside they are where another column of it is not null.
	NullKeys string `yaml:"null_keys"`
	// HeldByLock is the unique key whose values a new row waits for while another row of them is locked:
	// primary, "" none. By every other one it is refused at once.
	HeldByLock string `yaml:"held_by_lock"`
	// IndexBytes is how many bytes the columns of an index may have together, by storage engine,
	// "" being that of a table whose DDL names none. An engine that is not listed has no limit
	// that tables of queues come near. CharBytes is what a character of a text takes.
	IndexBytes map[string]int `yaml:"index_bytes"`
	CharBytes  int            `yaml:"char_bytes"`
	// Uncompared are the types, by the names of Types, whose values = does not compare, Ungrouped
	// those that = does compare and GROUP BY does not, and Unindexed those that no index holds whole.
	Uncompared []string `yaml:"uncompared"`
	Ungrouped  []string `yaml:"ungrouped"`
	Unindexed  []string `yaml:"unindexed"`
	// Beginnings are, by the names of Types, how many characters or bytes of a value an index has that is advised
	// where none holds it whole; with ValuePrefix it leads to the rows of one value.
	Beginnings map[string]int       `yaml:"beginnings"`
	RowColumns []string             `yaml:"row_columns"` // that every row has and no DDL names
	KeyOnly    string               `yaml:"key_only"`    // how statements over a batch keep the planner to the key, for their head comments
	Fragments  map[string]Versioned `yaml:"fragments"`
	Clocks     map[string][]Clock   `yaml:"clocks"`
	// StatementClock are spellings of the present that stand still while a transaction lasts,
	// and what tells the present of the statement in their place.
	StatementClock map[string]string `yaml:"statement_clock"`
	// DateFunctions are functions that take no number for a time as a queue counts it, unless one
	// of Numbers is among their arguments. As an argument of theirs Now is the present; where that
	// stands within an argument, Misread says what is wrong and Mend what to write.
	DateFunctions struct {
		Names   string   `yaml:"names"`
		Now     string   `yaml:"now"`
		Numbers []string `yaml:"numbers"`
		Misread string   `yaml:"misread"`
		Mend    string   `yaml:"mend"`
	} `yaml:"date_functions"`
	Text      TextFormat          `yaml:"text_format"`
	Types     map[string]TypeRule `yaml:"types"`
	Classes   map[string]TypeRule `yaml:"classes"`
	Transient struct {
		RolledBack []string `yaml:"rolled_back"`
		Unknown    []string `yaml:"unknown"`
		Codes      []int    `yaml:"codes"`
		Messages   []string `yaml:"messages"`
		// LostMessages are the same as Unknown by parts of their text.
		LostMessages []string `yaml:"lost_messages"`
		// Numbers and LostNumbers are the same as the numbers of the driver's own
		// error type, where that has no methods to ask.
		Numbers     []int `yaml:"numbers"`
		LostNumbers []int `yaml:"lost_numbers"`
		Duplicates  []int `yaml:"duplicates"` // of a unique key that has the value already
		// OfTriggers are parts of the text of an error that a statement within a trigger made.
		OfTriggers []string `yaml:"of_triggers"`
		// CountedKey is a part of the text of such an error where a primary key has run out of numbers.
		CountedKey string      `yaml:"counted_key"`
		Error      DriverError `yaml:"error"`
	} `yaml:"transient"`

	reserved  map[string]bool
	volatile  map[string]bool
	zoneBound map[string]bool
	locking   map[string]bool
	templates *template.Template
}

// Releases are those from Since on that are older than Mended.
type Releases struct {
	Since  Version `yaml:"since"`
	Mended Version `yaml:"mended"`
}

// DriverError is the error type of a driver that tells its number in a field.
type DriverError struct {
	Import string `yaml:"import"`
	Type   string `yaml:"type"`
	Field  string `yaml:"field"`
	// Method, in the place of Import, Type and Field, is the method of the error that
	// tells the number.
	Method string `yaml:"method"`
	// NumberType is the Go type of the field, Lost the driver's error for a
	// connection that is gone.
	NumberType string `yaml:"number_type"`
	Lost       string `yaml:"lost"`
}

// Clock is how one kind of column tells the time. Slots: {sign} is + or -, {minus}
// the same without the plus,
// {seconds} a number of seconds, {interval} the same as text ("5 minutes"), {amount}
// and {unit} the same as a whole number of a unit ("5", "minute"),
// {format} the quoted format of a text time, {a} and {b} two times.
type Clock struct {
	Since Version `yaml:"since"`
	Now   string  `yaml:"now"`
	// Past is now, cut to the {digits} behind the second that a column keeps which would round
	// it, or to its {unit}, one of PastUnits; "" where what is written is not rounded.
	Past    string `yaml:"past"`
	Fixed   string `yaml:"fixed"`   // now shifted by a constant; Seconds serves when it is empty
	Seconds string `yaml:"seconds"` // now shifted by an expression
	Back    string `yaml:"back"`    // now less an expression, where that is not Seconds with another sign
	// Interval is now and the expression {interval}, a value of the server's intervals; ""
	// where it has none.
	Interval string    `yaml:"interval"`
	Age      Versioned `yaml:"age"` // seconds from {a} to {b}
}

// TextFormat turns a Go time layout into the server's format text.
type TextFormat struct {
	Elements map[string]string `yaml:"elements"`
	Literal  string            `yaml:"literal"` // slot {text}
}

// TypeRule says how a column's type appears in Go.
type TypeRule struct {
	Go    string `yaml:"go"`
	Shown string `yaml:"shown"` // the type by whose rule times of another clock are kept in this one
	Read  string `yaml:"read"`  // slot {column}
	Write string `yaml:"write"` // slots {arg} and {type}
	Cast  string `yaml:"cast"`  // the type's name in casts, where its own means something else there
	Sent  string `yaml:"sent"`  // the type as which values travel in a batch, where Cast is another
	// Whole is the type that values have which no element of an array holds: they travel in
	// parts and are put together again.
	Whole string `yaml:"whole"`
	// Catalog is what the server's catalog calls the type, where that is not its name.
	Catalog string `yaml:"catalog"`
	// Cut is what a column makes of a time of the server's, slots {value} and {digits}, those behind the
	// second: what is read so comes back from Go as what it was; "" where a column has to be read for that.
	Cut  string `yaml:"cut"`
	Kept string `yaml:"kept"` // the type that keeps a value between two statements, where the column's own may lose some of it
	// Literal is a constant of a type of times, of slots {date} and {time}, where the server would read one in
	// quotes by the settings of the session; "" where it would not.
	Literal string `yaml:"literal"`
	// Codec and Layout say how a time.Time travels that read and write turn into
	// something else: epoch_us, or text in a Go layout.
	Codec  string `yaml:"codec"`
	Layout string `yaml:"layout"`
}

// Versioned is a text that may depend on the server's version.
type Versioned []struct {
	Since Version `yaml:"since"`
	SQL   string  `yaml:"sql"`
}

// UnmarshalYAML reads a plain text, or a list of texts with versions.
func (v *Versioned) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*v = Versioned{{SQL: node.Value}}
		return nil
	}
	type plain Versioned
	return node.Decode((*plain)(v))
}

// At returns the text for a server version.
func (v Versioned) At(version Version) string {
	for _, e := range v {
		if !version.Less(e.Since) {
			return e.SQL
		}
	}
	return ""
}

// loads read each folder once, when it is asked for first.
var loads = sync.OnceValue(func() map[string]func() (*Dialect, error) {
	each := map[string]func() (*Dialect, error){}
	folders, err := fs.ReadDir(templates.FS, ".")
	if err != nil {
		panic(err) //nolint:forbidigo // the folders are compiled in
	}
	for _, folder := range folders {
		each[folder.Name()] = sync.OnceValues(func() (*Dialect, error) { return read(templates.FS, folder.Name()) })
	}
	return each
})

// read loads one folder, refusing keys and capabilities that nothing reads.
func read(fsys fs.FS, name string) (*Dialect, error) {
	d := &Dialect{Name: name}
	if err := d.readFacts(fsys, name); err != nil {
		return nil, err
	}
	d.templates = template.New(name).Funcs(functions)
	folders := []string{name}
	if d.Base != "" {
		folders = []string{d.Base, name}
		for _, folder := range folders {
			if err := d.readFacts(fsys, folder); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range d.Absent {
		if _, ok := d.Capabilities[c]; !ok {
			return nil, fmt.Errorf("dialect.yaml: %s does not have the capability %q anyway", d.Base, c)
		}
		delete(d.Capabilities, c)
	}
	for _, c := range slices.Concat(slices.Collect(maps.Keys(d.ClusterAbsent)), slices.Collect(maps.Keys(d.Flawed)), slices.Collect(maps.Keys(d.FlawedAgain)), slices.Collect(maps.Keys(d.Capabilities))) {
		if !slices.Contains(capabilities, c) {
			return nil, fmt.Errorf("dialect.yaml: nothing asks for the capability %q", c)
		}
	}
	d.reserved = map[string]bool{}
	for _, word := range strings.Fields(d.Identifiers.Reserved) {
		d.reserved[word] = true
	}
	d.volatile, d.zoneBound, d.locking = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, word := range strings.Fields(d.Volatile) {
		d.volatile[word] = true
	}
	for _, word := range strings.Fields(d.ZoneBound) {
		d.zoneBound[word] = true
	}
	for _, word := range strings.Fields(d.Locking) {
		d.locking[word] = true
	}
	for _, folder := range folders {
		files, err := fs.Glob(fsys, path.Join(folder, "*.sql.tmpl"))
		if err != nil || len(files) == 0 {
			continue
		}
		if _, err := d.templates.ParseFS(fsys, files...); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// readFacts reads the facts of a folder over those that d holds.
func (d *Dialect) readFacts(fsys fs.FS, folder string) error {
	text, err := fs.ReadFile(fsys, path.Join(folder, "dialect.yaml"))
	if err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(d); err != nil {
		return fmt.Errorf("dialect.yaml: %w", err)
	}
	return nil
}

// All returns the dialects by name.
func All() []*Dialect {
	var list []*Dialect
	for _, engine := range Engines() {
		d, _ := Lookup(engine)
		list = append(list, d)
	}
	return list
}

// Engines returns the words that Lookup knows.
func Engines() []string { return slices.Sorted(maps.Keys(loads())) }

// Lookup returns the dialect of an engine as users write it.
func Lookup(engine string) (*Dialect, bool) {
	load, ok := loads()[engine]
	if !ok {
		return nil, false
	}
	d, err := load()
	if err != nil {
		panic(fmt.Errorf("templates/%s: %w", engine, err)) //nolint:forbidigo // the folders are compiled in, and a test loads them
	}
	return d, true
}

// Can reports whether a server of that version has a capability.
func (d *Dialect) Can(c Capability, at Version) bool {
	since, ok := d.From(c, at)
	return ok && !at.Less(since)
}

// Since returns the version that brought a capability, false when none did.
func (d *Dialect) Since(c Capability) (Version, bool) {
	v, ok := d.Capabilities[c]
	return v, ok
}

// From is Since for those who have a version: where that has the capability with its flaw, the
// version that mended it.
func (d *Dialect) From(c Capability, at Version) (Version, bool) {
	for _, r := range d.FlawedAgain[c] {
		if !at.Less(r.Since) && at.Less(r.Mended) {
			return r.Mended, true
		}
	}
	return d.Since(c)
}

// Server returns the version that users mean: by what people call it, or by its number.
func (d *Dialect) Server(name string) (Version, error) {
	if v, ok := d.ServerNames[strings.ToLower(name)]; ok {
		return v, nil
	}
	return ParseVersion(name)
}

// Clock returns how columns of a kind tell the time: timestamptz, date,
// timestamp:utc, timestamp:local, epoch, epoch_ms, epoch_us, epoch_ns, text,
// text:local.
func (d *Dialect) Clock(kind string, at Version) (Clock, bool) {
	for _, c := range d.Clocks[kind] {
		if !at.Less(c.Since) {
			return c, true
		}
	}
	return Clock{}, false
}

// InStatement returns SQL in which the present is that of the statement, also late in a long
// transaction.
func (d *Dialect) InStatement(sql string) string {
	var pairs []string
	for _, present := range slices.Backward(slices.Sorted(maps.Keys(d.StatementClock))) { // the longer of two that begin alike
		pairs = append(pairs, present, d.StatementClock[present])
	}
	return strings.NewReplacer(pairs...).Replace(sql)
}

// Type returns the rule for a type, by its name or else by its class.
func (d *Dialect) Type(name, class string) TypeRule {
	if r, ok := d.Types[name]; ok {
		return r
	}
	if r, ok := d.Classes[class]; ok {
		return r
	}
	return d.Classes[""]
}
