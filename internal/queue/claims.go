package queue

// This file reads the roles that mark a row as taken besides its status: until
// when, since when, by whom, and with which token.

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// claims is what marks a row as taken.
type claims struct {
	lease     *role // lease or visible
	visible   bool  // lease is the due time as well
	due       *role // nil when visible
	claimed   *role
	heartbeat *role
	worker    *role
	workers   *role // to which every claim adds its worker
	token     *role

	length  *distance // of lease
	timeout *distance // of claimed, or of heartbeat
	wait    *distance // the row's own, added to due when it is compared
	free    map[*role][]Value
	// told: the status tells a running row from a waiting one.
	told bool
	// expired is the word that says what becomes of a row whose claim has run out; nil
	// when nothing does.
	expired *word
	// byClaim: a row whose claim has run out is ready.
	byClaim bool
	// own names the worker whose rows Recover takes back when it starts anew, and no others;
	// nil where something else tells them.
	own *schema.Column
	// mark is the role that alone tells a running row; nil when told, or when
	// nothing does.
	mark *role
}

// dueRole is what says when a job may be claimed: due, or visible.
func (k *claims) dueRole() *role {
	if k.visible && k.due == nil {
		return k.lease
	}
	return k.due
}

// readClaims reads due, lease, claimed, visible, heartbeat, worker and token.
func (b *binding) readClaims() {
	k := &b.claims
	k.due, k.lease, k.claimed, k.heartbeat = b.one("due"), b.one("lease"), b.one("claimed"), b.one("heartbeat")
	k.worker, k.token = b.one("worker"), b.one("token")
	k.free = map[*role][]Value{}
	if k.worker.annotationOf().has("append") {
		k.worker, k.workers = nil, k.worker
		b.readWorkers(k.workers)
	}
	if v := b.one("visible"); v != nil {
		for _, other := range []*role{k.lease, k.due} {
			if other != nil {
				b.errorf(other.pos, "column %q is qgen:visible, which is due and lease in one, and column %q is qgen:%s", v.column.Name, other.column.Name, other.verb).
					WithHint("Keep qgen:visible, or qgen:due and qgen:lease.")
			}
		}
		k.lease, k.visible, k.due = v, true, nil
	} else if k.lease != nil && k.due != nil && k.lease.column == k.due.column {
		k.visible = true
		b.note("column %q is due and lease, so a claim hides the row by moving its due time", k.lease.column.Name)
		if w := k.due.word("add"); w != nil {
			b.errorf(w.pos, "column %q is due and lease, and %s would hide a claimed row for longer than its lease is good", k.lease.column.Name, w.pos.Text()).
				WithHint("Leave %s out, or keep the two times in two columns.", w.pos.Text())
		}
	}
	b.readLengths()
	b.checkLengths()
	k.told = len(b.statusTests(Ready)) > 0 && len(b.statusTests(Running)) > 0 &&
		b.apart(b.statusTests(Ready), b.statusTests(Running))
	b.chooseExpiry()
	b.chooseMark()
	if k.heartbeat != nil && !b.runs() {
		b.errorf(k.heartbeat.pos, "column %q shows the heartbeat of a worker, but nothing marks a row that a worker has", k.heartbeat.column.Name).
			WithHint("Say which rows run, qgen:status running=…, or mark a column with qgen:claimed, which may be the same: qgen:claimed; heartbeat timeout=5m.")
	}
	b.readHolders()
	for _, r := range []*role{k.lease, k.claimed, k.worker, k.token} {
		if r != nil && (!k.visible || r != k.lease) && !b.isAway() {
			b.readFree(r)
		}
	}
	b.setClaims()
}

// readLengths reads for how long a claim is good.
func (b *binding) readLengths() {
	k := &b.claims
	if k.lease != nil {
		k.length = b.length(k.lease, "length", ArgLease)
		switch {
		case k.length != nil || k.lease.has("length"):
		case k.lease.verb == "visible":
			k.length = &distance{arg: ArgLease}
			b.note("no length= is said at column %q, so whoever claims says for how long", k.lease.column.Name)
		default:
			b.errorf(k.lease.pos, "the lease in column %q has no length", k.lease.column.Name).
				WithHint("Say how long a claim is good: length=5m, or length=<column> for the row's own, or length=arg to say it at each claim.")
		}
		if d := k.length; d != nil && d.wait != nil && b.isAway() {
			b.errorf(d.wait.Pos, "a claim moves the row to %q, and in the table from which it comes the expression may mean something else", b.table.QualifiedName()).
				WithHint("Name a column that both tables have: length=<column> unit=s.")
			k.length = nil
		}
	}
	if k.claimed != nil {
		k.timeout = b.length(k.claimed, "timeout", ArgTimeout)
		if w := k.claimed.word("timeout"); w != nil && k.lease != nil {
			b.errorf(w.pos, "columns %q and %q both say when a claim runs out", k.lease.column.Name, k.claimed.column.Name).
				WithHint("Leave timeout= out: column %q then tells when a row was claimed, and the lease when the claim ends.", k.claimed.column.Name)
		}
	}
	if k.heartbeat != nil {
		b.readBeat()
	}
	switch d := k.timeout; {
	case d == nil || d.arg == "":
	case k.lease != nil:
		b.errorf(d.pos, "column %q says until when a claim is good, and timeout=arg lets whoever asks say it", k.lease.column.Name).
			WithHint("Leave timeout= out, with a length at column %q that is no arg; or leave qgen:%s out.", k.lease.column.Name, k.lease.verb)
	default:
		b.note("no column says when a claim in column %q has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them", either(k.heartbeat, k.claimed).column.Name)
	}
}

// readBeat reads after how long without a heartbeat a worker is gone.
func (b *binding) readBeat() {
	k := &b.claims
	beat := b.length(k.heartbeat, "timeout", ArgTimeout)
	switch w := k.heartbeat.word("timeout"); {
	case w != nil && k.timeout != nil:
		b.errorf(w.pos, "columns %q and %q both say when a claim runs out", k.claimed.column.Name, k.heartbeat.column.Name).
			WithHint("Leave one timeout= out.")
	case beat != nil:
		k.timeout = beat
	case w != nil, k.timeout != nil:
	case k.length != nil && k.length.arg == "":
		k.timeout = k.length
	case k.claimed != nil && k.claimed.has("timeout"): // reported
	default:
		b.errorf(k.heartbeat.pos, "nothing says after how long without a heartbeat in column %q a worker is gone", k.heartbeat.column.Name).
			WithHint("Add timeout=5m here or at qgen:claimed.")
	}
}

// checkLengths refuses claims that are over as soon as they are written, because their
// time is cut or rounded to a step of the column.
func (b *binding) checkLengths() {
	k := &b.claims
	for _, e := range []struct {
		on *role
		d  *distance
	}{{k.lease, k.length}, {either(k.heartbeat, k.claimed), k.timeout}} {
		if e.on == nil || e.d == nil || e.d.fixed == 0 {
			continue
		}
		step := b.step(e.on.column)
		least := (2*step + time.Millisecond - 1).Truncate(time.Millisecond) // as it can be written
		if e.d.fixed < 2*step {
			b.errorf(e.d.pos, "column %q counts whole %ss, so a claim of %s can have run out when it begins", e.on.column.Name, stepName(step), duration(e.d.fixed)).
				WithHint("Write at least twice the step, %s, or keep the time in a column of finer steps.", duration(least))
		}
	}
}

// noteLengths warns of lengths of time that a row may lack, unless such rows are no jobs.
func (b *binding) noteLengths() {
	k := &b.claims
	for _, e := range []struct {
		on   *role
		d    *distance
		what string
		// what happens to it, and what may where an expression may have a case for a null
		surely, perhaps string
	}{
		{either(k.heartbeat, k.claimed), k.timeout, "the claim of a row", "never runs out", "may never run out"},
		{k.due, k.wait, "a row", "is never due", "may never be due"},
	} {
		if e.on == nil || e.d == nil {
			continue
		}
		columns, _ := b.mayLack(e.d)
		happens, mend := e.surely, ""
		if e.d.wait != nil {
			mend = "coalesce says how long then, and "
			if source.Mentions(e.d.wait.SQL, "case") || call.MatchString(e.d.wait.SQL) {
				happens = e.perhaps
			}
		}
		for _, c := range columns {
			if e.d == k.timeout && b.heldWith(c) {
				continue
			}
			out := c.Name + " is not null"
			if !slices.ContainsFunc(b.narrow, func(t Test) bool {
				return t.Op == Raw && strings.Contains(strings.Join(strings.Fields(strings.ToLower(t.SQL)), " "), strings.ToLower(out))
			}) {
				b.note("warning: %s whose %s is null %s by column %q; %sqgen:where \"%s\" leaves such rows out", e.what, c.Name, happens, e.on.column.Name, mend, out)
			}
		}
	}
}

// heldWith reports whether a row that somebody has surely has a value in a column: a running row is told
// by one, or claims ask for it.
func (b *binding) heldWith(c *schema.Column) bool {
	if slices.ContainsFunc(b.status, func(s *statusColumn) bool {
		running, ok := s.tests[Running]
		return s.column == c && ok && contradict(running, Test{Column: c, Op: IsNull})
	}) {
		return true
	}
	return slices.ContainsFunc(b.roles["topic"], func(r *role) bool {
		return r.column == c && r.word("optional") == nil && r.word("any") == nil
	})
}

// chooseExpiry decides what becomes of a row whose claim has run out.
func (b *binding) chooseExpiry() {
	k := &b.claims
	var said *word
	var by *role
	for _, r := range []*role{k.lease, k.claimed, k.heartbeat, k.worker} {
		if w := r.annotationOf().word("expired"); w != nil {
			if b.isAway() && w.values[0].text == "claim" {
				b.errorf(w.pos, "a claim takes rows of %q, and those whose claims have run out are in %q", b.ready.table.QualifiedName(), b.table.QualifiedName()).
					WithHint("Leave expired=claim out: Recover moves such rows back.")
			}
			if said != nil && said.values[0].text != w.values[0].text {
				b.errorf(w.pos, "expired is %s here, but %s at %s", w.values[0].text, said.values[0].text, said.pos).WithHint("Keep one of them.")
			}
			said, by = w, r
		}
	}
	if b.readAtStart(); b.spec.AtStart {
		k.expired = b.queue.word("expired")
		return
	}
	expires := k.lease != nil || k.timeout != nil
	toldBeside := b.config.Recover.IsSet() || k.worker != nil && (b.config.Workers != nil || k.worker.has("alive"))
	switch {
	case said != nil && !expires && by == k.worker && !toldBeside:
		b.errorf(said.pos, "the claim in column %q never runs out", by.column.Name).
			WithHint("Say in qgen.yaml when a worker is gone, workers: {table: processes, id: id, seen: last_seen, timeout: 5m}, or by an expression over the row, recover_if: \"…\".")
	case said != nil && !expires && (said.values[0].text == "claim" || !toldBeside):
		b.errorf(said.pos, "the claim in column %q never runs out", by.column.Name).
			WithHint("Say after how long: timeout=30m, or timeout=<column> for the row's own.")
	case said != nil:
		k.expired, k.byClaim = said, said.values[0].text == "claim"
	case !expires, b.isAway():
	case k.told:
		if k.lease != nil || k.claimed != nil {
			b.note("a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)")
		}
	case (k.lease != nil || k.claimed != nil) && b.freeByHolder() != nil && !k.visible:
		b.note("a claim that has run out is reset by Recover, since column %q says who has a row (expired=recover)", b.freeByHolder().Name)
	case k.lease != nil || k.claimed != nil:
		k.byClaim = true
		if !k.visible {
			b.note("a row whose claim has run out is claimed again, since nothing but column %q says which rows run (expired=claim)", either(k.lease, k.claimed).column.Name)
		}
	}
	switch {
	case !k.visible || k.told:
	case k.failsExpired():
		b.errorf(said.pos, "a row that waits for its time looks like one that runs: both are hidden by column %q", k.lease.column.Name).
			WithHint("Say on qgen:status which rows run, running=<value>: those of them fail whose claims have run out.")
	default:
		if k.byClaim = true; b.toldApart() {
			break
		}
		b.note("a row that waits for its time looks like one that runs: both are hidden by column %q", k.lease.column.Name)
	}
}

// freeByHolder returns the column of the worker or the token where a status word says that ready rows have
// none: a claim that has run out leaves it as it is.
func (b *binding) freeByHolder() *schema.Column {
	k := &b.claims
	for _, r := range []*role{k.worker, k.token} {
		if r != nil && slices.ContainsFunc(b.status, func(s *statusColumn) bool {
			free, ok := s.tests[Ready]
			return s.column == r.column && ok && contradict(free, Test{Column: s.column, Op: NotNull})
		}) {
			return r.column
		}
	}
	return nil
}

// toldApart reports whether a row that waits for its time has what no row has that runs: a status says
// of its column running~ and, of what a row is given back with, ready:=.
func (b *binding) toldApart() bool {
	return slices.ContainsFunc(b.status, func(s *statusColumn) bool {
		runs, tested := s.tests[Running]
		v, written := s.writes[Ready]
		if !tested || !written || v.Kind != Null && v.Kind != Literal {
			return false
		}
		waits := Test{Column: s.column, Op: In, Values: []Value{v}}
		if v.Kind == Null {
			waits = Test{Column: s.column, Op: IsNull}
		}
		return excludesAll(waits, runs)
	})
}

// failsExpired reports whether a job whose claim has run out fails, whatever tries it has
// left.
func (k *claims) failsExpired() bool { return k.expired != nil && k.expired.values[0].text == "fail" }

// checkFailsExpired complains where a job whose claim has run out should fail, and no value
// of its row would say that it did.
func (b *binding) checkFailsExpired() {
	k := &b.claims
	const mend = "Say failed=<value> on qgen:status, or failed=delete on qgen:queue, or in qgen.yaml where such a row goes: failed: {move: {to: dead, columns: same}}."
	switch {
	case !k.failsExpired():
	case b.failedByLimit:
		b.errorf(k.expired.pos, "a failed row is known by its attempts alone, and one whose claim has run out may have some left").WithHint(mend)
	case !b.keepsFailed && !b.spec.FailedDeletes:
		b.errorf(k.expired.pos, "nothing marks a failed row, so none whose claim has run out can become one").WithHint(mend)
	}
}

// annotationOf returns the annotation of a role that may be absent.
func (r *role) annotationOf() *annotation {
	if r == nil {
		return nil
	}
	return r.annotation
}

// either returns the first role that there is.
func either(roles ...*role) *role {
	for _, r := range roles {
		if r != nil {
			return r
		}
	}
	return nil
}

// chooseMark finds the one role that tells a running row where the status does
// not. Where a claim that has run out counts as ready, only a time can be it.
func (b *binding) chooseMark() {
	k := &b.claims
	switch {
	case k.told, b.isAway():
	case k.byClaim:
		k.mark = either(k.lease, k.claimed)
	default:
		k.mark = either(k.token, k.worker, k.lease, k.claimed)
	}
}

// readHolders checks worker and token.
func (b *binding) readHolders() {
	k := &b.claims
	for _, holder := range []struct {
		r    *role
		have *schema.Column
	}{{k.token, b.spec.Token}, {k.worker, b.spec.Worker}} {
		if holder.r == nil {
			continue
		}
		if holder.have != nil {
			b.errorf(holder.r.pos, "column %q is qgen:%s, but the status in column %q holds it already", holder.r.column.Name, holder.r.verb, holder.have.Name).
				WithHint("Leave one of the two out.")
			b.misplaced = holder.r
		}
		b.checkKind(holder.r)
	}
	if k.token != nil {
		b.spec.Token = k.token.column
		if c := k.token.column; k.token.word("from") == nil {
			otherwise := ""
			if c.Values == nil && k.worker == nil && holdsWorker(c) {
				otherwise = ` Where a value that the server makes is enough, mark the column qgen:worker; on claim set "…" with an expression that is another one for each claim: what the claim leaves there is compared.`
			}
			b.holdsToken(c, k.token.pos, otherwise)
		}
	}
	if k.worker != nil {
		b.spec.Worker = k.worker.column
		if c := k.worker.column; !holdsWorker(c) {
			b.errorf(k.worker.pos, "column %q is %s, which holds no worker", c.Name, c.Type.Raw).
				WithHint("A worker is a text, a number or a uuid.")
		}
		if w := k.worker.word("mine"); w != nil && k.mark != k.worker && (!k.byClaim || k.visible) {
			b.errorf(w.pos, "mine=ready needs a table where column %q alone tells a running row, or a lease that runs out by itself (expired=claim)", k.worker.column.Name).
				WithHint("Say recover=own on qgen:queue in its place: a worker that starts again then takes back what runs under its name. Where rows are given to a worker in advance, Claim asks for those: ready_if: \"%s\" in qgen.yaml.", givenTo(k.worker.column))
		} else if w != nil && b.config.Gen.Go != nil && b.config.Gen.Go.Worker.Value {
			b.errorf(w.pos, "Work claims while its handlers run, and by mine=ready it would take their jobs away from them again and again").
				WithHint("Leave worker: true out, and settle all jobs of a claim before the next. Or leave mine=ready out, with recover=own on qgen:queue where no lease ends by itself.")
		}
	}
}

// givenTo is a condition of rows that nobody or the caller was given.
func givenTo(c *schema.Column) string {
	none, typ := "''", "string"
	if c.Type.Counts() {
		none, typ = "0", "int"
	}
	if !c.NotNull {
		return fmt.Sprintf("coalesce(%s, %s) in (%s, {arg:%s %s})", c.Name, none, none, c.Name, typ)
	}
	return fmt.Sprintf("%s in (%s, {arg:%s %s})", c.Name, none, c.Name, typ)
}

// holdsWorker reports whether a column can name a worker.
func holdsWorker(c *schema.Column) bool {
	return !c.Type.Array && slices.Contains([]schema.Class{schema.Text, schema.Int, schema.Decimal, schema.UUID, schema.Unknown}, c.Type.Class)
}

// readWorkers reads the column that lists the workers. It does not tell who has the
// row now: of two claims by one worker it would be alike in part.
func (b *binding) readWorkers(r *role) {
	c := r.column
	b.spec.Workers = c
	if !c.Type.Array || c.Type.Class != schema.Text {
		b.errorf(r.word("append").pos, "column %q is %s, to which no worker can be appended", c.Name, c.Type.Raw).
			WithHint("append is for an array of texts. Leave it out; the column then names the last worker.")
	}
	for _, name := range []string{"free", "mine", "alive", "expired"} {
		if w := r.word(name); w != nil {
			b.errorf(w.pos, "%s needs a column that holds one worker, and column %q lists them all", w.pos.Text(), c.Name).
				WithHint("Leave it out, or leave append out.")
		}
	}
}

// checkKind compares type= with the column.
func (b *binding) checkKind(r *role) {
	w := r.word("type")
	if w == nil {
		return
	}
	c := r.column
	is := map[schema.Class]string{schema.Int: "int", schema.Decimal: "int", schema.UUID: "uuid", schema.Text: "text", schema.Bytes: "text"}[c.Type.Class]
	if is != "" && is != w.values[0].text {
		b.errorf(w.pos, "column %q is %s, not %s", c.Name, c.Type.Raw, w.values[0].text).
			WithHint("The type of the column decides; leave type= out.")
	}
}

// holdsToken checks that a column can hold a fresh value per claim. Otherwise is what else can be
// done where it cannot.
func (b *binding) holdsToken(c *schema.Column, pos source.Pos, otherwise string) bool {
	var why string
	switch {
	case c.Values != nil:
		why = "allows certain values only"
	case c.Type.Array:
		why = "is " + c.Type.Raw
	case c.Type.Class == schema.UUID, c.Type.Class == schema.Unknown:
	case c.Type.Class == schema.Bytes:
		if n := c.Type.Length; n > 0 && n < TokenBytes {
			why = fmt.Sprintf("is %s, which is too short for a token of %d bytes", c.Type.Raw, TokenBytes)
		}
	case c.Type.Class == schema.Text:
		switch n := c.Most(); {
		case n == 0 || n >= TokenLength:
		case n == c.Type.Length:
			why = fmt.Sprintf("is %s, which is too short for a token of %d characters", c.Type.Raw, TokenLength)
		default:
			why = fmt.Sprintf("has a CHECK that allows %d characters, which is too short for a token of %d", n, TokenLength)
		}
	case c.Type.Class == schema.Int && (c.Type.Bits == 64 || c.Type.Bits == 0) && (c.Type.Digits == 0 || c.Type.Digits > 18):
	default:
		why = "is " + c.Type.Raw
	}
	if why == "" {
		return true
	}
	hint := fmt.Sprintf("A token is a random value for each claim. It needs a uuid, a text of at least %d characters, %d bytes, or a number of 64 bits.", TokenLength, TokenBytes)
	b.errorf(pos, "column %q cannot hold a token: it %s", c.Name, why).WithHint("%s", hint+otherwise)
	return false
}

// readFree finds what a column of a claim holds while nobody has the row.
func (b *binding) readFree(r *role) {
	k := &b.claims
	c := r.column
	timed := r.verb == "lease" || r.verb == "claimed"
	if w := r.word("free"); w != nil {
		for _, l := range w.values {
			if l.quote == bare && l.text == "now" && timed {
				switch {
				case r.verb == "claimed":
					b.errorf(l.pos, "free=now would keep a row that is given back from being claimed").
						WithHint("The column tells since when a row is taken. Write what it holds while nobody has the row: free=null.")
				case len(w.values) > 1:
					b.errorf(l.pos, "free=now stands alone").WithHint("A time in the past is free whatever it is. Write free=now.")
				case r == k.mark && !k.byClaim:
					b.errorf(l.pos, "free=now does not tell a free row from one whose claim has run out").
						WithHint("Say expired=claim, so that both are ready, or another value for free rows: free=null.")
				}
				k.free[r] = append(k.free[r], Value{Kind: Now, Pos: l.pos})
				continue
			}
			if v, ok := b.literal(c, l); ok {
				k.free[r] = append(k.free[r], v)
			}
		}
		return
	}
	text, isConstant := constant(c.Default)
	fitted, unfit := fit(c, text)
	byDefault := c.HasDefault && isConstant && unfit == ""
	switch {
	case !c.NotNull && byDefault && (!timed || r.verb == "claimed" && !strings.HasPrefix(fitted, "0000")):
		// What other programs add has the default, and conditions may compare it. A zero date is refused by strict modes.
		k.free[r] = []Value{{Kind: Literal, Text: fitted}, {Kind: Null}}
		b.note("%s", freeByDefault(c, k.free[r][0]))
	case !c.NotNull:
		k.free[r] = []Value{{Kind: Null}}
	case r.verb == "lease" && (r != k.mark || k.byClaim):
		k.free[r] = []Value{{Kind: Now}}
		b.note("column %q is NOT NULL, so a row is given back by a lease that ends now (free=now)", c.Name)
	case byDefault && r.verb != "lease":
		k.free[r] = []Value{{Kind: Literal, Text: fitted}}
		b.note("%s", freeByDefault(c, k.free[r][0]))
	}
	alone := r == k.mark || k.told && k.byClaim && r == either(k.lease, k.claimed) && b.toldReady() == nil
	if k.free[r] == nil && alone {
		hint := "It is NOT NULL. Say free=<value>, for example free='' or free=0."
		if b.spec.Stage && !r.yaml && len(r.scopes) == 0 {
			hint += fmt.Sprintf(" Or leave the column to the queue whose it is: qgen:%s(<queue>) there, or columns: {%s: [ignore]} in the stage.", r.verb, c.Name)
		}
		b.errorf(r.pos, "nothing says what column %q holds while nobody has the row", c.Name).WithHint("%s", hint)
	}
}

// freeByDefault is the note of a column that is given back with its default.
func freeByDefault(c *schema.Column, v Value) string {
	return fmt.Sprintf("column %q is %s while nobody has the row, as its default says", c.Name, quote(v, c))
}

// judgeFree takes that note back where every step that gives a row back leaves the column as it is, or
// qgen:on has it write something else, and no state is told by the value.
func (b *binding) judgeFree() {
	for r, free := range b.claims.free {
		holds := func(values []Value) bool {
			return slices.ContainsFunc(values, func(v Value) bool { return v.Same(free[0]) })
		}
		told := slices.ContainsFunc(slices.Collect(maps.Values(b.spec.States)), func(s *State) bool {
			return slices.ContainsFunc(s.Tests, func(t Test) bool {
				return slices.ContainsFunc(t.Alternatives(), func(t Test) bool { return t.Column == r.column && holds(t.Values) })
			})
		})
		written := slices.ContainsFunc(b.spec.Steps(), func(name TransitionName) bool {
			t := b.spec.Transitions[name]
			return t != nil && slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Column == r.column && w.Value.Same(free[0]) })
		})
		if !told && !written {
			b.spec.Notes = slices.DeleteFunc(b.spec.Notes, func(n string) bool { return n == freeByDefault(r.column, free[0]) })
		}
	}
}

// noteNullFree says of each column with free= that a null there is of no state, where it may be null and
// neither a ready nor a running row has one.
func (b *binding) noteNullFree() {
	outside := func(name StateName, c *schema.Column) bool {
		state := b.spec.States[name]
		return state != nil && slices.ContainsFunc(state.Tests, func(t Test) bool {
			return t.Column == c && excludesAll(Test{Column: c, Op: IsNull}, t)
		})
	}
	for _, verb := range []string{"lease", "claimed", "heartbeat", "worker", "token"} {
		r := b.one(verb)
		if r == nil || r.column.NotNull || r.word("free") == nil || endsNow(b.claims.free[r]) {
			continue
		}
		if c := r.column; outside(Ready, c) && (b.spec.States[Running] == nil || outside(Running, c)) {
			w := r.word("free")
			b.note("column %q may be null, which neither a ready nor a running row has: such rows are left alone; %s|null takes them for free", c.Name, w.pos.Text())
		}
	}
}

// setClaims fills the fields of the Spec.
func (b *binding) setClaims() {
	k, s := &b.claims, b.spec
	s.ExpiredFails = k.failsExpired()
	if k.worker != nil {
		for _, v := range k.free[k.worker] {
			if v.Kind == Literal {
				s.NoWorker = append(s.NoWorker, StatusValue{Value: v.Text})
			}
		}
	}
	if k.due != nil {
		s.Due = k.due.column
	}
	if k.claimed != nil {
		s.Started = k.claimed.column
	}
	switch {
	case k.lease != nil && k.length != nil:
		s.Lease = &Lease{Column: k.lease.column, Length: k.length.fixed, LengthOf: k.length.column, LengthBy: k.length.wait, LengthArg: k.length.arg != "", Unit: k.length.unit, ByClaim: k.byClaim}
		if k.visible {
			s.Due = k.lease.column
		}
	case k.timeout != nil:
		s.Lease = &Lease{Column: either(k.claimed, k.heartbeat).column, FromStart: true, Length: k.timeout.fixed, LengthOf: k.timeout.column, LengthBy: k.timeout.wait, TimeoutArg: k.timeout.arg != "", Unit: k.timeout.unit, ByClaim: k.byClaim}
	}
	if s.Lease != nil {
		s.Lease.Step = b.step(s.Lease.Column)
	}
	if s.Lease != nil && k.heartbeat != nil {
		s.Lease.Heartbeat = k.heartbeat.column
	}
}

// runOut returns the tests of a claim that has run out; nil when claims never
// do or nothing can tell.
func (b *binding) runOut() []Test {
	k := &b.claims
	switch {
	case k.heartbeat != nil && k.timeout != nil:
		return []Test{{Column: k.heartbeat.column, Op: LessEqual, Values: []Value{{Kind: Now, Shift: k.timeout.shift(true)}}}}
	case k.lease != nil:
		return []Test{{Column: k.lease.column, Op: LessEqual, Values: []Value{{Kind: Now}}}}
	case k.claimed != nil && k.timeout != nil:
		return []Test{{Column: k.claimed.column, Op: LessEqual, Values: []Value{{Kind: Now, Shift: k.timeout.shift(true)}}}}
	}
	return nil
}

// passFree has Recover leave out rows that nobody has by the time that says when a claim runs out, where it
// holds a value of the past in them and no value of a status tells them: an index of such times would lead
// through all of them. A bound is asked for and not another value, since that every index serves.
func (b *binding) passFree() {
	k := &b.claims
	over := b.runOut()
	if len(b.spec.Expired) == 0 || len(over) == 0 || !sameTest(b.spec.Expired[0], over[0]) || k.byClaim || k.visible {
		return
	}
	c := over[0].Column
	ready := b.told(Ready)
	told := func(t Test) bool {
		one := t.Op == In && len(t.Or) == 0 && slices.ContainsFunc(ready, func(r Test) bool { return disjointStates([]Test{r}, []Test{t}) })
		return one || t.Column == c
	}
	if !b.marks(c) || slices.ContainsFunc(b.spec.Held, told) {
		return
	}
	for _, r := range []*role{k.heartbeat, k.lease, k.claimed} {
		if r == nil || r.column != c {
			continue
		}
		for _, v := range k.free[r] {
			if isPast(v) {
				b.spec.Expired = append(b.spec.Expired, Test{Column: c, Op: Greater, Values: []Value{v}})
			}
		}
		return
	}
}

// noteNoBeat warns of running rows without a heartbeat: nothing says that their claim is over. What this package
// claims has one; another program may write the first some time after it has begun.
func (b *binding) noteNoBeat() {
	k := &b.claims
	over := b.runOut()
	if k.heartbeat == nil || k.heartbeat.column.NotNull || len(over) == 0 || len(b.spec.Expired) == 0 || !sameTest(b.spec.Expired[0], over[0]) {
		return
	}
	none := Test{Column: k.heartbeat.column, Op: IsNull}
	if slices.ContainsFunc(b.spec.Held, func(t Test) bool { return t.Op != Raw && contradict(t, none) }) {
		return
	}
	b.note("warning: a running row whose %s is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then", k.heartbeat.column.Name)
}

// noteUnbegun warns where the claim leaves null in the time that says when it has run out, so that only jobs
// which have begun are recovered.
func (b *binding) noteUnbegun() {
	claim, start := b.spec.Transitions[Claim], b.spec.Transitions[Start]
	if claim == nil || start == nil || !b.writesNull(claim) || b.writesNull(start) {
		return
	}
	b.spec.Unbegun = b.spec.Expired[0].Column
	b.note("warning: a job that is claimed and has not begun is never recovered: its claim leaves %s null, which is not over at any time; have the claim write a time as well, or leave the claimed state out", b.spec.Unbegun.Name)
}

// noteShorter warns where what qgen:on has a claim or its start leave in the time by which it runs out may be later
// than what Extend writes there.
func (b *binding) noteShorter() {
	l, renew := b.spec.Lease, b.spec.Transitions[Renew]
	said := func(name TransitionName) bool {
		return slices.ContainsFunc(b.drafts[name], func(d *draft) bool { return d.by.verb == "on" && d.column == l.Column })
	}
	if l == nil || l.Heartbeat != nil || renew == nil || said(Renew) {
		return
	}
	own := renew.written(l.Column)
	for _, name := range []TransitionName{Claim, Start} {
		v := b.spec.Transitions[name].written(l.Column)
		if !said(name) || v.Kind == Old || v.Kind == Null || same(v, own) {
			continue
		}
		does, other := "may shorten", "another time"
		if ahead, known := v.ahead(); known {
			of, compares := own.ahead()
			if compares && ahead <= of {
				continue
			}
			if compares {
				does, other = "shortens", quote(v, l.Column)
			}
		}
		b.note("warning: Extend writes %s to column %q and %s a claim, since qgen:on %s writes %s there; qgen:on renew set … says what Extend writes", quote(own, l.Column), l.Column.Name, does, name, other)
	}
}

// ahead returns how far behind the present a time is, false where that is not a fixed distance.
func (v Value) ahead() (time.Duration, bool) {
	switch {
	case v.Kind != Now:
		return 0, false
	case v.Shift == nil:
		return 0, true
	}
	s := *v.Shift
	s.Minus, s.Fixed = false, 0
	return v.Shift.Fixed, s == Shift{} && !v.Shift.Minus
}

// writesNull reports whether a step leaves null in a time that Recover compares.
func (b *binding) writesNull(t *Transition) bool {
	return slices.ContainsFunc(b.spec.Expired, func(over Test) bool {
		return over.Column == b.spec.Expired[0].Column && over.Column != nil && over.Op == LessEqual && len(over.Or) == 0 &&
			slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Column == over.Column && w.Value.Kind == Null })
	})
}

// isPast reports whether a constant is surely before any time at which a job is claimed: a number of time
// units, or a time as text that begins with the year.
func isPast(v Value) bool {
	const lately = 1e9 // seconds since 1970, in 2001
	if v.Kind != Literal {
		return false
	}
	if n, err := strconv.ParseFloat(v.Text, 64); err == nil {
		return n < lately
	}
	return v.Text < "2001"
}

// isFree and isTaken test the values of a column while nobody has the row.
func isFree(c *schema.Column, free []Value) Test {
	if len(free) == 1 && free[0].Kind == Null {
		return Test{Column: c, Op: IsNull}
	}
	return Test{Column: c, Op: In, Values: free}
}

func isTaken(c *schema.Column, free []Value) Test {
	if len(free) == 1 && free[0].Kind == Null {
		return Test{Column: c, Op: NotNull}
	}
	return Test{Column: c, Op: NotIn, Values: free}
}
