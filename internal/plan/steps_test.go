package plan

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Whatever a table says of its columns, a job goes where its steps say that it goes, once, and whoever had it
// has it no more.
func TestStepsLeadWhereTheySay(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		shape := drawTable(t)
		p, why := shape.plan()
		if p == nil {
			seen["refused"]++
			if why != "" {
				t.Fatalf("%s\n%s", why, shape)
			}
			return
		}
		db, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		db.SetMaxOpenConns(1)
		if _, err := db.Exec(shape.ddl()); err != nil {
			t.Fatalf("%v\n%s", err, shape)
		}
		w := &walk{T: t, db: db, made: p, shape: shape}
		if !w.walkable() {
			seen["not walked"]++
			return
		}
		seen["walked"]++
		w.run()
	})
	t.Logf("%v", seen)
}

// drawnTable is an annotated table whose columns are drawn at random.
type drawnTable struct {
	queue   string
	columns []string
}

func (s drawnTable) ddl() string {
	var text strings.Builder
	text.WriteString("-- qgen:queue jobs " + s.queue + "\nCREATE TABLE jobs (\n    id INTEGER PRIMARY KEY AUTOINCREMENT")
	for _, c := range s.columns {
		def, note, _ := strings.Cut(c, "|")
		fmt.Fprintf(&text, ",\n    -- qgen:%s\n    %s", note, def)
	}
	return text.String() + "\n);\n"
}

func (s drawnTable) String() string { return s.ddl() }

// plan builds the table's package. What a complaint is about goes, until there is none: most of what is drawn
// at random contradicts itself. It returns nil where nothing is left, and then what is wrong if that is not the
// table's fault.
func (s *drawnTable) plan() (*made, string) {
	cfgText := "version: \"1\"\nqueues:\n  - {schema: [x], engine: sqlite, table: jobs, clock: utc, gen: {go: {out: x}}}\n"
	d, _ := dialect.Lookup("sqlite")
	for {
		var errs source.ErrorList
		cfg := config.Parse(source.NewFile("qgen.yaml", []byte(cfgText)), &errs)
		catalog, err := schema.Read(d.Grammar, []*source.File{source.NewFile("schema.sql", []byte(s.ddl()))}, &errs)
		if err != nil || errs.Len() > 0 {
			return nil, errs.Detail()
		}
		for _, q := range cfg.Queues {
			for _, spec := range queue.Bind(catalog, q, d.Fold, &errs) {
				if p := Build(spec, d, q, nil, &errs); p != nil && errs.Len() == 0 {
					return &made{p, spec, d}, ""
				}
			}
		}
		text := errs.Detail()
		if errs.Len() == 0 || strings.Contains(text, "bug") {
			return nil, text
		}
		if !s.drop(errs.All()[0].Pos) {
			return nil, ""
		}
	}
}

// drop takes away the column, or the words of the table, at a position of the DDL; it reports false where none
// is to be had.
func (s *drawnTable) drop(pos source.Pos) bool {
	switch i := (pos.Line() - 4) / 2; {
	case pos.File == nil || pos.File.Path != "schema.sql":
		return false
	case pos.Line() < 3:
		words := s.queue != ""
		s.queue = ""
		return words
	case pos.Line() < 4 || i >= len(s.columns):
		return false
	default:
		s.columns = slices.Delete(s.columns, i, i+1)
		return true
	}
}

func drawTable(t *rapid.T) drawnTable {
	steps := []string{"claim", "renew", "done", "retry", "release", "fail", "recover", "redrive", "enqueue", "claim,recover", "retry,release", "done,fail", "retry,release,recover"}
	also := func(values ...string) string {
		if !rapid.Bool().Draw(t, "on") {
			return ""
		}
		return "; on " + rapid.SampledFrom(steps).Draw(t, "steps") + " set " + rapid.SampledFrom(append(values, "null")).Draw(t, "set")
	}
	var s drawnTable
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	col := func(def, note string) {
		s.columns = append(s.columns, def+"|"+strings.TrimPrefix(note, "; "))
	}
	split := func(v string) (string, string) { a, b, _ := strings.Cut(v, "|"); return a, b }
	switch n := rapid.IntRange(0, 20).Draw(t, "state"); n {
	case 0, 1:
		col("state TEXT NOT NULL DEFAULT 'new'", "status ready=new running=busy done=done failed=failed"+pick("stays", "", "", "; on retry set old"))
	case 2:
		col("state INTEGER NOT NULL DEFAULT 0", "status ready=0 running=1 done=2 failed=3")
	case 3:
		col("state TEXT NOT NULL DEFAULT 'new'", "status ready=new|again running=busy done=done|gone failed=failed")
	case 4:
		col("state TEXT NOT NULL DEFAULT 'new'", "status ready=new done=done failed=failed")
	case 5:
		col("processed BOOLEAN NOT NULL DEFAULT 0", "status ready=0 done=1")
	case 6:
		ty, as := split(pick("tt", "TEXT|", "INTEGER| as=epoch"))
		col("ended "+ty, "finished"+as+"; status ready=null done=now")
	case 7:
		col("holder TEXT", "worker free=null; status ready=null")
	case 8:
		ty, as := split(pick("tt", "TEXT NOT NULL DEFAULT '2000-01-01 00:00:00'|", "INTEGER NOT NULL DEFAULT 0| as=epoch", "TEXT|"))
		col("until "+ty, "visible length=5m"+as+pick("vis", "", "; status ready~set done=null", "; order 1")+also("now"))
	case 9:
		col("fault TEXT NOT NULL DEFAULT ''", "error; status ready='' failed~\"fault <> ''\"")
		if rapid.Bool().Draw(t, "st2") {
			col("state TEXT NOT NULL DEFAULT 'new'", "status ready=new running=busy done=done")
		}
	case 10:
		col("begun TEXT", "claimed timeout=5m; status ready=null running~set"+also())
	case 11:
		col("state TEXT NOT NULL DEFAULT 'new'", "status ready=new claimed=taken running=busy done=done failed=failed")
	case 12:
		col("state TEXT NOT NULL DEFAULT 'new'", "status ready=new running=busy")
	case 13:
		col("busy BOOLEAN NOT NULL DEFAULT 0", "status ready=0 running=1")
		col("ended BOOLEAN NOT NULL DEFAULT 0", "status ready=0 done=1"+pick("run", "", " running=0", " failed=1"))
	case 14:
		col("state TEXT NOT NULL DEFAULT 'new'", "status ready=new running=busy done=done failed=failed")
		col("paused INTEGER NOT NULL DEFAULT 0", "status ready=0"+pick("run", "", " running=0", " done=1"))
	case 15:
		col("rank INTEGER NOT NULL", pick("rank", "payload; ", "", "order 1; ")+"status ready~\"rank < 100\"")
		col("state TEXT NOT NULL DEFAULT 'new'", "status ready=new running=busy done=done")
	case 16:
		col("state TEXT NOT NULL DEFAULT 'new'", "status ready=new running=token done=done failed=failed")
	case 17:
		col("state TEXT", "status ready=null running=busy done=done failed=failed|lost")
	case 18:
		col("begun TEXT", "claimed timeout=5m"+pick("exp", "", " expired=recover", " expired=claim"))
		col("over TEXT", "finished; status ready=null done=now"+pick("fail", "", " failed=now"))
		col("broken BOOLEAN NOT NULL DEFAULT 0", "status ready=0 failed=1"+pick("done", "", " done=0"))
	case 19:
		col("phase INTEGER NOT NULL DEFAULT 0", "status ready=0|4 running=1 done=2 failed=3"+pick("r", "", " ready:=4"))
		col("seen TEXT", "heartbeat timeout=5m")
	case 20:
		col("held INTEGER", "claimed as=epoch; status ready=null claimed=now running~set")
		col("begun INTEGER", "status ready=null claimed=null running=now as=epoch"+pick("ends", "", " done~set", " done~set failed~set"))
		col("over INTEGER", "finished as=epoch; status ready=null claimed=null running=null done=now failed=null")
		col("broken BOOLEAN NOT NULL DEFAULT 0", "status ready=0 claimed=0 running=0 done=0 failed=1")
	}
	extra := func(name string) bool { return rapid.IntRange(0, 3).Draw(t, name) == 0 }
	if extra("lease") {
		ty, as := split(pick("tt", "TEXT|", "INTEGER| as=epoch", "INTEGER NOT NULL DEFAULT 0| as=epoch free=0"))
		col("leased "+ty, "lease length=5m"+as+pick("exp", "", " expired=recover", " expired=fail")+pick("st", "", "; status ready=null running~set", "; status done=null")+also())
	}
	if extra("claimed") {
		col("since TEXT", "claimed timeout=5m"+pick("st", "", "; status ready=null running~set")+also())
	}
	if extra("beat") {
		col("beat TEXT", "heartbeat timeout=5m"+also("now"))
	}
	if extra("due") {
		ty, as := split(pick("tt", "TEXT|", "INTEGER NOT NULL DEFAULT 0| as=epoch", "TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))|"))
		col("run_at "+ty, "due"+as+pick("null", "", " null=now", " null=never")+also("now"))
	}
	if extra("attempts") {
		col("tries INTEGER NOT NULL DEFAULT 0", "attempts up"+pick("on", "", " on=claim", " on=retry", " on=recover", " on=retry,recover")+pick("max", "", " max=3", " max=2", " max=3 limit=claim"))
	} else if extra("down") {
		col("left INTEGER NOT NULL DEFAULT 3", "attempts down"+pick("on", "", " on=claim", " on=retry"))
	}
	if extra("token") {
		col("token TEXT", "token"+pick("free", "", " free=null"))
	}
	if extra("worker") {
		col("agent TEXT", "worker"+pick("free", "", " free=null")+pick("st", "", "; status ready=null", "; status ready=null running~set")+also())
	}
	if extra("version") {
		col("version INTEGER NOT NULL DEFAULT 0", "version"+pick("on", "", " on=claim", " on=retry,release,recover"))
	}
	if extra("finished") {
		col("finished TEXT", "finished"+pick("st", "", "; status ready=null", "; status done~set", "; status ready=null done=now")+also("now"))
	}
	if extra("error") {
		col("why TEXT", "error"+also())
	}
	if extra("expires") {
		col("gone TEXT", "expires")
	}
	if extra("most") {
		col("most INTEGER NOT NULL DEFAULT 2", "max_attempts")
	}
	if extra("group") {
		col("class TEXT NOT NULL DEFAULT 'g'", "group"+pick("group", " limit=1", " limit=2", " fifo"))
	}
	if extra("topic") {
		col("kind TEXT NOT NULL DEFAULT 'a'", "topic")
	}
	if extra("plain") {
		col("extra INTEGER NOT NULL DEFAULT 0", "on "+rapid.SampledFrom(steps).Draw(t, "steps")+" set "+pick("set", "0", "1", "+1", "old"))
	}
	col("body TEXT NOT NULL DEFAULT 'x'", "payload")
	var words []string
	for _, w := range []string{"done=delete", "failed=delete", "cycle=1h", "recover=none", "expired=fail", "redrive=none"} {
		if rapid.IntRange(0, 4).Draw(t, w) == 0 {
			words = append(words, w)
		}
	}
	s.queue = strings.Join(words, " ")
	return s
}

// early ends a job that is claimed and has not begun: each step leads where it leads a running one.
func (w *walk) early(job jobRow) {
	w.Helper()
	for _, o := range w.ops() {
		if o.name == "Start" || o.name == "Extend" || o.name == "Fail" && w.made.Retry != nil {
			continue
		}
		w.exec("SAVEPOINT early")
		keep := len(w.done)
		found := w.query(o.Statement, job)
		w.done = append(w.done, o.name)
		if len(found) != 1 {
			w.fatalf("%s finds %d jobs before Start\n%s", o.name, len(found), o.Statement.SQL)
		}
		if m, ok := w.move(o.step); ok {
			w.at(m.To)
		}
		w.done = w.done[:keep]
		w.exec("ROLLBACK TO early; RELEASE early")
	}
}

// walk takes one job through the steps of a package.
type walk struct {
	*rapid.T
	made   *made
	shape  drawnTable
	db     *sql.DB
	done   []string
	tokens int
}

// op is an operation that settles or extends a job, with the step of the plan that it is.
type op struct {
	name string
	*Settle
	step string
}

func (w *walk) ops() []op {
	p := w.made
	all := []op{{"Complete", p.Complete, "done"}, {"Retry", p.Retry, "retry"}, {"Fail", p.Fail, "fail"},
		{"Requeue", p.Requeue, "release"}, {"Extend", p.Extend, "renew"}, {"Start", p.Start, "start"}}
	return slices.DeleteFunc(all, func(o op) bool { return o.Settle == nil || o.Statement == nil })
}

func (w *walk) walkable() bool {
	p := w.made
	if p.Claim == nil || p.Claim.Flow != OneStatement || p.Enqueue == nil || p.Stats == nil || p.Claim.Gate != nil || p.Claim.Accept != nil || p.LeaseTable != nil || p.Offset != nil || p.Hold || p.Running != "" {
		return false
	}
	for _, n := range p.Notes {
		if strings.HasPrefix(n, "warning: ") && !strings.Contains(n, "nothing ends that") {
			return false
		}
	}
	for _, o := range w.ops() {
		if o.Lock != nil || o.Rows != nil || len(o.With) > 0 {
			return false
		}
	}
	return true
}

func (w *walk) fatalf(format string, args ...any) {
	w.Helper()
	rows, err := w.rows()
	if err != nil {
		rows = append(rows, err.Error())
	}
	var moves []string
	for _, m := range w.made.Moves {
		moves = append(moves, fmt.Sprintf("%s: %s > %s: %s", m.Transition, m.From, m.To, m.Writes))
	}
	w.Fatalf("%s\nafter %s\n%s\nrows: %v\nstrategy %s, fence %v\n%s\n%s\nCLAIM %s\nnotes %s", fmt.Sprintf(format, args...), strings.Join(w.done, ", "), w.shape, rows, w.made.Strategy, w.made.Guarantee, strings.Join(moves, "\n"), w.made.Stats.Statement.SQL, w.made.Claim.Statement.SQL, strings.Join(w.made.Notes, "\n"))
}

// rows shows the table as it is.
func (w *walk) rows() (list []string, err error) {
	r, err := w.db.Query("SELECT * FROM jobs")
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	names, err := r.Columns()
	if err != nil {
		return nil, err
	}
	for r.Next() {
		cells := make([]any, len(names))
		for i := range cells {
			cells[i] = new(any)
		}
		if err := r.Scan(cells...); err != nil {
			return list, err
		}
		var text []string
		for i, n := range names {
			text = append(text, fmt.Sprintf("%s=%v", n, *cells[i].(*any)))
		}
		list = append(list, strings.Join(text, " "))
	}
	return list, r.Err()
}

// jobRow is a job as a claim returns it.
type jobRow map[*Field]any

func (w *walk) args(st *Statement, job jobRow) []any {
	var args []any
	for _, a := range st.Args {
		switch a.Kind {
		case ArgLimit, ArgAhead:
			args = append(args, 10)
		case ArgWorker:
			args = append(args, "w1")
		case ArgToken:
			w.tokens++
			args = append(args, fmt.Sprint("token", w.tokens))
		case ArgParam, ArgGiven:
			args = append(args, "a")
		case ArgLease, ArgTimeout:
			args = append(args, 300.0)
		case ArgDelay, ArgOlder:
			args = append(args, 0.0)
		case ArgError:
			args = append(args, "boom")
		case ArgNew:
			args = append(args, w.value(a.Field))
		case ArgNewSet:
			args = append(args, false)
		case ArgBatchAll:
			row := []any{}
			for _, f := range a.Batch {
				v, ok := job[f]
				if !ok {
					w.fatalf("%s wants %s of a job, which the claim does not return", st.Name, f.Name)
				}
				row = append(row, v)
			}
			text, _ := json.Marshal([]any{row})
			args = append(args, string(text))
		default:
			w.Skipf("argument %s", a.Kind)
		}
	}
	return args
}

func (w *walk) value(f *Field) any {
	if f.Optional || f.Null {
		if f.Tries {
			return 3
		}
		return nil
	}
	switch f.GoType {
	case "int64", "int", "int32", "int16":
		return 1
	case "bool":
		return true
	case "time.Time":
		if f.Codec == Epoch {
			return time.Now().Add(-time.Hour).Unix()
		}
		return "2001-01-01 00:00:00.000"
	}
	return "a"
}

func (w *walk) query(st *Statement, job jobRow) []jobRow {
	w.Helper()
	args := w.args(st, job)
	if st.Rows == nil && !strings.Contains(st.SQL, "RETURNING") {
		r, err := w.db.Exec(st.SQL, args...)
		if err != nil {
			w.fatalf("%s: %v\n%s", st.Name, err, st.SQL)
		}
		n, _ := r.RowsAffected()
		return make([]jobRow, n)
	}
	rows, err := w.db.Query(st.SQL, args...)
	if err != nil {
		w.fatalf("%s: %v\n%s", st.Name, err, st.SQL)
	}
	defer func() { _ = rows.Close() }()
	var all []jobRow
	for rows.Next() {
		cells := make([]any, len(st.Rows))
		for i := range cells {
			cells[i] = new(any)
		}
		if err := rows.Scan(cells...); err != nil {
			w.fatalf("%s: %v\n%s", st.Name, err, st.SQL)
		}
		one := jobRow{}
		for i, f := range st.Rows {
			one[f] = *cells[i].(*any)
			if tm, ok := one[f].(time.Time); ok {
				one[f] = tm.Format("2006-01-02 15:04:05.000")
			}
			if b, ok := one[f].(bool); ok {
				one[f] = map[bool]int{true: 1}[b]
			}
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		w.fatalf("%s: %v\n%s", st.Name, err, st.SQL)
	}
	return all
}

func (w *walk) exec(text string) {
	if _, err := w.db.Exec(text); err != nil {
		w.fatalf("%v", err)
	}
}

// stats counts rows by state.
func (w *walk) stats() map[string]int64 {
	st := w.made.Stats
	cells := make([]any, len(st.Fields))
	for i := range cells {
		cells[i] = new(any)
	}
	if err := w.db.QueryRow(st.Statement.SQL, w.args(st.Statement, nil)...).Scan(cells...); err != nil {
		w.fatalf("stats: %v", err)
	}
	all := map[string]int64{}
	for i, f := range st.Fields {
		if n, ok := (*cells[i].(*any)).(int64); ok && f.GoType == "int64" {
			all[strings.ToLower(f.Name)] = n
		}
	}
	return all
}

func (w *walk) move(step string) (MoveUse, bool) {
	for _, m := range w.made.Moves {
		if m.Transition == step {
			return m, true
		}
	}
	return MoveUse{}, false
}

// at complains unless the only row is in a state.
func (w *walk) at(state string) {
	w.Helper()
	stats := w.stats()
	if state == "ready" && w.made.spec.Cycle != nil && stats["delayed"] == 1 {
		return
	}
	switch n, known := stats[state]; {
	case state == "ready or not" || state == "failed or not" || state == "of no state":
	case state == "" || state == "deleted":
		var n int
		if err := w.db.QueryRow("SELECT count(*) FROM jobs").Scan(&n); err != nil || n != 0 {
			w.fatalf("%d rows are left", n)
		}
	case known && n != 1:
		w.fatalf("the row is not %s: %v", state, stats)
	}
	if state != "ready" && state != "ready or not" && stats["ready"] != 0 {
		w.fatalf("the row is ready, and should be %s: %v", state, stats)
	}
}

func (w *walk) run() {
	p := w.made
	w.query(p.Enqueue.One, nil)
	w.done = append(w.done, "Enqueue")
	if m, ok := w.move("enqueue"); ok {
		w.at(m.To)
	}
	was := w.stats()
	jobs := w.query(p.Claim.Statement, nil)
	w.done = append(w.done, "Claim")
	if int64(len(jobs)) != was["ready"] {
		w.fatalf("Claim returns %d jobs; before it: %v", len(jobs), was)
	}
	if len(jobs) == 0 {
		return
	}
	job := jobs[0]
	if m, ok := w.move("claim"); ok {
		w.at(m.To)
		if m.To != "ready" && m.To != "ready or not" {
			if again := w.query(p.Claim.Statement, nil); len(again) > 0 {
				w.fatalf("Claim takes a job twice")
			}
		}
	}
	if p.Strategy == "pop" {
		return
	}
	if p.Start != nil {
		w.early(job)
		begun := w.query(p.Start.Statement, job)
		if len(begun) != 1 {
			w.fatalf("Start finds %d jobs", len(begun))
		}
		job = maps.Clone(job)
		maps.Copy(job, begun[0])
		w.done = append(w.done, "Start")
		w.at("running")
	}
	w.die(job)
	for _, o := range w.ops() {
		if o.name == "Start" || o.name == "Fail" && p.Retry != nil {
			continue
		}
		w.exec("SAVEPOINT here")
		keep := len(w.done)
		found := w.query(o.Statement, job)
		w.done = append(w.done, o.name)
		if len(found) != 1 {
			w.fatalf("%s finds %d jobs\n%s", o.name, len(found), o.Statement.SQL)
		}
		if m, ok := w.move(o.step); ok {
			w.at(m.To)
			late := w.ops()
			if strings.Contains(w.shape.ddl(), "qgen:visible") || m.To == "running" {
				late = nil // a row that is given back looks like one whose claim has run out, which its worker may still end
			}
			if o.name == "Extend" {
				late = nil
				was := job
				job = maps.Clone(job)
				maps.Copy(job, found[0])
				for _, then := range w.ops() {
					if then.name == "Start" {
						continue
					}
					w.exec("SAVEPOINT extended")
					if n := len(w.query(then.Statement, job)); n != 1 {
						w.fatalf("%s finds %d jobs behind Extend\n%s", then.name, n, then.Statement.SQL)
					}
					w.exec("ROLLBACK TO extended; RELEASE extended")
				}
				job = was
			}
			for _, then := range late {
				w.exec("SAVEPOINT late")
				if n := len(w.query(then.Statement, job)); n != 0 {
					w.fatalf("%s finds %d jobs behind %s\n%s", then.name, n, o.name, then.Statement.SQL)
				}
				w.exec("ROLLBACK TO late; RELEASE late")
			}
			w.exec("SAVEPOINT next")
			next := w.query(p.Claim.Statement, nil)
			w.done = append(w.done, "Claim")
			switch m.To {
			case "ready":
				if len(next) != 1 && w.made.spec.Cycle == nil {
					w.fatalf("the job of %s is not claimed", o.name)
				}
				for _, then := range late {
					if w.made.Guarantee < queue.FenceAttempt || len(w.made.spec.Fence.Columns) > 0 && len(w.made.spec.SetBack(w.made.spec.Fence.Columns[0])) > 0 {
						continue
					}
					if n := len(w.query(then.Statement, job)); n != 0 {
						w.fatalf("%s of the first worker finds %d jobs of the next one\n%s", then.name, n, then.Statement.SQL)
					}
				}
			case "ready or not":
			default:
				if len(next) != 0 {
					w.fatalf("the job of %s is claimed", o.name)
				}
			}
			w.exec("ROLLBACK TO next; RELEASE next")
			if o.name == "Fail" && p.Redrive != nil && m.To == "failed" && p.Redrive.Steps[0].Lock == nil && len(p.Redrive.Steps[0].With) == 0 {
				n := len(w.query(p.Redrive.Steps[0].Statement, nil))
				w.done = append(w.done, "Redrive")
				if n != 1 {
					w.fatalf("Redrive finds %d jobs\n%s", n, p.Redrive.Steps[0].Statement.SQL)
				}
				if m, ok := w.move("redrive"); ok {
					w.at(m.To)
				}
			}
		}
		w.exec("ROLLBACK TO here; RELEASE here")
		w.done = w.done[:keep]
	}
}

// die has the claim of a job run out, whose worker is gone, and then another take it.
func (w *walk) die(job jobRow) {
	p := w.made
	w.exec("SAVEPOINT dead")
	kept := len(w.done)
	defer func() {
		w.exec("ROLLBACK TO dead; RELEASE dead")
		w.done = w.done[:kept]
	}()
	for _, c := range p.spec.Table.Columns {
		if slices.Contains([]string{"leased", "since", "beat", "seen", "until", "begun"}, c.Name) {
			w.exec(fmt.Sprintf(`UPDATE jobs SET %[1]s = CASE typeof(%[1]s) WHEN 'integer' THEN %[1]s - 3600
				WHEN 'text' THEN strftime('%%Y-%%m-%%d %%H:%%M:%%f', %[1]s, '-1 hour') ELSE %[1]s END`, c.Name))
		}
	}
	w.done = append(w.done, "an hour")
	recovered := 0
	if p.Recover != nil && !p.Recover.AtStart && p.Recover.Alive == nil {
		for _, step := range p.Recover.Steps {
			if step.Lock != nil || len(step.With) > 0 {
				return
			}
			recovered += len(w.query(step.Statement, nil))
		}
		w.done = append(w.done, "Recover")
	}
	next := len(w.query(p.Claim.Statement, nil))
	w.done = append(w.done, "Claim")
	switch byClaim := p.spec.Lease != nil && p.spec.Lease.ByClaim; {
	case recovered > 1 || next > 1:
		w.fatalf("Recover finds %d jobs and Claim %d", recovered, next)
	case p.Recover != nil && !byClaim && recovered == 0:
		w.fatalf("Recover finds no job\n%s", p.Recover.Steps[0].Statement.SQL)
	case byClaim && recovered == 0 && next == 0:
		w.fatalf("nobody finds the job of a dead worker")
	case p.Recover == nil && !byClaim && next > 0:
		w.fatalf("the job of a dead worker is claimed again, and nothing tells that it is one")
	}
	if next == 0 || p.Guarantee < queue.FenceAttempt {
		return
	}
	for _, o := range w.ops() {
		if n := len(w.query(o.Statement, job)); n != 0 {
			w.fatalf("%s of a dead worker finds %d jobs of the next one\n%s", o.name, n, o.Statement.SQL)
		}
	}
}
