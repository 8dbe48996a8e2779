package plan

// This file plans the row of another table that a claim adds once for all its jobs, and
// whose key is their token.

import (
	"maps"

	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
)

// buildBatch plans that row, behind all that finds and takes jobs.
func (b *builder) buildBatch(c *Claim) {
	if b.spec.Batch == nil {
		return
	}
	over := b.overBatch()
	s, v := over.newScope(), over.base("Claim")
	for _, set := range b.spec.Batch.Set {
		v.Columns = append(v.Columns, b.d.Ident(set.Column.Name))
		v.Values = append(v.Values, s.besideValue(b.spec.Batch, set))
	}
	table, key := plainText(b.spec.Batch.QualifiedName()), over.fields[b.spec.Batch.Key]
	rows, byDriver := s.givesKey(&v, []*Field{key}, false)
	if rows == nil && !byDriver {
		b.complain(b.spec.Batch.Key, "Let the database count the key up, or let the token be made by the claim: leave from= out.",
			"%s %s does not tell the key %s of a row that was added to %s", b.d.Title, b.version, plainText(key.Column), table)
		return
	}
	of := "claim_lock.sql locked"
	if c.Lock == nil {
		of = "claim_pick.sql named"
	}
	c.BatchRow = &BatchRow{Table: table, Key: key}
	c.BatchRow.Statement = s.statement("claim_batch", "insert_one", v, rows,
		"claim: one row of "+table+" for the rows that "+of+"; claim.sql then writes its "+plainText(key.Column)+" to them", "locks: nothing that others wait for", "index: none; it reads nothing")
	if c.Flow != PickTake || c.Lock != nil {
		return
	}
	s, v = over.newScope(), over.base("Claim")
	v.Where = []string{s.column(b.spec.Batch.Key) + " = " + s.write(b.spec.Batch.Key, s.arg(Arg{Kind: ArgToken, Field: key}))}
	c.BatchRow.Undo = s.statement("claim_batch_undo", "delete_one", v, nil,
		"claim: deletes the row of "+table+" again where others were quicker and claim.sql took none", "locks: the row it deletes, until commit", "index: the primary key of "+table)
}

// overBatch is a builder over the table of the row.
func (b *builder) overBatch() *builder {
	batch := b.spec.Batch
	over := *b
	over.spec = &queue.Spec{
		Name: b.spec.Name, Pos: b.spec.Pos, Table: batch.Known, Key: []*schema.Column{batch.Key},
		Worker: b.spec.Worker, Clock: b.spec.Clock, Procedures: b.spec.Procedures,
	}
	over.rows, over.shared, over.fields = b, nil, maps.Clone(b.fields)
	over.fields[batch.Key] = b.field(&queue.Column{Column: batch.Key})
	over.fields[batch.Key].Null = false
	return &over
}
