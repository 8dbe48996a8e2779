package plan

// This file plans names of tables that are made at run time.

import (
	"regexp"
	"strings"
)

// queueAlias is what the queue's table is called in a statement that joins others, where
// its own name is not known.
const queueAlias = "queue_row"

// nameTables plans how the names of tables are made.
func (b *builder) nameTables() {
	if len(b.spec.Names) == 0 {
		return
	}
	t := &Tables{Names: []string{b.spec.Table.Name}, Most: b.d.Identifiers.MaxBytes}
	for _, from := range b.spec.PayloadFrom {
		if strings.Contains(from.Table.Name, "{{.") {
			t.Names = append(t.Names, from.Table.Name)
		}
	}
	for _, n := range b.spec.Names {
		part := &NamePart{NamePart: n, Param: parameter(unexported(n.Name))}
		sampled := b.spec.Table.Name
		for _, other := range b.spec.Names {
			sampled = strings.ReplaceAll(sampled, other.Mark(), other.Sample)
		}
		// A name that was written without quotes is stored as the server folds it.
		if !n.Number && !b.spec.Table.AnyCase && b.d.Fold(sampled) == sampled {
			part.Fold = b.d.Identifiers.Case
		}
		t.Parts = append(t.Parts, part)
	}
	b.pkg.Tables = t
}

// mayBeCalled reports whether the queue's table is called so, or may be where its name is
// made at run time.
func (b *builder) mayBeCalled(word string) bool {
	form := regexp.QuoteMeta(b.spec.Table.Name)
	for _, n := range b.spec.Names {
		value := "[A-Za-z0-9_]*"
		if n.Number {
			value = "[0-9]+"
		}
		form = strings.ReplaceAll(form, regexp.QuoteMeta(n.Mark()), value)
	}
	return regexp.MustCompile("^(?i:" + form + ")$").MatchString(word)
}
