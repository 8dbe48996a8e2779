package plan

// This file plans arguments of which values are made that steps write: those that SQL of the user's
// names, and lengths of time that are added to the present.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// askedAs returns the argument of which what steps write is made; there is one of each name.
func (b *builder) askedAs(p *queue.Param) *Param {
	if p.Column != nil {
		return b.argumentOf(p.Column, p.Name)
	}
	if b.arguments[p.Name] == nil {
		f := b.askedField(p)
		goType := f.GoType
		if f.Null {
			goType = "*" + goType
		}
		b.arguments[p.Name] = &Param{Name: b.askedName(p), GoType: goType, Field: f, Doc: f.Said}
	}
	return b.arguments[p.Name]
}

// askedName returns the Go name of such an argument. Of those that operations use themselves delay is
// that of Requeue alone.
func (b *builder) askedName(p *queue.Param) string {
	const delay = "delay"
	t := b.spec.Transitions[queue.Release]
	requeued := t != nil && slices.Contains(b.spec.AskedBy(t), p)
	if unexported(p.Name) == delay && !requeued {
		return delay
	}
	return argument(p.Name)
}

// askedDoc says what an argument is of which values are made that steps write.
func (b *builder) askedDoc(p *queue.Param) string {
	columns := b.askedFor(p)
	switch {
	case len(columns) == 0:
		return "the value of {arg:" + p.Name + "} in enqueue_if"
	case p.GoType != "time.Duration" && b.ofIf(p):
		return "the value of {arg:" + p.Name + "} in enqueue_if, and in what is written to " + enumerated(columns)
	}
	if p.GoType != "time.Duration" {
		return "the value of {arg:" + p.Name + "} in what is written to " + enumerated(columns)
	}
	is := " is"
	if len(columns) > 1 {
		is = " are"
	}
	return "how much later than the present, by the database's clock, " + enumerated(columns) + is + " to be"
}

// askedFor names the columns whose values are made of an argument.
func (b *builder) askedFor(p *queue.Param) []string {
	var columns []string
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		if t == nil {
			continue
		}
		for _, w := range t.Writes {
			if called := plainText(w.Column.Name); slices.Contains(b.spec.Asks(w.Value), p) && !slices.Contains(columns, called) {
				columns = append(columns, called)
			}
		}
		for _, c := range t.With {
			for _, v := range slices.Concat(c.Set, c.Where) {
				called := plainText(c.QualifiedName() + "." + v.Column.Name)
				if v.Of == nil && slices.Contains(b.spec.Asks(v.Value), p) && !slices.Contains(columns, called) {
					columns = append(columns, called)
				}
			}
		}
	}
	return columns
}

// ofIf reports whether enqueue_if names an argument.
func (b *builder) ofIf(p *queue.Param) bool {
	only := b.spec.EnqueueIf
	return only != nil && slices.Contains(b.spec.AsksIn(only.SQL), p)
}

// askedField returns the field of such an argument. A time travels as the column keeps it with which
// SQL compares it, or whose value it is.
func (b *builder) askedField(p *queue.Param) *Field {
	f := &Field{}
	column := &schema.Column{Pos: p.Pos, NotNull: true}
	if times := b.timesAsked(p); len(times) > 0 {
		f = b.field(b.roleOf(times[0]))
		of := *times[0] // which a job may be given another value for
		column = &of
	} else {
		bare := strings.TrimPrefix(p.GoType, "*")
		column.Type = schema.Type{Class: classes[bare], Name: b.d.Arguments[bare], Raw: b.d.Arguments[bare]}
		f.GoType, f.Cast = bare, b.d.Arguments[bare]
		switch bare {
		case "time.Duration":
			f.Codec = Seconds
		case "json.RawMessage":
			f.Codec = JSONBytes
		}
	}
	column.Name = p.Name
	to := b.askedFor(p)
	if b.ofIf(p) {
		to = append(to, "enqueue_if")
	}
	f.Column, f.SQLType, f.Name, f.JSON, f.Param = b.d.Fold(p.Name), "for "+enumerated(to), exported(p.Name), snake(p.Name), argument(p.Name)
	f.Null, f.Payload, f.Unique, f.Sample = strings.HasPrefix(p.GoType, "*"), false, false, Sample{}
	f.Said = b.askedDoc(p)
	for slices.ContainsFunc(b.pkg.Fields, func(have *Field) bool { return have.Name == f.Name || have.JSON == f.JSON }) || methods[f.Name] {
		f.Name, f.JSON = f.Name+"Value", f.JSON+"_value"
	}
	b.foreign[f] = column
	return f
}

// classes are the classes of columns by the Go types whose values they hold.
var classes = map[string]schema.Class{
	"bool": schema.Bool, "string": schema.Text, "[]byte": schema.Bytes, "json.RawMessage": schema.JSON, "time.Time": schema.Timestamp,
	"float32": schema.Float, "float64": schema.Float, "time.Duration": schema.Float,
	"int": schema.Int, "int8": schema.Int, "int16": schema.Int, "int32": schema.Int, "int64": schema.Int, "rune": schema.Int,
	"uint": schema.Int, "uint8": schema.Int, "uint16": schema.Int, "uint32": schema.Int, "uint64": schema.Int, "byte": schema.Int,
}

// timesAsked returns the columns that tell how an argument that is a time is kept: those with which
// it is compared, and else those that get it.
func (b *builder) timesAsked(p *queue.Param) []*schema.Column {
	if !isTime(p) {
		return nil
	}
	columns := b.timesBeside(p.Name)
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		if t == nil || len(columns) > 0 {
			continue
		}
		for _, w := range t.Writes {
			if slices.Contains(b.spec.Asks(w.Value), p) && b.clockKind(w.Column) != "" {
				columns = append(columns, w.Column)
			}
		}
	}
	return columns
}

// isNoneOfJob says why an argument cannot be another for each job of a call, "" where it can.
func (b *builder) isNoneOfJob(p *queue.Param) string {
	bare := strings.TrimPrefix(p.GoType, "*")
	switch {
	case p.Column != nil:
		return ""
	case classes[bare] == "":
		return "is " + p.GoType + ", and values of that type have no form in which those of several jobs travel"
	case isTime(p) && len(b.timesAsked(p)) == 0:
		return "is a time, and no column with which it is compared tells how it travels"
	}
	return ""
}

// checkAsked complains about arguments of which each job has its own, and which cannot be sent so;
// and about times that would have to be sent in two ways.
func (b *builder) checkAsked(errs *source.ErrorList) {
	for _, name := range []queue.TransitionName{queue.Finish, queue.Enqueue} {
		t := b.spec.Transitions[name]
		if t == nil || name == queue.Finish && b.pkg.Strategy == "pop" {
			continue
		}
		for _, p := range b.spec.AskedBy(t) {
			if why := b.isNoneOfJob(p); why != "" {
				errs.Errorf(p.Pos, "argument %q of %s %s", p.Name, operations[name], why).
					WithHint("Each job has a value of its own there. Take a number, a text, a bool or bytes, or a time that is compared with a column.")
			}
		}
	}
	b.checkTimesBeside(errs)
	if only := b.spec.EnqueueIf; only != nil {
		for _, p := range b.spec.AsksIn(only.SQL) {
			if why := b.isNoneOfJob(p); why != "" {
				errs.Errorf(p.Pos, "argument %q of Enqueue %s", p.Name, why).
					WithHint("Each job has a value of its own there. Take a number, a text, a bool or bytes, or a time that is compared with a column.")
			}
		}
	}
	b.sentInOneWay(b.spec.Asked, b.timesAsked, errs)
}

// checkTimesBeside complains about times of which SQL over another table is made, and which nothing tells how that
// keeps: no column of the queue's is compared with them.
func (b *builder) checkTimesBeside(errs *source.ErrorList) {
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		if t == nil {
			continue
		}
		for _, c := range t.With {
			for _, p := range b.spec.AskedBeside(c) {
				if p.Column == nil && isTime(p) && len(b.timesAsked(p)) == 0 && (name != queue.Finish || b.pkg.Strategy == "pop") { // else checkAsked says so
					errs.Errorf(p.Pos, "argument %q is a time within SQL over %s, and nothing tells how that keeps times", p.Name, plainText(c.QualifiedName())).
						WithHint("Write it as the whole value, arg:%s, or take a number.", p.Name)
				}
			}
		}
	}
}

// askedText returns the text of an argument of which what is written to a column is made, false where
// there is none of that name.
func (s *scope) askedText(name string, to *schema.Column) (string, bool) {
	p := s.spec.AskedFor(name)
	if p == nil || to == nil && s.newArgument == nil { // else enqueue_if asks for it
		return "", false
	}
	if s.settle.named {
		return "{" + name + "}", true
	}
	param := s.askedAs(p)
	ofJob := slices.Index(s.settle.extra, param.Field)
	switch {
	case s.newArgument != nil:
		return s.newArgument(param.Field), true
	case ofJob >= 0 && s.travel() == "lists":
		return listMark + strconv.Itoa(ofJob) + listMark, true
	case ofJob >= 0:
		return s.brought(s.columnOf(param.Field)), true
	}
	return s.typed(param.Field, s.arg(Arg{Kind: ArgGiven, Param: param})), true
}

// typed is an argument within SQL of the user's: of a known type, since a server may find none.
func (s *scope) typed(f *Field, mark string) string {
	if s.fieldWrite(f) != "" {
		return s.write(s.columnOf(f), mark)
	}
	if f.Cast == "" {
		return mark
	}
	return s.d.Cast(mark, f.Cast)
}

// listMark stands around the number of a field whose value is written out, for each job, wherever it
// is named: text may be put together of the same argument several times.
const listMark = "\x1e"

// eachListed replaces the marks of a text by what write returns for a field.
func eachListed(text string, fields []*Field, write func(f *Field) string) string {
	parts := strings.Split(text, listMark)
	for i := 1; i < len(parts); i += 2 {
		if n, err := strconv.Atoi(parts[i]); err == nil && n >= 0 && n < len(fields) {
			parts[i] = write(fields[n])
		}
	}
	return strings.Join(parts, "")
}
