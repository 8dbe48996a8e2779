package queue

import (
	"testing"

	"github.com/qgen-dev/qgen/internal/schema"
)

// A CHECK is broken where that is sure.
func TestBreaks(t *testing.T) {
	table := &schema.Table{Name: "jobs"}
	for _, name := range []string{"state", "ended", "n", "other"} {
		table.Columns = append(table.Columns, &schema.Column{Name: name})
	}
	row := map[string]cell{"state": {knownCell, "done"}, "ended": {kind: nullCell}, "n": {knownCell, "3"}}
	for check, want := range map[string]bool{
		"(state = 'done') = (ended IS NOT NULL)":                                                     true,
		"((state)::text = 'done'::text) = (ended IS NOT NULL)":                                       true,
		"((`state` = _utf8mb4'done') = (`ended` is not null))":                                       true,
		"[state] <> N'done' OR [ended] IS NOT NULL":                                                  true,
		"state <> 'done' or ended is not null":                                                       true,
		"state not in ('done', 'failed') or ended is not null":                                       true,
		"not (state = 'done' and ended is null)":                                                     true,
		"state = 'done'::public.state_type and num_nonnulls(ended) = 1":                              true,
		"(state)::text = ANY ((ARRAY['new'::character varying, 'busy'::character varying])::text[])": true,
		"n > 3":                                  true,
		"n between 4 and 9":                      true,
		"length(state) > 4":                      true,
		"coalesce(ended, 0) <> 0":                true,
		"ended is distinct from null":            true,
		"(state = 'Done') = (ended is not null)": false,
		"state = 'new' or other is null":         false,
		"other = 'x'":                            false,
		"ended > 3":                              false,
		"n + 1 > 9":                              false,
		"state like 'n%'":                        false,
		"state = 'done' and unknown = 1":         false,
		"case when n = 3 then false end":         false,
		"n between 1 and 9":                      false,
		"state <> 'done' or ended is null":       false,
		"state ~ 'x":                             false,
		"":                                       false,
	} {
		if is := breaks(check, table, func(c *schema.Column) cell { return row[c.Name] }); is != want {
			t.Errorf("%s: %t, not %t", check, is, want)
		}
	}
}
