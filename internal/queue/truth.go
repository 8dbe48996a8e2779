package queue

// This file tells numbers from booleans where a type is a number that is mostly used for
// truth: MySQL's tinyint(1) holds -128 to 127, and the 1 is but a width.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
)

// counters are the verbs of columns that hold a number wherever the type allows one.
var counters = []string{"id", "seq", "attempts", "max_attempts", "version"}

// telling are the verbs that ask a column for more than yes and no, unless the DDL itself
// says that it is a boolean.
var telling = []string{"priority", "order", "topic", "shard", "group", "worker"}

// measures are words that name a column which holds a number.
var measures = []string{"length", "timeout", "add", "max", "cycle"}

// numeric returns the table with those columns as numbers that hold more than truth: by
// what the roles say of them, by the DDL, or because paired says so. The notes tell why.
// A table without such columns comes back as it is.
func numeric(t *schema.Table, roles []*role, paired func(*schema.Column) bool) (*schema.Table, []*role, []string) {
	types := map[*schema.Column]schema.Type{}
	var notes []string
	for _, c := range t.Columns {
		number, ok := c.Type.Number()
		if !ok {
			continue
		}
		why := moreThanTruth(c, roles)
		if why == "" && paired != nil && paired(c) {
			why = "its counterpart is one"
		}
		if why != "" {
			types[c] = number
			notes = append(notes, fmt.Sprintf("column %q is %s and is taken for a number, because %s", c.Name, c.Type.Raw, why))
		}
	}
	if len(types) == 0 {
		return t, roles, nil
	}
	changed := t.Retyped(types)
	moved := make([]*role, len(roles))
	for i, r := range roles {
		moved[i] = r
		if r.column != nil {
			moved[i] = &role{annotation: r.annotation, column: changed.Columns[position(t, r.column)]}
		}
	}
	return changed, moved, notes
}

// moreThanTruth says why a column that could be a boolean is none, "" where nothing does.
func moreThanTruth(c *schema.Column, roles []*role) string {
	for _, r := range roles {
		if r.column == c && (slices.Contains(counters, r.verb) || slices.Contains(telling, r.verb) && !c.Type.SaysBool()) {
			return fmt.Sprintf("it is %s%s", mark, r.verb)
		}
		for _, w := range r.words {
			for _, l := range w.values {
				switch {
				case l.quote == sql:
				case r.column == c && isCount(l.text) && r.verb != "order": // where it is a place
					return l.text + " is among its values"
				case slices.Contains(measures, w.name) && strings.EqualFold(l.text, c.Name):
					return fmt.Sprintf("%s measures with it", w.pos.Text())
				}
			}
		}
	}
	values := c.Values
	if text, ok := constant(c.Default); ok {
		values = append(slices.Clip(values), text)
	}
	for _, text := range values {
		if isCount(text) {
			return text + " is among its values"
		}
	}
	return ""
}

// isCount reports whether a constant is a number other than 0 and 1.
func isCount(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n != 0 && n != 1
}
