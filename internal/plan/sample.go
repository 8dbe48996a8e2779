package plan

// This file says with what the test of a package fills the columns of its jobs, and which
// jobs it cannot make.

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// proofJobs is how many jobs the test of a package may add in all.
const proofJobs = 500

// Sample says what a column takes, beyond what its Go type tells.
type Sample struct {
	Values          []string // the only values that it takes; nil for any
	Least, Greatest *int64   // of numbers: the bounds of its checks; nil where there are none
	// Form is how its values are written, with a verb of fmt for a number that tells them apart;
	// without one it is the only value that is known to fit. Nil where they have no form.
	Form      *string
	TimeOfDay bool // a text as 15:04:05
	// Unmet is a check as written that compares a text with a pattern which no text is known to
	// meet; "" for most columns.
	Unmet string
	Few   bool // it has fewer values than the test has jobs
	// Ready is the value that NewJob has to have for its job to be ready; "" where it says no such thing.
	Ready string
}

// First is a number that the column takes: 1, if its checks allow that.
func (s Sample) First() int64 {
	switch {
	case s.Least != nil && *s.Least > 1:
		return *s.Least
	case s.Greatest != nil && *s.Greatest < 1:
		return *s.Greatest
	}
	return 1
}

// From is the first of the numbers that tell jobs apart. They fall from there where down says
// so, because those above are few.
func (s Sample) From() (first int64, down bool) {
	switch few := s.Greatest != nil && *s.Greatest < proofJobs; {
	case few && s.Least == nil:
		return *s.Greatest, true
	case few:
		return *s.Least, false
	}
	return s.First(), false
}

// fits reports whether a value can be written as one of a Go type.
func fits(goType, value string) bool {
	var err error
	switch {
	case strings.HasPrefix(goType, "int"):
		_, err = strconv.ParseInt(value, 10, 64)
	case strings.HasPrefix(goType, "uint"):
		_, err = strconv.ParseUint(value, 10, 64)
	case strings.HasPrefix(goType, "float"):
		_, err = strconv.ParseFloat(value, 64)
	}
	return err == nil
}

// lengthOf finds the length of a type as written.
var lengthOf = regexp.MustCompile(`\(\s*(\d+)\s*\)`)

// sample returns what the test of the package has to know of a column.
func (b *builder) sample(c *schema.Column, f *Field) Sample {
	t := c.Type
	s := Sample{Least: c.Least, Greatest: c.Greatest, TimeOfDay: t.Class == schema.TimeOfDay && f.GoType == "string" && !t.Array}
	for _, v := range c.Values {
		if fits(f.GoType, v) && (v != "" || !b.d.EmptyIsNull) {
			s.Values = append(s.Values, v)
		}
	}
	s.Ready = b.readyBy(c)
	if zero := int64(0); t.Unsigned && s.Least == nil {
		s.Least = &zero
	}
	form, known := b.d.Samples[t.Name]
	switch {
	case t.Array && !t.Enum && slices.Contains([]schema.Class{schema.Int, schema.Float, schema.Decimal, schema.Text}, t.Class):
		form, known = "{%d}", true
	case t.Array:
		form, known = "{}", true
	case t.Class == schema.UUID:
		form, known = "00000000-0000-4000-8000-%012x", true
	case t.Class == schema.JSON:
		form, known = `{"job": %d}`, true
	}
	if !known && s.Values == nil && t.Class == schema.Text && !t.Array && !t.Enum {
		form, known = b.patterned(c, &s)
	}
	if known {
		s.Form = &form
		if strings.Contains(form, "*") {
			length := "1"
			if m := lengthOf.FindStringSubmatch(t.Raw); m != nil {
				length = m[1]
			}
			form = strings.ReplaceAll(form, "*", length)
			n, _ := strconv.Atoi(length)
			s.Few = n < 10 // of binary digits
		}
	}
	few := func(least, greatest int64) bool { return greatest-least < proofJobs }
	s.Few = s.Few || s.Values != nil || t.Class == schema.Bool || t.Class == schema.Int && t.Bits == 8 ||
		(t.Class == schema.Int || t.Class == schema.Decimal) && t.Digits > 0 && t.WholeDigits() < 3 ||
		(t.Class == schema.Text || t.Class == schema.Bytes) && c.Most() > 0 && c.Most() < 3 ||
		known && !strings.Contains(form, "%") ||
		c.Least != nil && c.Greatest != nil && few(*c.Least, *c.Greatest)
	return s
}

// readyBy returns the first of the values that ready rows have in a column which the caller of Enqueue
// fills in by an argument; "" where there is none.
func (b *builder) readyBy(c *schema.Column) string {
	enqueue := b.spec.Transitions[queue.Enqueue]
	if enqueue == nil || !slices.ContainsFunc(enqueue.Writes, func(w queue.Write) bool { return w.Column == c && w.Value.Kind == queue.Given }) {
		return ""
	}
	for _, t := range b.stateTests(queue.Ready) {
		if t.Column != c || t.Op != queue.In {
			continue
		}
		if i := slices.IndexFunc(t.Values, func(v queue.Value) bool { return v.Kind == queue.Literal }); i >= 0 {
			return t.Values[i].Text
		}
	}
	return ""
}

// patterned is a form of the texts that the patterns in a column's checks allow; false where they
// have none, or none is known that meets them all.
func (b *builder) patterned(c *schema.Column, s *Sample) (form string, known bool) {
	patterns, read := patternsOf(b.d, c)
	if len(patterns) == 0 {
		return "", false
	}
	if read {
		if form, known = formOf(patterns, c.Most()); known {
			return form, true
		}
	}
	s.Unmet = plainText(strings.Join(c.Checks, " AND "))
	return "", false
}

// checkConformance complains when the test of the package is asked for and cannot add the jobs
// that it needs.
func (b *builder) checkConformance(q *config.Queue, errs *source.ErrorList) {
	if !b.pkg.Conformance {
		return
	}
	refuse := func(hint, why string, args ...any) {
		errs.Errorf(q.Gen.Go.Conformance.Pos, "conformance: true is not possible here: "+why, args...).WithHint("%s", hint)
	}
	if b.spec.Cycle != nil {
		refuse("The test finishes jobs and looks that none is left. Leave conformance or cycle out.", "no job of this queue ends")
		return
	}
	if b.spec.Gate != nil {
		refuse("Leave conformance out, and test with jobs of your own.", "the test claims hundreds of jobs, and only so many of this queue run at once (group)")
		return
	}
	if b.leavesReadyRows() {
		refuse("The test looks that no job is given out twice. Leave conformance out.", "a claim of this queue leaves rows ready")
		return
	}
	if b.pkg.Enqueue == nil {
		refuse("The test adds jobs of its own with Enqueue. Make that possible, or leave conformance out.", "%s", b.noEnqueue)
		return
	}
	if e := b.pkg.Enqueue; e.Like && !e.Apart {
		refuse("Leave conformance out, and test with jobs of your own.",
			"the test adds some hundred jobs, and Enqueue leaves out those that are alike in %s, which have too few values to tell them apart", columnList(b.spec.Like.Columns))
		return
	}
	if only := b.spec.EnqueueIf; only != nil && only.Counts {
		refuse("Leave conformance out, and test with jobs of your own.",
			"the test adds some hundred jobs, and Enqueue adds one only where enqueue_if holds, which looks at those that are there")
		return
	}
	for _, key := range b.newKeys() {
		names, narrowed := b.tooFew(key)
		switch {
		case len(narrowed) > 0:
			refuse("Leave conformance out, and test with jobs of your own.",
				"the test claims jobs of one %s, and a key tells rows apart by nothing else: %s", strings.Join(narrowed, " and "), names)
			return
		case names != "":
			refuse("Leave conformance out, and test with jobs of your own.",
				"the test adds some hundred jobs, and the columns of a key have too few values to tell them apart: %s", names)
			return
		}
	}
}

// newKeys lists the columns of each key that tells the rows of new jobs apart.
func (b *builder) newKeys() [][]*schema.Column {
	ready := b.ready
	if ready == nil {
		ready = b
	}
	keys := [][]*schema.Column{ready.spec.Key}
	for _, k := range append(slices.Clone(ready.spec.Table.Uniques), ready.spec.Table.PrimaryKey) {
		if k != nil {
			keys = append(keys, k.Columns)
		}
	}
	return keys
}

// tooFew names the columns of a key whose values in new rows are too few to tell the jobs of
// the test apart; "" where they are enough, or others than the test fill them in.
func (b *builder) tooFew(key []*schema.Column) (all string, narrowed []string) {
	ready := b.ready
	if ready == nil {
		ready = b
	}
	var names []string
	for _, c := range key {
		f := ready.fields[c]
		if f == nil || !f.New || f.Optional && f.Null {
			return "", nil
		}
		argument := slices.ContainsFunc(ready.spec.Params, func(p *queue.Param) bool { return p.Column == c })
		switch {
		case !argument && !f.Sample.Few:
			return "", nil
		case !f.Sample.Few:
			narrowed = append(narrowed, fmt.Sprintf("%q", c.Name))
		}
		names = append(names, fmt.Sprintf("%q", c.Name))
	}
	return strings.Join(names, ", "), narrowed
}
