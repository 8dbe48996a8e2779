package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// This file holds what the statements of every plan keep to, whatever the table
// is: each test reads it off the plans for all tables of the tests, with every
// strategy that they allow and for every version at which a text may change.
// CONTRIBUTING.md lists the promises.

// everyPlan runs a test over every plan.
func everyPlan(t *testing.T, test func(t *testing.T, m made)) {
	t.Helper()
	planOnce.Do(func() {
		for _, c := range tableCases(t) {
			d, _ := dialect.Lookup(c.engine)
			for what, m := range c.variants(t, versionsOf(d)) {
				for _, s := range m.Statements() {
					if s.Procedure != nil { // what is promised of a statement is so of the procedure that is called
						_, s.SQL, _ = strings.Cut(s.Procedure.DDL, "\nAS\n")
						s.SQL = strings.TrimPrefix(s.SQL, "SET NOCOUNT ON;\n")
					}
				}
				if planned[c.engine+" "+c.name] == nil {
					planned[c.engine+" "+c.name] = map[string]made{}
				}
				planned[c.engine+" "+c.name][what] = m
			}
		}
	})
	seen := 0
	for _, name := range slices.Sorted(maps.Keys(planned)) {
		t.Run(name, func(t *testing.T) {
			for _, what := range slices.Sorted(maps.Keys(planned[name])) {
				seen++
				if !t.Run(what, func(t *testing.T) { test(t, planned[name][what]) }) {
					return // the others say the same
				}
			}
		})
	}
	if seen < 200 && !t.Failed() {
		t.Errorf("only %d plans were seen", seen)
	}
}

// planned are the plans by case and by what makes them differ.
var (
	planOnce sync.Once
	planned  = map[string]map[string]made{}
)

// versionsOf returns the versions at which the texts of a dialect may change.
func versionsOf(d *dialect.Dialect) []string {
	versions := []string{d.Minimum.String(), d.Default.String()}
	add := func(v dialect.Version) {
		if d.Minimum.Less(v) {
			versions = append(versions, v.String())
		}
	}
	for _, v := range d.Capabilities {
		add(v)
	}
	for _, fragment := range d.Fragments {
		for _, text := range fragment {
			add(text.Since)
		}
	}
	for _, clocks := range d.Clocks {
		for _, clock := range clocks {
			add(clock.Since)
		}
	}
	slices.Sort(versions)
	return slices.Compact(versions)
}

// texts writes tests as the statements of the plan do, with prefix before every
// column. Those that need an argument are left out.
func (m made) texts(t *testing.T, prefix string, tests []queue.Test) []string {
	t.Helper()
	s := m.scope(t)
	s.prefix = prefix
	tests = slices.DeleteFunc(slices.Clone(tests), func(q queue.Test) bool { return q.Op == queue.Dead && m.spec.Liveness.Listed })
	return slices.DeleteFunc(s.tests(tests), func(text string) bool {
		return strings.Contains(text, dialect.Mark(0)[:1])
	})
}

// scope returns what the statements of the plan were written with.
func (m made) scope(t *testing.T) *scope {
	t.Helper()
	version, err := dialect.ParseVersion(strings.TrimPrefix(m.Engine, m.d.Title+" "))
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{
		spec: m.spec, d: m.d, version: version, pkg: m.Package,
		roles: map[*schema.Column]*queue.Column{}, fields: map[*schema.Column]*Field{},
	}
	for _, c := range slices.Concat(m.spec.Columns, m.spec.Elsewhere) {
		b.roles[c.Column] = c
	}
	return b.newScope()
}

// settles returns what settles claims, by the transition that it carries out.
func (m made) settles() map[queue.TransitionName]*Settle {
	all := map[queue.TransitionName]*Settle{
		queue.Start: m.Start, queue.Finish: m.Complete, queue.Retry: m.Retry, queue.Fail: m.Fail, queue.Release: m.Requeue, queue.Renew: m.Extend,
	}
	maps.DeleteFunc(all, func(_ queue.TransitionName, s *Settle) bool { return s == nil })
	return all
}

// claims returns the statements by which a claim may find rows and keep others
// from them.
func (m made) claims() []*Statement {
	if m.Claim.Lock != nil {
		return []*Statement{m.Claim.Lock} // what takes the rows then goes by their keys
	}
	all := []*Statement{m.Claim.Statement}
	for _, r := range m.Claim.Ladder {
		all = append(all, r.Statement)
	}
	return all
}

// finds returns the statement that decides which jobs an operation settles.
func (s *Settle) finds() *Statement {
	if s.Lock != nil {
		return s.Lock // what writes the rows then goes by their keys
	}
	return s.Statement
}

// finds returns the statements that decide which rows a sweep changes.
func (s *Sweep) finds() []*Statement {
	var all []*Statement
	for _, step := range s.Steps {
		all = append(all, cmp.Or(step.Lock, step.Statement)) // what writes locked rows goes by their keys
	}
	return all
}

// carries reports whether a statement has the values of a field, one for each
// job, among its arguments.
func carries(s *Statement, f *Field) bool {
	is := func(have *Field) bool { return have.Name == f.Name } // a side table has a key of its own
	return slices.ContainsFunc(s.Args, func(a Arg) bool {
		return a.Kind == ArgBatch && is(a.Field) || (a.Kind == ArgBatchAll || a.Kind == ArgList) && slices.ContainsFunc(a.Batch, is)
	})
}

// outside returns a statement less what stands in parentheses and quotes: the
// words of the statement itself, without those of its sub-selects.
func outside(sql string) string {
	var b strings.Builder
	depth := 0
	var quote rune
	for _, r := range sql {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
			continue
		case r == '\'' || r == '"' || r == '`':
			quote = r
			continue
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// withoutOthers returns a statement less the sub-queries over other rows of a group.
func withoutOthers(sql string) string {
	for _, begin := range []string{"(SELECT 1\n", "(SELECT count(*)\n", "(SELECT other."} {
		for {
			before, rest, ok := strings.Cut(sql, begin)
			if !ok {
				break
			}
			depth, end := 1, 0
			for ; end < len(rest) && depth > 0; end++ {
				switch rest[end] {
				case '(':
					depth++
				case ')':
					depth--
				}
			}
			sql = before + "0" + rest[end:]
		}
	}
	return sql
}

// What settles a job compares the key and every column of the fence with the
// values that the claim left in the job.
func TestSettlesCompareTheFence(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		if o := m.Offset; o != nil {
			for _, s := range []*Statement{o.Advance, o.Lock, o.Held, o.Pass, o.Note, o.Requeue, o.Extend} {
				if !regexp.MustCompile(`(?is)WHERE  consumer_group = \S+\s+AND    token = `).MatchString(s.SQL) {
					t.Errorf("%s does not compare the group and the token:\n%s", s.Name, s.SQL)
				}
			}
			return
		}
		if m.Guarantee > queue.FenceStatus && len(m.Fence) == 0 && !slices.ContainsFunc(m.Key, func(k *Field) bool {
			return slices.ContainsFunc(m.spec.Fence.Columns, func(c *schema.Column) bool { return c.Name == k.Column })
		}) {
			t.Errorf("the level is %s, and no column is compared", m.Guarantee)
		}
		for _, settle := range m.settles() {
			s := settle.finds()
			for i, f := range slices.Concat(m.Key, m.Fence) {
				if !carries(s, f) {
					t.Errorf("%s does not send %s of its jobs", s.Name, f.Name)
				}
				column := f.Column
				if !f.RowID {
					column = m.d.Ident(f.Column)
				}
				column = regexp.QuoteMeta(column)
				if side := m.spec.Side; side != nil && side.Table != nil && i < len(m.Key) {
					column = "(?:" + column + "|" + regexp.QuoteMeta(m.d.Ident(side.Columns.Key[i].Name)) + ")"
				}
				compared := regexp.MustCompile(`(?s)(?:WHERE|\bON ).*` + column + `( = |[^=]*\)? IN \()`)
				if !compared.MatchString(s.SQL) {
					t.Errorf("%s does not compare %s:\n%s", s.Name, column, s.SQL)
				}
			}
		}
	})
}

// What is written to other tables for a job is written for the claim that it came from:
// the statements name the rows by the key and the fence, and so does the one that changes
// the row itself.
func TestCompanionsCompareTheFence(t *testing.T) {
	seen := 0
	everyPlan(t, func(t *testing.T, m made) {
		for _, settle := range m.settles() {
			if !settle.WritesOthers() {
				continue
			}
			for _, s := range settle.Behind {
				if seen++; !carries(s, m.Key[0]) {
					t.Errorf("%s does not go by the keys of the rows that were locked:\n%s", s.Name, s.SQL)
				}
			}
			if settle.Lock == nil {
				t.Errorf("%s locks no rows before other tables are written", settle.Statement.Name)
			}
			for _, s := range append(slices.Clone(settle.With), settle.Statement) {
				seen++
				for _, f := range slices.Concat(m.Key, m.Fence) {
					if !carries(s, f) || !strings.Contains(s.SQL, m.d.Ident(f.Column)) {
						t.Errorf("%s does not compare %s:\n%s", s.Name, f.Name, s.SQL)
					}
				}
			}
		}
		if m.Enqueue != nil {
			for _, s := range m.Enqueue.With {
				for _, f := range m.Key {
					if seen++; !carries(s, f) {
						t.Errorf("%s does not go by the keys of the rows that were added:\n%s", s.Name, s.SQL)
					}
				}
			}
		}
		for _, sweep := range m.Sweeps() {
			for _, step := range sweep.Steps {
				if step.Lock == nil {
					continue
				}
				for _, s := range slices.Concat(step.With, []*Statement{step.Statement}, step.Behind) {
					if seen++; s.Has(ArgLimit) || !carries(s, m.Key[0]) {
						t.Errorf("%s does not go by the keys of the rows that were locked:\n%s", s.Name, s.SQL)
					}
				}
			}
		}
	})
	if seen == 0 {
		t.Error("no statement over another table was seen")
	}
}

// Of the columns that could fence a claim the strongest does: a token before a
// counter before the time of the claim before the state alone.
func TestStrongestFenceIsTaken(t *testing.T) {
	columns := []struct {
		ddl    string
		level  queue.FenceLevel
		fenced string
	}{
		{"mark uuid -- qgen:token", queue.FenceToken, "mark"},
		{"tries int NOT NULL -- qgen:attempts up on=claim max=3", queue.FenceAttempt, "tries"},
		{"taken timestamptz -- qgen:claimed timeout=5m", queue.FenceClaimed, "taken"},
		{"note text", queue.FenceStatus, ""},
	}
	for i, want := range columns {
		var ddl strings.Builder
		ddl.WriteString("-- qgen:queue jobs\nCREATE TABLE jobs (\n")
		for _, c := range columns[i:] { // without those that are stronger
			code, words, _ := strings.Cut(c.ddl, " -- ")
			fmt.Fprintf(&ddl, "    %s, -- %s\n", code, words)
		}
		ddl.WriteString("    state text NOT NULL, -- qgen:status ready=new running=busy done=done failed=dead\n    id bigint PRIMARY KEY\n);\n")
		c := tableCase{engine: "postgresql", ddl: ddl.String()}
		packages := c.plans(t, "version: \"1\"\nqueues:\n  - {schema: [x], engine: postgresql, gen: {go: {out: x}}}\n")
		if len(packages) != 1 {
			t.Fatalf("%d plans for\n%s", len(packages), ddl.String())
		}
		p := packages[0]
		if p.Guarantee != want.level {
			t.Errorf("the level is %s, want %s, for\n%s", p.Guarantee, want.level, ddl.String())
		}
		if want.fenced != "" && !slices.ContainsFunc(p.Fence, func(f *Field) bool { return f.Column == want.fenced }) {
			t.Errorf("%s is not part of the fence", want.fenced)
		}
		if text := strings.Join(p.Doc, "\n"); !strings.Contains(text, "at level "+want.level.String()+":") {
			t.Errorf("the package comment does not say that the level is %s:\n%s", want.level, text)
		}
	}
}

// product is two whole numbers that a statement multiplies.
var product = regexp.MustCompile(`(?:^|[ (])(\d+) \* (\d+)\b(?:[^.\d]|$)`)

// A server multiplies whole numbers of 32 bits as such: an hour in microseconds is more.
func TestProductsFitTheirNumbers(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		for _, s := range m.Statements() {
			for _, p := range product.FindAllStringSubmatch(s.SQL, -1) {
				a, _ := strconv.ParseInt(p[1], 10, 64)
				b, _ := strconv.ParseInt(p[2], 10, 64)
				if a*b > math.MaxInt32 {
					t.Errorf("%s multiplies %s by %s:\n%s", s.Name, p[1], p[2], s.SQL)
				}
			}
		}
	})
}

// Values of states stand in the statements as literals, and what an advised
// index is limited to stands in the statements that it serves, but for blanks, case and parentheses: a
// partial index is not used for a parameter.
func TestStatesAreLiterals(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		if m.Claim == nil {
			return // rows are read behind a mark
		}
		for name, s := range m.spec.States {
			tests := slices.DeleteFunc(slices.Clone(s.Tests), func(t queue.Test) bool { return !constant(t) })
			for _, test := range tests {
				if len(m.texts(t, "", []queue.Test{test})) == 0 {
					t.Errorf("%s is told by an argument", name)
				}
			}
		}
		for _, ix := range m.Indexes {
			_, where, limited := strings.Cut(ix.DDL, "\nWHERE  ")
			if !limited {
				continue
			}
			for condition := range strings.SplitSeq(where, "\nAND    ") {
				for _, s := range m.servedBy(t, ix) {
					if !strings.Contains(normal(s.SQL), normal(condition)) && !impliedByKey(s, condition) {
						t.Errorf("the index %s has %q, which %s does not say:\n%s", ix.Name, condition, s.Name, s.SQL)
					}
				}
			}
		}
	})
}

// servedBy returns the statements for which an index is advised.
func (m made) servedBy(t *testing.T, ix Index) []*Statement {
	t.Helper()
	switch {
	case strings.HasPrefix(ix.Why, "serves Claim: ready") && m.Claim.Pick != nil:
		return []*Statement{m.Claim.Pick}
	case strings.HasPrefix(ix.Why, "serves Claim: ready"):
		return m.claims()
	case strings.HasPrefix(ix.Why, "serves Claim: the running rows of a group"), strings.HasPrefix(ix.Why, "serves Claim: who is before"):
		return m.ofOthers()
	case strings.HasPrefix(ix.Why, "serves Claim: reads back"):
		return []*Statement{m.Claim.Read}
	case strings.HasPrefix(ix.Why, "serves Recover"):
		return m.Recover.finds()
	case strings.HasPrefix(ix.Why, "serves Enqueue"):
		return []*Statement{m.Enqueue.One}
	case strings.HasPrefix(ix.Why, "serves Complete"):
		return []*Statement{m.Complete.Statement}
	}
	t.Fatalf("this test does not know which statements this index is for: %s", ix.Why)
	return nil
}

// ofOthers returns the claims as they speak of other rows of a group: without the name
// of those.
func (m made) ofOthers() []*Statement {
	var list []*Statement
	for _, s := range m.claims() {
		list = append(list, &Statement{Name: s.Name, SQL: strings.ReplaceAll(s.SQL, "other.", "")})
	}
	return list
}

// impliedByKey reports whether a statement looks for values of a column, which
// says as well that it is not null.
func impliedByKey(s *Statement, condition string) bool {
	column, isNotNull := strings.CutSuffix(condition, " IS NOT NULL")
	return isNotNull && (strings.Contains(s.SQL, column+" = ") || strings.Contains(s.SQL, column+" IN ("))
}

// A statement that picks rows and locks them names the state that it leaves
// within the sub-select that locks, and only there: repeated outside, it is
// tested again for every row of the table when statistics are out of date.
func TestLockingPickNamesTheStateOnce(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		pick := func(s *Statement, tests []queue.Test) {
			t.Helper()
			for _, text := range m.texts(t, "", tests) {
				want := 1
				if picksUnlocked(s.SQL) {
					want = 2 // the sub-select locks nothing there
				}
				looks, _, _ := strings.Cut(s.SQL, ") AS candidate\n") // what it locks behind that it asks again
				if n := conditions(looks, text); n != want {
					t.Errorf("%s says %q %d times, want once:\n%s", s.Name, text, n, s.SQL)
				}
			}
			if strings.HasPrefix(s.SQL, "SELECT") || strings.Contains(s.SQL, "OPEN candidate;") ||
				m.spec.Group != nil && (s == m.Claim.Lock || strings.Contains(s.SQL, "\nORDER  BY")) {
				return // what it locks comes back, and is then taken by its key; or nothing is picked before
			}
			if !strings.Contains(s.SQL, "SELECT") || strings.Contains(outside(s.SQL), "\nLIMIT ") || strings.Contains(s.SQL, "\nUPDATE picked\n") || strings.Contains(s.SQL, "\nDELETE FROM picked") {
				return // what is picked is what is written
			}
			if asks := onlyPicked(s.SQL); asks != "" {
				t.Errorf("%s asks more of the picked rows than that they are picked: %s\n%s", s.Name, asks, s.SQL)
			}
		}
		if ready := m.spec.States[queue.Ready]; ready != nil {
			switch m.Strategy {
			case "returning", "token", "pop":
				apart := m.scope(t).apart()
				for _, s := range m.claims() {
					if len(apart) > 0 && s.Has(ArgAhead) {
						continue // rows of each of several values are found by themselves, without locks
					}
					pick(s, ready.Tests)
				}
			}
		}
		for name, s := range m.sweeps() {
			tr := m.spec.Transitions[name]
			if tr == nil && m.LeaseTable != nil {
				continue // of the side table
			}
			tests := tr.Tests
			if name == queue.Recover || name == queue.GiveUp {
				tests = slices.Concat(tests, m.spec.Expired)
			}
			pick(s, tests)
		}
		for _, p := range m.Purges {
			for _, s := range p.finds() {
				pick(s, m.purged(s))
			}
		}
	})
}

// picksUnlocked reports whether a statement picks its rows by a sub-select that locks none.
func picksUnlocked(sql string) bool {
	return strings.Contains(sql, "ROWNUM <= ") && !strings.Contains(sql, "FOR    UPDATE SKIP LOCKED") && !strings.HasPrefix(sql, "SELECT ")
}

// onlyPicked returns the first condition outside of the sub-selects that is not
// about which rows were picked, "" when there is none.
func onlyPicked(sql string) string {
	words, _, _ := strings.Cut(outside(sql), "RETURNING ")
	if _, rest, ok := strings.Cut(words, "SKIP LOCKED;\n"); ok { // a cursor picks
		words = strings.TrimSuffix(rest, " ;\nEND;")
	}
	if picksUnlocked(sql) {
		return "" // the sub-select locks nothing there
	}
	parts := regexp.MustCompile(`\b(?:WHERE|AND|ON) +`).Split(words, -1)
	for i, part := range parts[1:] {
		condition := strings.TrimSpace(part)
		if i == len(parts)-2 { // the last one may be followed by what is written
			condition, _, _ = strings.Cut(condition, "\nSET ")
		}
		found := regexp.MustCompile(`^([^ ]+ )?(= ANY|IN|=)$`).MatchString(condition) // a list, or a single row
		joined := regexp.MustCompile(`^[^ ]+ = [^ ]*picked[^ ]*\.[^ ]+$`).MatchString(strings.TrimSpace(condition))
		if !found && !joined {
			return condition
		}
	}
	return ""
}

// sweeps returns the statements of Recover and Redrive by what they carry out.
func (m made) sweeps() map[queue.TransitionName]*Statement {
	all := map[queue.TransitionName]*Statement{}
	if m.Recover != nil {
		for _, s := range m.Recover.finds() {
			name := queue.Recover
			if strings.HasPrefix(s.Name, "recover_failed") {
				name = queue.GiveUp
			}
			if m.spec.Transitions[name] != nil {
				all[name] = s
			}
		}
	}
	if m.Redrive != nil {
		all[queue.Redrive] = m.Redrive.finds()[0]
	}
	return all
}

// purged are the tests of the rows that a statement of Purge deletes, but for their age.
func (m made) purged(s *Statement) []queue.Test {
	if strings.HasPrefix(s.Name, purgeOverdue) {
		return m.spec.Waiting
	}
	for _, name := range []queue.StateName{queue.Done, queue.Failed} {
		if state := m.spec.States[name]; state != nil && strings.HasPrefix(s.Name, "purge_"+string(name)) {
			return state.Tests
		}
	}
	return nil
}

// Whatever moves a row says in which state the row has to be: what settles
// claims beside the fence, and a claim that locks nothing while it picks once
// more when it takes the row.
func TestTransitionsNameTheStateTheyLeave(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		if m.Offset != nil {
			return // rows have no state
		}
		says := func(s *Statement, times int, tests []queue.Test) {
			t.Helper()
			joined := m.texts(t, m.d.Ident(m.spec.Table.Name)+".", tests)
			for i, text := range m.texts(t, "", tests) {
				n := conditions(s.SQL, text)
				if joined[i] != text {
					n += conditions(s.SQL, joined[i])
				}
				if n != times {
					t.Errorf("%s says %q %d times, want %d:\n%s", s.Name, text, n, times, s.SQL)
				}
			}
		}
		ready := []queue.Test{}
		if s := m.spec.States[queue.Ready]; s != nil {
			ready = s.Tests
		}
		for name, s := range m.settles() {
			if m.LeaseTable != nil {
				// A claim is ended where its row still is what it was when it was ready.
				for _, text := range m.texts(t, m.d.Ident(m.spec.Table.Name)+".", slices.DeleteFunc(slices.Clone(ready), func(t queue.Test) bool { return !constant(t) })) {
					if !strings.Contains(s.finds().SQL, text) {
						t.Errorf("%s does not say %q:\n%s", s.Statement.Name, text, s.finds().SQL)
					}
				}
				continue
			}
			if m.spec.Away != nil {
				// The table is the state.
				if !strings.Contains(s.finds().SQL, m.d.Ident(m.spec.Away.Spec.Table.Name)) {
					t.Errorf("%s does not look where jobs run:\n%s", s.Statement.Name, s.finds().SQL)
				}
				continue
			}
			tests := m.spec.Transitions[name].Tests
			if len(tests) == 0 && m.spec.States[queue.Running] == nil {
				// A job that runs is still as it was claimed, but it may expire, and other tables
				// may change.
				tests = slices.DeleteFunc(slices.Clone(ready), func(t queue.Test) bool {
					member := slices.ContainsFunc(m.spec.Members, func(of queue.Test) bool { return of.SQL == t.SQL })
					return t.Op == queue.Raw && !member || t.Column != nil && t.Column == m.spec.Expires
				})
			}
			// Of a share whose rows leave with their jobs, a row that is there is the state.
			if len(tests) == 0 && len(m.Fence) == 0 && m.Strategy != "hold" && (m.Strategy != "partition" || !m.spec.DoneDeletes) {
				t.Errorf("%s leaves no state", s.Statement.Name)
			}
			says(s.finds(), 1, tests)
		}
		// Rows of each of several values are found by themselves.
		apart := m.scope(t).apart()
		if m.Claim.Pick != nil && len(apart) == 0 {
			says(m.Claim.Pick, 1, ready)
		}
		for _, s := range m.claims() {
			if len(apart) > 0 && s.Has(ArgAhead) {
				says(s, 1, apart)
				continue
			}
			times := 1
			if m.Strategy == "advisory" || picksUnlocked(s.SQL) || s.Has(ArgAhead) {
				times = 2 // what picks locks no row
			}
			says(s, times, ready)
		}
	})
}

// What changes rows that nobody holds says in which state they are.
func TestSweepsNameTheStateTheyLeave(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		if m.LeaseTable != nil || m.spec.Away != nil || m.Offset != nil {
			return // a row of the other table is the state
		}
		of := func(states []queue.StateName, steps ...queue.TransitionName) (all [][]queue.Test) {
			for _, name := range steps {
				if step := m.spec.Transitions[name]; step != nil {
					all = append(all, step.Tests)
				}
			}
			for _, name := range states {
				if s := m.spec.States[name]; s != nil {
					all = append(all, s.Tests)
				}
			}
			return all
		}
		says := func(sweep *Sweep, leaves [][]queue.Test) {
			t.Helper()
			if sweep == nil {
				return
			}
			for _, s := range sweep.finds() {
				if strings.HasPrefix(s.Name, purgeOverdue) && len(m.spec.Waiting) == 0 {
					continue // every row is ready that nobody has locked
				}
				if !slices.ContainsFunc(leaves, func(tests []queue.Test) bool {
					plain, joined := m.texts(t, "", tests), m.texts(t, m.d.Ident(m.spec.Table.Name)+".", tests)
					for i, text := range plain {
						if conditions(s.SQL, text) == 0 && conditions(s.SQL, joined[i]) == 0 {
							return false
						}
					}
					return len(plain) > 0
				}) {
					t.Errorf("%s does not say which rows are meant:\n%s", s.Name, s.SQL)
				}
			}
		}
		// Where a claim has run out is all that tells a row, that is the state.
		says(m.Recover, append(of(nil, queue.Recover, queue.GiveUp), m.spec.Expired))
		says(m.Redrive, of(nil, queue.Redrive))
		for _, p := range m.Purges {
			if p.Asked { // it goes by a condition of the user's, which every statement holds that finds rows
				for _, s := range p.finds() {
					if !slices.ContainsFunc(s.Args, func(a Arg) bool { return slices.Contains(p.Given, a.Param) }) {
						t.Errorf("%s does not ask the condition:\n%s", s.Name, s.SQL)
					}
				}
				continue
			}
			says(p.Sweep, append(of(p.Of), m.spec.Waiting))
		}
	})
}

// A claim that asks the caller of rows reads what Peek reads, without locks, and takes a
// row only if the counters of claims are as they were read.
func TestAcceptedRowsAreCompared(t *testing.T) {
	compared := map[string]bool{}
	everyPlan(t, func(t *testing.T, m made) {
		if m.Claim == nil || m.Claim.Accept == nil {
			return
		}
		if !slices.Equal(m.Claim.Pick.Rows, m.Peek.Statement.Rows) {
			t.Errorf("the caller is asked of other columns than Peek shows:\n%s", m.Claim.Pick.SQL)
		}
		if regexp.MustCompile(`FOR +UPDATE|UPDLOCK`).MatchString(m.Claim.Pick.SQL) {
			t.Errorf("it locks what nobody has accepted yet:\n%s", m.Claim.Pick.SQL)
		}
		takes := m.claims()[0]
		for _, w := range m.spec.Transitions[queue.Claim].Writes {
			i := slices.IndexFunc(m.Fields, func(f *Field) bool { return f.Column == w.Column.Name })
			if w.Value.Kind != queue.Add || !w.Column.NotNull {
				continue
			}
			compared[m.d.Name] = true
			if !carries(takes, m.Fields[i]) {
				t.Errorf("%s does not compare %s:\n%s", takes.Name, w.Column.Name, takes.SQL)
			}
		}
	})
	if len(compared) != 9 {
		t.Errorf("it was seen on %v", slices.Sorted(maps.Keys(compared)))
	}
}

// No statement has a form that a planner may run in such a way that more rows
// are locked or taken than its limit says: a locking sub-select is read once
// into an array, a common table expression or the first table of a join whose
// order is fixed; it is never joined or searched as it is.
func TestLockingPickIsReadOnce(t *testing.T) {
	locking := regexp.MustCompile(`FOR +(NO KEY )?UPDATE`)
	once := regexp.MustCompile(`(= ANY \(ARRAY\($|AS (MATERIALIZED )?\($)`)
	everyPlan(t, func(t *testing.T, m made) {
		for _, s := range m.Statements() {
			at := locking.FindStringIndex(s.SQL)
			if at == nil {
				continue
			}
			open := enclosing(s.SQL, at[0])
			if open < 0 && strings.HasPrefix(s.SQL, "SELECT") {
				continue // what is locked is what comes back
			}
			if m.spec.Group != nil && slices.Contains(append(m.Claim.Narrow, m.Claim.Lock), s) {
				continue // the row of a group is found for each row, and they are the rows of one list
			}
			if strings.Contains(s.SQL, "OPEN candidate;") {
				continue // a cursor is read once, and no further than rows are fetched
			}
			first := strings.Contains(s.SQL[at[1]:], "STRAIGHT_JOIN") || // a table of its own that leads the join
				strings.HasPrefix(s.SQL, "INSERT") // or that is all of the query
			if open < 0 || !once.MatchString(s.SQL[:open+1]) && !first {
				t.Errorf("%s may read its locking sub-select more than once:\n%s", s.Name, s.SQL)
			}
		}
	})
}

// A claim asks of a row what makes it ready and what its arguments say, each
// once: a condition that came in from elsewhere would keep rows back for good.
func TestClaimsAskNothingElse(t *testing.T) {
	condition := regexp.MustCompile(`\b(WHERE|AND)  `)
	everyPlan(t, func(t *testing.T, m made) {
		if m.Claim == nil {
			return // rows are read behind a mark
		}
		want := 0
		if ready := m.spec.States[queue.Ready]; ready != nil {
			want = len(m.scope(t).tests(ready.Tests))
		}
		for _, p := range m.spec.Params {
			if p.Kind != queue.Argument {
				want++
			}
		}
		for _, is := range []bool{m.spec.Shard != nil, m.Claim.Low != nil, m.Strategy == "hold", m.LeaseTable != nil} {
			if is {
				want++
			}
		}
		ofRow := want
		switch g := m.spec.Group; {
		case g == nil, m.scope(t).readsRoom():
		case len(g.Member) > 0:
			want++ // it is of no group, or that has room
		case g.Limit == 1:
			want += 2 // who runs, and who is before it
		case m.scope(t).amongForm() != "", m.scope(t).countsFirst():
			want++ // both
		default:
			want += 2 // who runs, and both
			if _, bounded := m.scope(t).mostBefore(); bounded && !m.scope(t).countsMost() {
				want++ // and whether too many are before it
			}
		}
		full := m.spec.Group != nil && len(m.spec.Group.Member) == 0 && m.scope(t).findsFull()
		if full {
			want++
		}
		picking := append(m.claims(), m.Peek.Statement)
		if m.Claim.Pick != nil {
			picking = []*Statement{m.Claim.Pick}
		}
		for _, s := range picking {
			pick := everywhere.ReplaceAllString(pickOf(withoutOthers(together(s.SQL))), "WHERE")
			n := want
			if s == m.Peek.Statement && m.Claim.Low != nil {
				n--
			}
			if s == m.Peek.Statement && m.Strategy == "hold" {
				n--
			}
			single := slices.ContainsFunc(m.Claim.Ladder, func(r Rung) bool { return r.Limit == 1 && r.Statement == s })
			if g := m.spec.Group; g != nil && !g.Fifo && len(g.Member) == 0 && (single || m.scope(t).claimsOneGroup()) {
				n += ofRow + 1 - want // it takes the first, which nobody is before
				if full {
					n++
				}
			}
			if picksUnlocked(s.SQL) && strings.Contains(s.SQL, "OPEN candidate;") {
				n++ // that it is one of the rows that were picked before
			}
			if got := len(condition.FindAllString(outside(pick), -1)); got != n {
				t.Errorf("%s asks for %d things, want %d:\n%s", s.Name, got, n, s.SQL)
			}
			for _, a := range s.Args {
				if a.Kind == ArgParam && !slices.Contains(m.Claim.Params, a.Param) {
					t.Errorf("%s has an argument that Claim does not", s.Name)
				}
			}
		}
	})
}

// pickOf returns the part of a statement that picks rows, up to their number.
func pickOf(sql string) string {
	if limit := strings.Index(sql, "LIMIT  "); limit >= 0 {
		return sql[enclosing(sql, limit)+1 : limit]
	}
	if _, cursor, ok := strings.Cut(sql, " IS\n"); ok {
		cursor, _, _ = strings.Cut(cursor, ";")
		return cursor
	}
	at := strings.Index(sql, "TOP (")
	if at < 0 {
		at = strings.LastIndex(sql, "ORDER  BY")
	}
	open := enclosing(sql, at)
	if open < 0 {
		return sql
	}
	return sql[open+1 : at+enclosed(sql[at:])]
}

// enclosed returns where the parenthesis closes that was open before a text.
func enclosed(sql string) int {
	depth := 0
	for i := range len(sql) {
		switch sql[i] {
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return len(sql)
}

// everywhere is a condition that holds of every row, in front of others.
var everywhere = regexp.MustCompile(`WHERE  (1 = 1|TRUE)\nAND  `)

// Only claims, Peek and StatsOf take the arguments that narrow a claim; what settles jobs or counts
// all of them has none to give.
func TestArgumentsOfClaimStayThere(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		if m.Claim == nil {
			return // rows are read behind a mark
		}
		own := append(m.claims(), m.Claim.Pick, m.Claim.Read, m.Peek.Statement)
		if m.Stats != nil {
			own = append(own, m.Stats.Of)
		}
		own = append(own, m.Claim.Narrow...) // which ask again behind the lock
		if m.spec.Group != nil {             // those before a row are counted again
			own = append(own, m.Claim.Statement)
		}
		if m.Claim.Gate != nil { // who claims may say how many run
			own = append(own, m.Claim.Gate.Room)
		}
		for _, s := range m.Statements() {
			for _, a := range s.Args {
				switch a.Kind {
				case ArgParam, ArgMost, ArgShardIdx, ArgShardCnt, ArgShardMin, ArgShardMax, ArgLow:
					alive := m.Recover != nil && a.Param != nil && a.Param == m.Recover.Alive
					removes := slices.ContainsFunc(m.Purges, func(p *Purge) bool { return a.Param != nil && slices.Contains(p.Given, a.Param) })
					if !slices.Contains(own, s) && !alive && !removes {
						t.Errorf("%s has the argument %s:\n%s", s.Name, a.Kind, s.SQL)
					}
				}
			}
		}
	})
}

// conditions counts how often a condition stands in a statement, as one of those
// that are joined by AND. What is asked of the others of a group is not of the row itself.
func conditions(sql, text string) int {
	sql = together(sql)
	for at := readsGroup.FindStringIndex(sql); at != nil; at = readsGroup.FindStringIndex(sql) {
		from := enclosing(sql, at[0])
		sql = sql[:from] + sql[closing(sql, from):]
	}
	n := 0
	for _, before := range []string{"WHERE  ", "AND    ", "CASE WHEN ", "+("} {
		n += strings.Count(sql, before+text)
	}
	if strings.HasPrefix(text, "(") { // hidden from the planner
		n += strings.Count(sql, "WHERE  +"+text) + strings.Count(sql, "AND    +"+text) +
			strings.Count(sql, "CASE WHEN "+unwrapped(text)+" THEN true END")
	}
	return n
}

// nullsApart finds where rows that are ready by a null are found by themselves.
var nullsApart = regexp.MustCompile(`(?s)FROM   \(\n +SELECT \*\n +FROM   \(\n +SELECT [^\n]*\n(.*?)\n +ORDER  BY .*?UNION ALL\n +SELECT \*\n +FROM   \(\n +SELECT [^\n]*\n(.*?)\n +ORDER  BY [^\n]*\n +LIMIT [^\n]*\)\n +\)`)

// together returns a statement that finds nulls by themselves as one that does not.
func together(sql string) string {
	parts := nullsApart.FindStringSubmatch(sql)
	if parts == nil {
		return sql
	}
	nulls, lines := strings.Split(parts[1], "\n"), strings.Split(parts[2], "\n")
	for i, line := range lines {
		if lines[i] = strings.TrimSpace(line); nulls[i] != line {
			word, condition := lines[i][:7], lines[i][7:]
			lines[i] = word + "(" + condition + " OR " + strings.TrimSpace(nulls[i])[7:] + ")"
		}
		lines[i] = "           " + lines[i]
	}
	return strings.Replace(sql, parts[0], strings.TrimSpace(strings.Join(lines, "\n")), 1)
}

// readsGroup finds where a sub-query reads the other rows of a group.
var readsGroup = regexp.MustCompile(`FROM\s+\S+ (AS )?other\b`)

// closing returns the place behind the parenthesis that closes the one at a place of a
// statement.
func closing(sql string, open int) int {
	depth := 0
	for i := open; i < len(sql); i++ {
		switch sql[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(sql)
}

// enclosing returns the place of the parenthesis that is open at a place of a
// statement, -1 when there is none.
func enclosing(sql string, at int) int {
	depth := 0
	for i := at - 1; i >= 0; i-- {
		switch sql[i] {
		case ')':
			depth++
		case '(':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// The columns by which the queue is ordered come back from every claim, since
// what returns rows returns them in any order, and the emitted Go sorts by them.
func TestOrderColumnsComeBack(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		if m.Claim == nil {
			return // rows are read behind a mark
		}
		rows, read := m.Claim.Statement.Rows, m.Claim.Flow == ReadOnly
		switch {
		case m.Claim.Read != nil:
			rows = m.Claim.Read.Rows
		case rows == nil:
			rows, read = m.Claim.Lock.Rows, true
		}
		if read && len(m.Claim.Order) == 0 {
			return // the statement that reads them gives the order
		}
		for i, o := range m.spec.Order {
			if o.Column == nil {
				break // an expression cannot be sorted by in Go, nor what follows it
			}
			ignored := slices.ContainsFunc(m.spec.Columns, func(c *queue.Column) bool { return c.Column == o.Column && c.Ignored })
			if i >= len(m.Claim.Order) {
				claim := writesBefore(m)
				written := claim != nil && slices.ContainsFunc(claim.Writes, func(w queue.Write) bool { return w.Column == o.Column }) || changes(m, o.Column)
				if !ignored && !written {
					t.Errorf("jobs are not sorted by %s", o.Column.Name)
				}
				if strings.Contains(m.Claim.Doc[0], "in queue order") {
					t.Errorf("jobs are not sorted by %s, but the comment of Claim says so", o.Column.Name)
				}
				break
			}
			term, called := m.Claim.Order[i], o.Column.Name
			if m.spec.Away != nil {
				for there, here := range m.spec.Away.Ready {
					if here == o.Column {
						called = there.Name
					}
				}
			}
			if changes(m, o.Column) {
				t.Errorf("jobs are sorted by %s, which the database writes when they are claimed", called)
			}
			if term.Field.Column != called || term.Desc != o.Desc {
				t.Errorf("term %d of the order is %s, want %s", i+1, term.Field.Column, o.Column.Name)
			}
			if !slices.Contains(rows, term.Field) {
				t.Errorf("%s, by which jobs are sorted, does not come back", term.Field.Column)
			}
		}
	})
}

// changes reports whether the database writes a column by itself when rows are claimed, and they come
// back with that.
func changes(m made, c *schema.Column) bool {
	claim := writesBefore(m)
	return (c.OnUpdate || c.MayUpdate) && !slices.Contains(m.spec.Kept, c) && claim != nil && len(claim.Writes) > 0
}

// writesBefore returns what a claim writes to rows before it reads them, or as it does; nil where
// it reads them first.
func writesBefore(m made) *queue.Transition {
	switch c := m.Claim; {
	case m.Strategy != "pop":
		return m.spec.Transitions[queue.Claim]
	case c.Lock == nil || c.Read != nil || c.Statement.Rows != nil:
		return m.spec.Transitions[queue.Finish]
	}
	return nil
}

// A claim for one of the fixed sizes is the claim for any size with the number
// written into it. One for a single row does not ask who is before it in its group.
func TestLadderDiffersInTheLimitOnly(t *testing.T) {
	room := regexp.MustCompile(`(?s)LIMIT  min\(\?, .*, 0\)\)`) // of the group that topics tell
	limit, group := regexp.MustCompile(`LIMIT  \?`), regexp.MustCompile(`(?s)(\n +(AND|OR) [^\n]*\(SELECT .*)?\s+ORDER`)
	everyPlan(t, func(t *testing.T, m made) {
		if m.Claim == nil {
			return // rows are read behind a mark
		}
		for _, r := range m.Claim.Ladder {
			if slices.ContainsFunc(r.Statement.Args, func(a Arg) bool { return a.Kind == ArgLimit }) {
				t.Errorf("%s takes its size as an argument", r.Statement.Name)
			}
			want := limit.ReplaceAllString(room.ReplaceAllString(shape(m.Claim.Statement.SQL), "LIMIT  ?"), fmt.Sprintf("LIMIT  %d", r.Limit))
			got := shape(r.Statement.SQL)
			if r.Limit == 1 { // one row may be named, instead of searched in a list
				got = strings.Replace(got, " = (\n", " IN (\n", 1)
				if m.spec.Group != nil && !m.spec.Group.Fifo {
					got, want = group.ReplaceAllString(got, "ORDER"), group.ReplaceAllString(want, "ORDER")
				}
			}
			if len(r.Statement.Args)+1 != len(m.Claim.Statement.Args) || got != want {
				t.Errorf("the claim for %d rows is\n%s\nand that for any number\n%s", r.Limit, r.Statement.SQL, m.Claim.Statement.SQL)
			}
		}
	})
}

// shape is a statement with its arguments alike.
func shape(sql string) string {
	return regexp.MustCompile(`[$?]\d+`).ReplaceAllString(sql, "?")
}

// The head comment of a statement says what a DBA asks first: what it moves,
// what it locks, and, where rows are changed or sought, by which index and at
// which isolation.
func TestHeadsTellWhatADBAAsks(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		if m.Claim == nil {
			return // rows are read behind a mark
		}
		for _, s := range m.Statements() {
			says := func(word string) bool {
				return slices.ContainsFunc(s.Head, func(line string) bool { return strings.HasPrefix(line, word+": ") })
			}
			if len(s.Head) == 0 || !strings.Contains(s.Head[0], ": ") {
				t.Errorf("the head of %s does not say what it does: %q", s.Name, s.Head)
			}
			words := []string{"locks"}
			switch first, _, _ := strings.Cut(s.Name, "_"); {
			case first == "enqueue", first == "verify", s == m.Claim.Read: // nothing is sought by the queue's indexes
			case first == "stats", first == "backlog":
				words = append(words, "index")
			default:
				words = append(words, "index")
				if m.d.Isolation != "" {
					words = append(words, "isolation")
				}
			}
			for _, word := range words {
				if !says(word) {
					t.Errorf("the head of %s has no line %q: %q", s.Name, word, s.Head)
				}
			}
			rows := strings.ReplaceAll(s.SQL, "FOR    UPDATE SKIP LOCKED) = 1", "") // which is the row of a group
			if skips := strings.Contains(rows, "SKIP LOCKED"); skips && slices.ContainsFunc(s.Head, func(l string) bool { return strings.Contains(l, "waits for") }) {
				t.Errorf("the head of %s says that it waits: %q", s.Name, s.Head)
			} else if locks := strings.Contains(s.SQL, " UPDATE))"); locks && !skips && slices.ContainsFunc(s.Head, func(l string) bool { return strings.Contains(l, "passes over rows") }) {
				t.Errorf("the head of %s says that it passes over locked rows: %q", s.Name, s.Head)
			}
		}
	})
}

// The comments of Recover, Redrive and Purge say of locked rows what the heads of their statements say.
func TestCommentsOfSweepsFollowTheirHeads(t *testing.T) {
	waits := false
	everyPlan(t, func(t *testing.T, m made) {
		sweeps := []*Sweep{m.Recover, m.Redrive}
		for _, p := range m.Purges {
			sweeps = append(sweeps, p.Sweep)
		}
		for _, s := range sweeps {
			if s == nil {
				continue
			}
			st := s.Steps[0].Lock
			if st == nil {
				st = s.Steps[0].Statement
			}
			head, doc := strings.Join(st.Head, " "), strings.Join(s.Doc, " ")
			for _, does := range []string{"waits for rows", "passes over rows"} {
				if strings.Contains(head, does) && !strings.Contains(doc, does) {
					t.Errorf("the head of %s says that it %s, and the comment %q", st.Name, does, doc)
				}
			}
			waits = waits || m.d.LocksInCursors && strings.Contains(doc, "waits for rows")
		}
	})
	if !waits {
		t.Error("no sweep waits where others pass over locked rows")
	}
}

// Of a claim that only changes rows which its caller names no comment says that a job may be lost.
func TestCommentsOfNamedChanges(t *testing.T) {
	seen := false
	everyPlan(t, func(t *testing.T, m made) {
		if m.Strategy != "pop" || m.WorkLoop || !m.spec.EndsNamed() {
			return
		}
		seen = true
		for _, text := range append(slices.Clone(m.Doc), m.Claim.Doc...) {
			for _, word := range []string{"lost", "loses", "marks them done", "whoever took it"} {
				if strings.Contains(text, word) {
					t.Errorf("a comment says %q", text)
				}
			}
		}
	})
	if !seen {
		t.Error("no such claim was seen")
	}
}

// Whether a claim that ends jobs may lose one is told by what becomes of their rows: where these go on in
// another queue, or nothing but the write was to be done, no comment says so; where a worker does
// something with the jobs, it does.
func TestCommentsOfRowsThatStay(t *testing.T) {
	const whole, lost = "A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.", "Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back."
	const gone = "A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back."
	want := map[string][2]string{
		"back":    {whole, "changes their rows, which stay. They"},
		"restart": {whole, "changes their rows, which stay. They"},
		"sweep":   {whole, "changes their rows, which stay. They"},
		"settle":  {whole, "changes their rows, which stay: what it writes to state says whether the next Claim may take them again. They"},
		"mail":    {lost, "marks them done. They"},
		"report":  {lost, "marks them done. They"},
		"any":     {gone, "marks them done. They"},
		"some":    {gone, "marks them done. They"},
		"work":    {gone, "marks them done. They"},
		"named":   {whole, "changes their rows, which stay. They"},
	}
	var errs source.ErrorList
	for _, p := range build(t, "testdata/sqlite/passed", &errs) {
		if p.Queue == "counted" && !strings.HasSuffix(p.Claim.Doc[0], "as they were before: the other jobs of this claim do not count there.") {
			t.Errorf("the comment of Claim says %q", p.Claim.Doc[0])
		}
		sentences, ok := want[p.Queue]
		if delete(want, p.Queue); !ok {
			continue
		}
		if p.Crash != sentences[0] || !strings.Contains(p.Claim.Doc[0], sentences[1]) {
			t.Errorf("%s: the comments say %q and %q", p.Queue, p.Crash, p.Claim.Doc[0])
		}
	}
	if len(want) > 0 || errs.Len() > 0 {
		t.Errorf("%d packages were not seen: %s", len(want), errs.Detail())
	}
}

// Where a time alone hides the rows that Fail has made ready again, the comments say that these still
// look held; where a status tells them apart, they do not.
func TestCommentsOfRowsThatLookHeld(t *testing.T) {
	seen := false
	everyPlan(t, func(t *testing.T, m made) {
		if m.Complete == nil || m.Hold {
			return
		}
		doc := strings.Join(m.Complete.Doc, " ")
		if strings.HasSuffix(t.Name(), "sqlite/hidden/hidden") {
			seen = true
			if !strings.Contains(doc, "or have ended already, it does the rest") || !strings.Contains(doc, " A job that Fail gave back,") {
				t.Errorf("the comment of Complete says %q", doc)
			}
		}
		if strings.Contains(t.Name(), "/email") && strings.Contains(doc, "looks as if") {
			t.Errorf("the comment of Complete says %q", doc)
		}
	})
	if !seen {
		t.Error("no such rows were seen")
	}
}

// Where a step may leave a row as it is, nothing goes by the number of rows that changed.
func TestRowsThatMayStayAsTheyAre(t *testing.T) {
	_, tasks := casePlan(t, "mysql", "unchanged", "background_tasks")
	same := map[string]bool{}
	for _, s := range tasks.Settles() {
		same[s.Statement.Name] = s.Unchanged
	}
	want := map[string]bool{"complete": false, "retry": true, "requeue": false, "extend": true, "outcome_stays": true}
	if !maps.Equal(same, want) {
		t.Errorf("rows may stay as they are: %v, want %v", same, want)
	}
}

// Where a job that somebody has may be claimed by another, no comment of what settles it says that it acts
// on jobs of its own alone, unless a worker or more is compared.
func TestCommentsOfJobsThatComeBack(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		if m.Guarantee != queue.FenceStatus || m.Requeue == nil {
			return
		}
		for name, s := range m.settles() {
			for _, text := range s.Doc {
				if strings.HasPrefix(text, "It acts only on jobs that are running") || strings.HasPrefix(text, "It acts only on jobs that are claimed") {
					t.Errorf("the comment of %s says %q", name, text)
				}
			}
		}
	})
}

// The comments of what gives a job back say so where what is written there decides whether it is ready;
// that of Enqueue says when it is due.
func TestCommentsOfDoubtfulRows(t *testing.T) {
	_, crons := casePlan(t, "sqlite", "doubts", "crons")
	for want, got := range map[string]string{
		"Fail gives a job back, which is ready again if what sql/retry.sql writes to result says so, as due as it was":                       crons.Retry.Doc[0],
		"Complete gives jobs back that are done, due by what sql/complete.sql writes to next: they are ready again if what sql/complete.sql": crons.Complete.Doc[0],
		"Skipped settles jobs as skipped: they are ready again if what sql/outcome_skipped.sql writes to result says so":                     crons.Outcomes[0].Doc[0],
		"Requeue gives jobs back unprocessed: they are ready again, and the try does not count.":                                             crons.Requeue.Doc[0],
		"Enqueue adds a job, ready to be claimed when it is due and the conditions of the queue hold, and returns its key.":                  crons.Enqueue.Doc[0],
	} {
		if !strings.HasPrefix(got, want) {
			t.Errorf("the comment says %q, want %q", got, want)
		}
	}
}

// Where a step that gives jobs back leaves what their claim wrote, the comments say until when they are held.
func TestCommentsOfRowsThatLinger(t *testing.T) {
	want := map[string][2]string{
		"tasks":    {"Fail leaves a job running until its claim has run out and records the cause in error. Then the job is ready again.", "they are ready again when their claim has run out, and"},
		"messages": {"Fail leaves a job running until its claim has run out and records the cause in error. Then the job is ready again. When", "they are ready again when their claim has run out, and"},
		"reports":  {"Fail makes a job ready again at once and", "they are ready again by what sql/requeue.sql writes to till, and"},
		"mails":    {"Fail gives a job back, which is running and not ready, since owner stays as it is and", "they are ready again, and"},
		"calls":    {"Fail gives a job back, which is ready again if till, which stays as it is, says so and", "they are ready again, and"},
		"jobs":     {"Fail makes a job ready again at once and", "they are ready again, and"},
	}
	var errs source.ErrorList
	for _, p := range build(t, "testdata/sqlite/lingers", &errs) {
		sentences := want[p.Queue]
		if delete(want, p.Queue); !strings.HasPrefix(p.Retry.Doc[0], sentences[0]) || !strings.Contains(p.Requeue.Doc[0], sentences[1]) {
			t.Errorf("%s: the comments say %q and %q", p.Queue, p.Retry.Doc[0], p.Requeue.Doc[0])
		}
	}
	if len(want) > 0 || errs.Len() > 0 {
		t.Errorf("%d packages were not seen: %s", len(want), errs.Detail())
	}
}

// What other tables tell, and what whoever claims says, may change: the comments say what follows.
func TestCommentsOfWhatStandsElsewhere(t *testing.T) {
	_, deliveries := casePlan(t, "postgresql", "elsewhere", "deliveries")
	_, exports := casePlan(t, "postgresql", "elsewhere", "exports")
	_, calls := casePlan(t, "postgresql", "elsewhere", "calls")
	for want, got := range map[string]string{
		" What its condition reads of other tables may have changed by the time a row is locked: it is not asked again.":                               deliveries.Claim.Doc[0],
		"or are settled already, or other rows say that they are not running any more, it does the rest and returns":                                   exports.Complete.Doc[1],
		"It acts only on jobs whose rows hold what their claim wrote to owner: when something else stands there, or jobs are settled already, it does": calls.Complete.Doc[1],
		"and claimed by another, gets ErrLost and changes nothing, unless that claim wrote the same.":                                                  strings.Join(calls.Doc, " "),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the comment says %q, want %q", got, want)
		}
	}
}

// What gives jobs up is told among the transitions, wherever their claims are held.
func TestGiveUpIsTold(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		gives := m.Recover != nil && slices.ContainsFunc(m.Recover.Steps, func(s SweepStep) bool { return s.Statement.Name == "recover_failed" })
		if told := slices.ContainsFunc(m.Moves, func(u MoveUse) bool { return u.Transition == "giveup" }); gives != told {
			t.Errorf("Recover gives jobs up: %v; explain tells it: %v", gives, told)
		}
	})
}

// The comments of Fail and Complete say what their statements write, also where qgen:on wrote
// something else than a role would.
func TestCommentsFollowWhatIsWritten(t *testing.T) {
	want := map[string][2]string{
		"keptq":   {"Fail makes a job ready again, as due as it was. When no tries are left, it fails for good. Nothing keeps the cause: no column is said to (qgen:error).", "Complete marks jobs as done."},
		"steadyq": {"Fail makes a job ready again, after 24 hours. When no tries are left, it fails for good. Nothing keeps the cause: no column is said to (qgen:error).", "Complete marks jobs as done."},
		"endedq":  {"Fail gives a job back, which is not ready with what sql/retry.sql writes to state. Nothing keeps the cause: no column is said to (qgen:error).", "Complete marks jobs as done."},
		"judgedq": {"Fail gives a job back, which is ready again if what sql/retry.sql writes to again says so, due by what sql/retry.sql writes to after. Nothing keeps the cause: no column is said to (qgen:error).", "Complete marks jobs as done."},
		"roundsq": {"Fail makes a job ready again, after about 5 seconds. Nothing keeps the cause: no column is said to (qgen:error).", "Complete makes jobs that are done ready again, due by what sql/complete.sql writes to after."},
	}
	seen := 0
	everyPlan(t, func(t *testing.T, m made) {
		sentences, ok := want[m.Name]
		if !ok || m.Retry == nil || !strings.Contains(t.Name(), "overwritten") {
			return
		}
		seen++
		if got := [2]string{m.Retry.Doc[0], m.Complete.Doc[0]}; got != sentences {
			t.Errorf("the comments say %q", got)
		}
	})
	if seen < len(want) {
		t.Errorf("%d packages of %d were seen", seen, len(want))
	}
}

// Whether a job that is given back has used a try, and in what state a job is that Fail gives back, is
// told as qgen:on has it written.
func TestCommentsOfTries(t *testing.T) {
	const beyond = "; no limit is looked at, so that a job without tries left is claimed again"
	want := map[string][3]string{
		"counted": {"running to failed, one try used", "running to ready, one try used", "they are ready again, and the try counts" + beyond + "."},
		"added":   {"running to ready, one try used", "running to ready, one try used", "they are ready again, and the try counts" + beyond + "."},
		"fixed":   {"running to ready, its tries by what is written to tries", "running to ready, its tries by what is written to tries", "they are ready again, with what sql/requeue.sql writes to tries as their tries" + beyond + "."},
		"kept":    {"running to ready, one try used", "running to ready, no try used", "they are ready again, and the try does not count."},
	}
	for table, sentences := range want {
		_, p := casePlan(t, "postgresql", "overwritten", table)
		_, retry, _ := strings.Cut(p.Retry.Statement.Head[0], ": ")
		_, release, _ := strings.Cut(p.Requeue.Statement.Head[0], ": ")
		_, doc, _ := strings.Cut(p.Requeue.Doc[0], ": ")
		doc, _, _ = strings.Cut(doc, " A delay")
		if got := [3]string{retry, release, doc}; got != sentences {
			t.Errorf("%s: the comments say %q", table, got)
		}
	}
}

// The comment of a parameter says which rows suit every caller.
func TestCommentsOfRowsForAnybody(t *testing.T) {
	seen := false
	everyPlan(t, func(t *testing.T, m made) {
		if m.Claim == nil {
			return
		}
		for _, p := range m.Claim.Params {
			i := slices.IndexFunc(m.spec.Params, func(of *queue.Param) bool {
				return p.Field != nil && of.Column != nil && of.Column.Name == p.Field.Column
			})
			if i >= 0 && len(m.spec.Params[i].Any) > 0 {
				seen = true
				if !strings.Contains(p.Doc, ", unless theirs is ") {
					t.Errorf("the comment says %q", p.Doc)
				}
			}
		}
	})
	if !seen {
		t.Error("no such parameter was seen")
	}
}

// What a column was taken for stands there once.
func TestRolesAreToldOnce(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		for _, c := range m.Columns {
			for _, verb := range []string{"payload", "ignore", "id"} {
				words := strings.Split(c.Roles, "; ")
				if n := len(slices.DeleteFunc(words, func(w string) bool { return w != verb })); n > 1 {
					t.Errorf("explain says %q of column %s", c.Roles, c.Column)
				}
			}
		}
	})
}

// The comments of Extend and Recover speak of a lease only where there is one, and of its new
// beginning only where Extend writes that.
func TestCommentsOfLeases(t *testing.T) {
	sentences := func(m made) []string {
		var list []string
		if m.Extend != nil {
			list = append(list, m.Extend.Doc[0])
		}
		if m.Recover != nil {
			_, often, _ := strings.Cut(m.Recover.Doc[0], "Any number of processes may call it; ")
			list = append(list, often)
		}
		return list
	}
	want := map[string][]string{
		"probesq": {"how often says after what time a job is missed whose worker has gone."},
		"scansq":  {"Extend leaves the lease of jobs as it is, and writes what sql/extend.sql says. A job that runs longer than its lease is taken for one whose worker died.", "once per lease is often enough."},
		"beatsq":  {"Extend writes what sql/extend.sql says and leaves the lease of jobs to the triggers of the table. Where none of them writes it, a job that runs longer than its lease is taken for one whose worker died.", "once per lease is often enough."},
		"loadsq":  {"Extend lets the lease of jobs be what sql/extend.sql writes to till.", "once per lease is often enough."},
	}
	seen := 0
	everyPlan(t, func(t *testing.T, m made) {
		if list, ok := want[m.Name]; ok && strings.Contains(t.Name(), "comments") {
			seen++
			if got := sentences(m); !slices.Equal(got, list) {
				t.Errorf("the comments say %q", got)
			}
		}
	})
	if seen < len(want) {
		t.Errorf("%d packages of %d were seen", seen, len(want))
	}
}

// A claim that gives up while others take the same jobs says so, and Peek what it does not show.
func TestCommentsSayWhatIsLeftOut(t *testing.T) {
	seen := false
	everyPlan(t, func(t *testing.T, m made) {
		if c := m.Claim; c != nil && c.Flow == PickTake && !strings.Contains(strings.Join(c.Doc, " "), "does not mean that no more is ready") {
			t.Errorf("the comment of Claim says %q", c.Doc[0])
		}
		if m.Name == "jobsq" && strings.Contains(t.Name(), "comments") {
			seen = true
			const want = " Of each group it shows no more jobs than a claim could take now; those behind them it leaves out, due or not. It leaves Executed empty, which a claim fills in."
			if !strings.HasSuffix(m.Peek.Doc[0], want) {
				t.Errorf("the comment of Peek says %q", m.Peek.Doc[0])
			}
		}
	})
	if !seen {
		t.Error("no Peek beside a group was seen")
	}
}

// Every statement names the package and the operation in a constant comment
// after its first keyword, and holds no other comment.
func TestEveryStatementIsTagged(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		tag := regexp.MustCompile(`^[A-Z]+ /\* ` + regexp.QuoteMeta(m.Name) + `\.[A-Z][A-Za-z]+ \*/\s`)
		for _, s := range m.Statements() {
			if !tag.MatchString(s.SQL) {
				t.Errorf("%s is not tagged:\n%s", s.Name, s.SQL)
			}
			if strings.Contains(outside(s.SQL), "--") {
				t.Errorf("%s holds a line comment:\n%s", s.Name, s.SQL)
			}
		}
	})
}

// A time in a column without zone is never left to a driver, which may send what its clock
// reads and leave out where: it is moved to the zone in which the column is read.
func TestTimesWithoutZoneAreMoved(t *testing.T) {
	seen := map[Codec]bool{}
	everyPlan(t, func(t *testing.T, m made) {
		var fields []*Field
		for _, s := range m.Statements() {
			fields = append(fields, s.Rows...)
			for _, a := range s.Args {
				fields = append(fields, a.Batch...)
				if a.Field != nil {
					fields = append(fields, a.Field)
				}
				if a.Param != nil && a.Param.Field != nil {
					fields = append(fields, a.Param.Field)
				}
			}
		}
		for _, f := range fields {
			c := m.spec.Table.Column(f.Column)
			if c == nil || c.Type.Class != schema.Timestamp || c.Type.Zone || f.GoType != "time.Time" {
				continue
			}
			seen[f.Codec] = true
			if f.Codec == Direct {
				t.Errorf("%s %s travels as it is", f.SQLType, f.Column)
			}
		}
	})
	if !seen[WallTime] || !seen[TextTime] {
		t.Errorf("only %v were seen", seen)
	}
}

// What a job carries for its handler is marked as payload, so that logs leave
// it out, and nothing else is.
func TestPayloadIsMarked(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		columns := m.spec.Columns
		if m.spec.Away != nil {
			columns = m.spec.Away.Spec.Columns
		}
		for _, c := range columns {
			for _, f := range m.Fields {
				if f.Column == c.Name && f.Payload != c.Payload {
					t.Errorf("column %q: payload is %v, want %v", c.Name, f.Payload, c.Payload)
				}
			}
		}
	})
}

// A column that says payload takes nothing from the others: those without a role are payload
// as before, for the handler, for producers and in what explain prints.
func TestPayloadAtOneColumnTakesNothingFromOthers(t *testing.T) {
	for _, words := range []string{"", "; payload"} {
		c := tableCase{engine: "postgresql", ddl: `-- qgen:queue jobs
CREATE TABLE jobs (
    id bigserial PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=new running=busy done=done
    seen timestamptz, -- qgen:heartbeat timeout=5m
    tries int NOT NULL, -- qgen:attempts
    later timestamptz, -- qgen:on release set now` + words + `
    secret jsonb
);`}
		p := c.plans(t, "version: \"1\"\nqueues:\n  - {schema: [x], engine: postgresql, gen: {go: {out: x}}}\n")[0]
		of := func(fields []*Field) (payload, other []string) {
			for _, f := range fields {
				if f.Payload {
					payload = append(payload, f.Column)
				} else {
					other = append(other, f.Column)
				}
			}
			return payload, other
		}
		var roles []string
		for _, use := range p.Columns {
			if use.Roles == "payload" {
				roles = append(roles, use.Column)
			}
		}
		want := []string{"secret"}
		if words != "" {
			want = []string{"later", "secret"}
		}
		job, _ := of(p.Fields)
		added, _ := of(p.Enqueue.Fields)
		if !slices.Equal(job, want) || !slices.Equal(added, want) || !slices.Equal(roles, []string{"secret"}) {
			t.Errorf("with %q at one column: Job has %v, NewJob %v, and explain calls %v payload", words, job, added, roles)
		}
	}
}

// A job keeps every field when it travels as JSON: no two fields have one key,
// whatever their columns are called.
func TestJSONKeysAreTheirOwn(t *testing.T) {
	everyPlan(t, func(t *testing.T, m made) {
		seen := map[string]string{}
		for _, f := range slices.Concat(m.Key, m.Fields) {
			if first, ok := seen[f.JSON]; f.JSON == "" || ok && first != f.Name {
				t.Errorf("the key %q is that of %s and %s", f.JSON, first, f.Name)
			}
			seen[f.JSON] = f.Name
		}
	})
	c := tableCase{engine: "postgresql", ddl: `-- qgen:queue jobs
CREATE TABLE jobs (
    state text NOT NULL, -- qgen:status ready=new running=busy done=done
    mark uuid, -- qgen:token
    row_id text,
    "a b" text,
    a_b text,
    "''" text
);`}
	plans := c.plans(t, `version: "1"
queues:
  - {schema: [x], engine: postgresql, gen: {go: {out: x, rename: {a_b: Other, "''": Quotes}}}}
`)
	if len(plans) != 1 {
		t.Fatalf("%d plans", len(plans))
	}
	keys := map[string]bool{}
	for _, f := range plans[0].Fields {
		keys[f.JSON] = true
	}
	for _, want := range []string{"row_id_", "a_b", "a_b_", "quotes"} {
		if !keys[want] {
			t.Errorf("no field has the key %s among %v", want, keys)
		}
	}
}

// Verify tells of each index what is slow without it.
func TestVerifyTellsWhatIsSlow(t *testing.T) {
	var errs source.ErrorList
	for _, p := range build(t, "testdata/postgresql/email", &errs) {
		serves := map[string]string{}
		for _, ix := range p.Indexes {
			serves[cmp.Or(ix.Have, ix.Name)] = ix.Why
		}
		for _, check := range p.Verify.Checks {
			if check.Statement.Name != "verify_index" || len(serves) < 2 {
				continue
			}
			for name, why := range serves {
				operation, _, _ := strings.Cut(strings.TrimPrefix(why, "serves "), ":")
				_, told, _ := strings.Cut(check.Mend, name+" ")
				told, _, _ = strings.Cut(told, ", ")
				if !strings.Contains(strings.ToLower(told), strings.ToLower(operation)) {
					t.Errorf("%s %s, and without it %q: %s", name, why, told, check.Mend)
				}
			}
			return
		}
	}
	t.Errorf("no package wants two indexes: %s", errs.Detail())
}

// The constant of a state without more is the value that is written, in whatever order the
// table lists them; and of two steps to a job that runs the comment of the second is about
// jobs that are claimed.
func TestStatusNamesWhatIsWritten(t *testing.T) {
	seen, begun := 0, 0
	everyPlan(t, func(t *testing.T, m made) {
		if s := m.Start; s != nil {
			begun++
			if text := strings.Join(s.Doc, " "); strings.Contains(text, "claimed or running") {
				t.Errorf("the comment of Start says %q", text)
			}
		}
		finish := m.spec.Transitions[queue.Finish]
		if m.Status == nil || m.Status.Field == nil || m.Status.GoType != "string" || finish == nil {
			return
		}
		for _, w := range finish.Writes {
			if w.Column != m.spec.Status.Column || w.Value.Kind != queue.Literal {
				continue
			}
			for _, c := range m.Status.Consts {
				if c.Name == "StatusDone" {
					seen++
					if want := strconv.Quote(w.Value.Text); c.Value != want {
						t.Errorf("StatusDone is %s, and %s is written", c.Value, want)
					}
				}
			}
		}
	})
	if seen < 20 || begun < 5 {
		t.Errorf("%d packages and %d with Start were seen", seen, begun)
	}
}

// Where nothing keeps the cause that Fail is given its comment says so, and elsewhere it does not.
func TestCommentsOfCauses(t *testing.T) {
	kept, dropped := 0, 0
	everyPlan(t, func(t *testing.T, m made) {
		var keeps, fails bool
		var doc string
		for _, s := range []*Settle{m.Retry, m.Fail} {
			if s != nil {
				keeps, fails = keeps || s.KeepsCause(), true
				doc = cmp.Or(doc, strings.Join(s.Doc, " "))
			}
		}
		switch says := strings.Contains(doc, "Nothing keeps the cause"); {
		case !fails:
		case keeps:
			kept++
			if says {
				t.Errorf("the cause is kept, and the comment of Fail says %q", doc)
			}
		default:
			dropped++
			if !says && m.spec.Error == nil && m.LeaseTable == nil {
				t.Errorf("nothing keeps the cause, and the comment of Fail says %q", doc)
			}
		}
	})
	if kept < 50 || dropped < 50 {
		t.Errorf("only %d and %d packages were seen", kept, dropped)
	}
}

// Where the due time hides a row while somebody has it, the comments of the figures say that they count rows
// that look alike; elsewhere they don't.
func TestFiguresOfRowsThatLookAlike(t *testing.T) {
	for words, want := range map[string][2]string{
		"at bigint NOT NULL, -- qgen:visible length=5m as=epoch": {
			"rows that workers hold, and those that wait for their time, which look alike",
			"rows whose due time has not come, and those that workers hold, which look alike",
		},
		"state text NOT NULL, -- qgen:status ready=new running=busy\nat bigint NOT NULL, -- qgen:visible length=5m as=epoch": {
			"rows that workers hold", "rows whose due time has not come",
		},
		"at bigint NOT NULL, -- qgen:due as=epoch\ntill bigint, -- qgen:lease length=5m as=epoch": {
			"rows that workers hold", "rows whose due time has not come",
		},
	} {
		c := tableCase{engine: "postgresql", ddl: "-- qgen:queue jobs done=delete\nCREATE TABLE jobs (\n" + words + "\nid bigserial PRIMARY KEY\n);"}
		p := c.plans(t, "version: \"1\"\nqueues:\n  - {schema: [x], engine: postgresql, gen: {go: {out: x}}}\n")[0]
		docs := map[string]string{}
		for _, f := range p.Stats.Fields {
			docs[f.Name] = f.Doc
		}
		if docs["Running"] != want[0] || docs["Delayed"] != want[1] {
			t.Errorf("%s\nRunning counts %q, Delayed %q", words, docs["Running"], docs["Delayed"])
		}
	}
}

// What only looks takes no lock, also none that a condition of ready rows takes in a claim, and its comment says
// what it does not ask.
func TestLooksTakeNoLocks(t *testing.T) {
	d, _ := dialect.Lookup("postgresql")
	locks := func(s *Statement) bool { return d.Locks(queue.PiecesOf(s.SQL)) }
	var errs source.ErrorList
	packages := build(t, "testdata/postgresql/hold", &errs)
	i := slices.IndexFunc(packages, func(p *Package) bool { return p.Queue == "singles" })
	if i < 0 || errs.Len() > 0 {
		t.Fatalf("no such queue was seen: %s", errs.Detail())
	}
	p := packages[i]
	if !locks(p.Claim.Statement) {
		t.Error("the claim does not ask for the lock")
	}
	docs := [][]string{p.Peek.Doc, p.Stats.Doc, p.Stats.OfDoc, p.Backlog.Doc}
	for i, s := range []*Statement{p.Peek.Statement, p.Stats.Statement, p.Stats.Of, p.Backlog.Statement} {
		const says = "So it does not ask (select pg_try_advisory_xact_lock(1)) and (kind <> 'own' or pg_try_advisory_lock(singles.id)), which would take a lock, and a claim may refuse what it tells of."
		if locks(s) || !strings.Contains(s.SQL, "not off") {
			t.Errorf("it asks\n%s", s.SQL)
		}
		if !strings.Contains(strings.Join(docs[i], " "), says) {
			t.Errorf("the comment does not say what it leaves out: %q", docs[i])
		}
	}
}

// An outcome that makes a job ready again and counts the try says where no limit keeps the job from being claimed.
func TestOutcomesThatLookAtNoLimit(t *testing.T) {
	for words, beyond := range map[string]bool{
		"up on=retry max=5": true, "up on=retry max=5 limit=claim": false, "up on=retry": false,
	} {
		c := tableCase{engine: "postgresql", ddl: `-- qgen:queue jobs
CREATE TABLE jobs (
    id bigserial PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=new running=busy done=done failed=failed
    at timestamptz, -- qgen:claimed
    tries int NOT NULL -- qgen:attempts ` + words + `
);`}
		p := c.plans(t, "version: \"1\"\nqueues:\n  - {schema: [x], engine: postgresql, outcomes: {later: {to: ready, set: {tries: \"+1\"}}}, gen: {go: {out: x}}}\n")[0]
		doc := strings.Contains(p.Outcomes[0].Doc[0], "and the try counts; no limit is looked at")
		note := slices.ContainsFunc(p.Notes, func(n string) bool {
			return strings.HasPrefix(n, `outcome "later" counts the try and looks at no limit`)
		})
		if doc != beyond || note != beyond {
			t.Errorf("attempts %s: the comment is %q, and of the notes %v", words, p.Outcomes[0].Doc[0], p.Notes)
		}
	}
}
