package queue

import (
	"testing"

	"github.com/qgen-dev/qgen/internal/schema"
)

// What is no number for sure may be an interval.
func TestMeasure(t *testing.T) {
	s := &Spec{Table: &schema.Table{Name: "jobs", Columns: []*schema.Column{
		{Name: "n", Type: schema.Type{Class: schema.Int}}, {Name: "every", Type: schema.Type{Class: schema.Interval}}, {Name: "note", Type: schema.Type{Class: schema.Text}},
	}}}
	for text, want := range map[string]schema.Class{
		"n":                schema.Decimal,
		"n * 2 + 300":      schema.Decimal,
		"-(n)":             schema.Decimal,
		"coalesce(n, 300)": schema.Decimal,
		"power(2, n)::int": schema.Decimal,
		"CASE WHEN note = 'a' THEN 60 WHEN n > 3 THEN n * 2 ELSE NULL END": schema.Decimal,
		"case n when 1 then 60 else 10 end * 2":                            schema.Decimal,
		"least(n * 10, case when n > 1 then 1 else 2 end)":                 schema.Decimal,
		"extract(epoch from every)":                                        schema.Decimal,
		"cast(note as int)":                                                schema.Decimal,
		"{row}.n":                                                          schema.Decimal,
		"every":                                                            schema.Interval,
		"every * 2":                                                        schema.Interval,
		"n * interval '1 minute'":                                          schema.Interval,
		"make_interval(secs => n)":                                         schema.Interval,
		"note::interval":                                                   schema.Interval,
		"case when n > 3 then every else interval '1 day' end": schema.Interval,
		"note":           schema.Unknown,
		"(select 1)":     schema.Unknown,
		"wait_of(n)":     schema.Unknown,
		"n * '1 minute'": schema.Unknown,
		"case when n > 3 then '5 minutes' else '1 day' end": schema.Unknown,
		"n || ' seconds'":             schema.Unknown,
		"(n || ' seconds')::interval": schema.Interval,
		"other.n":                     schema.Unknown,
	} {
		if is := s.Measure(text); is != want {
			t.Errorf("%s is %q, not %q", text, is, want)
		}
	}
}
