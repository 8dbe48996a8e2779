package queue

// This file reads how dead workers are told: by the table that the workers keep of
// themselves, by a list that the caller of Recover gives, by the name that a worker takes up
// again, or by the start of the program whose workers are all that there are.

import (
	"slices"
	"strconv"

	"github.com/qgen-dev/qgen/internal/schema"
)

// readAlive reads alive= of the worker and the key workers of qgen.yaml.
func (b *binding) readAlive() {
	from, r := b.config.Workers, b.claims.worker
	if side := b.spec.Side; side != nil && side.Table != nil && from != nil && r == nil {
		b.readSideWorkers(side)
		return
	}
	w := r.annotationOf().word("alive")
	listed := w != nil && w.values[0].text == "arg"
	switch {
	case w == nil && from == nil, b.claims.workers != nil && from == nil:
		return
	case r == nil:
		b.errorf(from.Pos, "workers says who is alive, but no column says who holds a row").WithHint("Mark it with qgen:worker.")
		return
	case listed && from != nil:
		b.errorf(w.pos, "alive=arg takes a list, and workers at %s names a table", from.Pos).WithHint("Keep one of them.")
		return
	case !listed && from == nil:
		b.errorf(w.pos, "nothing says what %s is", w.values[0].text).
			WithHint("Describe the table in qgen.yaml, workers: {table: %s, id: id, seen: last_seen, timeout: 5m}. Or say alive=arg, and Recover takes the list of those that are alive.", w.values[0].text)
		return
	case w != nil && !listed && w.values[0].text != "workers" && b.fold(w.values[0].text) != b.fold(from.Table.Value):
		b.errorf(w.pos, "%s is not the table that workers at %s names", w.values[0].text, from.Table.Pos).
			WithHint("Write alive=workers, or the name of that table: alive=%s.", from.Table.Value)
		return
	}
	l := &Liveness{Column: r.column, Listed: listed}
	if !listed && !b.readWorkerTable(l) {
		return
	}
	free := b.claims.free[r]
	if len(free) == 0 || free[0].Kind != Null {
		if !r.column.NotNull {
			free = append([]Value{{Kind: Null}}, free...)
		}
	}
	dead := Test{Column: r.column, Op: Dead, Values: free}
	switch {
	case b.claims.byClaim:
		timed := either(b.claims.lease, b.claims.claimed)
		b.errorf(r.pos, "a dead worker is told by Recover, but a row whose claim in column %q has run out is claimed again without it", timed.column.Name).
			WithHint("Say expired=recover at column %q, or leave alive= and workers out.", timed.column.Name)
		return
	case len(b.spec.Expired) > 0:
		b.spec.Expired[0].Or = append(b.spec.Expired[0].Or, dead)
	default:
		b.spec.Expired = []Test{dead}
	}
	b.spec.Liveness = l
}

// readAtStart reads recover=start and recover=own. Where something else tells already when a
// worker is gone, it complains, and that counts.
func (b *binding) readAtStart() {
	if b.spec.Log != nil || b.movesAway() {
		return // who reads the table in which jobs run sees to it
	}
	w, k := b.queue.word("recover"), &b.claims
	if w == nil {
		if w := b.queue.word("expired"); w != nil {
			b.errorf(w.pos, "%s on qgen:queue goes with recover=start or recover=own", w.pos.Text()).
				WithHint("Say it at the column that tells when a claim has run out, such as qgen:lease length=5m %s.", w.pos.Text())
		}
		return
	}
	said, own := w.pos.Text(), w.values[0].text == "own"
	const (
		keep  = "Keep one of them: %s where %s, and else what tells of each of them that it is gone."
		twice = "%s and %s both say which jobs have lost their worker"
	)
	where := "one process has all the workers"
	if own {
		where = "each worker has a name of its own that lasts"
	}
	alive := k.worker.annotationOf().word("alive")
	timed := either(k.lease, k.heartbeat, k.claimed)
	held := slices.IndexFunc([]*role{k.claimed, k.worker}, func(r *role) bool { return r.annotationOf().has("expired") })
	switch s := b.spec.Side; {
	case s != nil && s.Table != nil:
		b.errorf(w.pos, "the claims of this queue are rows of %q, and %s is about rows of %q", s.Table.QualifiedName(), said, b.table.QualifiedName()).
			WithHint("Leave it out, and say when a claim there has run out: lease: {column: …, length: 5m}, or claimed: {column: …, timeout: 30m}.")
	case s != nil:
		b.errorf(w.pos, "the claims of this queue are rows of a side table, and each has a lease there").
			WithHint("Leave it out: Claim takes over what has run out. How long that takes is said by side_table: {lease: 5m}.")
	case k.lease != nil, k.heartbeat != nil, k.timeout != nil, k.claimed.annotationOf().has("timeout"):
		b.errorf(w.pos, twice, said, "column "+strconv.Quote(timed.column.Name)).WithHint(keep, said, where)
	case b.config.Recover.IsSet():
		b.errorf(w.pos, twice, said, "recover_if at "+b.config.Recover.Pos.String()).WithHint(keep, said, where)
	case b.config.Workers != nil:
		b.errorf(w.pos, twice, said, "workers at "+b.config.Workers.Pos.String()).WithHint(keep, said, where)
	case alive != nil:
		b.errorf(w.pos, twice, said, alive.pos.Text()+" at column "+strconv.Quote(k.worker.column.Name)).WithHint(keep, said, where)
	case k.worker.annotationOf().has("mine"):
		e := b.errorf(w.pos, "%s and mine=ready at column %q both bring back the jobs of a worker that starts anew", said, k.worker.column.Name)
		if own {
			e.WithHint("Keep one of them: with mine=ready the worker's next Claim takes them again, and their tries count on.")
		} else {
			e.WithHint("Keep one of them: mine=ready where each worker has a name of its own that lasts, recover=start where one process has all the workers.")
		}
	case own && k.workers != nil:
		b.errorf(w.pos, "column %q lists all the workers that had a row, and %s goes by the one that has it", k.workers.column.Name, said).
			WithHint("Leave append out: the column then names the last worker.")
	case own && k.worker == nil && b.spec.Worker == nil:
		b.errorf(w.pos, "%s takes back the rows that carry a worker's own name, and no column says who holds a row", said).
			WithHint("Mark it with qgen:worker. Where one process has all the workers, recover=start needs no such column.")
	case held >= 0:
		r := []*role{k.claimed, k.worker}[held]
		end := "the program"
		if own {
			end = "its worker"
		}
		expired := r.word("expired")
		b.errorf(expired.pos, "the claim in column %q never runs out: with %s it ends with %s", r.column.Name, said, end).
			WithHint("Leave it out here. What becomes of such jobs is said on qgen:queue, %s expired=recover or expired=fail.", said)
		b.spec.AtStart = true
	default:
		b.spec.AtStart = true
	}
	switch {
	case !own || !b.spec.AtStart:
	case k.worker != nil:
		k.own = k.worker.column
	default:
		k.own = b.spec.Worker
	}
}

// abandoned returns the tests of a row whose worker is gone, as far as its own columns tell; nil
// when none does.
func (b *binding) abandoned() []Test {
	if own := b.claims.own; own != nil {
		return []Test{{Column: own, Op: In, Values: []Value{{Kind: WorkerID}}}}
	}
	return b.runOut()
}

// judgeAtStart complains where no row is left running that recover= could be about.
func (b *binding) judgeAtStart() {
	if !b.spec.AtStart {
		return
	}
	w := b.queue.word("recover")
	switch {
	case slices.Contains([]string{"hold", "pop", "partition", "lease_table"}, b.spec.Strategy):
		b.errorf(w.pos, "strategy=%s leaves no row running when the program ends, so %s says nothing", b.spec.Strategy, w.pos.Text()).WithHint("Leave it out.")
	case !b.runs():
		b.errorf(w.pos, "%s needs a state in which jobs run, and no column tells one", w.pos.Text()).
			WithHint("Say which rows run: qgen:status running=…, or mark a column with qgen:claimed or qgen:worker. Where the claim is a row lock, as with strategy=hold, it ends with the program, and nothing has to be said.")
	}
}

// readSideWorkers reads the key workers where a table of the user's own says who holds a
// row. The claims of those who are gone are deleted.
func (b *binding) readSideWorkers(side *Side) {
	from, k := b.config.Workers, side.Columns
	switch {
	case k.Worker == nil:
		b.errorf(from.Pos, "workers says who is alive, but no column of %q says who holds a row", side.Table.QualifiedName()).
			WithHint("Name it under lease_table: worker:.")
		return
	case k.Until != nil || k.Attempts != nil || k.Error != nil:
		b.errorf(from.Pos, "the claims of workers that are gone are deleted, and with them what else %q keeps of their jobs", side.Table.QualifiedName()).
			WithHint("Leave lease, attempts and error out of lease_table; claimed: {column: …, timeout: …} may stay. Or leave workers out.")
		return
	}
	l := &Liveness{Column: k.Worker}
	if b.readWorkerTable(l) {
		b.spec.Liveness = l
	}
}

// readWorkerTable reads the table that the workers keep of themselves; false after a
// complaint.
func (b *binding) readWorkerTable(l *Liveness) bool {
	from := b.config.Workers
	before := b.errs.Len()
	l.Schema, l.Table, l.ID = "", from.Table.Value, from.ID.Value
	var table *schema.Table
	switch found := b.catalog.Lookup(from.Table.Value, b.fold); {
	case len(found) > 1:
		tableName{String: from.Table, key: "table: "}.several(found, b.errs)
	case len(found) == 1:
		table = found[0]
		l.Schema, l.Table = table.Schema, table.Name
		if c := b.columnNamed(table, from.ID.Value, from.ID.Pos); c != nil {
			l.ID = c.Name
			if is, holds := l.Column.Type, c.Type; is.Counts() != holds.Counts() && is.Class != schema.Unknown && holds.Class != schema.Unknown {
				b.errorf(from.ID.Pos, "column %q of %q is %s, and column %q, which names the worker of a row, is %s", c.Name, table.QualifiedName(), holds.Raw, l.Column.Name, is.Raw).
					WithHint("Name the column that holds what WithWorker is given.")
			}
		}
	case from.Seen.IsSet():
		b.errorf(from.Table.Pos, "the schema does not have the table %q, so nothing tells how its column %q keeps time", from.Table.Value, from.Seen.Value).
			WithHint("Add the file with its CREATE TABLE to schema, or say who is alive as a condition: alive: \"last_seen > {now} - interval '5 minutes'\".")
	default:
		if l.Schema, l.Table = schema.SplitName(from.Table.Value, b.fold); b.miscased(from.Table, l.Table) {
			return false
		}
		l.ID, _ = schema.StoredName(from.ID.Value, b.fold)
		b.note("the schema does not have the table %s, so its columns are not checked", from.Table.Value)
	}
	if from.Alive.IsSet() {
		known := len(b.spec.Unknown) // {row} is not the job's here
		l.SQL, _ = b.expression(asLiteral(from.Alive), nil)
		b.spec.Unknown = b.spec.Unknown[:known]
	}
	if table != nil && from.Seen.IsSet() {
		if c := b.columnNamed(table, from.Seen.Value, from.Seen.Pos); c != nil {
			l.Seen, l.Timeout = &Column{Column: c}, from.Timeout.Value
			r := &role{annotation: &annotation{verb: "workers", pos: from.Seen.Pos, yaml: true}, column: c}
			if from.As.IsSet() {
				r.words = []*word{{name: "as", op: equals, pos: from.As.Pos, values: []literal{asLiteral(from.As)}}}
			}
			if b.readAs(r, l.Seen) {
				b.readClock(r, l.Seen)
			}
		}
	}
	return b.errs.Len() == before
}
