package queue

// This file reads how dead workers are told: by the table that the workers keep of
// themselves, or by a list that the caller of Recover gives.

import (
	"strings"

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
			if is, holds := l.Column.Type, c.Type; isNumber(is) != isNumber(holds) && is.Class != schema.Unknown && holds.Class != schema.Unknown {
				b.errorf(from.ID.Pos, "column %q of %q is %s, and column %q, which names the worker of a row, is %s", c.Name, table.QualifiedName(), holds.Raw, l.Column.Name, is.Raw).
					WithHint("Name the column that holds what WithWorker is given.")
			}
		}
	case from.Seen.IsSet():
		b.errorf(from.Table.Pos, "the schema does not have the table %q, so nothing tells how its column %q keeps time", from.Table.Value, from.Seen.Value).
			WithHint("Add the file with its CREATE TABLE to schema, or say who is alive as a condition: alive: \"last_seen > {now} - interval '5 minutes'\".")
	default:
		if before, after, ok := strings.Cut(from.Table.Value, "."); ok {
			l.Schema, l.Table = before, after
		}
		b.note("the schema does not have the table %s, so its columns are not checked", from.Table.Value)
	}
	if from.Alive.IsSet() {
		known := len(b.spec.Unknown) // {row} is not the job's here
		l.SQL, _ = b.expression(asLiteral(from.Alive), false)
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
