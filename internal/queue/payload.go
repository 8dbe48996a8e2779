package queue

// This file finds the columns that go to the handler.

import (
	"regexp"
	"slices"
)

// goTypePath is a Go type, with or without the path of its package.
var goTypePath = regexp.MustCompile(`^(\*|\[\])?([A-Za-z0-9_.~-]+/)*[A-Za-z0-9_-]+(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// readPayload marks the columns of the payload: those that say so, else all
// that nothing else is said about.
func (b *binding) readPayload() {
	said := b.roles["payload"]
	for _, r := range said {
		c := b.columns[r.column]
		c.Payload = true
		c.GoType, c.JSON = r.value("type"), r.has("json") || c.JSON
		if w := r.word("type"); w != nil && !goTypePath.MatchString(c.GoType) {
			b.errorf(w.values[0].pos, "%q is no Go type", c.GoType).
				WithHint("Write the type with the path of its package, in quotes: type='example.com/app/mail.Message'.")
		}
	}
	if len(said) > 0 {
		return
	}
	for _, c := range b.spec.Columns {
		if len(c.Roles) == 0 && !slices.Contains(b.spec.Key, c.Column) && c.Column != b.spec.Seq {
			c.Payload = true
		}
	}
}
