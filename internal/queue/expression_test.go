package queue

import (
	"testing"

	"github.com/qgen-dev/qgen/internal/schema"
)

// What a name means in an expression follows from the tables that sub-queries name around it.
func TestNamesOfExpressions(t *testing.T) {
	table := func(name string, columns ...string) *schema.Table {
		made := &schema.Table{Name: name}
		for _, c := range columns {
			made.Columns = append(made.Columns, &schema.Column{Name: c})
		}
		return made
	}
	jobs, holds := table("jobs", "id", "state", "backend", "beat"), table("holds", "job_id", "backend", "till")
	spec := &Spec{Table: jobs, Tables: []*schema.Table{jobs, holds}}
	for _, tt := range []struct {
		text  string
		piece int
		want  string // table.column, with row. where it is the job's own
	}{
		{"backend = 'a'", 0, "row.backend"},
		{"BACKEND = 'a'", 0, "row.backend"},
		{"'backend' = 'a'", 0, ""},
		{"`backend` = 'a'", 0, "row.backend"},
		{"[jobs].[backend] = 'a'", 0, "row.backend"},
		{"{row}.backend = 'a'", 0, "row.backend"},
		{`{row}."backend" = 'a'`, 0, "row.backend"},
		{"public.jobs.backend = 'a'", 0, "row.backend"},
		{"holds.backend = 'a'", 0, "holds.backend"},
		{"other.backend = 'a'", 0, ""},
		{"nothing = 'a'", 0, ""},
		{"exists (select 1 from holds h where h.till = 1)", 8, "holds.till"},
		{"exists (select 1 from holds as h where h.till = 1)", 9, "holds.till"},
		{"exists (select 1 from holds where till = 1)", 7, "holds.till"},
		{"exists (select 1 from holds where backend = 1)", 7, "holds.backend"},
		{"exists (select 1 from holds where state = 1)", 7, "row.state"},
		{"exists (select 1 from elsewhere where backend = 1)", 7, "row.backend"},
		{"exists (select 1 from elsewhere e where e.backend = 1)", 8, ""},
		{"exists (select 1 from jobs e where e.beat = 1)", 8, "jobs.beat"},
		{"exists (select 1 from jobs where beat = 1)", 7, "jobs.beat"},
		{"exists (select 1 from jobs e where jobs.beat = 1)", 8, "row.beat"},
		{"exists (select 1 from elsewhere x, jobs e where e.beat = 1)", 11, "jobs.beat"},
		{"exists (select 1 from elsewhere x left join jobs e on e.beat = 1)", 12, "jobs.beat"},
		{"exists (select 1 from (select * from jobs limit 9) as e where e.beat = 1)", 16, "jobs.beat"},
		{"exists (select 1 from (select * from holds x) e where e.till = 1)", 14, "holds.till"},
		{"exists (select 1 from holds e where e.till = 1) and exists (select 1 from jobs e where e.beat = 1)", 21, "jobs.beat"},
		{"exists (select 1 from holds h where exists (select 1 from jobs j where h.till = 1))", 16, "holds.till"},
		{"extract(epoch from beat) > 5", 4, "row.beat"},
		{"(select max(till) from holds) > 5", 4, "holds.till"},
		{"id in (select job_id from holds where till is distinct from beat)", 12, "row.beat"},
	} {
		r := spec.Read(PiecesOf(tt.text))
		got := ""
		if c, row := r.Column(tt.piece); c != nil {
			of := "holds"
			switch {
			case row:
				of = "row"
			case jobs.Column(c.Name) == c:
				of = "jobs"
			}
			got = of + "." + c.Name
		}
		if got != tt.want {
			t.Errorf("%s: %q means %q, want %q", tt.text, r.Pieces[tt.piece], got, tt.want)
		}
	}
}

// An expression over a row can be said of another, whatever tables its sub-queries read.
func TestExpressionsOfAnotherRow(t *testing.T) {
	id, kind, used := &schema.Column{Name: "id", NotNull: true}, &schema.Column{Name: "kind", NotNull: true}, &schema.Column{Name: "used"}
	jobs := &schema.Table{Name: "jobs", Columns: []*schema.Column{id, kind, used}}
	spec := &Spec{Table: jobs, Tables: []*schema.Table{jobs}}
	for text, want := range map[string]string{
		"case kind when 'kind' then 0 else id end":           "case {row}.kind when 'kind' then 0 else {row}.id end",
		`"kind" + jobs."id" + public.jobs.used`:              `{row}."kind" + {row}."id" + {row}.used`,
		"{row}.kind - {now}":                                 "{row}.kind - {now}",
		"lower(kind) || kind(1)":                             "lower({row}.kind) || kind(1)",
		"(select max(j.id) from jobs j where j.kind = used)": "(select max(j.id) from jobs j where j.kind = used)",
	} {
		if got := spec.OfRow(text); got != want {
			t.Errorf("%s became %s", text, got)
		}
	}
	for text, want := range map[string]bool{
		"case kind when 2 then 0 else 1 end":      true,
		"case kind when 2 then 0 end":             false,
		"kind = 'last'":                           true,
		"kind + id > 7 and not id in (1, 2)":      true,
		"kind - used":                             false,
		"kind % id":                               false,
		"kind->'x'":                               false,
		"lower(kind)":                             false,
		"case when kind = 1 then null else 1 end": false,
		"case when kind = 1 then '' else 'a' end": false, // which Oracle takes for null
	} {
		if got := spec.NeverNull(text); got != want {
			t.Errorf("%s never null: %t", text, got)
		}
	}
}

// What a column is compared with bounds an index where it is one value for all rows.
func TestBounds(t *testing.T) {
	n, due := &schema.Column{Name: "n", Type: schema.Type{Class: schema.Int}}, &schema.Column{Name: "due", Type: schema.Type{Class: schema.Timestamp}}
	jobs := &schema.Table{Name: "jobs", Columns: []*schema.Column{n, due}}
	spec := &Spec{Table: jobs, Tables: []*schema.Table{jobs}}
	for text, want := range map[string]*schema.Column{
		"due > {now}": due,
		"({row}.due <= {now} - interval '5 min')": due,
		"n < {arg:most int}":                      n,
		"n >= 3":                                  n,
		"due > clock_timestamp()":                 nil,
		"due > {now} and n = 1":                   nil,
		"n < n + 1":                               nil,
		"n <> 3":                                  nil,
		"n is null":                               nil,
		"n in (1, 2)":                             nil,
		"n + 1 > 3":                               nil,
		"n > (select 1)":                          nil,
		"n >":                                     nil,
		"n":                                       nil,
	} {
		if got := spec.Bounds(text); got != want {
			t.Errorf("%s bounds %v", text, got)
		}
	}
}

// A condition over a column is read however a server or a person writes it.
func TestConditions(t *testing.T) {
	state, done := &schema.Column{Name: "state", Type: schema.Type{Class: schema.Text}}, &schema.Column{Name: "done", Type: schema.Type{Class: schema.Bool}}
	n := &schema.Column{Name: "n", Type: schema.Type{Class: schema.Int}}
	jobs := &schema.Table{Name: "jobs", Columns: []*schema.Column{state, done, n}}
	spec := &Spec{Table: jobs, Tables: []*schema.Table{jobs}}
	for text, want := range map[string]string{
		"state = 'a'":                 "state = 'a'",
		"((state)::text = 'a'::text)": "state = 'a'",
		"((state)::character varying(20) = 'a'::character varying)":                  "state = 'a'",
		"state = 'a' OR (state = 'b')":                                               "state in ('a', 'b')",
		"state in ('b', 'a')":                                                        "state in ('b', 'a')",
		"((state)::text = ANY ((ARRAY['a'::character varying, 'b'::text])::text[]))": "state in ('a', 'b')",
		"state = ANY (ARRAY['a', 'b'])":                                              "state in ('a', 'b')",
		"(state <> ALL (ARRAY['a'::text, 'b'::text]))":                               "state not in ('a', 'b')",
		"[state]=(N'a')":                                                             "state = 'a'",
		"n = (-1)":                                                                   "n = -1",
		"(n > 3)":                                                                    "n > 3",
		"n = 1 OR n IS NULL":                                                         "n = 1 or n is null",
		"done":                                                                       "done = true",
		"(NOT done)":                                                                 "done = false",
		"NOT (done)":                                                                 "done = false",
		"done = 'f'":                                                                 "done = false",
		"done = false":                                                               "done = false",
		"done <> true":                                                               "done = false",
		"done != '1'":                                                                "done = false",
		"([done]=(0))":                                                               "done = false",
		"state IS NOT NULL":                                                          "state is not null",
		"done IS NOT TRUE":                                                           "",
		"state = 'a' AND n = 1":                                                      "",
		"state = 'a' OR n = 1":                                                       "",
		"not state = 'a'":                                                            "",
		"lower(state) = 'a'":                                                         "",
		"n + 1 = 2":                                                                  "",
		"state":                                                                      "",
	} {
		c, ok := spec.Condition(text)
		got := ""
		if ok {
			got = c.text()
		}
		if got != want {
			t.Errorf("%s is read as %q, want %q", text, got, want)
		}
	}
}
