// Package schema reads DDL: text in, tables out, every name with its position.
// Statements are parsed by the parser made for the database; this package
// keeps what a queue needs to know of a table and knows nothing of queues.
package schema

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/source"
)

// Catalog is what the schema files of one queue say.
type Catalog struct {
	Tables []*Table  // in the order of their CREATE TABLE
	Loose  []Comment // comments with "qgen:" that stand beside no table and no column
	Unread []Unread  // definitions of tables that were skipped because they do not parse
}

// Unread is the definition of a table that does not parse. Where no annotation
// stands in it, it was skipped, and whoever looks for the table should report
// Err.
type Unread struct {
	Schema   string // "" when the DDL names none
	Table    string // as the database stores it; "" where the name cannot be read either
	Err      *source.Error
	Reported bool // Err is known to the user
}

// Lookup returns the tables that name means: a name that holds a dot is
// matched whole first, then as schema.name; a bare name matches in any schema.
// fold says how the database folds unquoted names.
func (c *Catalog) Lookup(name string, fold func(string) string) []*Table {
	pick := func(match func(*Table) bool) []*Table {
		var found []*Table
		for _, t := range c.Tables {
			if match(t) {
				found = append(found, t)
			}
		}
		return found
	}
	same := func(t *Table, stored, name string) bool {
		return stored == name || t.AnyCase && strings.EqualFold(stored, name)
	}
	for _, n := range []string{name, fold(name)} {
		if found := pick(func(t *Table) bool { return same(t, t.Name, n) }); len(found) > 0 {
			// Within one schema, case may be all that tells two tables apart.
			return slices.DeleteFunc(found, func(t *Table) bool {
				return t.Name != n && slices.ContainsFunc(found, func(o *Table) bool { return o.Name == n && o.Schema == t.Schema })
			})
		}
		// Schema and table may hold dots themselves.
		for i, r := range n {
			if r != '.' {
				continue
			}
			if found := pick(func(t *Table) bool { return same(t, t.Schema, n[:i]) && same(t, t.Name, n[i+1:]) }); len(found) > 0 {
				return found
			}
		}
	}
	if strings.ContainsAny(name, "\"`[") {
		in, table := SplitName(name, fold)
		return pick(func(t *Table) bool { return same(t, t.Name, table) && (in == "" || same(t, t.Schema, in)) })
	}
	return nil
}

// SplitName divides a name as the database reads it: a part in quotes stands for itself,
// others are folded. in is the schema, "" where the name has none.
func SplitName(name string, fold func(string) string) (in, table string) {
	var parts []string
	for rest := name; rest != ""; rest = strings.TrimPrefix(rest, ".") {
		part, behind := StoredName(rest, fold)
		parts, rest = append(parts, part), behind
	}
	if len(parts) < 2 {
		return "", strings.Join(parts, "")
	}
	return parts[0], strings.Join(parts[1:], ".")
}

// StoredName returns the first part of a name as the database stores it, and what stands
// behind it.
func StoredName(name string, fold func(string) string) (part, behind string) {
	if name == "" {
		return "", ""
	}
	if i := strings.IndexByte("\"`[", name[0]); i >= 0 {
		if inner, behind, ok := strings.Cut(name[1:], "\"`]"[i:i+1]); ok {
			return inner, behind
		}
	}
	i := strings.IndexByte(name, '.')
	if i <= 0 {
		i = len(name)
	}
	return fold(name[:i]), name[i:]
}

// Table is one CREATE TABLE with everything that later statements add to it.
// Names stand as the database stores them: unquoted names folded, quoted names
// as written.
type Table struct {
	Schema  string // "" when the DDL names none
	Name    string
	Pos     source.Pos // the name in CREATE TABLE
	Columns []*Column

	PrimaryKey *Key
	Uniques    []*Key   // UNIQUE constraints and unique indexes without a predicate
	Indexes    []*Index // every index, those of keys included
	Triggers   []*Trigger
	Checks     []string // table checks that are not about one column, as written

	PartitionBy []string // columns of PARTITION BY; expressions are left out
	Partitioned bool
	PartitionOf string // the table that it is a partition of, "" when it is none
	Inherited   bool   // other tables inherit from it, or it from others; partitions do not
	View        bool
	// NoRowIdentity: rows have no ctid or rowid (WITHOUT ROWID, ORGANIZATION INDEX, a view).
	NoRowIdentity bool
	// NoRowLocks says why no statement can lock single rows, "" where it can; what
	// stands behind "it" in a message: "it is memory-optimized".
	NoRowLocks string

	Comments []Comment // above CREATE TABLE, inside its parentheses, COMMENT ON TABLE

	// AnyCase: the database takes no notice of case in names, quoted or not. On
	// MySQL that is always true of columns, of tables where its system has it so.
	AnyCase bool
	Engine  string // MySQL's storage engine as written, "" when the DDL names none
	// Gaps is what the files leave unknown of the table, such as the columns of
	// CREATE TABLE AS. For a table with annotations Read has reported them.
	Gaps []*source.Error
	// KeyInText is where a text that the script runs as a statement speaks of keys of this
	// table; invalid where none does. Such keys are not read.
	KeyInText source.Pos
}

// Column returns the column of that stored name, nil when there is none.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
	}
	if t.AnyCase {
		for _, c := range t.Columns {
			if strings.EqualFold(c.Name, name) {
				return c
			}
		}
	}
	return nil
}

// Retyped returns a copy of the table in which columns have other types. Its columns, keys
// and indexes are its own and stand in the same order.
func (t *Table) Retyped(types map[*Column]Type) *Table {
	copied := *t
	columns, indexes := map[*Column]*Column{nil: nil}, map[*Index]*Index{nil: nil}
	copied.Columns = make([]*Column, len(t.Columns))
	for i, c := range t.Columns {
		own := *c
		if other, ok := types[c]; ok {
			own.Type = other
		}
		copied.Columns[i], columns[c] = &own, &own
	}
	copied.Indexes = make([]*Index, len(t.Indexes))
	for i, ix := range t.Indexes {
		own := *ix
		own.Columns = slices.Clone(ix.Columns)
		for j := range own.Columns {
			own.Columns[j].Column = columns[own.Columns[j].Column]
		}
		copied.Indexes[i], indexes[ix] = &own, &own
	}
	key := func(k *Key) *Key {
		own := *k
		own.index, own.Columns = indexes[k.index], make([]*Column, len(k.Columns))
		for i, c := range k.Columns {
			own.Columns[i] = columns[c]
		}
		return &own
	}
	if t.PrimaryKey != nil {
		copied.PrimaryKey = key(t.PrimaryKey)
	}
	copied.Uniques = make([]*Key, len(t.Uniques))
	for i, k := range t.Uniques {
		copied.Uniques[i] = key(k)
	}
	return &copied
}

// With returns the catalog with another table in the place of one that it has.
func (c *Catalog) With(old, other *Table) *Catalog {
	copied := *c
	copied.Tables = slices.Clone(c.Tables)
	copied.Tables[slices.Index(c.Tables, old)] = other
	return &copied
}

// QualifiedName returns schema.name, or name alone.
func (t *Table) QualifiedName() string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// Column is one column of a table.
type Column struct {
	Name       string
	Pos        source.Pos // the name in its definition
	Type       Type
	NotNull    bool   // NOT NULL, or part of the primary key where that implies it
	HasDefault bool   // DEFAULT, serial or identity
	Default    string // as written, "" when there is none or it is serial
	Identity   bool   // filled by the database: serial, identity, autoincrement, INTEGER PRIMARY KEY
	Reused     bool   // Identity gives numbers of deleted rows again
	Always     bool   // GENERATED ALWAYS AS IDENTITY: must not be written
	Generated  bool   // computed from other columns: must not be written
	OnUpdate   bool   // ON UPDATE CURRENT_TIMESTAMP: every change of the row writes it
	// MayUpdate: the DDL leaves that to a setting of the server. Before MySQL 8.0 and
	// MariaDB 10.10 the first TIMESTAMP of which no more is said is written so.
	MayUpdate bool
	Invisible bool   // SELECT * leaves it out
	Collation string // of its own, as written; read where the servers know it per column
	// Values are the only values allowed, from an enum type, a domain's or the
	// column's CHECK (c IN (…)); nil when the DDL names none.
	Values  []string
	Checks  []string // its checks as written, those that give Values included
	Longest int      // the longest text that its checks allow, in characters; 0 when they allow any
	// Least and Greatest are the whole numbers between which its checks hold it; nil where they
	// name none.
	Least, Greatest *int64
	Comments        []Comment
}

// Most returns how many characters a text in the column may have, or how many bytes:
// what its type and its checks allow, 0 when that is any number.
func (c *Column) Most() int {
	if c.Type.Length == 0 || c.Longest > 0 && c.Longest < c.Type.Length {
		return c.Longest
	}
	return c.Type.Length
}

// DefaultNull reports whether a new row has a null in the column unless it is given a value.
func (c *Column) DefaultNull() bool {
	return !c.NotNull && !c.Generated && (!c.HasDefault || strings.EqualFold(strings.Trim(strings.TrimSpace(c.Default), "()"), "null"))
}

// Class is the kind of value that a type holds; what the queue's words mean
// depends on it and not on the type's name.
type Class string

// The classes of types.
const (
	Unknown   Class = "unknown"
	Bool      Class = "bool"
	Int       Class = "int"
	Float     Class = "float"
	Decimal   Class = "decimal"
	Text      Class = "text"
	Bytes     Class = "bytes"
	Timestamp Class = "timestamp" // date and time; Type.Zone tells whether it knows its zone
	Date      Class = "date"
	TimeOfDay Class = "time"
	Interval  Class = "interval"
	UUID      Class = "uuid"
	JSON      Class = "json"
)

// Type is a column's type.
type Type struct {
	Raw    string // as written, for messages and casts
	Name   string // the database's own name of it in lower case: bigint, timestamptz; a domain's base type
	Schema string // of a user-defined type
	Class  Class  // an enum is Text
	Enum   bool   // an enum type: literals need no cast, parameters do
	Domain string // the domain's name when the column's type is one
	// Bits is 8, 16, 24, 32 or 64 of Int, 32 or 64 of Float, 0 unknown. Of a Bool
	// that is but a number it is the number's width: MySQL's tinyint(1) and bit(1).
	Bits     int
	Unsigned bool // of numbers: none is below zero
	Digits   int  // of numbers: how many decimal digits a value has at most; 0 unknown
	Scale    int  // of Decimal: how many of them stand behind the point, AnyScale where the type leaves that open
	// Length of Text and Bytes is the longest value, in what the server counts for the type; 0 is no
	// limit (always in SQLite). Chars: the type itself says that it counts characters.
	Length int
	Chars  bool
	// Zone: the type knows which moment is meant, whatever zone a session is in.
	Zone bool // of Timestamp and TimeOfDay
	// Shown: a literal of a type with Zone has none and is taken by the clock of the session, as are the times
	// that are shown, so that programs can keep times of another clock in it.
	Shown bool
	// Step is the smallest difference that a Timestamp or TimeOfDay keeps, 0 unknown.
	Step  time.Duration
	Array bool
	// Loose: the type is but a name, and the column stores numbers and text alike
	// (SQLite), so a Timestamp may be kept as either.
	Loose bool
	// Versioned: the database counts the value up with every write of the row, for all its
	// tables together (SQL Server's rowversion).
	Versioned bool

	bare bool // Oracle's NUMBER without digits, which holds whole numbers and others
}

// AnyScale is the Scale of a type whose values have as many digits behind the point as they
// were written with.
const AnyScale = -1

// Range returns the least and the greatest of the whole numbers that a column of the type holds, nil
// where the type does not say.
func (t Type) Range() (least, most *big.Int) {
	if t.Class != Int || t.Array || t.Loose || t.Bits == 0 {
		return nil, nil
	}
	count := new(big.Int).Lsh(big.NewInt(1), uint(t.Bits))
	least = new(big.Int)
	if !t.Unsigned {
		least.Neg(new(big.Int).Rsh(count, 1))
	}
	return least, count.Sub(count.Add(count, least), big.NewInt(1))
}

// Counts reports whether values of the type are numbers.
func (t Type) Counts() bool {
	return !t.Array && (t.Class == Int || t.Class == Decimal || t.Class == Float)
}

// WholeDigits is how many digits in front of the point a number of the type can have, 0 unknown.
func (t *Type) WholeDigits() int { return max(0, t.Digits-max(0, t.Scale)) }

// KeepsDigits reports whether a column keeps a text of digits as it came, with the
// zeros in front. SQLite makes a number of it, unless the type is one of texts.
func (t Type) KeepsDigits() bool {
	if !t.Loose {
		return t.Class == Text && !t.Enum
	}
	contains := func(part string) bool { return strings.Contains(t.Name, part) }
	return t.Name == "" || !contains("int") && slices.ContainsFunc([]string{"char", "clob", "text", "blob"}, contains)
}

// FillsUp reports whether a column of bytes holds shorter values filled up to its length.
func (t Type) FillsUp() bool { return t.Class == Bytes && t.Name == "binary" && !t.Loose }

// Bytes returns what a column of the class Bytes holds where a text is written to it: the
// text itself, the bytes of `\x0a1b`, the number of a column of bits; filled up where the
// type fills up shorter values.
func (t Type) Bytes(text string) []byte {
	value := []byte(text)
	if digits, ok := strings.CutPrefix(text, `\x`); ok {
		if raw, err := hex.DecodeString(digits); err == nil {
			value = raw
		}
	} else if n, err := strconv.ParseUint(text, 10, 64); err == nil && t.Name == "bit" && !t.Loose {
		value = bytes.TrimLeft(binary.BigEndian.AppendUint64(nil, n), "\x00")
		if n == 0 {
			value = []byte{0}
		}
	}
	if t.FillsUp() && len(value) < t.Length {
		value = append(value, make([]byte, t.Length-len(value))...)
	}
	return value
}

// Key is a primary key or a unique constraint.
type Key struct {
	Name    string
	Columns []*Column
	Pos     source.Pos
	// Deferrable: rows may be alike in it until the transaction ends.
	Deferrable bool

	index   *Index // that enforces it
	foreign bool   // the index was there before it, and stays when it goes
}

// Index returns the index that enforces the key.
func (k *Key) Index() *Index { return k.index }

// Index is an index of any kind.
type Index struct {
	Name    string
	Pos     source.Pos
	Unique  bool
	Columns []IndexColumn
	Where   string // predicate as written, "" when there is none
	Method  string // btree unless the DDL says otherwise; rowid where SQLite's table is the index
	// Invisible: kept up to date, but no query uses it.
	Invisible bool
	// Clustered: the rows of the table are kept in it, where the DDL can say so (SQL Server).
	Clustered bool
	// Auto: the server made up its name, which may be another when the table is made anew (SQLite).
	Auto bool
	// Implicit: InnoDB made it for a foreign key, and drops it once another index begins with its columns. An index
	// that does is always there.
	Implicit bool
	// Include are columns that stand in it beside its keys, where the reader of the DDL
	// knows them (SQL Server).
	Include []*Column

	noRowLocks string // see Table.NoRowLocks
}

// IndexColumn is one key of an index.
type IndexColumn struct {
	Column     *Column // nil for an expression
	Expr       string  // of an expression, as written
	Length     int     // of a prefix: how many characters or bytes the index holds; 0 is all
	Desc       bool
	NullsFirst bool // as written or as the database defaults
}

// Trigger is one trigger on a table.
type Trigger struct {
	Name string
	Pos  source.Pos
	// Events are what it fires on, of insert, update and delete; nil where the reader
	// of the database does not tell.
	Events   []string
	Instead  bool // INSTEAD OF: what it fires on happens only as it says
	Disabled bool

	fills []fill // columns that it gives the next number of a sequence
}

// Fires reports whether a trigger is known to fire on an event: insert, update
// or delete.
func (t *Table) Fires(event string) bool {
	return slices.ContainsFunc(t.Triggers, func(tr *Trigger) bool { return !tr.Disabled && slices.Contains(tr.Events, event) })
}

// Comment is one comment as the user wrote it, less its marks.
type Comment struct {
	Text string
	// Pos covers Text in the file. Where the text had to be unescaped (COMMENT
	// ON … IS 'it''s') Exact is false and offsets within Text are approximate.
	Pos   source.Pos
	Exact bool
	// AboveFirst: stands inside the parentheses on a line of its own above the
	// first column, so it may speak of the table as well as of that column.
	AboveFirst bool
	// Beside is the last column, where the comment is one of the table behind its
	// closing parenthesis, on the line of that column; it may speak of either.
	Beside *Column
	// Of is what COMMENT ON names and the schema does not have.
	Of string

	stored   bool   // the text of COMMENT ON, which a later one replaces
	property string // of a stored comment: the name that it is stored under, "" where there is one only
}
