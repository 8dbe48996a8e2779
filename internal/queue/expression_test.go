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
