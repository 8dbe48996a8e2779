package config

// This file holds the keys of qgen.yaml, one table for each mapping. The JSON
// Schema beside it describes the same keys; a test compares the two.

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/qgen-dev/qgen/internal/source"
)

// The words that some values are limited to.
var (
	minFences   = []string{"none", "status", "claimed", "attempt", "token"}
	clocks      = []string{"utc", "local"}
	paramTypes  = []string{"int", "name"}
	sqlPackages = []string{"database/sql", "pgx/v5"}
	outcomeEnds = []string{"ready", "done", "failed", "deleted"}
	codecs      = []string{"json"}
	timeUnits   = []string{"us", "ms", "s", "m", "h", "d"}
	laterGen    = []string{"sqlc", "review", "indexes"}
)

// later lists keys that go to Queue.Later.
func later(names []string) []key {
	var keys []key
	for _, n := range names {
		keys = append(keys, key{name: n, later: true})
	}
	return keys
}

// configKeys are the keys of the file.
func configKeys(p *parser, c *Config) []key {
	return []key{
		{name: "version", required: `Write version: "1".`, read: func(name string, v *yaml.Node) {
			s := p.number(v, name)
			if s.IsSet() && s.Value != Version {
				p.errs.Errorf(s.Pos, "version %q is not known", s.Value).
					WithHint("This qgen reads version %q.", Version)
			}
		}},
		{name: "queues", required: "Add a list of queues: each entry names a schema, an engine and a package.", read: func(name string, v *yaml.Node) {
			for _, item := range p.items(v, name, "queues, each with its own Go package") {
				c.Queues = append(c.Queues, p.queue(item)...)
			}
		}},
	}
}

// queue reads an entry of queues: its own queue and one for each of its stages, none
// after a complaint.
func (p *parser) queue(item *yaml.Node) []*Queue {
	before := p.errs.Len()
	q := &Queue{Pos: p.at(item)}
	p.later, p.stages = nil, nil
	p.mapping(item, theQueue, queueKeys(p, q))
	q.Later = p.later
	all := []*Queue{q}
	for _, e := range p.stages {
		all = append(all, p.stage(q, e))
	}
	if p.errs.Len() > before {
		return nil
	}
	for _, one := range all {
		for _, other := range all {
			if other != one && other.Name.IsSet() {
				one.Others = append(one.Others, other.Name)
			}
		}
	}
	return all
}

// ofTheTable are the keys of an entry that its stages have from it.
var ofTheTable = []string{"schema", "engine", "server", "cluster", "table", "clock", "times", "params"}

// stage reads a further queue over the table of an entry.
func (p *parser) stage(of *Queue, e entry) *Queue {
	q := &Queue{
		Pos: p.at(e.key), Name: p.keyName(e), Further: true,
		Schema: of.Schema, Engine: of.Engine, Server: of.Server, Cluster: of.Cluster, Emit: of.Emit,
		Table: of.Table, Clock: of.Clock, Times: of.Times, Params: of.Params,
	}
	if q.Name.Value == of.Name.Value {
		p.errs.Errorf(q.Name.Pos, "the queue of the entry itself is called %s", q.Name.Value).
			WithHint("A stage is a queue besides it. Call it otherwise.")
	}
	p.later = nil
	p.mapping(e.value, join("stages", e.name), stageKeys(p, q))
	q.Later = p.later
	return q
}

// stageKeys are the keys of a stage: those of an entry less what it has from that.
func stageKeys(p *parser, q *Queue) []key {
	keys := queueKeys(p, q)
	for i, k := range keys {
		switch {
		case slices.Contains(ofTheTable, k.name):
			keys[i] = key{name: k.name, never: "Write it in the entry: a stage is a further queue over the same table."}
		case k.name == "name":
			keys[i] = key{name: k.name, never: "The key of the stage is its name."}
		case k.name == "stages":
			keys[i] = key{name: k.name, never: "Write the stage beside this one."}
		}
	}
	return keys
}

// queueKeys are the keys of an entry of queues.
func queueKeys(p *parser, q *Queue) []key {
	return []key{
		{name: "schema", required: "Say where the DDL stands: schema: [db/migrations].", read: func(name string, v *yaml.Node) {
			q.Schema = p.strs(v, name, "files, folders and globs")
		}},
		{name: "engine", required: "Name the database: engine: postgresql.", read: into(&q.Engine, p.str)},
		{name: "server", read: into(&q.Server, p.number)},
		{name: "cluster", read: into(&q.Cluster, p.flag)},
		{name: "emit", read: func(name string, v *yaml.Node) { q.Emit = p.word(v, name, []string{"statement", "procedure"}) }},
		{name: "table", read: into(&q.Table, p.str)},
		{name: "name", read: into(&q.Name, p.str)},
		{name: "min_fence", read: func(name string, v *yaml.Node) { q.MinFence = p.word(v, name, minFences) }},
		{name: "queue", read: into(&q.Words, p.str)},
		{name: "columns", read: into(&q.Columns, p.columnWords)},
		{name: "clock", read: func(name string, v *yaml.Node) { q.Clock = p.word(v, name, clocks) }},
		{name: "times", read: into(&q.Times, p.times)},
		{name: "ready_if", read: into(&q.ReadyIf, p.str)},
		{name: "ready_if_by", read: into(&q.ReadyBy, p.byEngine)},
		{name: "recover_if", read: into(&q.Recover, p.str)},
		{name: "purge_if", read: into(&q.Purge, p.str)},
		{name: "update_if", read: into(&q.UpdateIf, p.str)},
		{name: "enqueue_if", read: into(&q.EnqueueIf, p.str)},
		{name: "legacy_claim", read: func(name string, v *yaml.Node) { q.Legacy = p.strs(v, name, "SQL statements") }},
		{name: "backoff", read: func(name string, v *yaml.Node) {
			b := &Backoff{Pos: p.at(v)}
			p.mapping(v, name, backoffKeys(p, b))
			p.checkBackoff(b, name)
			q.Backoff = b
		}},
		{name: "accept", read: into(&q.Accept, p.flag)},
		{name: "outcomes", read: func(name string, v *yaml.Node) {
			entries, _ := p.entries(v, name)
			for _, e := range entries {
				o := Outcome{Name: p.keyName(e)}
				before := p.errs.Len()
				p.mapping(e.value, join(name, e.name), outcomeKeys(p, &o))
				if p.errs.Len() == before {
					q.Outcomes = append(q.Outcomes, o)
				}
			}
		}},
		{name: "also", read: into(&q.Also, p.also)},
		{name: "done", read: func(name string, v *yaml.Node) { p.mapping(v, name, endKeys(p, &q.DoneMove)) }},
		{name: "failed", read: func(name string, v *yaml.Node) { p.mapping(v, name, endKeys(p, &q.FailedMove)) }},
		{name: "states", read: func(name string, v *yaml.Node) {
			p.mapping(v, name, []key{{name: "running", required: "Say in which table jobs are while they run: running: {table: files_acquired, columns: same}.", read: func(name string, v *yaml.Node) {
				q.Running = &Running{Pos: p.at(v)}
				p.mapping(v, name, runningKeys(p, q.Running))
			}}})
		}},
		{name: "params", read: func(name string, v *yaml.Node) {
			entries, _ := p.entries(v, name)
			for _, e := range entries {
				param := Param{Name: p.keyName(e), Type: p.word(e.value, join(name, e.name), paramTypes)}
				if !token.IsExported(e.name) || !plainName.MatchString(e.name) {
					p.errs.Errorf(param.Name.Pos, "%s is no name of a Go field", join(name, e.name)).
						WithHint("Write letters and digits that begin with a capital: Channel.")
				}
				q.Params = append(q.Params, param)
			}
		}},
		{name: "payload_from", read: func(name string, v *yaml.Node) {
			for i, item := range p.items(v, name, "tables that hold columns of the job") {
				f := PayloadFrom{Pos: p.at(item)}
				before := p.errs.Len()
				p.mapping(item, fmt.Sprintf("%s[%d]", name, i), payloadKeys(p, &f))
				if p.errs.Len() == before {
					q.Payload = append(q.Payload, f)
				}
			}
		}},
		{name: "group", read: func(name string, v *yaml.Node) {
			g := &Group{Pos: p.at(v)}
			p.mapping(v, name, groupKeys(p, g))
			q.Group = g
		}},
		{name: "offset", read: func(name string, v *yaml.Node) {
			q.Offset = &Offset{Pos: p.at(v)}
			p.mapping(v, name, offsetKeys(p, q.Offset))
		}},
		{name: "side_table", read: into(&q.Side, p.sideTable)},
		{name: "lease_table", read: func(name string, v *yaml.Node) {
			l := &LeaseTable{Pos: p.at(v)}
			p.mapping(v, name, leaseTableKeys(p, l))
			q.Lease = l
			if q.Side != nil {
				p.errs.Errorf(l.Pos, "side_table and lease_table both say where claims are held").
					WithHint("side_table is for a table that qgen lays out, lease_table for one that is there. Leave one of the two out.")
			}
		}},
		{name: "workers", read: func(name string, v *yaml.Node) {
			w := &Workers{Pos: p.at(v)}
			before := p.errs.Len()
			p.mapping(v, name, workersKeys(p, w))
			switch {
			case p.errs.Len() > before:
			case w.Seen.IsSet() != w.Timeout.IsSet():
				p.errs.Errorf(w.Pos, "%s.seen and %s.timeout belong together", name, name).
					WithHint("Say which column shows when a worker was last alive, and for how long that holds: seen: last_seen, timeout: 5m.")
			case w.As.IsSet() && !w.Seen.IsSet():
				p.errs.Errorf(w.As.Pos, "%s.as says how %s.seen keeps time, which is not there", name, name).WithHint("Leave it out.")
			}
			q.Workers = w
		}},
		{name: "indexes", read: func(name string, v *yaml.Node) { p.mapping(v, name, indexKeys(p, q)) }},
		{name: "stages", read: func(name string, v *yaml.Node) {
			entries, ok := p.entries(v, name)
			if ok && len(entries) == 0 {
				p.errs.Errorf(p.at(v), "%s is empty", name).WithHint("Write one further queue at least: {cleaner: {…}}.")
			}
			p.stages = entries
		}},
		{name: "gen", required: "Say what to write: gen: {go: {out: internal/emailq}}.", read: func(name string, v *yaml.Node) {
			p.mapping(v, name, genKeys(p, &q.Gen))
		}},
	}
}

// times reads how columns keep time.
func (p *parser) times(n *yaml.Node, name string) []Time {
	var list []Time
	entries, _ := p.entries(n, name)
	for _, e := range entries {
		t := Time{Pos: p.at(e.value), Column: p.keyName(e)}
		of := join(name, e.name)
		before := p.errs.Len()
		p.mapping(e.value, of, timeKeys(p, &t))
		if p.errs.Len() == before && !t.As.IsSet() && !t.Clock.IsSet() && !t.Width.IsSet() {
			p.errs.Errorf(t.Pos, "%s says nothing", of).WithHint("Say how the column keeps time: as: epoch, or whose clock it shows: clock: utc.")
		}
		list = append(list, t)
	}
	return list
}

// runningKeys are the keys of states.running.
func runningKeys(p *parser, r *Running) []key {
	return []key{
		{name: "table", required: "Name the table in which jobs are while they run: table: files_acquired.", read: into(&r.Table, p.str)},
		{name: "columns", required: "Say what its columns get: columns: same, or columns: {column of that table: value}.", read: p.sameOr(&r.Same, &r.Columns)},
		{name: "words", read: into(&r.Words, p.columnWords)},
	}
}

// columnWords reads the annotations of columns.
func (p *parser) columnWords(v *yaml.Node, name string) []ColumnWords {
	var list []ColumnWords
	entries, _ := p.entries(v, name)
	for _, e := range entries {
		words := p.strs(e.value, join(name, e.name), "annotations")
		list = append(list, ColumnWords{Name: p.keyName(e), Words: words})
	}
	return list
}

// timeKeys are the keys of an entry of times.
func timeKeys(p *parser, t *Time) []key {
	return []key{
		{name: "as", read: into(&t.As, p.str)},
		{name: "clock", read: func(name string, v *yaml.Node) { t.Clock = p.word(v, name, clocks) }},
		{name: "width", read: func(name string, v *yaml.Node) {
			t.Width = p.integer(v, name, 1, 255, "how many digits the numbers have")
		}},
	}
}

// workersKeys are the keys of workers.
func workersKeys(p *parser, w *Workers) []key {
	return []key{
		{name: "table", required: "Name the table in which the workers are: table: processes.", read: into(&w.Table, p.str)},
		{name: "id", required: "Name its column that says which worker it is: id: id.", read: into(&w.ID, p.str)},
		{name: "seen", read: into(&w.Seen, p.str)},
		{name: "as", read: into(&w.As, p.str)},
		{name: "timeout", read: into(&w.Timeout, p.length)},
		{name: "alive", read: into(&w.Alive, p.str)},
	}
}

// outcomeKeys are the keys of an entry of outcomes.
func outcomeKeys(p *parser, o *Outcome) []key {
	return []key{
		{name: "to", required: "Say what becomes of the job: to: ready, done, failed or deleted.", read: func(name string, v *yaml.Node) {
			o.To = p.word(v, name, outcomeEnds)
		}},
		{name: "set", read: into(&o.Set, p.values)},
	}
}

// payloadKeys are the keys of an entry of payload_from.
func payloadKeys(p *parser, f *PayloadFrom) []key {
	return []key{
		{name: "table", required: "Name the table that holds the columns: table: message_bodies.", read: into(&f.Table, p.str)},
		{name: "as", read: func(name string, v *yaml.Node) {
			s := p.str(v, name)
			if s.IsSet() && !plainName.MatchString(s.Value) {
				p.errs.Errorf(s.Pos, "%s is %q, which is not a plain name", name, s.Value).
					WithHint("Write letters, digits and underscores: as: body.")
				return
			}
			f.As = s
		}},
		{name: "on", required: `Say which of its rows belongs to a job, {row} being the job's: on: "body.message_id = {row}.id".`, read: into(&f.On, p.str)},
		{name: "columns", required: "Name the columns to read: columns: [content].", read: func(name string, v *yaml.Node) {
			f.Columns = p.strs(v, name, "columns")
		}},
	}
}

// groupKeys are the keys of group.
func groupKeys(p *parser, g *Group) []key {
	return []key{
		{name: "column", read: func(name string, v *yaml.Node) { g.Columns = p.strs(v, name, "columns") }},
		{name: "limit", read: func(name string, v *yaml.Node) {
			if s, ok := p.resolve(v); ok && s.Kind == yaml.ScalarNode && s.Tag == "!!str" {
				g.LimitSQL = p.str(v, name)
				return
			}
			g.Limit = p.integer(v, name, 1, math.MaxInt16, "how many rows of one group may run at once")
		}},
		{name: "fifo", read: into(&g.Fifo, p.flag)},
		{name: "when", read: into(&g.When, p.str)},
		{name: "lock", read: func(name string, v *yaml.Node) {
			g.Lock = &GroupLock{Pos: p.at(v)}
			p.mapping(v, name, []key{
				{name: "table", required: "Name the table that has one row for each group, or one for all jobs: table: tenants.", read: into(&g.Lock.Table, p.str)},
				{name: "on", required: `Say which of its rows stands for the group of a job: on: "id = {row}.tenant_id"; or for all jobs: on: "id = 1".`, read: into(&g.Lock.On, p.str)},
			})
		}},
	}
}

// plainName is a name that no database wants in quotes for its characters.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// indexKeys are the keys of indexes: what the names of those end with that are advised.
func indexKeys(p *parser, q *Queue) []key {
	var keys []key
	for _, kind := range []string{"ready", "expired", "token", "key", "line", "group", "others", "like"} {
		keys = append(keys, key{name: kind, read: func(name string, v *yaml.Node) {
			if f := p.flag(v, name); f.Pos.IsValid() && !f.Value {
				q.Declined = append(q.Declined, String{Value: kind, Pos: f.Pos})
			}
		}})
	}
	return keys
}

// offsetKeys are the keys of offset.
func offsetKeys(p *parser, o *Offset) []key {
	return []key{
		{name: "delete_passed", read: into(&o.DeletePassed, p.flag)},
	}
}

// byEngine reads one text for each of some databases.
func (p *parser) byEngine(v *yaml.Node, name string) map[string]String {
	by := map[string]String{}
	entries, _ := p.entries(v, name)
	for _, e := range entries {
		by[e.name] = p.str(e.value, join(name, e.name))
	}
	return by
}

// backoffKeys are the keys of backoff.
func backoffKeys(p *parser, b *Backoff) []key {
	return []key{
		{name: "base", read: into(&b.Base, p.length)},
		{name: "factor", read: func(name string, v *yaml.Node) { b.Factor = p.float(v, name, 1, math.Inf(1)) }},
		{name: "max", read: into(&b.Max, p.length)},
		{name: "jitter", read: func(name string, v *yaml.Node) { b.Jitter = p.float(v, name, 0, 1) }},
		{name: "expr", read: func(name string, v *yaml.Node) {
			if n, ok := p.resolve(v); ok && n.Kind == yaml.MappingNode {
				b.ExprBy = p.byEngine(v, name)
				return
			}
			b.Expr = p.str(v, name)
		}},
		{name: "unit", read: func(name string, v *yaml.Node) { b.Unit = p.word(v, name, timeUnits) }},
	}
}

// checkBackoff complains about keys of backoff that do not go together.
func (p *parser) checkBackoff(b *Backoff, name string) {
	if b.Base.IsSet() && b.Max.IsSet() && b.Max.Value < b.Base.Value {
		p.errs.Errorf(b.Max.Pos, "%s.max is shorter than %s.base", name, name).
			WithHint("The wait starts at base and grows up to max.")
	}
	said := b.Expr.IsSet() || b.ExprBy != nil
	if b.Unit.IsSet() && !said {
		p.errs.Errorf(b.Unit.Pos, "%s.unit says of what %s.expr is a number, which is not there", name, name).WithHint("Leave it out.")
	}
	for _, k := range []struct {
		name string
		pos  source.Pos
	}{{"base", b.Base.Pos}, {"factor", b.Factor.Pos}, {"max", b.Max.Pos}, {"jitter", b.Jitter.Pos}} {
		if said && k.pos.IsValid() {
			p.errs.Errorf(k.pos, "%s.%s and %s.expr both say how long to wait", name, k.name, name).
				WithHint("Leave one of the two out. An expression can do the same: {failures} in it is how often the job has failed.")
		}
	}
}

// sideTable reads true, false, or what is to be said of the table; nil is no side
// table.
func (p *parser) sideTable(v *yaml.Node, name string) *SideTable {
	n, ok := p.resolve(v)
	if !ok {
		return nil
	}
	t := &SideTable{Pos: p.at(v)}
	if n.Kind == yaml.MappingNode {
		p.mapping(v, name, []key{
			{name: "name", read: into(&t.Name, p.str)},
			{name: "lease", read: into(&t.Lease, p.length)},
			{name: "attempts", read: into(&t.Attempts, p.wholeNumber)},
		})
		return t
	}
	if f := p.flag(v, name); !f.Value {
		return nil
	}
	return t
}

// wholeNumber reads a whole number from 1 on.
func (p *parser) wholeNumber(v *yaml.Node, name string) Number {
	n := p.float(v, name, 1, math.MaxInt16)
	if n.IsSet() && n.Value != math.Trunc(n.Value) {
		p.errs.Errorf(n.Pos, "%s is %v, which is no whole number", name, n.Value).WithHint("Write how often, for example 5.")
		return Number{}
	}
	return n
}

// leaseTableKeys are the keys of lease_table.
func leaseTableKeys(p *parser, l *LeaseTable) []key {
	timed := func(to **TimeColumn, length string) func(string, *yaml.Node) {
		return func(name string, v *yaml.Node) { *to = p.timeColumn(v, name, length) }
	}
	return []key{
		{name: "name", required: "Name the table: name: request_claims.", read: into(&l.Name, p.str)},
		{name: "key", required: "Pair its columns with the key: key: {request_id: id}.", read: func(name string, v *yaml.Node) {
			entries, _ := p.entries(v, name)
			for _, e := range entries {
				l.Key = append(l.Key, KeyColumn{Column: p.keyName(e), Of: p.str(e.value, join(name, e.name))})
			}
		}},
		{name: "token", read: into(&l.Token, p.str)},
		{name: "worker", read: into(&l.Worker, p.str)},
		{name: "claimed", read: timed(&l.Claimed, "timeout")},
		{name: "lease", read: timed(&l.Lease, "length")},
		{name: "attempts", read: into(&l.Attempts, p.str)},
		{name: "error", read: into(&l.Error, p.str)},
		{name: "keep_when_done", read: into(&l.Keep, p.flag)},
	}
}

// timeColumn reads the name of a column, or a mapping that holds it; length is
// the key of the duration that belongs to it.
func (p *parser) timeColumn(v *yaml.Node, name, length string) *TimeColumn {
	n, ok := p.resolve(v)
	if !ok {
		return nil
	}
	t := &TimeColumn{Pos: p.at(v)}
	if n.Kind != yaml.MappingNode {
		t.Column = p.str(v, name)
		return t
	}
	p.mapping(v, name, []key{
		{name: "column", required: "Name the column: column: claimed_at.", read: into(&t.Column, p.str)},
		{name: "as", read: into(&t.As, p.str)},
		{name: "clock", read: func(name string, v *yaml.Node) { t.Clock = p.word(v, name, clocks) }},
		{name: length, read: into(&t.Length, p.length)},
	})
	return t
}

// genKeys are the keys of gen.
func genKeys(p *parser, g *Gen) []key {
	return append([]key{
		{name: "go", required: "Say where the Go package goes: go: {out: internal/emailq}.", read: func(name string, v *yaml.Node) {
			g.Go = &Go{Pos: p.at(v)}
			p.mapping(v, name, goKeys(p, g.Go))
		}},
	}, later(laterGen)...)
}

// goKeys are the keys of gen.go.
func goKeys(p *parser, g *Go) []key {
	return []key{
		{name: "package", read: func(name string, v *yaml.Node) {
			g.Package = p.goName(v, name, "package name", "emailq")
		}},
		{name: "out", required: "Name the folder of the package: out: internal/emailq.", read: into(&g.Out, p.folder)},
		{name: "sql_package", read: func(name string, v *yaml.Node) { g.SQLPackage = p.word(v, name, sqlPackages) }},
		{name: "overrides", read: func(name string, v *yaml.Node) {
			for i, item := range p.items(v, name, "column types") {
				o := Override{Pos: p.at(item)}
				p.mapping(item, fmt.Sprintf("%s[%d]", name, i), overrideKeys(p, &o))
				g.Overrides = append(g.Overrides, o)
			}
		}},
		{name: "rename", read: func(name string, v *yaml.Node) {
			entries, _ := p.entries(v, name)
			for _, e := range entries {
				to := p.goName(e.value, join(name, e.name), "Go field name", "MessageID")
				if to.IsSet() && !token.IsExported(to.Value) {
					p.errs.Errorf(to.Pos, "%s is %q, which is not exported", join(name, e.name), to.Value).
						WithHint("Fields of a job begin with a capital letter.")
				}
				g.Rename = append(g.Rename, Rename{Column: p.keyName(e), Name: to})
			}
		}},
		{name: "worker", read: into(&g.Worker, p.flag)},
		{name: "conformance", read: into(&g.Conformance, p.flag)},
	}
}

// overrideKeys are the keys of an entry of gen.go.overrides.
func overrideKeys(p *parser, o *Override) []key {
	return []key{
		{name: "column", required: "Name the column that gets another type: column: body.", read: into(&o.Column, p.str)},
		{name: "go_type", required: "Name the type: go_type: {import: example.com/app/mail, type: Message}.", read: func(name string, v *yaml.Node) {
			p.mapping(v, name, goTypeKeys(p, o))
			if o.Import.IsSet() && o.Type.IsSet() && !token.IsExported(o.Type.Value) {
				p.errs.Errorf(o.Type.Pos, "%s.type is %q, which %q does not export", name, o.Type.Value, o.Import.Value).
					WithHint("Write the type's name alone, without its package: Message.")
			}
		}},
		{name: "codec", read: func(name string, v *yaml.Node) { o.Codec = p.word(v, name, codecs) }},
	}
}

// goTypeKeys are the keys of go_type.
func goTypeKeys(p *parser, o *Override) []key {
	return []key{
		{name: "import", read: func(name string, v *yaml.Node) {
			s := p.str(v, name)
			if s.IsSet() && !importPath.MatchString(s.Value) {
				p.errs.Errorf(s.Pos, "%s is %q, which is not an import path", name, s.Value).
					WithHint("Write it as in an import declaration, without quotes: example.com/app/mail.")
				return
			}
			o.Import = s
		}},
		{name: "type", required: "Name the type: type: Message.", read: func(name string, v *yaml.Node) {
			s := p.str(v, name)
			expr, err := goparser.ParseExpr(s.Value)
			if s.IsSet() && (err != nil || !isType(expr)) {
				p.errs.Errorf(s.Pos, "%s is %q, which is not a Go type", name, s.Value).
					WithHint("Write the name of a type: Message.")
				return
			}
			o.Type = s
		}},
	}
}

// isType reports whether an expression is a type as people write it for a
// field: a name, or pointers, slices, arrays and maps of such.
func isType(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name != "_"
	case *ast.SelectorExpr:
		return isType(e.X)
	case *ast.StarExpr:
		return isType(e.X)
	case *ast.ArrayType:
		_, fixed := e.Len.(*ast.BasicLit)
		return (e.Len == nil || fixed) && isType(e.Elt)
	case *ast.MapType:
		return isType(e.Key) && isType(e.Value)
	}
	return false
}

var importPath = regexp.MustCompile(`^[\pL\pN._~+-]+(/[\pL\pN._~+-]+)*$`)

// keyName returns the key of an entry as a text with its place.
func (p *parser) keyName(e entry) String {
	s := String{Value: e.name}
	s.Pos, s.Exact = p.scalar(e.key)
	return s
}

// goName reads a name that Go must accept.
func (p *parser) goName(n *yaml.Node, name, what, example string) String {
	s := p.str(n, name)
	if s.IsSet() && (!token.IsIdentifier(s.Value) || s.Value == "_") {
		p.errs.Errorf(s.Pos, "%s is %q, which is not a %s", name, s.Value, what).
			WithHint("Write letters and digits that are no keyword of Go: %s.", example)
		return String{}
	}
	return s
}

// folder reads a folder, relative to the configuration, and cleans its path.
func (p *parser) folder(n *yaml.Node, name string) String {
	s := p.str(n, name)
	if !s.IsSet() {
		return s
	}
	if path.IsAbs(s.Value) || strings.ContainsFunc(s.Value, func(r rune) bool { return r < ' ' || r == '\\' || r == ':' }) {
		p.errs.Errorf(s.Pos, "%s is %q, which is not a path relative to this file", name, s.Value).
			WithHint("Write it with slashes, from the folder of this file: internal/emailq.")
		return String{}
	}
	if clean := path.Clean(s.Value); clean != s.Value {
		s.Value, s.Exact = clean, false
	}
	return s
}
