package oraclequeues_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/conformance/gen/binaryora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositeguardedora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositeora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/deleteora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/dueora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/hostileora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/integerora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/leaseora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/lockora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedrunora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/nulltimeora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionrunora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/popora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/resultora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/rowidora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/severalora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/singleora112"
	"github.com/qgen-dev/qgen/test/conformance/gen/singleora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenstateora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicora19"
	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/oracle"
)

// news are the functions that make the queues of all packages for Oracle.
var news = map[string]any{
	"binaryora19":           binaryora19.New,
	"compositeguardedora19": compositeguardedora19.New,
	"compositeora19":        compositeora19.New,
	"deleteora19":           deleteora19.New,
	"dueora19":              dueora19.New,
	"guardedora19":          guardedora19.New,
	"holdora19":             holdora19.New,
	"hostileora19":          hostileora19.New,
	"integerora19":          integerora19.New,
	"leaseora19":            leaseora19.New,
	"lockora19":             lockora19.New,
	"movedrunora19":         movedrunora19.New,
	"nulltimeora19":         nulltimeora19.New,
	"partitionora19":        partitionora19.New,
	"partitionrunora19":     partitionrunora19.New,
	"popora19":              popora19.New,
	"resultora19":           resultora19.New,
	"rowidora19":            rowidora19.New,
	"severalora19":          severalora19.New,
	"singleora112":          singleora112.New,
	"singleora19":           singleora19.New,
	"tokenora19":            tokenora19.New,
	"tokenstateora19":       tokenstateora19.New,
	"topicora19":            topicora19.New,
}

// unanswered are packages whose operations go on by what they are answered in ways that
// this server does not know: their texts are parsed, and not sent here.
var unanswered = []string{"logora19", "sidetableora19"}

// TestEveryFileIsSent calls every method of every package. What arrives is the text
// of one of its files, with a bind for each placeholder, and each file is sent.
func TestEveryFileIsSent(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join("..", "..", "conformance", "gen", "*ora[0-9]*"))
	check.Err(t, err)
	if len(dirs) != len(news)+len(unanswered) {
		t.Errorf("there are %d packages for Oracle, and %d are tested", len(dirs), len(news))
	}
	for name, makes := range news {
		t.Run(name, func(t *testing.T) {
			server, db := start(t)
			e := everyFile{t: t, left: map[string]string{}, known: map[string]bool{}}
			files, err := filepath.Glob(filepath.Join("..", "..", "conformance", "gen", name, "sql", "*.sql"))
			check.Err(t, err)
			for _, file := range files {
				file = strings.TrimSuffix(filepath.Base(file), ".sql")
				text := collapsed(texts(t, name)(file))
				e.left[text], e.known[text] = file, true
			}
			server.Handle(e.answer)
			q := reflect.ValueOf(makes).Call([]reflect.Value{reflect.ValueOf(db)})[0]
			e.calls(q)
			if hold := q.MethodByName("Hold"); hold.IsValid() {
				out := hold.Call([]reflect.Value{reflect.ValueOf(t.Context())})
				e.calls(out[0])
				out[0].MethodByName("Close").Call(nil)
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			for _, file := range e.left {
				t.Errorf("%s.sql is never sent", file)
			}
		})
	}
}

// everyFile answers whatever a file says.
type everyFile struct {
	t     *testing.T
	mu    sync.Mutex
	left  map[string]string // texts that have not come, with the names of their files
	known map[string]bool
}

var (
	newKey   = regexp.MustCompile(`RETURNING .+ INTO :(\w+)$`)
	counts   = regexp.MustCompile(`:(\w+) := changed\w*;`)
	cursors  = regexp.MustCompile(`OPEN :(\w+) FOR\s+SELECT`)
	selected = regexp.MustCompile(`^SELECT /\* [\w.]+ \*/(?:\s+\*\s+FROM\s+\(\s+SELECT)?`)
)

// answer answers a statement with one row, in which each column is 1.
func (e *everyFile) answer(r oracle.Request) oracle.Response {
	if r.Kind != oracle.KindExec {
		return oracle.Answer()
	}
	text := collapsed(r.Text)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known[text] {
		e.t.Errorf("no file of the package holds\n%s", r.Text)
	}
	delete(e.left, text)
	if m := newKey.FindStringSubmatch(r.Text); m != nil {
		return oracle.Answer().Affected(1).Out(m[1], 1)
	}
	if m := counts.FindStringSubmatch(r.Text); m != nil {
		ones := make([]int64, r.Bind(m[1]).Room)
		for i := range ones {
			ones[i] = 1
		}
		return oracle.Answer().Out(m[1], ones)
	}
	if at := cursors.FindStringSubmatchIndex(r.Text); at != nil {
		columns, row := ones(r.Text[at[1]:])
		return oracle.Answer().RefCursor(r.Text[at[2]:at[3]], columns, row)
	}
	if at := selected.FindStringIndex(r.Text); at != nil {
		columns, row := ones(r.Text[at[1]:])
		return oracle.Answer().Rows(columns, row)
	}
	return oracle.Answer().Affected(1)
}

// ones makes a column and a value for each item of a list that ends before FROM.
func ones(list string) (columns []oracle.Column, row oracle.Row) {
	depth, quote, more := 0, byte(0), 1
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && c == ',':
			more++
		case depth == 0 && regexp.MustCompile(`^\s+FROM\s`).MatchString(list[i:]):
			i = len(list)
		}
	}
	for range more {
		columns, row = append(columns, oracle.Column{Name: "C", Type: "VARCHAR2(36)"}), append(row, "1")
	}
	return columns, row
}

var (
	blanks  = regexp.MustCompile(`\s+`)
	slots   = regexp.MustCompile(`:v\d+`)
	without = regexp.MustCompile(` AND NOT \(\S+ = (?::v0|CHARTOROWID\(:v0\))\)`)
	noneOf  = regexp.MustCompile(`([^\s()]+ <> :v0)(?: AND [^\s()]+ <> :v0)+`)
	oneOf   = regexp.MustCompile(strings.ReplaceAll(`E(?: OR E)+`, "E", `(?:\([^\s()]+ = :v0(?: AND [^\s()]+ = :v0)*\)|[^\s()]+ = :v0)`))
)

// collapsed is a text whose lists have one row, or none where that can be.
func collapsed(text string) string {
	text = blanks.ReplaceAllString(text, " ")
	text = without.ReplaceAllString(slots.ReplaceAllString(text, ":v0"), "")
	text = noneOf.ReplaceAllString(text, "$1")
	return oneOf.ReplaceAllStringFunc(text, func(all string) string {
		one, _, _ := strings.Cut(all, " OR ")
		return one
	})
}

// calls calls the methods of a queue that speak to the database.
func (e *everyFile) calls(q reflect.Value) {
	for i := range q.NumMethod() {
		name := q.Type().Method(i).Name
		if slices.Contains([]string{"Work", "WithTx", "Hold", "Close", "Commit"}, name) {
			continue
		}
		tries := []int64{0}
		if name == "Fail" {
			tries = []int64{0, 1, 3, 99}
		}
		for _, n := range tries {
			m := q.Method(i)
			var in []reflect.Value
			for k := range m.Type().NumIn() {
				in = append(in, e.argument(m.Type().In(k), n))
			}
			call := m.Call
			if m.Type().IsVariadic() {
				call = m.CallSlice
			}
			out := call(in)
			err, _ := out[len(out)-1].Interface().(error)
			if err != nil && name != "Verify" { // which finds a problem in each row
				e.t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// argument makes an argument of a type.
func (e *everyFile) argument(want reflect.Type, tries int64) reflect.Value {
	switch want {
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(e.t.Context())
	case reflect.TypeFor[error]():
		return reflect.ValueOf(errors.New("no"))
	case reflect.TypeFor[time.Duration]():
		return reflect.ValueOf(time.Second)
	case reflect.TypeFor[*sql.Tx]():
		e.t.Fatal("no method but WithTx takes a transaction")
	}
	v := reflect.New(want).Elem()
	switch want.Kind() {
	case reflect.Int:
		v.SetInt(3)
	case reflect.String:
		v.SetString("mail")
	case reflect.Pointer:
		v.Set(reflect.New(want.Elem()))
		v.Elem().Set(e.argument(want.Elem(), tries))
	case reflect.Slice: // two, of which the second is like the first
		v.Set(reflect.MakeSlice(want, 2, 2))
		for i := range 2 {
			v.Index(i).Set(e.argument(want.Elem(), tries))
		}
	case reflect.Struct:
		e.fill(v, tries)
	}
	return v
}

// fill makes a job like the rows that come.
func (e *everyFile) fill(v reflect.Value, tries int64) {
	for _, name := range []string{"ID", "Select", "Seq", "Region", "Tries", "Func", "Count"} {
		f := v.FieldByName(name)
		switch {
		case !f.IsValid():
		case f.Kind() == reflect.String:
			f.SetString("1")
		case f.Kind() == reflect.Slice:
			f.SetBytes([]byte("1"))
		case name == "Tries" || name == "Func":
			f.SetInt(tries)
		default:
			f.SetInt(1)
		}
	}
}
