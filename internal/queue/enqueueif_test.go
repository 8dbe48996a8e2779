package queue

import (
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/schema"
)

// Jobs are kept apart by a column only where every sub-query over the table reads rows alone that are
// like the new one in it.
func TestWithin(t *testing.T) {
	column := func(name string) *schema.Column { return &schema.Column{Name: name} }
	items := &schema.Table{Name: "items", Columns: []*schema.Column{column("id"), column("queue"), column("state")}}
	other := &schema.Table{Name: "crons", Columns: []*schema.Column{column("queue")}}
	spec := &Spec{Table: items, Tables: []*schema.Table{items, other}}
	for text, want := range map[string]string{
		"(select count(*) from items q where q.queue = {new}.queue and q.state = 'x') < 3":                                                             "queue",
		"(select count(*) from items where state = 'x' and {new}.queue = queue) < 3":                                                                   "queue",
		`(select count(*) from items where "queue" = {new}."queue" and items.state = {new}.state) < 3`:                                                 "queue, state",
		"not exists (select 1 from items where queue = {new}.queue order by id limit 1)":                                                               "queue",
		"not exists (select 1 from items q join crons c on c.queue = q.queue where q.queue = {new}.queue)":                                             "queue",
		"exists (select 1 from items where queue = {new}.queue) or (select count(*) from items where state = {new}.state and queue = {new}.queue) > 2": "queue",
		"exists (select 1 from items where queue = {new}.queue) or exists (select 1 from items where state = 'y')":                                     "",
		"(select count(*) from items) < 3":                                                              "",
		"(select count(*) from items where queue = {new}.queue or state = 'x') < 3":                     "",
		"(select count(*) from items where not queue = {new}.queue) < 3":                                "",
		"(select count(*) from items where queue <= {new}.queue) < 3":                                   "",
		"(select count(*) from items where queue = {new}.queue || 'x') < 3":                             "",
		"(select count(*) from items where queue = {new}.queue + 1) < 3":                                "",
		"(select count(*) from items where id between 1 and queue = {new}.queue) < 3":                   "",
		"(select count(*) from items where queue = {new}.state) < 3":                                    "",
		"(select count(*) from items q, crons c where c.queue = {new}.queue) < 3":                       "",
		"(select count(*) from items where (queue = {new}.queue or state = 'x') and id > 1) < 3":        "",
		"(select count(*) from items where queue = {new}.queue union select 1 from items) < 3":          "",
		"(select count(*) from items where id in (select id from items where queue = {new}.queue)) < 3": "",
		"(select count(*) from (select * from items) q where q.queue = {new}.queue) < 3":                "",
		"(select sum(queue = {new}.queue) from items) < 3":                                              "",
		"exists (select 1 from crons c where c.queue = {new}.queue)":                                    "",
	} {
		var names []string
		for _, c := range spec.Read(PiecesOf(text)).within(items) {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}
